//! Virtual memory management: reserved addresses, physical memory, and mappings between the two.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use cuda_sys::{CUmemAllocationProp_allocFlags, CUresult};

use crate::code;
use crate::state::State;
use crate::state::context::ContextRef;
use crate::state::space::{Allocation, Block, Data, Origin, Presence};
use crate::state::storage::Storage;

/// What physical memory, addresses and mappings are counted in.
pub(crate) const GRANULARITY: usize = 2 << 20;

/// Memory without an address.
#[derive(Debug)]
pub(crate) struct Physical {
    pub(crate) device: usize,
    pub(crate) size: usize,
    /// What was wished besides.
    pub(crate) flags: CUmemAllocationProp_allocFlags,
    storage: Arc<Storage>,
    /// Handles that were given out and not released.
    pub(crate) references: usize,
    /// Number of the call that made it.
    pub(crate) call: u64,
}

/// Physical memory at an address.
#[derive(Debug)]
pub(crate) struct Mapping {
    pub(crate) handle: u64,
    size: usize,
    /// `CUmemAccess_flags` of each device that has access.
    pub(crate) access: BTreeMap<usize, u32>,
}

/// Reserved addresses, and what is mapped there.
#[derive(Debug, Default)]
pub(crate) struct VirtualMemory {
    /// Size, and the call that reserved them, by first address.
    pub(crate) reserved: BTreeMap<u64, (usize, u64)>,
    pub(crate) mappings: BTreeMap<u64, Mapping>,
}

impl VirtualMemory {
    /// Whether a range lies within one reservation.
    fn is_reserved(&self, range: &Range<u64>) -> bool {
        let below = self.reserved.range(..=range.start).next_back();
        below.is_some_and(|(start, (size, _))| range.end <= start + *size as u64)
    }

    /// The mapping that covers an address, with its own.
    pub(crate) fn covering(&self, address: u64) -> Option<(u64, &Mapping)> {
        let (start, mapping) = self.mappings.range(..=address).next_back()?;
        (address - start < mapping.size as u64).then_some((*start, mapping))
    }

    /// The addresses of the mappings that touch a range.
    fn within(&self, range: &Range<u64>) -> Vec<u64> {
        let first = self.covering(range.start).map_or(range.start, |it| it.0);
        let mappings = self.mappings.range(first..range.end);
        mappings.map(|(start, _)| *start).collect()
    }
}

/// The addresses of a range that is counted in whole units.
///
/// # Errors
/// `INVALID_VALUE`
fn whole(address: u64, size: usize) -> Result<Range<u64>, CUresult> {
    let end = address.checked_add(size as u64);
    end.filter(|_| size > 0 && size.is_multiple_of(GRANULARITY))
        .filter(|_| address.is_multiple_of(GRANULARITY as u64))
        .map(|end| address..end)
        .ok_or(code::INVALID_VALUE)
}

impl State {
    /// Takes memory of a device; it has no address.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`
    pub(crate) fn create_physical(
        &mut self,
        device: usize,
        size: usize,
        flags: CUmemAllocationProp_allocFlags,
        call: u64,
    ) -> Result<u64, CUresult> {
        let storage = self.take_room(device, size, call)?;
        Ok(self.physical.insert(Physical {
            device,
            size,
            flags,
            storage,
            references: 1,
            call,
        }))
    }

    /// Gives up a handle.
    ///
    /// # Errors
    /// `INVALID_VALUE`
    pub(crate) fn release_physical(&mut self, handle: u64) -> Result<(), CUresult> {
        let physical = self.physical_mut(handle)?;
        physical.references -= 1;
        self.drop_physical(handle);
        Ok(())
    }

    /// The memory of a handle that was not released.
    ///
    /// # Errors
    /// `INVALID_VALUE`
    pub(crate) fn physical_mut(&mut self, handle: u64) -> Result<&mut Physical, CUresult> {
        let physical = self.physical.get_mut(handle).ok();
        physical
            .filter(|physical| physical.references > 0)
            .ok_or(code::INVALID_VALUE)
    }

    /// Gives memory back that has neither a handle nor an address any more.
    fn drop_physical(&mut self, handle: u64) {
        let mut mappings = self.virtual_memory.mappings.values();
        let mapped = mappings.any(|mapping| mapping.handle == handle);
        let unused = |physical: &Physical| physical.references == 0 && !mapped;
        if let Ok(physical) = self.physical.get(handle)
            && unused(physical)
        {
            self.unuse(physical.device, physical.size);
            let reuse = self.options.reuse_handles;
            drop(self.physical.remove(handle, reuse));
        }
    }

    /// Reserves addresses: the first gap that is wide enough.
    ///
    /// # Errors
    /// `INVALID_VALUE`, `OUT_OF_MEMORY`
    pub(crate) fn reserve_addresses(&mut self, size: usize, call: u64) -> Result<u64, CUresult> {
        let all = self.space.virtual_addresses();
        let size = whole(all.start, size)?;
        let size = size.end - size.start;
        let mut start = all.start;
        for (other, (len, _)) in &self.virtual_memory.reserved {
            if start + size <= *other {
                break;
            }
            start = other + *len as u64;
        }
        if start + size > all.end {
            return Err(code::OUT_OF_MEMORY);
        }
        let entry = (size as usize, call);
        self.virtual_memory.reserved.insert(start, entry);
        Ok(start)
    }

    /// Gives reserved addresses back.
    ///
    /// # Errors
    /// `INVALID_VALUE` where something is mapped there, or another range was reserved.
    pub(crate) fn free_addresses(&mut self, address: u64, size: usize) -> Result<(), CUresult> {
        let range = whole(address, size)?;
        let reserved = self.virtual_memory.reserved.get(&address);
        let exact = reserved.is_some_and(|(len, _)| *len == size);
        if !exact || !self.virtual_memory.within(&range).is_empty() {
            return Err(code::INVALID_VALUE);
        }
        self.virtual_memory.reserved.remove(&address);
        Ok(())
    }

    /// Maps all of some physical memory; no device has access yet.
    ///
    /// # Errors
    /// `INVALID_VALUE`, `NOT_SUPPORTED` for a part of it.
    pub(crate) fn map(&mut self, address: u64, size: usize, handle: u64) -> Result<(), CUresult> {
        let physical = self.physical_mut(handle)?;
        if size != physical.size {
            return Err(code::NOT_SUPPORTED);
        }
        let (device, storage) = (physical.device, Arc::clone(&physical.storage));
        let range = whole(address, size)?;
        let memory = &mut self.virtual_memory;
        if !memory.is_reserved(&range) || !memory.within(&range).is_empty() {
            return Err(code::INVALID_VALUE);
        }
        let access = BTreeMap::new();
        memory.mappings.insert(
            address,
            Mapping {
                handle,
                size,
                access,
            },
        );
        self.space.insert(Block {
            address,
            capacity: size,
            device,
            origin: Origin::Mapped,
            data: Data::Device(storage),
            read_only: false,
            allocation: None,
            presence: Presence::Live(size),
            touched: Default::default(),
            touched_ahead: Default::default(),
        });
        Ok(())
    }

    /// Removes all mappings in a range of reserved addresses. Nothing may use them any more.
    ///
    /// # Errors
    /// `INVALID_VALUE` where the range cuts a mapping.
    pub(crate) fn unmap(&mut self, address: u64, size: usize, call: u64) -> Result<(), CUresult> {
        let range = whole(address, size)?;
        let starts = self.virtual_memory.within(&range);
        if !self.virtual_memory.is_reserved(&range) || self.cuts(&starts, &range) {
            return Err(code::INVALID_VALUE);
        }
        for start in starts {
            drop(self.space.remove(start, call));
            if let Some(mapping) = self.virtual_memory.mappings.remove(&start) {
                self.drop_physical(mapping.handle);
            }
        }
        Ok(())
    }

    /// Whether a range cuts one of some mappings.
    fn cuts(&self, starts: &[u64], range: &Range<u64>) -> bool {
        starts.iter().any(|start| {
            let mapping = self.virtual_memory.mappings.get(start);
            let end = start + mapping.map_or(0, |mapping| mapping.size as u64);
            *start < range.start || end > range.end
        })
    }

    /// Sets what a device may do with mappings that fill a range.
    ///
    /// # Errors
    /// `INVALID_VALUE` where they do not fill it.
    pub(crate) fn set_mapped_access(
        &mut self,
        address: u64,
        size: usize,
        device: usize,
        flags: u32,
        call: u64,
    ) -> Result<(), CUresult> {
        let range = whole(address, size)?;
        let starts = self.virtual_memory.within(&range);
        let sizes = starts.iter().filter_map(|start| {
            let mapping = self.virtual_memory.mappings.get(start)?;
            Some(mapping.size)
        });
        if sizes.sum::<usize>() != size || self.cuts(&starts, &range) {
            return Err(code::INVALID_VALUE);
        }
        for start in starts {
            let Some(mapping) = self.virtual_memory.mappings.get_mut(&start) else {
                continue;
            };
            if flags == 0 {
                mapping.access.remove(&device);
            } else {
                mapping.access.insert(device, flags);
            }
            let open = !mapping.access.is_empty();
            let read_only = open && mapping.access.values().all(|flags| *flags == 1);
            let allocation = Allocation {
                id: self.space.new_id(),
                size: mapping.size,
                // Of no context: it stays when contexts end.
                context: ContextRef { handle: 0, life: 0 },
                call,
                sync_memops: false,
            };
            if let Some(block) = self.space.at_mut(start) {
                block.read_only = read_only;
                if !open {
                    block.allocation = None;
                } else if block.allocation.is_none() {
                    block.allocation = Some(allocation);
                }
            }
        }
        Ok(())
    }
}
