//! Ranges of device memory, borrowed from an owner.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use bytemuck::{AnyBitPattern, NoUninit, Zeroable};
use cuda_sys::CUdeviceptr;

use super::block::Block;
use super::element::{bounds, offset};
use crate::error::{Error, Result};
use crate::order::Order;
use crate::stream::{Stream, StreamCore};

/// A range of device memory, to be read.
///
/// # Invariants
/// The elements are inside the block, aligned and initialised.
pub struct DeviceSlice<'a, T> {
    address: CUdeviceptr,
    len: usize,
    block: &'a Block,
    elements: PhantomData<&'a [T]>,
}

impl<T> Clone for DeviceSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DeviceSlice<'_, T> {}

/// A range of device memory, to be written; nothing else refers to it meanwhile.
///
/// # Invariants
/// The elements are inside the block, aligned and initialised, and no other slice or operation of safe code has them.
pub struct DeviceSliceMut<'a, T> {
    address: CUdeviceptr,
    len: usize,
    block: &'a Block,
    elements: PhantomData<&'a mut [T]>,
}

/// What both kinds of slice have.
macro_rules! common {
    ($name:ident) => {
        impl<'a, T> $name<'a, T> {
            #[inline]
            pub(super) fn new(address: CUdeviceptr, len: usize, block: &'a Block) -> Self {
                Self {
                    address,
                    len,
                    block,
                    elements: PhantomData,
                }
            }

            #[inline(always)]
            pub(crate) fn block(&self) -> &'a Block {
                self.block
            }

            #[inline(always)]
            pub(crate) fn order(&self) -> &'a Order<StreamCore> {
                self.block.order()
            }

            #[inline(always)]
            pub(crate) fn address(&self) -> &CUdeviceptr {
                &self.address
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

            /// The address on the device, which stays the owner's.
            #[must_use]
            pub fn as_raw(&self) -> CUdeviceptr {
                self.address
            }

            /// A range of the elements, for as long as the whole.
            ///
            /// # Errors
            /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the range is not within the
            /// elements.
            pub fn into_slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
                let (start, end) = bounds(range, self.len)
                    .map_err(|error| error.doing("take a range of device memory"))?;
                let address = self.address + offset(start * size_of::<T>());
                Ok(Self::new(address, end - start, self.block))
            }

            fn home(&self) -> Result<Stream> {
                let home = self.block.order().home().cloned();
                home.map(Stream::from_core).ok_or_else(|| {
                    Error::invalid("borrowed memory has no home stream")
                        .remedied_by("name the stream: `stream.copy(from, to)`")
                })
            }
        }

        impl<T> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("address", &format_args!("{:#x}", self.address))
                    .field("len", &self.len)
                    .finish_non_exhaustive()
            }
        }
    };
}

common!(DeviceSlice);
common!(DeviceSliceMut);

impl<'a, T> DeviceSlice<'a, T> {
    /// The elements before `at`, and those from it on.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if there are fewer elements than `at`.
    pub fn split_at(self, at: usize) -> Result<(Self, Self)> {
        Ok((self.into_slice(..at)?, self.into_slice(at..)?))
    }
}

impl<'a, T> DeviceSliceMut<'a, T> {
    /// The same elements for a shorter time, so that this slice can be used again afterwards.
    #[must_use]
    pub fn reborrow(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut::new(self.address, self.len, self.block)
    }

    /// The same elements, to be read.
    #[must_use]
    pub fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice::new(self.address, self.len, self.block)
    }

    /// The elements before `at`, and those from it on; both can be written at once, on different streams too.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if there are fewer elements than `at`.
    pub fn split_at_mut(self, at: usize) -> Result<(Self, Self)> {
        let (start, end) = bounds(at.., self.len)
            .map_err(|error| error.doing("split a range of device memory"))?;
        let rest = self.address + offset(start * size_of::<T>());
        Ok((
            Self::new(self.address, start, self.block),
            Self::new(rest, end - start, self.block),
        ))
    }
}

impl<T: AnyBitPattern> DeviceSlice<'_, T> {
    /// Copies all elements to the host, in the order of the home stream, and waits for them.
    ///
    /// # Errors
    /// What the copy returns.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.home()?.download(self)
    }

    /// Copies all elements into `to`, in the order of the home stream, and waits for them.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if `to` is not exactly as long; what the copy
    /// returns.
    pub fn copy_to(&self, to: &mut [T]) -> Result<()> {
        self.home()?.copy(self, to)
    }
}

impl<T: NoUninit> DeviceSliceMut<'_, T> {
    /// Copies `from` over all elements, in the order of the home stream; `from` can be changed at once.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if `from` is not exactly as long; what the copy
    /// returns.
    pub fn copy_from(&mut self, from: &[T]) -> Result<()> {
        self.home()?.copy(from, self)
    }

    /// Sets all elements to `value`, in the order of the home stream; see [`Stream::fill`].
    ///
    /// # Errors
    /// What the driver returns.
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.home()?.fill(self, value)
    }
}

impl<T: Zeroable> DeviceSliceMut<'_, T> {
    /// Sets all elements to zero, in the order of the home stream.
    ///
    /// # Errors
    /// What the driver returns.
    pub fn zero(&mut self) -> Result<()> {
        self.home()?.zero(self)
    }
}
