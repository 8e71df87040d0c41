//! Argument lists that are built at run time.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;

use bytemuck::{AnyBitPattern, NoUninit};
use cuda_sys::CUdeviceptr;

use super::any_config::AnyLaunchConfig;
use super::argument::Null;
use super::argument::sealed::Sealed;
use super::host::HostRange;
use super::staged::launch_staged;
use super::{FunctionCore, launch_tracked};
use crate::error::{Doing, Result};
use crate::function::Function;
use crate::memory::{Block, DeviceAllocation, DeviceSlice, DeviceSliceMut};
use crate::order::Access;
use crate::process;
use crate::stream::{AnyStream, StreamCore};

/// One argument of a list that is built at run time.
pub struct DynamicArgument<'a> {
    pointer: *mut c_void,
    size: usize,
    memory: Option<Access<'a, StreamCore>>,
    host: Option<HostRange>,
    value: PhantomData<&'a ()>,
}

/// Device memory, whole or a range.
pub trait DeviceMemory: sealed::Sealed {}

/// Device memory that can be written through `&mut`.
pub trait DeviceMemoryMut: DeviceMemory {}

pub(crate) mod sealed {
    use super::{Block, CUdeviceptr};

    pub trait Sealed {
        /// Where the address is kept, the size in bytes, and the block.
        #[doc(hidden)]
        fn memory_parts(&self) -> (&CUdeviceptr, usize, &Block);
    }
}

macro_rules! memory {
    ($($type:ty $(: $write:ident)?;)*) => {$(
        impl<T> sealed::Sealed for $type {
            fn memory_parts(&self) -> (&CUdeviceptr, usize, &Block) {
                (self.address(), self.size_in_bytes(), self.block())
            }
        }

        impl<T> DeviceMemory for $type {}
        $(impl<T> $write for $type {})?
    )*};
}

memory! {
    DeviceAllocation<T>: DeviceMemoryMut;
    DeviceSlice<'_, T>;
    DeviceSliceMut<'_, T>: DeviceMemoryMut;
}

impl<'a> DynamicArgument<'a> {
    /// A number or a struct.
    pub fn value<V: NoUninit>(value: &'a V) -> Self {
        Self {
            pointer: std::ptr::from_ref(value).cast_mut().cast(),
            size: <V as Sealed>::SIZE,
            memory: None,
            host: None,
            value: PhantomData,
        }
    }

    /// Elements of the host that the kernel reads; see [`In`](crate::In).
    pub fn input<T: NoUninit>(host: &'a [T]) -> Self {
        Self::host(HostRange::of_input(host))
    }

    /// Elements of the host that the kernel writes; see [`Out`](crate::Out).
    pub fn output<T: AnyBitPattern>(host: &'a mut [T]) -> Self {
        Self::host(HostRange::of_output(host))
    }

    /// Elements of the host that the kernel reads and writes; see [`InOut`](crate::InOut).
    pub fn in_out<T: NoUninit + AnyBitPattern>(host: &'a mut [T]) -> Self {
        Self::host(HostRange::of_both(host))
    }

    fn host(host: HostRange) -> Self {
        Self {
            pointer: Null::address(),
            size: size_of::<CUdeviceptr>(),
            memory: None,
            host: Some(host),
            value: PhantomData,
        }
    }

    /// Memory that the kernel reads.
    pub fn read<M: DeviceMemory>(memory: &'a M) -> Self {
        Self::memory(memory.memory_parts(), false)
    }

    /// Memory that the kernel writes.
    pub fn write<M: DeviceMemoryMut>(memory: &'a mut M) -> Self {
        Self::memory(memory.memory_parts(), true)
    }

    fn memory((address, bytes, block): (&'a CUdeviceptr, usize, &'a Block), write: bool) -> Self {
        Self {
            pointer: std::ptr::from_ref(address).cast_mut().cast(),
            size: size_of::<CUdeviceptr>(),
            memory: (bytes != 0).then(|| block.access(*address, bytes as u64, write)),
            host: None,
            value: PhantomData,
        }
    }
}

impl Function {
    /// Enqueues the kernel with a list of arguments of any length; otherwise as [`Function::launch`].
    ///
    /// # Errors
    /// As [`Function::launch`].
    ///
    /// # Safety
    /// As [`Function::launch`].
    #[doc(alias = "cuLaunchKernel")]
    pub unsafe fn launch_dynamic<S: AnyStream, C: AnyLaunchConfig>(
        &self,
        stream: &S,
        config: C,
        arguments: &[DynamicArgument<'_>],
    ) -> Result<()> {
        let stream = stream.stream_core();
        let function: &FunctionCore = self.core();
        let sizes: Vec<usize> = arguments.iter().map(|argument| argument.size).collect();
        process::permit().doing(|| format!("launch `{}`", function.name()))?;
        function.require_fit(stream, &sizes)?;
        let mut pointers: Vec<_> = arguments.iter().map(|argument| argument.pointer).collect();
        let mut uses: Vec<_> = arguments.iter().map(|argument| argument.memory).collect();
        if arguments.iter().any(|argument| argument.host.is_some()) {
            let hosts: Vec<_> = arguments.iter().map(|argument| argument.host).collect();
            return launch_staged(function, stream, &config, &mut pointers, &mut uses, &hosts);
        }
        launch_tracked(function, stream, &config, &mut pointers, &mut uses)
    }
}

impl fmt::Debug for DynamicArgument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicArgument")
            .field("size", &self.size)
            .field("is_memory", &self.memory.is_some())
            .finish_non_exhaustive()
    }
}
