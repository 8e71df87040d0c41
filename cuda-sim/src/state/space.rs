//! The address space of an instance: every block that a device can reach, found by address.
//!
//! A block has two states. The *host's* is what calls see at once: an address is allocated from the call that allocates it to the call
//! that frees it. The *device's* is what executed operations see: memory allocated or freed in stream order appears and goes when the
//! stream gets there.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::state::context::ContextRef;
use crate::state::heap::Heap;
use crate::state::host::{HostMemory, HostRange};
use crate::state::order::history::Histories;
use crate::state::order::touched::Touched;
use crate::state::storage::Storage;
use crate::state::watch::Watches;

/// Device memory starts on multiples of this, with at least as much unused space after each block.
pub(crate) const ALIGNMENT: usize = 512;
/// Blocks of at least this size start on multiples of it, for a real driver maps large memory in pages of that size.
const LARGE: usize = 2 << 20;
/// First device address of slot 0. Linux, macOS and Windows put nothing of a process between 2^45 and 2^46.
const BASE: u64 = 1 << 45;
/// Address space of an instance, shared by its devices.
const SLOT_SPAN: u64 = 1 << 39;
/// Address space of all instances.
const ALL_SLOTS: u64 = SLOT_SPAN * crate::slot::SLOTS as u64;
/// Freed blocks that are remembered to explain a later access.
const REMEMBERED: usize = 4096;

/// Where a block's bytes are.
#[derive(Debug)]
pub(crate) enum Data {
    /// In the software driver, as memory of a device.
    Device(Arc<Storage>),
    /// In the host's memory.
    Host(HostMemory),
}

/// How a block came to be, and with it which function frees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// `cuMemAlloc`
    Allocated,
    /// Stream-ordered, from the pool of that handle.
    Pool(u64),
    /// Reserved by a captured allocation: no device ever sees it.
    Graph,
    /// What kernels allocate from.
    Heap,
    /// What the blocks of cooperative launches wait for each other with.
    Workspace,
    /// A variable of the module with that handle.
    Module(u64),
    /// The elements of a CUDA array.
    Array,
    /// Physical memory that was mapped.
    Mapped,
    /// `cuMemAllocManaged`
    Managed,
    /// A managed variable of the module with that handle.
    ManagedModule(u64),
    /// Pinned host memory, with its flags.
    Host(u32),
    /// Registered host memory, with its flags.
    Registered(u32),
}

/// What the host sees while the block is allocated.
#[derive(Debug, Clone)]
pub(crate) struct Allocation {
    /// Never reused: what `CU_POINTER_ATTRIBUTE_BUFFER_ID` gives.
    pub(crate) id: u64,
    /// Bytes that were asked for.
    pub(crate) size: usize,
    /// The context it belongs to.
    pub(crate) context: ContextRef,
    /// Number of the call that made it.
    pub(crate) call: u64,
    /// Set by `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`.
    pub(crate) sync_memops: bool,
}

/// What the device sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Its allocation has not been executed yet.
    Pending,
    /// This many bytes can be accessed.
    Live(usize),
    /// Its release has been executed.
    Freed,
}

/// A piece of the address space.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) address: u64,
    pub(crate) capacity: usize,
    pub(crate) device: usize,
    pub(crate) origin: Origin,
    pub(crate) data: Data,
    pub(crate) read_only: bool,
    pub(crate) allocation: Option<Allocation>,
    pub(crate) presence: Presence,
    /// What a kernel in execution touches.
    pub(crate) touched: Touched,
    /// What it touches before it waits for the kernel before it.
    pub(crate) touched_ahead: Touched,
}

impl Block {
    /// Whether it is managed memory, which lies in the host's.
    pub(crate) fn is_managed(&self) -> bool {
        matches!(self.origin, Origin::Managed | Origin::ManagedModule(_))
    }

    /// Whether it lies in the host's memory.
    pub(crate) fn is_host(&self) -> bool {
        matches!(self.data, Data::Host(_))
    }

    /// Reads from `offset`; the first byte never written, if any. Within bounds by the caller's check.
    pub(crate) fn read(&self, offset: usize, into: &mut [u8]) -> Option<usize> {
        match &self.data {
            Data::Device(storage) => storage.read(offset, into),
            Data::Host(memory) => {
                if let Some(part) =
                    HostRange::new(memory.address(), memory.len()).part(offset, into.len())
                {
                    part.read(into);
                }
                None
            }
        }
    }

    /// Writes at `offset`. Within bounds by the caller's check.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        match &self.data {
            Data::Device(storage) => storage.write(offset, bytes),
            Data::Host(memory) => {
                if let Some(part) =
                    HostRange::new(memory.address(), memory.len()).part(offset, bytes.len())
                {
                    part.write(bytes);
                }
            }
        }
    }
}

/// A block that is gone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Former {
    pub(crate) address: u64,
    pub(crate) size: usize,
    pub(crate) made: u64,
    pub(crate) freed: u64,
}

/// All blocks of an instance.
#[derive(Debug)]
pub(crate) struct Space {
    blocks: BTreeMap<u64, Block>,
    former: VecDeque<Former>,
    /// Who touched which of them.
    pub(crate) histories: Histories,
    /// What asynchronous copies have borrowed from the host.
    pub(crate) watches: Watches,
    /// What kernels have allocated, by the address of the block that it lies in.
    pub(crate) heaps: BTreeMap<u64, Heap>,
    next: Vec<u64>,
    ends: Vec<u64>,
    next_id: u64,
}

impl Space {
    pub(crate) fn new(slot: usize, devices: usize) -> Self {
        let base = BASE + slot as u64 * SLOT_SPAN;
        let span = SLOT_SPAN / devices.max(1).next_power_of_two() as u64;
        // The first page of each device's range stays unused, so that a small negative offset hits nothing.
        let next = (0..devices as u64)
            .map(|device| base + device * span + (2 << 20))
            .collect();
        let ends = (1..=devices as u64)
            .map(|device| base + device * span)
            .collect();
        Self {
            blocks: BTreeMap::new(),
            former: VecDeque::new(),
            histories: Histories::default(),
            watches: Watches::default(),
            heaps: BTreeMap::new(),
            next,
            ends,
            next_id: 1,
        }
    }

    /// A number for an allocation, never reused.
    pub(crate) fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// An address for a block of that capacity: fresh while there is room, so that a freed address explains itself; else the first gap.
    pub(crate) fn place(&mut self, device: usize, capacity: usize) -> Option<u64> {
        let span = capacity
            .checked_next_multiple_of(ALIGNMENT)?
            .checked_add(ALIGNMENT)? as u64;
        let align = if capacity < LARGE { ALIGNMENT } else { LARGE } as u64;
        let (next, end) = (self.next.get_mut(device)?, *self.ends.get(device)?);
        let address = next.checked_next_multiple_of(align)?;
        if address.checked_add(span).is_some_and(|after| after <= end) {
            *next = address + span;
            return Some(address);
        }
        let first = BASE + (*self.ends.first()? - BASE) / SLOT_SPAN * SLOT_SPAN;
        let mut from = if device == 0 {
            first
        } else {
            *self.ends.get(device - 1)?
        } + (2 << 20);
        for block in self.blocks.range(from..end).map(|(_, block)| block) {
            if block.address >= from + span {
                return Some(from);
            }
            let after = (block.capacity.next_multiple_of(ALIGNMENT) + ALIGNMENT) as u64;
            from = (block.address + after).next_multiple_of(align);
        }
        (from + span <= end).then_some(from)
    }

    pub(crate) fn insert(&mut self, block: Block) {
        self.blocks.insert(block.address, block);
    }

    /// Takes the block that starts at `address` away, and remembers it.
    pub(crate) fn remove(&mut self, address: u64, call: u64) -> Option<Block> {
        let block = self.blocks.remove(&address)?;
        self.histories.forget(address);
        self.remember(&block, call);
        Some(block)
    }

    /// Remembers that what the host had at the block is gone.
    fn remember(&mut self, block: &Block, call: u64) {
        let (size, made) = block
            .allocation
            .as_ref()
            .map_or((block.capacity, 0), |allocation| {
                (allocation.size, allocation.call)
            });
        if self.former.len() == REMEMBERED {
            self.former.pop_front();
        }
        self.former.push_back(Former {
            address: block.address,
            size,
            made,
            freed: call,
        });
    }

    /// Whether the address is one that only devices have.
    pub(crate) fn is_device_address(&self, address: u64) -> bool {
        (BASE..BASE + 2 * ALL_SLOTS).contains(&address)
    }

    /// The addresses that programs can reserve: behind those of all instances.
    pub(crate) fn virtual_addresses(&self) -> std::ops::Range<u64> {
        let start = self.ends.first().map_or(BASE, |end| end - 1);
        let slot = (start - BASE) / SLOT_SPAN;
        let start = BASE + ALL_SLOTS + slot * SLOT_SPAN;
        start..start + SLOT_SPAN
    }

    /// The block that starts at `address`.
    pub(crate) fn at(&self, address: u64) -> Option<&Block> {
        self.blocks.get(&address)
    }

    /// The block that starts at `address`, to be changed.
    pub(crate) fn at_mut(&mut self, address: u64) -> Option<&mut Block> {
        self.blocks.get_mut(&address)
    }

    /// The block whose capacity covers `address`.
    pub(crate) fn covering(&self, address: u64) -> Option<&Block> {
        let (_, block) = self.blocks.range(..=address).next_back()?;
        (address - block.address < block.capacity as u64).then_some(block)
    }

    /// Whether the address lies where kernels allocate.
    pub(crate) fn in_heap(&self, address: u64) -> bool {
        self.covering(address)
            .is_some_and(|block| self.heaps.contains_key(&block.address))
    }

    /// The allocation that the host has at `address`, with its block.
    pub(crate) fn allocation(&self, address: u64) -> Option<(&Block, &Allocation)> {
        let block = self.covering(address)?;
        let allocation = block.allocation.as_ref()?;
        (address - block.address < allocation.size as u64).then_some((block, allocation))
    }

    /// The block of the allocation at `address`, and how many bytes the host may name from there on.
    pub(crate) fn reachable(&self, address: u64) -> Option<(&Block, usize)> {
        let (block, allocation) = self.allocation(address)?;
        let offset = (address - block.address) as usize;
        let mut len = allocation.size - offset;
        // Mappings that follow each other count as one.
        if block.origin == Origin::Mapped {
            let open =
                |block: &&Block| block.origin == Origin::Mapped && block.allocation.is_some();
            while let Some(next) = self.blocks.get(&(address + len as u64)).filter(open) {
                len += next.capacity;
            }
        }
        Some((block, len))
    }

    /// All blocks by address.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.blocks.values()
    }

    /// The addresses of the blocks for which `choose` says yes.
    pub(crate) fn select(&self, choose: impl Fn(&Block) -> bool) -> Vec<u64> {
        self.blocks
            .values()
            .filter(|block| choose(block))
            .map(|block| block.address)
            .collect()
    }

    /// The last freed block that covered `address`.
    pub(crate) fn former(&self, address: u64) -> Option<Former> {
        self.former
            .iter()
            .rev()
            .find(|former| address.wrapping_sub(former.address) < former.size as u64)
            .copied()
    }

    /// The closest living allocation below or above `address`.
    pub(crate) fn nearest(&self, address: u64) -> Option<&Block> {
        let below = self
            .blocks
            .range(..=address)
            .next_back()
            .map(|(_, block)| block);
        let above = self.blocks.range(address..).next().map(|(_, block)| block);
        let distance = |block: &Block| match address.checked_sub(block.address) {
            Some(offset) => offset.saturating_sub(block.capacity as u64),
            None => block.address - address,
        };
        below
            .into_iter()
            .chain(above)
            .min_by_key(|block| distance(block))
    }
}
