//! Memory of a context that no call has allocated: the heap of kernels (`malloc` and `free` on the device, with
//! `CU_LIMIT_MALLOC_HEAP_SIZE`), and the workspace of cooperative launches.

use std::collections::{BTreeMap, VecDeque};

use cuda_sim_machine::MemoryFault;
use cuda_sys::{CUlimit, CUresult};
use parking_lot::Mutex;

use crate::code;
use crate::state::State;
use crate::state::context::ContextRef;
use crate::state::space::{Origin, Presence};

/// What an allocation starts on a multiple of, and what lies unused behind it at least.
const UNIT: usize = 16;
/// Released allocations that are remembered to explain a later access.
const REMEMBERED: usize = 4096;
/// Bytes that a cooperative launch can wait with.
const WORKSPACE_SIZE: usize = 4096;
/// The heap of a context that has not set the limit.
pub(crate) const DEFAULT_SIZE: usize = 8 << 20;

/// The heap of a context; it takes one block of device memory.
#[derive(Debug)]
pub(crate) struct Heap {
    capacity: usize,
    pieces: Mutex<Pieces>,
}

/// What is allocated, by offset in the block.
#[derive(Debug, Default)]
struct Pieces {
    /// Sizes as they were asked for.
    live: BTreeMap<usize, usize>,
    freed: VecDeque<(usize, usize)>,
    /// Where the search for room starts: what was released stays unused as long as there is other room.
    next: usize,
}

/// The first multiple of the unit at which nothing of `size` bytes that starts at `offset` lies.
fn end_of(offset: usize, size: usize) -> usize {
    (offset + size + UNIT).next_multiple_of(UNIT)
}

impl Pieces {
    /// The first gap of `needed` bytes that starts in `from..to`.
    fn gap(&self, from: usize, to: usize, needed: usize, capacity: usize) -> Option<usize> {
        let before = self.live.range(..=from).next_back();
        let mut at = before.map_or(from, |(&offset, &size)| from.max(end_of(offset, size)));
        for (&offset, &size) in self.live.range(at..) {
            if offset.saturating_sub(at) >= needed {
                break;
            }
            at = at.max(end_of(offset, size));
        }
        let fits = at < to && at.checked_add(needed).is_some_and(|end| end <= capacity);
        fits.then_some(at)
    }

    fn covering(&self, offset: usize) -> Option<(usize, usize)> {
        let (&start, &size) = self.live.range(..=offset).next_back()?;
        (offset - start < size).then_some((start, size))
    }

    fn freed_at(&self, offset: usize) -> Option<(usize, usize)> {
        let covers = |&&(start, size): &&(usize, usize)| (start..start + size).contains(&offset);
        self.freed.iter().rev().find(covers).copied()
    }
}

impl Heap {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            pieces: Mutex::new(Pieces::default()),
        }
    }

    /// Room for `size` bytes: its offset in the block. No bytes have a place of their own, too.
    pub(crate) fn allocate(&self, size: u64) -> Option<usize> {
        let size = usize::try_from(size).ok()?;
        let needed = size.checked_add(UNIT)?.checked_next_multiple_of(UNIT)?;
        let mut pieces = self.pieces.lock();
        let next = pieces.next;
        let behind = pieces.gap(next, self.capacity, needed, self.capacity);
        let offset = behind.or_else(|| pieces.gap(0, next, needed, self.capacity))?;
        pieces.live.insert(offset, size);
        pieces.next = offset + needed;
        Some(offset)
    }

    /// Releases what starts at the offset.
    ///
    /// # Errors
    /// Why nothing can be released there.
    pub(crate) fn free(&self, offset: usize) -> Result<(), String> {
        let mut pieces = self.pieces.lock();
        if let Some(size) = pieces.live.remove(&offset) {
            if pieces.freed.len() == REMEMBERED {
                pieces.freed.pop_front();
            }
            pieces.freed.push_back((offset, size));
            return Ok(());
        }
        Err(match (pieces.covering(offset), pieces.freed_at(offset)) {
            (Some((start, size)), _) => {
                let inside = offset - start;
                format!("it is byte {inside} of an allocation of {size} bytes, not its start")
            }
            (None, Some((_, size))) => {
                format!("it was freed already, as an allocation of {size} bytes")
            }
            (None, None) => String::from("malloc has not given it to any kernel"),
        })
    }

    /// Whether a kernel may access the bytes.
    ///
    /// # Errors
    /// The fault of an access at `address`, which is `offset` bytes behind the heap's start.
    pub(crate) fn check(
        &self,
        address: u64,
        offset: usize,
        size: usize,
    ) -> Result<(), MemoryFault> {
        let inside = self.pieces.lock().covering(offset);
        if inside.is_some_and(|(start, len)| offset + size <= start + len) {
            return Ok(());
        }
        let why = self.explain(offset, size).into();
        Err(MemoryFault { address, size, why })
    }

    /// Why the bytes are not allocated, and whether they were.
    pub(crate) fn explain(&self, offset: usize, size: usize) -> String {
        let pieces = self.pieces.lock();
        if let Some((start, len)) = pieces.covering(offset) {
            let past = offset + size - start - len;
            return format!("{past} bytes past the end of {len} bytes that a kernel allocated");
        }
        if let Some((start, len)) = pieces.freed_at(offset) {
            let inside = offset - start;
            return format!("offset {inside} of {len} bytes that a kernel allocated and freed");
        }
        match pieces.live.range(..=offset).next_back() {
            Some((start, len)) => {
                let past = offset - start - len;
                format!("{past} bytes past the end of {len} bytes that a kernel allocated")
            }
            None => String::from("the heap of kernels, where nothing is allocated"),
        }
    }

    /// Whether a kernel had the byte and released it.
    pub(crate) fn was_freed(&self, offset: usize) -> bool {
        let pieces = self.pieces.lock();
        pieces.covering(offset).is_none() && pieces.freed_at(offset).is_some()
    }
}

impl State {
    /// The address of the context's heap, which is made when it is first asked for; nothing where there is no room for it.
    pub(crate) fn heap(&mut self, context: ContextRef, call: u64) -> Option<u64> {
        let entry = self.contexts.get(context.handle).ok()?;
        if let Some(address) = entry.heap {
            return Some(address);
        }
        let limit = CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE.0;
        let size = entry.limits.get(&limit).copied().unwrap_or(DEFAULT_SIZE);
        let address = self.allocate_own(context, size, Origin::Heap, call)?;
        self.space.heaps.insert(address, Heap::new(size));
        self.contexts.get_mut(context.handle).ok()?.heap = Some(address);
        Some(address)
    }

    /// The address of the words through which the blocks of the context's cooperative launches wait for each other.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`
    pub(crate) fn workspace(&mut self, context: ContextRef, call: u64) -> Result<u64, CUresult> {
        let entry = self.contexts.get(context.handle)?;
        if let Some(address) = entry.workspace {
            return Ok(address);
        }
        let own = self.allocate_own(context, WORKSPACE_SIZE, Origin::Workspace, call);
        let address = own.ok_or(code::OUT_OF_MEMORY)?;
        if let Some(block) = self.space.at(address) {
            block.write(0, &[0; WORKSPACE_SIZE]);
        }
        self.contexts.get_mut(context.handle)?.workspace = Some(address);
        Ok(address)
    }

    /// Device memory that no call of the host can see.
    fn allocate_own(
        &mut self,
        context: ContextRef,
        size: usize,
        origin: Origin,
        call: u64,
    ) -> Option<u64> {
        let address = self.allocate_device(context, size, origin, call).ok()?;
        if let Some(block) = self.space.at_mut(address) {
            block.allocation = None;
            block.presence = Presence::Live(size);
        }
        Some(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_touch_and_room_is_used_again_late() {
        let heap = Heap::new(160);
        let given: Vec<_> = (0..4).map(|_| heap.allocate(16)).collect();
        assert_eq!(given, [Some(0), Some(32), Some(64), Some(96)]);
        heap.free(32).expect("it is allocated");
        assert_eq!(heap.allocate(1), Some(128));
        assert_eq!(heap.allocate(16), Some(32));
        assert_eq!(heap.allocate(16), None);
        assert_eq!(heap.allocate(u64::MAX), None);
    }

    #[test]
    fn what_is_not_allocated_explains_itself() {
        let heap = Heap::new(1024);
        heap.allocate(20).expect("there is room");
        assert_eq!(heap.check(16, 16, 4), Ok(()));
        let why = heap.explain(18, 4);
        assert_eq!(
            why,
            "2 bytes past the end of 20 bytes that a kernel allocated"
        );
        assert!(heap.free(4).is_err_and(|why| why.contains("byte 4 of")));
        heap.free(0).expect("it is allocated");
        assert!(heap.was_freed(4) && !heap.was_freed(100));
        assert!(heap.free(0).is_err_and(|why| why.contains("freed already")));
        assert!(
            heap.free(512)
                .is_err_and(|why| why.contains("has not given"))
        );
    }
}
