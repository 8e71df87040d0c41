//! What a kernel can be given.

use std::ffi::c_void;

use bytemuck::NoUninit;
use cuda_sys::CUdeviceptr;

use super::host::HostRange;
use crate::memory::{DeviceAllocation, DeviceSlice, DeviceSliceMut};
use crate::order::Access;
use crate::stream::StreamCore;

/// One argument of a kernel.
///
/// Implemented for references to device memory, for host memory that is [`In`](crate::In), [`Out`](crate::Out) or
/// [`InOut`](crate::InOut), and for values without uninitialised bytes, and by nothing else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel",
    note = "pass `&memory` or `&mut memory` of the device, `In(&slice)`, `Out(&mut slice)` or `InOut(&mut slice)` of the host, a \
            number, or `Null`",
    note = "a struct of your own needs `#[repr(C)]` and `#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]` (or \
            `bytemuck::NoUninit` alone), with bytemuck's feature `derive`"
)]
pub trait KernelArgument: sealed::Sealed {}

pub(crate) mod sealed {
    use super::{Access, HostRange, StreamCore, c_void};

    /// What a launch needs of an argument.
    pub trait Sealed {
        /// The size of the parameter that takes it, in bytes.
        #[doc(hidden)]
        const SIZE: usize;

        /// Whether it is host memory, which goes through the device's.
        #[doc(hidden)]
        const STAGED: bool = false;

        /// A copy of the value for the driver to read, where it is not in memory anyway: the arguments themselves need not
        /// be in memory then.
        #[doc(hidden)]
        type Slot;

        #[doc(hidden)]
        fn slot(&self) -> Self::Slot;

        /// Where its value is; `slot` is its slot.
        #[doc(hidden)]
        fn pointer(&self, slot: &Self::Slot) -> *mut c_void;

        /// Whether its memory, if any, is on the home path of that stream.
        #[doc(hidden)]
        #[inline(always)]
        fn is_at_home(&self, _stream: u64) -> bool {
            true
        }

        /// Marks home as having work on its memory.
        #[doc(hidden)]
        #[inline(always)]
        fn mark_home(&self) {}

        /// The access to its memory.
        #[doc(hidden)]
        fn memory_use(&self) -> Option<MemoryUse<'_>> {
            None
        }

        /// The host memory that it is.
        #[doc(hidden)]
        fn host(&mut self) -> Option<HostRange> {
            None
        }
    }

    /// How an argument uses memory.
    #[derive(Clone, Copy)]
    pub struct MemoryUse<'a>(pub(crate) Access<'a, StreamCore>);

    impl std::fmt::Debug for MemoryUse<'_> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_tuple("MemoryUse").field(&self.0.range).finish()
        }
    }
}

use sealed::{MemoryUse, Sealed};

#[diagnostic::do_not_recommend]
impl<T: NoUninit> Sealed for T {
    const SIZE: usize = {
        assert!(
            size_of::<T>() != 0,
            "a kernel has no parameters of size zero"
        );
        size_of::<T>()
    };

    type Slot = T;

    #[inline(always)]
    fn slot(&self) -> T {
        *self
    }

    #[inline(always)]
    fn pointer(&self, slot: &T) -> *mut c_void {
        std::ptr::from_ref(slot).cast_mut().cast()
    }
}

#[diagnostic::do_not_recommend]
impl<T: NoUninit> KernelArgument for T {}

/// A null pointer, for a parameter that may be one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Null;

static NULL: CUdeviceptr = 0;

impl Null {
    /// Where there is a null pointer.
    #[inline(always)]
    pub(crate) fn address() -> *mut c_void {
        (&raw const NULL).cast_mut().cast()
    }
}

impl Sealed for Null {
    const SIZE: usize = size_of::<CUdeviceptr>();

    type Slot = ();

    #[inline(always)]
    fn slot(&self) {}

    #[inline(always)]
    fn pointer(&self, (): &()) -> *mut c_void {
        Self::address()
    }
}

impl KernelArgument for Null {}

macro_rules! memory {
    ($([$order:ident $place:ident] $type:ty, $write:literal;)*) => {$(
        impl<T> Sealed for $type {
            const SIZE: usize = size_of::<CUdeviceptr>();

            memory!(@ $place);

            #[inline(always)]
            fn is_at_home(&self, stream: u64) -> bool {
                self.$order().is_at_home(stream)
            }

            #[inline(always)]
            fn mark_home(&self) {
                self.$order().mark_home($write);
            }

            fn memory_use(&self) -> Option<MemoryUse<'_>> {
                let bytes = self.size_in_bytes() as u64;
                (bytes != 0).then(|| MemoryUse(self.block().access(*self.address(), bytes, $write)))
            }
        }

        impl<T> KernelArgument for $type {}
    )*};
    // The address is in memory of its own.
    (@ there) => {
        type Slot = ();

        #[inline(always)]
        fn slot(&self) {}

        #[inline(always)]
        fn pointer(&self, (): &()) -> *mut c_void {
            std::ptr::from_ref(self.address()).cast_mut().cast()
        }
    };
    // The address is part of the argument.
    (@ here) => {
        type Slot = CUdeviceptr;

        #[inline(always)]
        fn slot(&self) -> CUdeviceptr {
            *self.address()
        }

        #[inline(always)]
        fn pointer(&self, slot: &CUdeviceptr) -> *mut c_void {
            std::ptr::from_ref(slot).cast_mut().cast()
        }
    };
}

memory! {
    [own_order there] &DeviceAllocation<T>, false;
    [own_order there] &mut DeviceAllocation<T>, true;
    [order here] DeviceSlice<'_, T>, false;
    [order there] &DeviceSlice<'_, T>, false;
    [order there] &DeviceSliceMut<'_, T>, false;
    [order here] DeviceSliceMut<'_, T>, true;
    [order there] &mut DeviceSliceMut<'_, T>, true;
}
