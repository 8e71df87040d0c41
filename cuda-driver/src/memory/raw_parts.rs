//! Giving device memory away and taking it over, with its home and the way to free it.

use std::fmt;

use cuda_sys::CUdeviceptr;

use super::allocation::DeviceAllocation;
use super::block::{Block, Release};
use super::element::size_in_bytes;
use super::owner::Owner;
use crate::close::CloseError;
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::stream::Stream;

/// How memory is to be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deallocation {
    /// By `cuMemFreeAsync`, on its home stream.
    StreamOrdered,
    /// By `cuMemFree`, after its last use.
    Synchronous,
}

/// An allocation that nobody frees any more: its parts, for whoever takes it over.
#[derive(Clone)]
pub struct RawAllocation {
    /// The address on the device.
    pub address: CUdeviceptr,
    /// How many elements there are.
    pub len: usize,
    /// The stream behind whose present work the memory may be used and freed.
    pub home: Stream,
    /// How it is to be freed.
    pub deallocation: Deallocation,
}

impl<T> DeviceAllocation<T> {
    /// Gives the memory away: it is the caller's to free, as the parts say.
    ///
    /// All earlier work on it is ordered before what is enqueued on its home stream from now on.
    ///
    /// # Errors
    /// [`ErrorKind::StillShared`] with the handle if another owner shares the block, or [`ErrorKind::InvalidArgument`]
    /// if the memory is empty or belongs to an external owner.
    pub fn into_raw_parts(mut self) -> std::result::Result<RawAllocation, CloseError<Self>> {
        match self.raw_parts().doing(|| "give device memory away") {
            Ok(parts) => {
                if let Some(block) = self.owner_mut().sole() {
                    block.disarm();
                }
                Ok(parts)
            }
            Err(error) => Err(CloseError::new(error, Some(self))),
        }
    }

    fn raw_parts(&mut self) -> Result<RawAllocation> {
        if self.owner_mut().sole().is_none() {
            return Err(Error::new(
                ErrorKind::StillShared,
                "another part of it has an owner",
            ));
        }
        if self.size_in_bytes() != self.block().size() {
            return Err(Error::invalid("it is only a part of its block"));
        }
        let deallocation = match self.block().release() {
            Release::StreamOrdered => Deallocation::StreamOrdered,
            Release::Synchronous => Deallocation::Synchronous,
            Release::Kept(_) => {
                return Err(Error::invalid("the memory belongs to an external owner"));
            }
            Release::Nothing => return Err(Error::invalid("there is no memory")),
        };
        self.block().gather_at_home()?;
        Ok(RawAllocation {
            address: self.as_raw(),
            len: self.len(),
            home: self.home()?,
            deallocation,
        })
    }

    /// Takes memory over, as [`DeviceAllocation::into_raw_parts`] gave it away, or as another library allocated it.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] if the size in bytes is more than the address space.
    ///
    /// # Safety
    /// * The address is of live device memory of the home stream's context for that many elements, aligned for `T`,
    ///   from `cuMemAllocAsync` or `cuMemAlloc` as `deallocation` says, and nobody else uses or frees it.
    /// * Everything enqueued on it so far is ordered before what is enqueued on `home` from now on.
    /// * The elements are valid values of `T`.
    pub unsafe fn from_raw_parts(parts: RawAllocation) -> Result<Self> {
        let size = size_in_bytes::<T>(parts.len)?;
        let release = match parts.deallocation {
            Deallocation::StreamOrdered => Release::StreamOrdered,
            Deallocation::Synchronous => Release::Synchronous,
        };
        let block = Block::at_home(parts.home.core(), parts.address, size, release, true);
        Ok(Self::new(parts.address, parts.len, Owner::new(block)))
    }
}

impl fmt::Debug for RawAllocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawAllocation")
            .field("address", &format_args!("{:#x}", self.address))
            .field("len", &self.len)
            .field("home", &self.home)
            .field("deallocation", &self.deallocation)
            .finish()
    }
}
