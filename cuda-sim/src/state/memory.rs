//! Allocating and releasing blocks.

use std::sync::Arc;

use cuda_sys::CUresult;

use crate::code;
use crate::state::State;
use crate::state::context::ContextRef;
use crate::state::host::HostMemory;
use crate::state::order::touched::Touched;
use crate::state::pool::FreeBlock;
use crate::state::queue::{OperationId, StreamId, Work};
use crate::state::space::{ALIGNMENT, Allocation, Block, Data, Origin, Presence};
use crate::state::storage::Storage;

impl State {
    /// What the host sees of a new allocation.
    fn allocation(&mut self, size: usize, context: ContextRef, call: u64) -> Allocation {
        Allocation {
            id: self.space.new_id(),
            size,
            context,
            call,
            sync_memops: false,
        }
    }

    /// Adds device memory that can be accessed at once.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`
    pub(crate) fn allocate_device(
        &mut self,
        context: ContextRef,
        size: usize,
        origin: Origin,
        call: u64,
    ) -> Result<u64, CUresult> {
        let device = self.device_of(context);
        let block = self.new_block(device, size, origin, call)?;
        let address = block.address;
        let allocation = self.allocation(size, context, call);
        self.space.insert(Block {
            allocation: Some(allocation),
            presence: Presence::Live(size),
            ..block
        });
        Ok(address)
    }

    /// A block of fresh device memory, in no table yet.
    fn new_block(
        &mut self,
        device: usize,
        size: usize,
        origin: Origin,
        call: u64,
    ) -> Result<Block, CUresult> {
        let capacity = size
            .checked_next_multiple_of(ALIGNMENT)
            .ok_or(code::OUT_OF_MEMORY)?;
        let storage = self.take_room(device, capacity, call)?;
        let Some(address) = self.space.place(device, capacity) else {
            self.unuse(device, capacity);
            return Err(code::OUT_OF_MEMORY);
        };
        Ok(Block {
            address,
            capacity,
            device,
            origin,
            data: Data::Device(storage),
            read_only: false,
            allocation: None,
            presence: Presence::Pending,
            touched: Touched::default(),
            touched_ahead: Touched::default(),
        })
    }

    /// Takes memory from a device, if need be from what its pools hold in reserve.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`
    pub(crate) fn take_room(
        &mut self,
        device: usize,
        bytes: usize,
        call: u64,
    ) -> Result<Arc<Storage>, CUresult> {
        self.count_room(device, bytes, call)?;
        let Some(storage) = Storage::new(bytes) else {
            self.unuse(device, bytes);
            return Err(code::OUT_OF_MEMORY);
        };
        Ok(Arc::new(storage))
    }

    /// Counts memory of a device as used, if need be after its pools gave back what they hold in reserve.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`
    fn count_room(&mut self, device: usize, bytes: usize, call: u64) -> Result<(), CUresult> {
        if !self.has_room(device, bytes) {
            let pools = self.pools.iter();
            let pools: Vec<u64> = pools
                .filter(|(_, pool)| pool.device == device)
                .map(|(handle, _)| handle)
                .collect();
            for pool in pools {
                self.trim_pool(pool, 0, call);
            }
        }
        if !self.has_room(device, bytes) {
            return Err(code::OUT_OF_MEMORY);
        }
        if let Some(device) = self.devices.get_mut(device) {
            device.used += bytes;
        }
        Ok(())
    }

    fn has_room(&self, device: usize, bytes: usize) -> bool {
        self.devices.get(device).is_some_and(|device| {
            device
                .used
                .checked_add(bytes)
                .is_some_and(|used| used as u64 <= device.config.total_memory)
        })
    }

    /// Adds memory of a pool that can be accessed once `stream` gets there.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`
    pub(crate) fn allocate_from_pool(
        &mut self,
        handle: u64,
        context: ContextRef,
        stream: StreamId,
        size: usize,
        call: u64,
    ) -> Result<u64, CUresult> {
        let capacity = size
            .checked_next_multiple_of(ALIGNMENT)
            .ok_or(code::OUT_OF_MEMORY)?;
        let operations = &self.operations;
        let pool = self.pools.get_mut(handle)?;
        let device = pool.device;
        if pool.taken.saturating_add(capacity as u64) > pool.max_size {
            return Err(code::OUT_OF_MEMORY);
        }
        let reused = pool.reuse(capacity, stream, |operation| {
            !operations.contains_key(&operation)
        });
        let address = match reused {
            Some(block) if block.held => block.address,
            // Its memory went back to the device, which may have given it out since.
            Some(block) => {
                if let Err(full) = self.count_room(device, capacity, call) {
                    self.pools.get_mut(handle)?.free.push(block);
                    return Err(full);
                }
                block.address
            }
            None => {
                let block = self.new_block(device, size, Origin::Pool(handle), call)?;
                let address = block.address;
                self.space.insert(block);
                address
            }
        };
        self.pools.get_mut(handle)?.take(size, capacity);
        let allocation = self.allocation(size, context, call);
        if let Some(block) = self.space.at_mut(address) {
            block.allocation = Some(allocation);
        }
        self.enqueue(stream, Work::Allocate { address, size }, &[], call);
        Ok(address)
    }

    /// An address for an allocation that a capture records.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`
    pub(crate) fn reserve_for_graph(
        &mut self,
        context: ContextRef,
        size: usize,
        call: u64,
    ) -> Result<u64, CUresult> {
        let block = self.new_block(self.device_of(context), size, Origin::Graph, call)?;
        let address = block.address;
        let allocation = self.allocation(size, context, call);
        self.space.insert(Block {
            allocation: Some(allocation),
            ..block
        });
        Ok(address)
    }

    /// Releases what a capture allocated.
    ///
    /// # Errors
    /// `INVALID_VALUE` where the address is no such allocation.
    pub(crate) fn release_from_graph(&mut self, address: u64, call: u64) -> Result<(), CUresult> {
        let block = self
            .space
            .at(address)
            .filter(|block| block.origin == Origin::Graph);
        block.ok_or(code::INVALID_VALUE)?;
        self.release_block(address, call);
        Ok(())
    }

    /// Takes an allocation from the host's sight, to be released when `stream` gets there.
    ///
    /// # Errors
    /// `INVALID_VALUE` where no allocation starts at the address, or one that this function does not free.
    pub(crate) fn free_in_order(
        &mut self,
        address: u64,
        stream: StreamId,
        call: u64,
    ) -> Result<(), CUresult> {
        let Some(block) = self.space.at_mut(address) else {
            return Err(self.refuse_release(address, call));
        };
        let (origin, capacity) = (block.origin, block.capacity);
        if block.allocation.is_none() || !matches!(origin, Origin::Pool(_) | Origin::Allocated) {
            return Err(self.refuse_release(address, call));
        }
        let size = block
            .allocation
            .take()
            .map_or(0, |allocation| allocation.size);
        let operation = self.enqueue(stream, Work::Free { address }, &[], call);
        if let Origin::Pool(pool) = origin {
            let free = FreeBlock {
                address,
                capacity,
                stream,
                operation,
                held: true,
            };
            if let Ok(pool) = self.pools.get_mut(pool) {
                pool.give_back(size, free);
            }
            self.drop_closing_pool(pool, call);
        }
        Ok(())
    }

    /// Removes a destroyed pool whose last allocation is gone.
    pub(crate) fn drop_closing_pool(&mut self, handle: u64, call: u64) {
        let ready = self
            .pools
            .get(handle)
            .is_ok_and(|pool| pool.closing && pool.used == 0);
        let idle = self
            .pools
            .get(handle)
            .is_ok_and(|pool| pool.free.iter().all(|block| self.is_done(block.operation)));
        if ready && idle {
            self.trim_pool(handle, 0, call);
            let reuse = self.options.reuse_handles;
            drop(self.pools.remove(handle, reuse));
        }
    }

    /// Releases the block at an address now. Nothing may use it any more.
    pub(crate) fn release_block(&mut self, address: u64, call: u64) {
        let Some(block) = self.space.at(address) else {
            return;
        };
        let (origin, capacity, device) = (block.origin, block.capacity, block.device);
        if let Origin::Pool(pool) = origin {
            // Nothing of it is left to be executed: numbers that no stream and no operation have.
            let (stream, operation) = (StreamId(0), OperationId(0));
            let mut size = 0;
            if let Some(block) = self.space.at_mut(address) {
                size = block
                    .allocation
                    .take()
                    .map_or(0, |allocation| allocation.size);
                block.presence = Presence::Freed;
                crate::state::execute::forget(block);
            }
            let free = FreeBlock {
                address,
                capacity,
                stream,
                operation,
                held: true,
            };
            if let Ok(pool) = self.pools.get_mut(pool) {
                pool.give_back(size, free);
            }
            self.drop_closing_pool(pool, call);
            return;
        }
        let (host, managed) = (block.is_host(), block.is_managed());
        drop(self.space.remove(address, call));
        if managed {
            self.managed_used = self.managed_used.saturating_sub(capacity);
            self.advice.remove(&address);
        }
        if !host {
            self.unuse(device, capacity);
        }
    }

    /// Adds host memory that the devices can access.
    pub(crate) fn add_host(
        &mut self,
        memory: HostMemory,
        context: ContextRef,
        origin: Origin,
        call: u64,
    ) -> usize {
        let (address, size) = (memory.address(), memory.len());
        let device = self.device_of(context);
        let allocation = Some(self.allocation(size, context, call));
        self.space.insert(Block {
            address: address as u64,
            capacity: size,
            device,
            origin,
            data: Data::Host(memory),
            read_only: false,
            allocation,
            presence: Presence::Live(size),
            touched: Touched::default(),
            touched_ahead: Touched::default(),
        });
        address
    }
}
