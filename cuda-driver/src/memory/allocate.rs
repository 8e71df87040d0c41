//! Allocating device memory on a stream.

use std::mem::MaybeUninit;

use bytemuck::{NoUninit, Zeroable};
use cuda_sys::{CUdevice_attribute, CUdeviceptr};

use super::allocation::DeviceAllocation;
use super::block::{Block, Release};
use super::element::size_in_bytes;
use super::owner::Owner;
use crate::call;
use crate::context::ContextCore;
use crate::error::{Doing, Result, count};
use crate::process;
use crate::stream::{Kind, Stream};

impl Stream {
    /// Allocates memory and copies `from` into it; `from` can be changed at once.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory); what the copy returns.
    #[doc(alias = "memcpy_stod")]
    #[doc(alias = "to_gpu")]
    pub fn upload<T: NoUninit>(&self, from: &[T]) -> Result<DeviceAllocation<T>> {
        let memory = self.uninitialized::<T>(from.len())?;
        // SAFETY: the copy that follows on the same stream writes every element.
        let mut memory = unsafe { memory.assume_init() };
        self.copy(from, &mut memory)?;
        Ok(memory)
    }

    /// Allocates memory of `len` elements and sets it to zero.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory); what the driver returns.
    #[doc(alias = "alloc_zeros")]
    pub fn zeroed<T: Zeroable>(&self, len: usize) -> Result<DeviceAllocation<T>> {
        let memory = self.uninitialized::<T>(len)?;
        // SAFETY: the operation that follows on the same stream zeroes every element, which is a valid `T`.
        let mut memory = unsafe { memory.assume_init() };
        self.zero(&mut memory)?;
        Ok(memory)
    }

    /// Allocates memory of `len` elements that are not initialised.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory); what the driver returns.
    #[doc(alias = "cuMemAllocAsync")]
    #[doc(alias = "cuMemAlloc")]
    #[doc(alias = "mem_alloc")]
    pub fn uninitialized<T>(&self, len: usize) -> Result<DeviceAllocation<MaybeUninit<T>>> {
        process::drop_postponed();
        self.core().context().collect_in_passing();
        let doing = || {
            format!(
                "allocate {} of {}",
                count(len, "element"),
                count(size_of::<T>(), "byte")
            )
        };
        let size = size_in_bytes::<T>(len).doing(doing)?;
        let (address, release) = self.allocate(size).doing(doing)?;
        // The allocation is the first work on memory that is allocated in stream order.
        let dirty = matches!(release, Release::StreamOrdered);
        let block = Block::at_home(self.core(), address, size, release, dirty);
        Ok(DeviceAllocation::new(address, len, Owner::new(block)))
    }

    /// Allocates, and says how that is to be released.
    #[inline]
    fn allocate(&self, size: usize) -> Result<(CUdeviceptr, Release)> {
        let home = self.core();
        if size == 0 {
            return Ok((0, Release::Nothing));
        }
        let mut address: CUdeviceptr = 0;
        if home.context().has_stream_ordered_allocator()? {
            home.enqueue(|| {
                let out = &raw mut address;
                // SAFETY: the stream is live as long as its core, and the pointer is to a live address.
                unsafe { call!(home.driver(), cuMemAllocAsync(out, size, home.as_raw())) }
            })?;
            return Ok((address, Release::StreamOrdered));
        }
        debug_assert!(home.kind() != Kind::PerThread && home.kind() != Kind::Borrowed);
        let _current = home.context().push()?;
        // SAFETY: the pointer is to a live address, and the context is current.
        let result = unsafe { call!(home.driver(), cuMemAlloc_v2(&raw mut address, size)) };
        home.context().watch(result)?;
        Ok((address, Release::Synchronous))
    }
}

impl ContextCore {
    /// Whether the driver and the device have the stream-ordered allocator; asked once.
    #[inline]
    pub(super) fn has_stream_ordered_allocator(&self) -> Result<bool> {
        match self.stream_ordered_allocator().get() {
            Some(&known) => Ok(known),
            None => self.ask_for_stream_ordered_allocator(),
        }
    }

    #[cold]
    fn ask_for_stream_ordered_allocator(&self) -> Result<bool> {
        let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
        let supported = self.driver().library().cuMemAllocAsync().is_ok()
            && self.device().raw_attribute(attribute)? != 0;
        Ok(*self.stream_ordered_allocator().get_or_init(|| supported))
    }
}
