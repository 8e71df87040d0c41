//! One asynchronous operation: where it reads, what it makes of it, where it writes, and who learns of it.

use std::fmt;
use std::ops::Range;

use super::{Group, Reach};
use crate::exec::findings::Seen;
use crate::exec::unwritten::UnwrittenRead;
use crate::ops::mbarrier;
use crate::{Contents, FaultKind, Memory, MemoryFault};

/// A place in the shared memory of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedAt {
    pub(crate) rank: u32,
    pub(crate) offset: usize,
}

impl SharedAt {
    pub(crate) fn range(self, size: usize) -> Range<usize> {
        self.offset..self.offset.saturating_add(size)
    }
}

/// The shared memory of the blocks of a cluster.
pub(crate) trait SharedBlocks {
    /// That of a block by its number.
    fn of(&mut self, rank: u32) -> Option<&mut [u8]>;
}

/// Where an operation reads.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    Global(u64),
    Shared(SharedAt),
    /// What was read, or what a thread gave.
    Taken(Vec<u8>),
}

/// Where it writes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    Global(u64),
    Shared(SharedAt),
}

/// How an element is changed: its bytes, and `f(old, operand)` in place of a copy.
#[derive(Clone, Copy)]
pub(crate) struct Reduction {
    pub(crate) size: usize,
    pub(crate) apply: fn(u64, u64) -> u64,
}

impl fmt::Debug for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reduction({} bytes)", self.size)
    }
}

/// An operation in flight.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) seen: Seen,
    pub(crate) origin: Origin,
    pub(crate) target: Target,
    pub(crate) size: usize,
    pub(crate) combine: Option<Reduction>,
    /// Of each 16 bytes, those that are copied.
    pub(crate) bytes: u16,
    /// The barrier whose phase counts the bytes.
    pub(crate) barrier: Option<SharedAt>,
    pub(crate) group: Option<Group>,
    /// Whether it was started by a thread that had not waited for the launch before.
    pub(crate) early: bool,
    /// Instructions that had been executed when it was started.
    pub(crate) clock: u64,
    /// Its number in the race check.
    pub(crate) instance: u32,
    /// When it happens.
    pub(crate) due: u64,
}

fn refused(fault: MemoryFault) -> FaultKind {
    FaultKind::Memory(fault)
}

impl Operation {
    fn memory<'s>(&self, reach: &Reach<'_, 's>) -> &'s dyn Memory {
        let launch = reach.shape.launch;
        match launch.prerequisite.filter(|_| self.early) {
            Some(before) => before.memory(),
            None => reach.shape.memory,
        }
    }

    /// Reads what it is to write.
    pub(super) fn take(&mut self, reach: &mut Reach<'_, '_>) -> Result<(), FaultKind> {
        let mut bytes = vec![0; self.size];
        match self.origin {
            Origin::Taken(_) => return Ok(()),
            Origin::Global(address) => {
                let loaded = self.memory(reach).load(address, &mut bytes);
                if let Contents::Unwritten { first } = loaded.map_err(refused)? {
                    reach.unwritten.add(UnwrittenRead {
                        site: self.seen.site,
                        block: self.seen.block,
                        thread: self.seen.thread,
                        address,
                        size: self.size,
                        first,
                        clock: self.clock,
                    });
                }
            }
            Origin::Shared(at) => {
                let from = reach.shared.of(at.rank);
                if let Some(from) = from.and_then(|from| from.get(at.range(self.size))) {
                    bytes.copy_from_slice(from);
                }
            }
        }
        self.origin = Origin::Taken(bytes);
        Ok(())
    }

    /// Happens.
    pub(super) fn perform(&mut self, reach: &mut Reach<'_, '_>) -> Result<(), FaultKind> {
        self.take(reach)?;
        let Origin::Taken(taken) = &self.origin else {
            return Ok(());
        };
        match (self.target, self.combine) {
            (Target::Global(address), None) => self.store(taken, address, reach)?,
            (Target::Global(address), Some(combine)) => {
                let memory = self.memory(reach);
                for (index, operand) in taken.chunks_exact(combine.size).enumerate() {
                    let operand = word(operand);
                    let address = address.wrapping_add((index * combine.size) as u64);
                    let mut update = |old| (combine.apply)(old, operand);
                    let updated = memory.atomic(address, combine.size, &mut update);
                    updated.map_err(refused)?;
                }
            }
            (Target::Shared(at), combine) => {
                let to = reach.shared.of(at.rank);
                let Some(to) = to.and_then(|to| to.get_mut(at.range(self.size))) else {
                    return Ok(());
                };
                match combine {
                    None => to.copy_from_slice(taken),
                    Some(Reduction { size, apply }) => {
                        for (to, from) in to.chunks_exact_mut(size).zip(taken.chunks_exact(size)) {
                            let new = apply(word(to), word(from));
                            to.copy_from_slice(&new.to_le_bytes()[..size]);
                        }
                    }
                }
            }
        }
        if let Some(race) = &mut reach.race {
            race.complete_operation(self);
        }
        match self.barrier {
            Some(at) => self.count_bytes(at, reach),
            None => Ok(()),
        }
    }

    /// Writes to global memory the bytes that are chosen.
    fn store(&self, taken: &[u8], address: u64, reach: &Reach<'_, '_>) -> Result<(), FaultKind> {
        let memory = self.memory(reach);
        if self.bytes == u16::MAX {
            return memory.store(address, taken).map_err(refused);
        }
        for (index, byte) in taken.iter().enumerate() {
            if self.bytes >> (index % 16) & 1 == 1 {
                let address = address.wrapping_add(index as u64);
                memory
                    .store(address, std::slice::from_ref(byte))
                    .map_err(refused)?;
            }
        }
        Ok(())
    }

    /// Tells the barrier.
    fn count_bytes(&self, at: SharedAt, reach: &mut Reach<'_, '_>) -> Result<(), FaultKind> {
        let place = reach.shared.of(at.rank);
        let Some(place) = place.and_then(|it| it.get_mut(at.range(8))) else {
            return Ok(());
        };
        let (new, over) = mbarrier::completed(word(place), self.size as u64)?;
        place.copy_from_slice(&new.to_le_bytes());
        if over && let Some(race) = &mut reach.race {
            race.end_phase(at);
        }
        Ok(())
    }
}

/// Up to eight bytes as a number.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    let size = bytes.len().min(8);
    word[..size].copy_from_slice(&bytes[..size]);
    u64::from_le_bytes(word)
}
