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
}

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
    pub(crate) used: u64,
    pub(crate) used_high: u64,
    pub(crate) reserved_high: u64,
    pub(crate) free: Vec<FreeBlock>,
    /// Devices besides its own that may access its memory.
    pub(crate) peers: BTreeSet<usize>,
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
            used_high: 0,
            reserved_high: 0,
            free: Vec::new(),
            peers: BTreeSet::new(),
            closing: false,
        }
    }

    /// Bytes that the pool holds, in use or not.
    pub(crate) fn reserved(&self) -> u64 {
        self.used
            + self
                .free
                .iter()
                .map(|block| block.capacity as u64)
                .sum::<u64>()
    }

    /// Notes that a block of that capacity is in use.
    pub(crate) fn take(&mut self, capacity: usize) {
        self.used += capacity as u64;
        self.used_high = self.used_high.max(self.used);
        self.reserved_high = self.reserved_high.max(self.reserved());
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
    /// Gives back free memory of a pool until it holds no more than `keep` bytes.
    pub(crate) fn trim_pool(&mut self, handle: u64, keep: u64, call: u64) {
        let Ok(pool) = self.pools.get_mut(handle) else {
            return;
        };
        let device = pool.device;
        let mut excess = pool.reserved().saturating_sub(keep);
        let mut gone = Vec::new();
        let operations = &self.operations;
        pool.free.retain(|block| {
            let trim = excess > 0 && !operations.contains_key(&block.operation);
            if trim {
                excess = excess.saturating_sub(block.capacity as u64);
                gone.push(*block);
            }
            !trim
        });
        for block in gone {
            self.space.remove(block.address, call);
            self.unuse(device, block.capacity);
        }
    }

    /// Notes that a device's memory became free.
    pub(crate) fn unuse(&mut self, device: usize, bytes: usize) {
        if let Some(device) = self.devices.get_mut(device) {
            device.used = device.used.saturating_sub(bytes);
        }
    }
}
