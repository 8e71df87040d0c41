//! Reads of what nothing had written: the first one of each instruction, in launch order.

use crate::Kernel;
use crate::check::{Finding, FindingKind};
use crate::exec::env::Shape;
use crate::exec::findings::Site;

/// Instructions that are remembered of one launch.
const KEPT: usize = 16;

/// A read of bytes of which some were never written.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnwrittenRead {
    pub(super) site: Site,
    pub(super) block: [u32; 3],
    pub(super) thread: u32,
    pub(super) address: u64,
    pub(super) size: usize,
    /// Index of the first byte that was never written.
    pub(super) first: usize,
    /// Instructions that had been executed.
    pub(super) clock: u64,
}

/// What is remembered of a launch, or of a part of it: the first read of each of its first [`KEPT`] instructions that have one. So the
/// parts of a launch, one appended to the other, give the same as the whole.
#[derive(Debug, Default)]
pub(crate) struct Unwritten(Vec<UnwrittenRead>);

impl Unwritten {
    /// Remembers a read, if it is the first of its instruction.
    #[cold]
    pub(super) fn add(&mut self, read: UnwrittenRead) {
        if self.0.len() < KEPT && self.0.iter().all(|known| known.site != read.site) {
            self.0.push(read);
        }
    }

    /// Adds what a later part read before it had executed more than `limit` instructions.
    pub(super) fn append(&mut self, later: Self, limit: u64) {
        let counts = |read: &UnwrittenRead| read.clock <= limit;
        later
            .0
            .into_iter()
            .filter(counts)
            .for_each(|read| self.add(read));
    }

    /// Tells the services of the launch.
    pub(super) fn report(self, kernel: &Kernel, shape: &Shape<'_>) {
        for read in self.0 {
            let Site { function, source } = read.site;
            let Some(place) = shape.place(function, source, read.block, read.thread) else {
                continue;
            };
            shape.launch.services.found(Finding {
                kind: FindingKind::UninitialisedRead {
                    size: read.size,
                    first: read.first,
                },
                kernel: kernel.name.clone(),
                first: place.clone(),
                second: place,
                address: Some(read.address),
                variable: None,
            });
        }
    }
}
