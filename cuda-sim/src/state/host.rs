//! Host memory: pinned blocks that the driver owns, registered ranges, and copies to and from plain host addresses.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// What pinned host memory is aligned to: a page.
const PAGE: usize = 4096;

/// Host memory that the device can reach.
///
/// # Invariants
/// `start` is the first of `len` bytes. Owned memory was allocated here with the layout (`len`, [`PAGE`]) and is freed by `drop`;
/// registered memory is the caller's, who promised to keep it until it is unregistered.
#[derive(Debug)]
pub(crate) struct HostMemory {
    start: NonNull<u8>,
    len: usize,
    owned: bool,
}

// SAFETY: the memory is plain bytes that no thread has a claim to; accesses from several threads are the callers' to order, as with the
// real driver.
unsafe impl Send for HostMemory {}
// SAFETY: as above; no method gives out a reference.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Allocates zeroed pages; nothing where there is no room.
    pub(crate) fn allocate(len: usize) -> Option<Self> {
        let layout = Layout::from_size_align(len, PAGE)
            .ok()
            .filter(|layout| layout.size() > 0)?;
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        start.expose_provenance();
        Some(Self {
            start: NonNull::new(start)?,
            len,
            owned: true,
        })
    }

    /// Takes note of the caller's own memory.
    pub(crate) fn register(address: usize, len: usize) -> Option<Self> {
        let start = NonNull::new(ptr::with_exposed_provenance_mut(address))?;
        Some(Self {
            start,
            len,
            owned: false,
        })
    }

    /// First byte.
    pub(crate) fn address(&self) -> usize {
        self.start.addr().get()
    }

    /// Bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if let (true, Ok(layout)) = (self.owned, Layout::from_size_align(self.len, PAGE)) {
            // SAFETY: by the invariant it was allocated with this layout.
            unsafe { dealloc(self.start.as_ptr(), layout) };
        }
    }
}

/// Host bytes that a caller named, valid by the caller's promise for as long as the operation takes.
///
/// # Invariants
/// Made only from what a C caller passed as source or destination of a copy, or from [`HostMemory`] that is alive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostRange {
    address: usize,
    len: usize,
}

impl HostRange {
    /// Names the bytes. By building one the caller passes on the promise of the C function's own caller.
    pub(crate) fn new(address: usize, len: usize) -> Self {
        Self { address, len }
    }

    /// First byte.
    pub(crate) fn address(self) -> usize {
        self.address
    }

    /// A part of it; nothing where it is not one.
    pub(crate) fn part(self, offset: usize, len: usize) -> Option<Self> {
        (offset.checked_add(len)? <= self.len).then_some(Self {
            address: self.address + offset,
            len,
        })
    }

    /// Reads as many bytes as both have.
    pub(crate) fn read(self, into: &mut [u8]) {
        let len = into.len().min(self.len);
        let source: *const u8 = ptr::with_exposed_provenance(self.address);
        // SAFETY: by the invariant the source is valid for `len` bytes; the destination is a slice of ours, which nobody else can name.
        unsafe { ptr::copy_nonoverlapping(source, into.as_mut_ptr(), len) };
    }

    /// Takes what stands there, whatever it is.
    pub(crate) fn save(self) -> Box<[MaybeUninit<u8>]> {
        let mut saved = Box::new_uninit_slice(self.len);
        let source: *const MaybeUninit<u8> = ptr::with_exposed_provenance(self.address);
        // SAFETY: by the invariant the source is valid for `len` bytes; the destination is as long and ours.
        unsafe { ptr::copy_nonoverlapping(source, saved.as_mut_ptr(), self.len) };
        saved
    }

    /// Puts back as many bytes as both have.
    pub(crate) fn restore(self, saved: &[MaybeUninit<u8>]) {
        let len = saved.len().min(self.len);
        let target: *mut MaybeUninit<u8> = ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: by the invariant the target is valid for `len` bytes; the source is a slice of ours, which nobody else can name.
        unsafe { ptr::copy_nonoverlapping(saved.as_ptr(), target, len) };
    }

    /// Writes as many bytes as both have.
    pub(crate) fn write(self, bytes: &[u8]) {
        let len = bytes.len().min(self.len);
        let target: *mut u8 = ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: by the invariant the target is valid for `len` bytes; the source is a slice of ours, which nobody else can name.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), target, len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_zero_aligned_and_hold_what_is_written() {
        let memory = HostMemory::allocate(100).expect("room");
        assert_eq!(memory.address() % PAGE, 0);
        let range = HostRange::new(memory.address(), memory.len());
        let mut back = [1; 100];
        range.read(&mut back);
        assert_eq!(back, [0; 100]);
        range.part(10, 3).expect("inside").write(&[1, 2, 3]);
        range.read(&mut back);
        assert_eq!(back[9..14], [0, 1, 2, 3, 0]);
        assert!(range.part(98, 3).is_none());
    }
}
