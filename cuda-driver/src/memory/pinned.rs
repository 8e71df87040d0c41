//! Page-locked memory of the host, which the device copies from and to by itself.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::sync::Arc;

use bytemuck::{NoUninit, Zeroable};
use cuda_sys::CU_MEMHOSTALLOC_PORTABLE;

use super::element::{bounds, offset, size_in_bytes};
use super::host_wait::wait_on_host;
use super::pinned_slice::{PinnedSlice, PinnedSliceMut};
use crate::call;
use crate::close::CloseError;
use crate::context::ContextCore;
use crate::error::{Doing, Result, count};
use crate::order::{Access, Order, Range};
use crate::process;
use crate::stream::{Stream, StreamCore, relaxed};

/// Page-locked host memory for `len` elements of `T`, freed when it is dropped.
///
/// Copies between it and the device are asynchronous and run at the full speed of the bus. The host reads and writes it
/// through [`PinnedBuffer::as_slice`] and [`PinnedBuffer::as_mut_slice`], which wait for the copies in flight.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// # let context = cuda_driver::Driver::simulated()?.device(0)?.primary_context()?;
/// let stream = context.create_stream()?;
/// let mut buffer = stream.pinned_zeroed::<u32>(4)?;
/// buffer.as_mut_slice()?.copy_from_slice(&[1, 2, 3, 4]);
/// let mut memory = stream.zeroed::<u32>(4)?;
/// stream.copy(&buffer, &mut memory)?; // returns at once
/// stream.copy(&memory, &mut buffer)?;
/// assert_eq!(buffer.as_slice()?, [1, 2, 3, 4]); // waits
/// # }
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
/// `len` initialised elements start at `start`, which is the memory of `memory`, aligned for `T`.
pub struct PinnedBuffer<T> {
    start: *mut T,
    len: usize,
    memory: PinnedMemory,
    elements: PhantomData<T>,
}

// SAFETY: the buffer owns its elements like a `Vec`, and the driver's side of it is thread-safe.
unsafe impl<T: Send> Send for PinnedBuffer<T> {}
// SAFETY: as for `Send`; through `&` the elements are only read, by the device too.
unsafe impl<T: Sync> Sync for PinnedBuffer<T> {}

/// The page-locked memory of a buffer, and the order of what the device does to it.
///
/// # Invariants
/// `start..start + size` is live page-locked memory until `release`; empty ones have size 0.
pub(super) struct PinnedMemory {
    start: *mut u8,
    size: usize,
    order: Order<StreamCore>,
}

// SAFETY: the memory is plain bytes that no thread owns; all else is `Send`.
unsafe impl Send for PinnedMemory {}
// SAFETY: the bytes are reached through `PinnedBuffer` alone, under Rust's borrow rules.
unsafe impl Sync for PinnedMemory {}

impl PinnedMemory {
    pub(super) fn context(&self) -> &Arc<ContextCore> {
        self.order.domain()
    }

    /// The access of an operation of the device to the bytes from `start` on.
    pub(super) fn access(
        &self,
        start: *mut u8,
        bytes: usize,
        write: bool,
    ) -> Access<'_, StreamCore> {
        let from = offset(start.addr().wrapping_sub(self.start.addr()));
        Access {
            order: &self.order,
            range: Range {
                start: from,
                end: from.saturating_add(offset(bytes)),
            },
            effect: write.into(),
        }
    }

    /// Makes the host wait for everything that the device still does to the memory, or for all that it writes.
    pub(super) fn wait(&self, writes_only: bool) -> Result<()> {
        wait_on_host(&self.order, writes_only)
    }

    fn release(&self) -> Result<()> {
        self.wait(false)?;
        let context = self.context();
        context.call(|| {
            // SAFETY: the memory was allocated by the driver, nothing is in flight on it, and nothing refers to it any
            // more.
            unsafe { call!(context.driver(), cuMemFreeHost(self.start.cast())) }
        })
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        if self.size == 0 {
            return;
        }
        if process::in_host_function() {
            let empty = Order::homeless(Arc::clone(self.context()));
            process::postpone(Box::new(Self {
                start: self.start,
                size: std::mem::replace(&mut self.size, 0),
                order: std::mem::replace(&mut self.order, empty),
            }));
            return;
        }
        self.context()
            .release("free page-locked memory", || self.release());
    }
}

impl Stream {
    /// Allocates page-locked host memory of `len` elements, set to zero, at home on this stream.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory); what the driver returns.
    #[doc(alias = "cuMemHostAlloc")]
    #[doc(alias = "pagelocked_zeros")]
    pub fn pinned_zeroed<T: Zeroable>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        let (start, memory) = self.allocate_pinned::<T>(len)?;
        // SAFETY: the memory has that many elements, and all zeroes are a valid `T`.
        unsafe { std::ptr::write_bytes(start, 0, len) };
        Ok(PinnedBuffer::new(start, len, memory))
    }

    /// Allocates page-locked host memory with the elements of `from`, at home on this stream.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory); what the driver returns.
    #[doc(alias = "cuMemHostAlloc")]
    pub fn pinned_from<T: Copy>(&self, from: &[T]) -> Result<PinnedBuffer<T>> {
        let len = from.len();
        let (start, memory) = self.allocate_pinned::<T>(len)?;
        // SAFETY: the new memory has that many elements and does not overlap the slice.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), start, len) };
        Ok(PinnedBuffer::new(start, len, memory))
    }

    fn allocate_pinned<T>(&self, len: usize) -> Result<(*mut T, PinnedMemory)> {
        process::drop_postponed();
        let doing = || {
            format!(
                "allocate {} of {}",
                count(len, "page-locked element"),
                count(size_of::<T>(), "byte")
            )
        };
        let size = size_in_bytes::<T>(len).doing(doing)?;
        let home = self.core();
        let context = home.context();
        let mut start = std::ptr::dangling_mut::<T>().cast();
        if size != 0 {
            let _current = context.push()?;
            let out = &raw mut start;
            let flags = CU_MEMHOSTALLOC_PORTABLE;
            // SAFETY: the pointer is to a live pointer, and the context is current.
            let result = unsafe { call!(context.driver(), cuMemHostAlloc(out, size, flags)) };
            context.watch(result).doing(doing)?;
        }
        let memory = PinnedMemory {
            start: start.cast(),
            size,
            order: Order::at_home(Arc::clone(home), false),
        };
        Ok((start.cast(), memory))
    }
}

impl<T> PinnedBuffer<T> {
    fn new(start: *mut T, len: usize, memory: PinnedMemory) -> Self {
        Self {
            start,
            len,
            memory,
            elements: PhantomData,
        }
    }

    pub(super) fn start(&self) -> *mut T {
        self.start
    }

    pub(super) fn memory(&self) -> &PinnedMemory {
        &self.memory
    }

    /// How many elements there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The size of all elements, in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        self.memory.size
    }

    /// The elements, after everything that the device writes to them.
    ///
    /// # Errors
    /// What the wait returns.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.memory
            .wait(true)
            .doing(|| "wait for copies to page-locked memory")?;
        // SAFETY: the elements are initialised, nothing writes to them any more, and a new write needs `&mut`.
        Ok(unsafe { std::slice::from_raw_parts(self.start, self.len) })
    }

    /// The elements to change, after everything that the device does to them.
    ///
    /// # Errors
    /// What the wait returns.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.memory
            .wait(false)
            .doing(|| "wait for copies with page-locked memory")?;
        // SAFETY: the elements are initialised, the device is done with them, and the borrow is exclusive.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.start, self.len) })
    }

    /// A range of the elements, as the source of copies.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the range is not within the elements.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<PinnedSlice<'_, T>> {
        let (start, end) =
            bounds(range, self.len).doing(|| "take a range of page-locked memory")?;
        Ok(PinnedSlice::new(self, start, end - start))
    }

    /// A range of the elements, as the source or destination of copies.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the range is not within the elements.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<PinnedSliceMut<'_, T>> {
        let (start, end) =
            bounds(range, self.len).doing(|| "take a range of page-locked memory")?;
        Ok(PinnedSliceMut::new(self, start, end - start))
    }

    /// Waits for what is in flight, frees the memory and reports what that returns, which `Drop` cannot.
    ///
    /// # Errors
    /// What the wait or the free returns. The memory is leaked if it could not be awaited.
    #[doc(alias = "cuMemFreeHost")]
    pub fn close(mut self) -> std::result::Result<(), CloseError<Self>> {
        if self.memory.size == 0 {
            return Ok(());
        }
        if let Err(error) = process::permit() {
            return Err(CloseError::new(
                error.doing("free page-locked memory"),
                Some(self),
            ));
        }
        let driver = self.memory.context().driver().clone();
        let result = relaxed(&driver, || self.memory.release()).doing(|| "free page-locked memory");
        self.memory.size = 0;
        result.map_err(|error| CloseError::new(error, None))
    }
}

impl<T: NoUninit> PinnedBuffer<T> {
    /// Changes the elements to those of `from`, after everything that the device does to them.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if `from` is not exactly as long; what the wait
    /// returns.
    pub fn copy_from(&mut self, from: &[T]) -> Result<()> {
        super::element::require_equal_len(from.len(), self.len)
            .doing(|| "copy to page-locked memory")?;
        self.as_mut_slice()?.copy_from_slice(from);
        Ok(())
    }
}

impl<T> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedBuffer")
            .field("start", &self.start)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
