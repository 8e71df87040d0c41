//! Global variables as arguments of kernels and as ends of copies.

use std::ffi::c_void;

use bytemuck::AnyBitPattern;
use cuda_sys::CUdeviceptr;

use super::{Global, GlobalValue};
use crate::launch::{
    DeviceMemory, DeviceMemoryMut, KernelArgument, argument_parts as argument,
    memory_parts as dynamic,
};
use crate::memory::{Block, CopyDestination, CopySource, Place, place_sealed};

macro_rules! argument {
    ($($type:ty, $write:literal;)*) => {$(
        impl<V: GlobalValue + ?Sized> argument::Sealed for $type {
            const SIZE: usize = size_of::<CUdeviceptr>();

            type Slot = ();

            #[inline]
            fn slot(&self) {}

            #[inline]
            fn pointer(&self, (): &()) -> *mut c_void {
                std::ptr::from_ref(self.block().address()).cast_mut().cast()
            }

            /// It has no home: every operation on it is tracked.
            #[inline]
            fn is_at_home(&self, _stream: u64) -> bool {
                false
            }

            fn memory_use(&self) -> Option<argument::MemoryUse<'_>> {
                let bytes = self.size_in_bytes() as u64;
                let access = || self.block().access(self.as_raw(), bytes, $write);
                (bytes != 0).then(|| argument::MemoryUse(access()))
            }
        }

        impl<V: GlobalValue + ?Sized> KernelArgument for $type {}
    )*};
}

argument! {
    &Global<V>, false;
    &mut Global<V>, true;
}

impl<V: GlobalValue + ?Sized> dynamic::Sealed for Global<V> {
    fn memory_parts(&self) -> (&CUdeviceptr, usize, &Block) {
        let block = self.block();
        (block.address(), block.size(), block)
    }
}

impl<V: GlobalValue + ?Sized> DeviceMemory for Global<V> {}

impl<V: GlobalValue + ?Sized> DeviceMemoryMut for Global<V> {}

impl<V: GlobalValue + ?Sized> place_sealed::Sealed for Global<V> {}

impl<T: AnyBitPattern> CopySource<T> for Global<[T]> {
    fn source(&self) -> Place<'_> {
        self.place()
    }
}

impl<T: AnyBitPattern> CopyDestination<T> for Global<[T]> {
    fn destination(&mut self) -> Place<'_> {
        self.place()
    }
}
