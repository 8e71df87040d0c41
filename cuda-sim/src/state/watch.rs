//! Host memory that asynchronous copies have borrowed, from the call to the execution: nobody but the device may write it meanwhile, nor read
//! what is about to be written.
//!
//! A destination holds a pattern while it is borrowed. The device must not see that: the pattern is lifted before any other operation touches
//! the bytes. A source is kept and compared. Both look at pinned and registered memory only, as other memory is copied by the call itself.

use std::mem::MaybeUninit;
use std::ops::Range;

use parking_lot::Mutex;

use crate::report::{Report, ReportKind};
use crate::state::State;
use crate::state::host::HostRange;
use crate::state::queue::{OperationId, Work};
use crate::state::space::Origin;
use crate::state::transfer::Place;

/// What stands in a destination: a large negative number in most types.
const PATTERN: u8 = 0xfb;
/// Bytes of one copy that are watched.
const OF_A_COPY: usize = 1 << 20;
/// Bytes of all copies together that are watched.
const OF_ALL: usize = 64 << 20;
/// Copies that are watched at a time.
const COPIES: usize = 256;
/// Rows of one copy that are watched.
const ROWS: usize = 256;

/// Bytes without a gap that a copy has borrowed.
///
/// # Invariants
/// They belong to the copy until it is executed or given up: the watch ends before the caller gets them back.
#[derive(Debug)]
struct Piece {
    range: Range<u64>,
    before: Before,
}

/// What stood in a piece when the copy was enqueued.
#[derive(Debug)]
enum Before {
    /// Of a source: it must not change.
    Source(Vec<u8>),
    /// Of a destination, which holds the pattern now.
    Destination(Box<[MaybeUninit<u8>]>),
}

/// Ranges of bytes, as addresses, that the host has changed, from the first such byte to the last.
type Changes = Vec<Range<u64>>;

impl Piece {
    fn new(range: Range<u64>, is_source: bool) -> Self {
        let host = host(&range);
        let before = if is_source {
            Before::Source(bytes(&range))
        } else {
            let saved = host.save();
            host.write(&vec![PATTERN; saved.len()]);
            Before::Destination(saved)
        };
        Self { range, before }
    }

    fn is_destination(&self) -> bool {
        matches!(self.before, Before::Destination(_))
    }

    fn overlaps(&self, other: &Range<u64>) -> bool {
        self.range.start < other.end && other.start < self.range.end
    }

    /// What the host has changed.
    fn changed(&self) -> Option<Range<u64>> {
        let now = bytes(&self.range);
        let differs = |index: usize, byte: u8| match &self.before {
            Before::Source(kept) => kept.get(index) != Some(&byte),
            Before::Destination(_) => byte != PATTERN,
        };
        let mut changes = now.iter().enumerate().filter(|(at, it)| differs(*at, **it));
        let (first, _) = changes.next()?;
        let last = changes.next_back().map_or(first, |(last, _)| last);
        Some(self.range.start + first as u64..self.range.start + last as u64 + 1)
    }

    /// Puts back what a destination held, except where the host has written.
    fn lift(&self) {
        let Before::Destination(saved) = &self.before else {
            return;
        };
        let host = host(&self.range);
        if self.changed().is_none() {
            host.restore(saved);
            return;
        }
        let now = bytes(&self.range);
        for (at, (byte, saved)) in now.iter().zip(saved).enumerate() {
            if let (PATTERN, Some(part)) = (*byte, host.part(at, 1)) {
                part.restore(std::slice::from_ref(saved));
            }
        }
    }
}

fn host(range: &Range<u64>) -> HostRange {
    HostRange::new(range.start as usize, len(range))
}

fn len(range: &Range<u64>) -> usize {
    (range.end - range.start) as usize
}

fn bytes(range: &Range<u64>) -> Vec<u8> {
    let mut bytes = vec![0; len(range)];
    host(range).read(&mut bytes);
    bytes
}

/// What one copy has borrowed.
#[derive(Debug)]
struct Watch {
    operation: OperationId,
    pieces: Vec<Piece>,
}

/// All host memory that is watched.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    watches: Mutex<Vec<Watch>>,
}

impl Watches {
    /// Watches what a copy borrows, unless there is too much of it, or a pattern stands there already.
    fn add(
        &self,
        operation: OperationId,
        ranges: impl Iterator<Item = Range<u64>>,
        is_source: bool,
    ) {
        let mut watches = self.watches.lock();
        let all = || watches.iter().flat_map(|watch| &watch.pieces);
        let used: usize = all().map(|piece| len(&piece.range)).sum();
        if watches.len() >= COPIES || used >= OF_ALL {
            return;
        }
        let mut left = OF_A_COPY;
        let mut wanted = Vec::new();
        for mut range in ranges.take(ROWS) {
            range.end = range.end.min(range.start + left as u64);
            left -= len(&range);
            if all().any(|piece| piece.is_destination() && piece.overlaps(&range)) {
                return;
            }
            wanted.push(range);
            if left == 0 {
                break;
            }
        }
        let pieces = wanted.into_iter().map(|it| Piece::new(it, is_source));
        let pieces = pieces.collect();
        watches.push(Watch { operation, pieces });
    }

    /// Ends the watches of other operations that do not bear what one is about to do: destinations that it touches, sources that it writes.
    pub(crate) fn touch(
        &self,
        reads: impl Iterator<Item = Range<u64>>,
        writes: impl Iterator<Item = Range<u64>>,
        except: Option<OperationId>,
    ) {
        let mut watches = self.watches.lock();
        if watches.iter().all(|watch| Some(watch.operation) == except) {
            return;
        }
        let (reads, writes): (Changes, Changes) = (reads.collect(), writes.collect());
        watches.retain(|watch| {
            let meets = |piece: &Piece| {
                writes.iter().any(|range| piece.overlaps(range))
                    || piece.is_destination() && reads.iter().any(|range| piece.overlaps(range))
            };
            let stays = Some(watch.operation) == except || !watch.pieces.iter().any(meets);
            if !stays {
                watch.pieces.iter().for_each(Piece::lift);
            }
            stays
        });
    }

    /// Ends all watches.
    pub(crate) fn lift_all(&self) {
        let watches = std::mem::take(&mut *self.watches.lock());
        watches
            .iter()
            .flat_map(|watch| &watch.pieces)
            .for_each(Piece::lift);
    }

    /// Ends the watch of a copy that is about to be executed; what the host has changed, and whether in the source.
    fn end(&self, operation: OperationId) -> Option<(Changes, bool)> {
        let mut watches = self.watches.lock();
        let index = watches.iter().position(|it| it.operation == operation)?;
        let watch = watches.swap_remove(index);
        drop(watches);
        let changes = watch.pieces.iter().filter_map(Piece::changed).collect();
        watch.pieces.iter().for_each(Piece::lift);
        let in_source = !watch.pieces.iter().any(Piece::is_destination);
        Some((changes, in_source))
    }

    /// Ends the watch of an operation that is not executed. Its memory may be the program's again, and is not touched.
    pub(crate) fn forget(&self, operation: OperationId) {
        self.watches.lock().retain(|it| it.operation != operation);
    }
}

impl State {
    /// Watches what a copy that has just been enqueued borrows from the host.
    pub(crate) fn watch_copy(&mut self, operation: OperationId) {
        // What the host does in stream order it may do to this memory, too.
        if !self.options.watch_host || !self.options.deferred || !self.with_host.is_empty() {
            return;
        }
        let Some(Work::Copy(copy)) = self.operations.get(&operation).map(|it| &it.work) else {
            return;
        };
        let is_pinned = |place: &Place| match place {
            Place::Host(range) => {
                let block = self.space.covering(range.address() as u64);
                block.is_some_and(|it| matches!(it.origin, Origin::Host(_) | Origin::Registered(_)))
            }
            Place::Device(_) | Place::Bytes(_) => false,
        };
        let is_host = |place: &Place| matches!(place, Place::Host(_));
        let watches = &self.space.watches;
        if is_pinned(&copy.from.place) && !is_host(&copy.to.place) {
            watches.add(operation, copy.reads(), true);
        } else if is_pinned(&copy.to.place) && !is_host(&copy.from.place) {
            watches.add(operation, copy.writes(), false);
        }
    }

    /// Ends the watch of a copy that is about to be executed, and reports what the host has changed.
    pub(crate) fn end_watch(&mut self, operation: OperationId, call: u64) {
        let Some((changes, in_source)) = self.space.watches.end(operation) else {
            return;
        };
        let (Some(first), Some(last)) = (changes.first(), changes.last()) else {
            return;
        };
        let len = last.end - first.start;
        let whose = if in_source { "source" } else { "destination" };
        let message = format!(
            "the host changed the {whose} of an asynchronous copy before the copy was executed: bytes among the {len} at {:#x}",
            first.start
        );
        let mut report = Report::new(ReportKind::HostBufferChanged, message, call);
        report.address = Some(first.start);
        report.size = usize::try_from(len).ok();
        self.add_report(report);
    }
}
