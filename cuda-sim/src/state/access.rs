//! Global memory as a running kernel sees it: each access is checked against the blocks that are live at that moment.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, fence};

use cuda_sim_machine::{Contents, Memory, MemoryFault};
use parking_lot::{Mutex, MutexGuard};

use crate::report::AccessKind;
use crate::state::found::{Found, hit};
use crate::state::order::check::Touch;
use crate::state::order::touched::Touched;
use crate::state::reach::Reach;
use crate::state::space::{Block, Data, Origin, Presence, Space};

/// The blocks that a kernel of one context may reach.
#[derive(Debug)]
pub(crate) struct DeviceView<'a> {
    space: &'a Space,
    /// Those that it has accessed, outside the heap.
    found: Found<'a>,
    /// Which of the blocks it may access.
    reach: Reach,
    /// Held while host memory is accessed, so that blocks on several threads do not race there among themselves.
    host: Mutex<()>,
    /// Whether what is touched is noted.
    watch: bool,
    /// Whether it is the view of threads that have not waited for the kernel before theirs.
    ahead: bool,
    /// Whether blocks may run on several threads.
    spread: bool,
    /// Words that nothing had written when they were first changed atomically, and whether there are any. To later changes by the same
    /// kernel they are still unwritten where the blocks' order is left open: else the order would decide which block is reported.
    changed: Mutex<HashSet<u64>>,
    any_changed: AtomicBool,
}

impl<'a> DeviceView<'a> {
    pub(crate) fn new(space: &'a Space, reach: Reach, watch: bool, spread: bool) -> Self {
        Self {
            space,
            found: Found::new(),
            reach,
            host: Mutex::new(()),
            watch,
            ahead: false,
            spread,
            changed: Mutex::default(),
            any_changed: AtomicBool::new(false),
        }
    }

    /// The live block that holds all of the bytes, and where in it they start.
    #[inline]
    fn find(&self, address: u64, size: usize) -> Result<(&'a Block, usize), MemoryFault> {
        // Whatever was entered was checked before.
        match self.found.last(address, size) {
            Some(found) => Ok(found),
            None => match self.found.search(address, size) {
                Some(found) => Ok(found),
                None => self.find_new(address, size),
            },
        }
    }

    /// The same of a block that may not have been accessed before.
    fn find_new(&self, address: u64, size: usize) -> Result<(&'a Block, usize), MemoryFault> {
        let block = self.space.covering(address);
        match block.and_then(|block| hit(block, address, size)) {
            Some(found) if found.0.origin == Origin::Heap && self.reach.includes(found.0) => {
                // Not entered: what is allocated there changes while the kernel runs.
                if let Some(heap) = self.space.heaps.get(&found.0.address) {
                    heap.check(address, found.1, size)?;
                }
                Ok(found)
            }
            Some(found) if self.reach.includes(found.0) => {
                self.found.enter(address, found.0);
                Ok(found)
            }
            Some(_) => Err(refused(
                address,
                size,
                "memory of another device, to which peer access is not enabled",
            )),
            None => Err(MemoryFault {
                address,
                size,
                why: Cow::Owned(explain(self.space, address, size)),
            }),
        }
    }

    /// The same for threads that have not waited for the kernel before theirs.
    pub(crate) fn ahead(self) -> Self {
        Self {
            ahead: true,
            ..self
        }
    }

    #[inline]
    fn touched<'b>(&self, block: &'b Block) -> &'b Touched {
        if self.ahead {
            &block.touched_ahead
        } else {
            &block.touched
        }
    }

    /// Notes an access that is allowed.
    #[inline]
    fn note(&self, block: &Block, kind: AccessKind, offset: usize, len: usize) {
        // What the driver itself passes from kernel to kernel is no race of theirs.
        if self.watch && !matches!(block.origin, Origin::Heap | Origin::Workspace) {
            self.touched(block).note(kind, block.capacity, offset, len);
        }
    }

    /// Held while host memory is accessed. A kernel that does so may work hand in hand with the host, so nothing there is watched any more.
    fn host_memory(&self) -> MutexGuard<'_, ()> {
        let guard = self.host.lock();
        self.space.watches.lift_all();
        guard
    }

    /// Whether a word that is written now was not when the kernel first changed it.
    #[inline]
    fn was_unwritten(&self, address: u64) -> bool {
        // After the word has been seen as written, its entry is seen too.
        fence(Acquire);
        self.any_changed.load(Relaxed) && self.changed.lock().contains(&address)
    }

    /// Notes that a word is changed that nothing has written, before it counts as written.
    #[cold]
    fn note_changed(&self, address: u64) {
        if self.spread {
            self.changed.lock().insert(address);
            self.any_changed.store(true, Relaxed);
            fence(Release);
        }
    }

    /// What was touched, by the addresses of the blocks.
    pub(crate) fn take_touched(&self) -> Vec<Touch> {
        if !self.watch {
            return Vec::new();
        }
        let of_block = |block: &'a Block| {
            let address = block.address;
            self.touched(block).take().map(move |(kind, bytes)| Touch {
                block: address,
                kind,
                bytes,
            })
        };
        let blocks = self.found.blocks().into_iter();
        blocks.flat_map(of_block).collect()
    }
}

fn refused(address: u64, size: usize, why: &'static str) -> MemoryFault {
    MemoryFault {
        address,
        size,
        why: Cow::Borrowed(why),
    }
}

/// Why nothing live is at an address.
pub(crate) fn explain(space: &Space, address: u64, size: usize) -> String {
    if let Some(block) = space.covering(address) {
        let offset = address - block.address;
        if let Some(heap) = space.heaps.get(&block.address) {
            return heap.explain(offset as usize, size);
        }
        match block.presence {
            Presence::Pending => {
                return String::from("memory that is not allocated yet in stream order");
            }
            Presence::Freed => {
                return format!(
                    "memory that was freed in stream order (offset {offset} of the block at {:#x})",
                    block.address
                );
            }
            Presence::Live(len) if offset < len as u64 => {
                return format!(
                    "{} bytes past the end of the allocation of {len} bytes at {:#x}",
                    offset + size as u64 - len as u64,
                    block.address
                );
            }
            Presence::Live(_) => {}
        }
    }
    if let Some(former) = space.former(address) {
        return format!(
            "memory freed by call {} (offset {} of {} bytes at {:#x}, made by call {})",
            former.freed,
            address - former.address,
            former.size,
            former.address,
            former.made
        );
    }
    match space.nearest(address) {
        Some(block) => {
            let size = block
                .allocation
                .as_ref()
                .map_or(block.capacity, |allocation| allocation.size);
            let (start, end) = (block.address, block.address + size as u64);
            if address >= end {
                format!(
                    "outside all allocations, {} bytes past the end of the nearest, {size} bytes at {start:#x}",
                    address - end
                )
            } else {
                format!(
                    "outside all allocations, {} bytes before the nearest, {size} bytes at {start:#x}",
                    start.saturating_sub(address)
                )
            }
        }
        None => String::from("outside all allocations: there is none"),
    }
}

impl Memory for DeviceView<'_> {
    fn load(&self, address: u64, into: &mut [u8]) -> Result<Contents, MemoryFault> {
        let (block, offset) = self.find(address, into.len())?;
        self.note(block, AccessKind::Read, offset, into.len());
        let _host = block.is_host().then(|| self.host_memory());
        Ok(match block.read(offset, into) {
            None => Contents::Written,
            Some(first) => Contents::Unwritten {
                first: first - offset,
            },
        })
    }

    fn store(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        let (block, offset) = self.find(address, bytes.len())?;
        if block.read_only {
            return Err(refused(
                address,
                bytes.len(),
                "memory that a kernel cannot write",
            ));
        }
        self.note(block, AccessKind::Write, offset, bytes.len());
        let _host = block.is_host().then(|| self.host_memory());
        block.write(offset, bytes);
        Ok(())
    }

    fn atomic(
        &self,
        address: u64,
        size: usize,
        update: &mut dyn FnMut(u64) -> u64,
    ) -> Result<(u64, Contents), MemoryFault> {
        let (block, offset) = self.find(address, size)?;
        if block.read_only {
            return Err(refused(address, size, "memory that a kernel cannot write"));
        }
        self.note(block, AccessKind::Atomic, offset, size);
        match &block.data {
            Data::Device(storage) => {
                let contents = if storage.all_written(offset, size) && !self.was_unwritten(address)
                {
                    Contents::Written
                } else {
                    self.note_changed(address);
                    Contents::Unwritten { first: 0 }
                };
                Ok((storage.atomic(offset, size, update), contents))
            }
            Data::Host(_) => {
                let _host = self.host_memory();
                let mut bytes = [0; 8];
                let Some(word) = bytes.get_mut(..size) else {
                    return Err(refused(address, size, "not a word"));
                };
                block.read(offset, word);
                let old = u64::from_le_bytes(bytes);
                let new = update(old).to_le_bytes();
                block.write(offset, new.get(..size).unwrap_or(&[]));
                Ok((old, Contents::Written))
            }
        }
    }
}
