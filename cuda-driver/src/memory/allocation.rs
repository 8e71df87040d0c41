//! Owned device memory.

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::RangeBounds;

use bytemuck::{AnyBitPattern, NoUninit, Zeroable};
use cuda_sys::CUdeviceptr;

use super::block::{Block, home_number};
use super::element::{bounds, offset};
use super::owner::Owner;
use super::slice::{DeviceSlice, DeviceSliceMut};
use crate::close::CloseError;
use crate::context::Context;
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::order::Order;
use crate::process;
use crate::stream::{Stream, StreamCore};

/// Device memory for `len` elements of `T`, freed when it is dropped.
///
/// It has a *home* stream, the one that it was allocated on. Used on its home stream, it costs nothing to keep in order;
/// used on other streams, each operation waits for exactly those that it conflicts with. It is freed in the order of its
/// home stream, after the last use anywhere; `drop` does not wait.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// use cuda_driver::Driver;
///
/// let stream = Driver::simulated()?.device(0)?.primary_context()?.create_stream()?;
/// let mut numbers = stream.upload(&[1_u32, 2, 3, 4])?;
/// numbers.slice_mut(1..3)?.copy_from(&[20, 30])?;
/// assert_eq!(numbers.to_vec()?, [1, 20, 30, 4]);
/// # }
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
/// The elements are inside the block, aligned, and were initialised by an operation that is ordered before every other.
#[doc(alias = "CudaSlice")]
#[doc(alias = "DeviceBuffer")]
pub struct DeviceAllocation<T> {
    address: CUdeviceptr,
    len: usize,
    owner: Owner,
    elements: PhantomData<T>,
}

impl<T> DeviceAllocation<T> {
    pub(super) fn new(address: CUdeviceptr, len: usize, owner: Owner) -> Self {
        Self {
            address,
            len,
            owner,
            elements: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn block(&self) -> &Block {
        self.owner.block()
    }

    #[inline(always)]
    pub(crate) fn address(&self) -> &CUdeviceptr {
        &self.address
    }

    /// The ordering state, if this allocation has its block alone; else one that is on no home path.
    #[inline(always)]
    pub(crate) fn own_order(&self) -> &Order<StreamCore> {
        self.owner.own_order()
    }

    pub(super) fn owner_mut(&mut self) -> &mut Owner {
        &mut self.owner
    }

    /// How many elements there are.
    #[must_use]
    #[inline]
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
        // The product was checked when the memory was allocated.
        self.len * size_of::<T>()
    }

    /// The address on the device, which stays ours.
    ///
    /// What is done with it is not ordered with the operations of this crate; see
    /// [`Stream::with_raw`] for a way that is.
    #[must_use]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// The context that the memory belongs to.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::from_core(self.block().context().clone())
    }

    /// The stream that the memory is at home on.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] never in practice: every allocation has a home.
    pub(super) fn home(&self) -> Result<Stream> {
        let home = self.block().order().home();
        home.cloned()
            .map(Stream::from_core)
            .ok_or_else(|| Error::invalid("the memory has no home stream"))
    }

    /// The stream that the memory is at home on.
    #[must_use]
    pub fn home_stream(&self) -> Option<Stream> {
        self.home().ok()
    }

    /// All elements, to be read.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice::new(self.address, self.len, self.block())
    }

    /// All elements, to be written.
    #[must_use]
    #[inline]
    pub fn as_mut_slice(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut::new(self.address, self.len, self.owner.block())
    }

    /// A range of the elements, to be read.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the range is not within the elements.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceSlice<'_, T>> {
        self.as_slice().into_slice(range)
    }

    /// A range of the elements, to be written.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the range is not within the elements.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceSliceMut<'_, T>> {
        self.as_mut_slice().into_slice(range)
    }

    /// Takes the elements from `at` on into an owner of their own, which shares the block and its order.
    ///
    /// The memory is freed when both are dropped.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if there are fewer elements than `at`.
    pub fn split_off(&mut self, at: usize) -> Result<Self> {
        let (start, end) = bounds(at.., self.len).doing(|| "split an allocation")?;
        let address = self.address + offset(start * size_of::<T>());
        self.len = start;
        Ok(Self::new(address, end - start, self.owner.share()))
    }

    /// Frees the memory and reports what that returns, which `Drop` cannot.
    ///
    /// # Errors
    /// [`ErrorKind::StillShared`] with the handle while another owner shares the block; what ordering the free returns.
    #[doc(alias = "cuMemFreeAsync")]
    #[doc(alias = "cuMemFree")]
    pub fn close(mut self) -> std::result::Result<(), CloseError<Self>> {
        if self.owner.sole().is_none() {
            let error = Error::new(ErrorKind::StillShared, "another part of it has an owner");
            return Err(CloseError::new(
                error.doing("free device memory"),
                Some(self),
            ));
        }
        if let Err(error) = process::permit() {
            return Err(CloseError::new(
                error.doing("free device memory"),
                Some(self),
            ));
        }
        // Everything that can fail but the free itself; `Drop` does that.
        let gathered = self.block().gather_at_home().doing(|| "free device memory");
        gathered.map_err(|error| CloseError::new(error, None))
    }
}

impl<T: AnyBitPattern> DeviceAllocation<T> {
    /// Copies all elements to the host, in the order of the home stream, and waits for them.
    ///
    /// # Errors
    /// What the copy returns.
    #[doc(alias = "cuMemcpyDtoHAsync")]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.as_slice().to_vec()
    }

    /// Copies all elements into `to`, in the order of the home stream, and waits for them.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if `to` is not exactly as long; what the copy returns.
    #[doc(alias = "cuMemcpyDtoHAsync")]
    pub fn copy_to(&self, to: &mut [T]) -> Result<()> {
        self.home()?.copy(self, to)
    }
}

impl<T: NoUninit> DeviceAllocation<T> {
    /// Copies `from` over all elements, in the order of the home stream; `from` can be changed at once.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if `from` is not exactly as long; what the copy returns.
    #[doc(alias = "cuMemcpyHtoDAsync")]
    pub fn copy_from(&mut self, from: &[T]) -> Result<()> {
        self.home()?.copy(from, self)
    }

    /// Sets all elements to `value`, in the order of the home stream; see [`Stream::fill`].
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuMemsetD8Async")]
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.home()?.fill(self, value)
    }
}

impl<T: Zeroable> DeviceAllocation<T> {
    /// Sets all elements to zero, in the order of the home stream.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuMemsetD8Async")]
    pub fn zero(&mut self) -> Result<()> {
        self.home()?.zero(self)
    }
}

impl<T> DeviceAllocation<MaybeUninit<T>> {
    /// Takes the elements as initialised.
    ///
    /// # Safety
    /// Operations that are ordered before every later one write a valid `T` to each element.
    #[must_use]
    pub unsafe fn assume_init(self) -> DeviceAllocation<T> {
        DeviceAllocation::new(self.address, self.len, self.owner)
    }
}

impl<T> fmt::Debug for DeviceAllocation<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceAllocation")
            .field("address", &format_args!("{:#x}", self.address))
            .field("len", &self.len)
            .field("home", &home_number(self.block()))
            .finish()
    }
}
