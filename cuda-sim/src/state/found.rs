//! The blocks that a running kernel has accessed, found again quickly. Those that it does not access cost it nothing.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::RwLock;

use crate::state::space::{Block, Presence};

/// Blocks that can be found without a search.
const MOST_NUMBERED: usize = 256;
/// Parts of the address space for which the last block is remembered.
const PARTS: usize = 8;

/// Blocks that were accessed, from however many threads.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    /// By address, each with its number in the order in which they were entered.
    all: RwLock<BTreeMap<u64, (usize, &'a Block)>>,
    /// The first of them, by number.
    numbered: Box<[OnceLock<&'a Block>]>,
    /// Numbers of blocks that were accessed last, by part of the address: kernels stay in few blocks for long.
    recent: [AtomicUsize; PARTS],
}

impl<'a> Found<'a> {
    pub(crate) fn new() -> Self {
        Self {
            all: RwLock::default(),
            numbered: std::iter::repeat_n(OnceLock::new(), MOST_NUMBERED).collect(),
            recent: [const { AtomicUsize::new(usize::MAX) }; PARTS],
        }
    }

    /// The live block that holds all of the bytes, and where in it they start, if it is the one that was accessed last.
    #[inline]
    pub(crate) fn last(&self, address: u64, size: usize) -> Option<(&'a Block, usize)> {
        let number = self.recent.get(part(address))?.load(Relaxed);
        hit(self.numbered.get(number)?.get()?, address, size)
    }

    /// The same, if it is any of those that were entered.
    pub(crate) fn search(&self, address: u64, size: usize) -> Option<(&'a Block, usize)> {
        let all = self.all.read();
        let (_, &(number, block)) = all.range(..=address).next_back()?;
        let found = hit(block, address, size)?;
        self.keep(address, number);
        Some(found)
    }

    /// Enters a block, which is accessed at that address.
    pub(crate) fn enter(&self, address: u64, block: &'a Block) {
        let mut all = self.all.write();
        let next = all.len();
        // Another thread may have been faster.
        let (number, _) = *all.entry(block.address).or_insert((next, block));
        if let Some(numbered) = self.numbered.get(number) {
            numbered.get_or_init(|| block);
        }
        self.keep(address, number);
    }

    fn keep(&self, address: u64, number: usize) {
        if let Some(recent) = self.recent.get(part(address)) {
            recent.store(number, Relaxed);
        }
    }

    /// All that were entered, by address.
    pub(crate) fn blocks(&self) -> Vec<&'a Block> {
        self.all.read().values().map(|(_, block)| *block).collect()
    }
}

/// The number of the part of the address space in which an address lies.
#[inline]
fn part(address: u64) -> usize {
    (address >> 20) as usize % PARTS
}

/// Where in a block the bytes start, if it is live and holds all of them.
#[inline]
pub(crate) fn hit(block: &Block, address: u64, size: usize) -> Option<(&Block, usize)> {
    let offset = address.wrapping_sub(block.address);
    let Presence::Live(len) = block.presence else {
        return None;
    };
    let end = offset.checked_add(size as u64)?;
    (end <= len as u64).then_some((block, offset as usize))
}
