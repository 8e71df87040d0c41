//! Memory pools: stream-ordered memory, whose addresses are given out again as soon as stream order allows it.

use std::collections::BTreeSet;

use crate::state::State;
use crate::state::queue::{OperationId, StreamId};

/// A block that its pool can give out again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FreeBlock {
    pub(crate) address: u64,
    pub(crate) capacity: usize,
    /// The stream and operation that free it.
    pub(crate) stream: StreamId,
    pub(crate) operation: OperationId,
    /// Whether its memory is the pool's; the next wait gives it back to the device if the release threshold says so. The address stays.
    pub(crate) held: bool,
}

/// Bytes in which a real driver's pools take memory from the device.
const CHUNK: u64 = 32 << 20;

/// A `CUmemoryPool`.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) device: usize,
    /// Whether it is a device's default pool, which nobody creates or destroys.
    pub(crate) default: bool,
    /// Number of the call that made it.
    pub(crate) call: u64,
    pub(crate) release_threshold: u64,
    pub(crate) reuse_event_dependencies: i32,
    pub(crate) reuse_opportunistic: i32,
    pub(crate) reuse_internal_dependencies: i32,
    /// Bytes that were asked for and not freed.
    pub(crate) used: u64,
    /// Bytes of the blocks in use.
    pub(crate) taken: u64,
    pub(crate) used_high: u64,
    pub(crate) reserved_high: u64,
    pub(crate) free: Vec<FreeBlock>,
    /// Other devices that may access its memory.
    pub(crate) peers: BTreeSet<usize>,
    /// The most bytes that it takes from its device.
    pub(crate) max_size: u64,
    /// Destroyed, and waiting for its last allocation.
    pub(crate) closing: bool,
}

impl Pool {
    pub(crate) fn new(device: usize, default: bool, call: u64) -> Self {
        Self {
            device,
            default,
            call,
            release_threshold: 0,
            reuse_event_dependencies: 1,
            reuse_opportunistic: 1,
            reuse_internal_dependencies: 1,
            used: 0,
            taken: 0,
            used_high: 0,
            reserved_high: 0,
            free: Vec::new(),
            peers: BTreeSet::new(),
            max_size: u64::MAX,
            closing: false,
        }
    }

    /// Bytes that the pool holds, in use or not, as a real driver counts them.
    pub(crate) fn reserved(&self) -> u64 {
        (self.taken + self.idle()).next_multiple_of(CHUNK)
    }

    /// Bytes that it holds and that are not in use.
    fn idle(&self) -> u64 {
        let held = self.free.iter().filter(|block| block.held);
        held.map(|block| block.capacity as u64).sum()
    }

    /// Notes that `size` bytes in a block of that capacity are in use.
    pub(crate) fn take(&mut self, size: usize, capacity: usize) {
        self.used += size as u64;
        self.taken += capacity as u64;
        self.used_high = self.used_high.max(self.used);
        self.reserved_high = self.reserved_high.max(self.reserved());
    }

    /// Notes that `size` bytes are no longer in use, and keeps their block.
    pub(crate) fn give_back(&mut self, size: usize, block: FreeBlock) {
        self.used = self.used.saturating_sub(size as u64);
        self.taken = self.taken.saturating_sub(block.capacity as u64);
        self.free.push(block);
    }

    /// The freed block to be used next for `capacity` bytes on `stream`: one that the same stream freed, or whose release was executed.
    pub(crate) fn reuse(
        &mut self,
        capacity: usize,
        stream: StreamId,
        done: impl Fn(OperationId) -> bool,
    ) -> Option<FreeBlock> {
        let fits = |block: &&FreeBlock| {
            block.capacity == capacity && (block.stream == stream || done(block.operation))
        };
        let position = self.free.iter().rposition(|block| fits(&block))?;
        Some(self.free.remove(position))
    }
}

impl State {
    /// Gives back free memory of a pool until it holds no more than `keep` bytes, and the addresses of all that it does not hold.
    pub(crate) fn trim_pool(&mut self, handle: u64, keep: u64, call: u64) {
        let Ok(pool) = self.pools.get_mut(handle) else {
            return;
        };
        let device = pool.device;
        let mut excess = (pool.taken + pool.idle()).saturating_sub(keep);
        let mut gone = Vec::new();
        let operations = &self.operations;
        pool.free.retain(|block| {
            let trim = (excess > 0 || !block.held) && !operations.contains_key(&block.operation);
            if trim {
                if block.held {
                    excess = excess.saturating_sub(block.capacity as u64);
                }
                gone.push(*block);
            }
            !trim
        });
        for block in gone {
            self.space.remove(block.address, call);
            if block.held {
                self.unuse(device, block.capacity);
            }
        }
    }

    /// What every wait does: pools give back what exceeds their release threshold. The addresses stay theirs, to be used again.
    pub(crate) fn release_idle_memory(&mut self, call: u64) {
        let operations = &self.operations;
        let mut closing = Vec::new();
        let mut released = Vec::new();
        let handles: Vec<u64> = self.pools.iter().map(|(handle, _)| handle).collect();
        for handle in handles {
            let Ok(pool) = self.pools.get_mut(handle) else {
                continue;
            };
            if pool.reserved() > pool.release_threshold {
                for block in &mut pool.free {
                    if block.held && !operations.contains_key(&block.operation) {
                        block.held = false;
                        released.push((pool.device, block.capacity));
                    }
                }
            }
            if pool.closing {
                closing.push(handle);
            }
        }
        for (device, bytes) in released {
            self.unuse(device, bytes);
        }
        for handle in closing {
            self.drop_closing_pool(handle, call);
        }
    }

    /// Notes that a device's memory became free.
    pub(crate) fn unuse(&mut self, device: usize, bytes: usize) {
        if let Some(device) = self.devices.get_mut(device) {
            device.used = device.used.saturating_sub(bytes);
        }
    }
}
