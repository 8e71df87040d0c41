//! Where the checks of a launch put what they find.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::check::{Finding, FindingKind};
use crate::exec::cluster::RANK_SHIFT;
use crate::exec::env::Shape;
use crate::{Kernel, Place};

/// An instruction: function and index into its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Site {
    pub(crate) function: usize,
    pub(crate) source: u32,
}

/// What a check has seen of a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) site: Site,
    pub(crate) block: [u32; 3],
    pub(crate) thread: u32,
}

/// The findings of a launch: each pair of instructions once.
#[derive(Debug)]
pub(crate) struct Findings {
    kernel: String,
    /// Those that the kernel can reach.
    functions: Vec<usize>,
    /// Pairs of instructions, whichever came first.
    known: Mutex<HashSet<(Site, Site, bool)>>,
}

impl Findings {
    pub(crate) fn new(kernel: &Kernel) -> Self {
        Self {
            kernel: kernel.name.clone(),
            functions: kernel.reachable.clone(),
            known: Mutex::new(HashSet::new()),
        }
    }

    /// Reports two threads of a block or cluster, unless their instructions are known already.
    pub(crate) fn add(
        &self,
        shape: &Shape<'_>,
        kind: FindingKind,
        [first, second]: [Seen; 2],
        address: Option<u64>,
    ) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let pair = (first.site.min(second.site), first.site.max(second.site));
        if !known.insert((pair.0, pair.1, kind.is_of_unwritten())) {
            return;
        }
        let place = |seen: Seen| {
            shape.place(
                seen.site.function,
                seen.site.source,
                seen.block,
                seen.thread,
            )
        };
        let (Some(first), Some(second)) = (place(first), place(second)) else {
            return;
        };
        shape.launch.services.found(Finding {
            kind,
            kernel: self.kernel.clone(),
            first,
            second,
            address,
            variable: address
                .filter(|_| kind.is_in_shared())
                .and_then(|address| shape.shared_variable(&self.functions, address)),
        });
    }
}

impl Shape<'_> {
    /// The static variable of one of the functions that an address of shared memory lies in.
    fn shared_variable(&self, functions: &[usize], address: u64) -> Option<String> {
        let offset = address & ((1 << RANK_SHIFT) - 1);
        let codes = functions
            .iter()
            .filter_map(|it| self.program.codes.get(*it));
        codes.flat_map(|code| &code.shared).find_map(|&index| {
            let variable = self.program.shared.get(index)?;
            let start = u64::from(*self.shared_offsets.get(index)?);
            let end = start + u64::from(variable.size);
            let fits = !variable.dynamic && (start..end).contains(&offset);
            fits.then(|| variable.name.clone())
        })
    }

    /// The place of a thread of a block.
    pub(crate) fn place(
        &self,
        function: usize,
        source: u32,
        block: [u32; 3],
        thread: u32,
    ) -> Option<Place> {
        let code = &self.program.codes[function];
        let source = code.sources.get(source as usize)?;
        let [x, y, _] = self.launch.block;
        Some(Place {
            function: code.name.clone(),
            line: source.line,
            instruction: source.text.clone(),
            source: source
                .compiled_from
                .and_then(|line| code.source_lines.get(line as usize).cloned()),
            block,
            thread: [thread % x, thread / x % y, thread / x / y],
        })
    }
}
