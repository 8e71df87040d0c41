//! The ends of a copy: memory of the device, page-locked memory, and ordinary slices of the host.

use bytemuck::{AnyBitPattern, NoUninit};
use cuda_sys::CUdeviceptr;

use super::allocation::DeviceAllocation;
use super::block::Block;
use super::pinned::{PinnedBuffer, PinnedMemory};
use super::pinned_slice::{PinnedSlice, PinnedSliceMut};
use super::slice::{DeviceSlice, DeviceSliceMut};

/// What [`Stream::copy`](crate::Stream::copy) reads from: slices, vectors and arrays of the host, page-locked memory, and
/// device memory.
pub trait CopySource<T>: sealed::Sealed {
    #[doc(hidden)]
    fn source(&self) -> Place<'_>;
}

/// What [`Stream::copy`](crate::Stream::copy) writes to: slices, vectors and arrays of the host, page-locked memory, and
/// device memory.
pub trait CopyDestination<T>: sealed::Sealed {
    #[doc(hidden)]
    fn destination(&mut self) -> Place<'_>;
}

pub(crate) mod sealed {
    /// Keeps the ends of a copy to the types that this crate knows.
    pub trait Sealed {}
}

/// One end of a copy.
///
/// # Invariants
/// `len` elements start at `start`, which is live memory of that kind for the time of the borrow; a destination's is
/// borrowed mutably.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub(super) len: usize,
    pub(super) start: Start<'a>,
}

/// Where the elements are.
#[derive(Clone, Copy)]
pub(super) enum Start<'a> {
    Host(*mut u8),
    Pinned(*mut u8, &'a PinnedMemory),
    Device(CUdeviceptr, &'a Block),
}

impl<'a> Place<'a> {
    fn host<T>(start: *const T, len: usize) -> Self {
        Self {
            len,
            start: Start::Host(start.cast_mut().cast()),
        }
    }

    pub(crate) fn device(start: CUdeviceptr, len: usize, block: &'a Block) -> Self {
        Self {
            len,
            start: Start::Device(start, block),
        }
    }

    fn pinned<T>(start: *mut T, len: usize, memory: &'a PinnedMemory) -> Self {
        Self {
            len,
            start: Start::Pinned(start.cast(), memory),
        }
    }
}

macro_rules! host {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<T, $($generics)*> sealed::Sealed for $type {}

        impl<T: NoUninit, $($generics)*> CopySource<T> for $type {
            fn source(&self) -> Place<'_> {
                Place::host(self.as_ptr(), self.len())
            }
        }

        impl<T: AnyBitPattern, $($generics)*> CopyDestination<T> for $type {
            fn destination(&mut self) -> Place<'_> {
                Place::host(self.as_mut_ptr(), self.len())
            }
        }
    )*};
}

host! {
    [] [T];
    [] Vec<T>;
    [const N: usize] [T; N];
}

macro_rules! device {
    ($($type:ty: $($direction:ident)*;)*) => {$(
        impl<T> sealed::Sealed for $type {}
        $(device!(@ $direction $type);)*
    )*};
    (@ read $type:ty) => {
        impl<T: Copy> CopySource<T> for $type {
            fn source(&self) -> Place<'_> {
                Place::device(*self.address(), self.len(), self.block())
            }
        }
    };
    (@ write $type:ty) => {
        impl<T: Copy> CopyDestination<T> for $type {
            fn destination(&mut self) -> Place<'_> {
                Place::device(*self.address(), self.len(), self.block())
            }
        }
    };
}

device! {
    DeviceAllocation<T>: read write;
    DeviceSlice<'_, T>: read;
    DeviceSliceMut<'_, T>: read write;
}

macro_rules! pinned {
    ($($type:ty: $($direction:ident)*;)*) => {$(
        impl<T> sealed::Sealed for $type {}
        $(pinned!(@ $direction $type);)*
    )*};
    (@ read $type:ty) => {
        impl<T: NoUninit> CopySource<T> for $type {
            fn source(&self) -> Place<'_> {
                Place::pinned(self.start(), self.len(), self.memory())
            }
        }
    };
    (@ write $type:ty) => {
        impl<T: AnyBitPattern> CopyDestination<T> for $type {
            fn destination(&mut self) -> Place<'_> {
                Place::pinned(self.start(), self.len(), self.memory())
            }
        }
    };
}

pinned! {
    PinnedBuffer<T>: read write;
    PinnedSlice<'_, T>: read;
    PinnedSliceMut<'_, T>: read write;
}

impl std::fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
