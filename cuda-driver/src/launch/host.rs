//! Host memory as arguments of a launch.

use std::ffi::c_void;

use bytemuck::{AnyBitPattern, NoUninit};
use cuda_sys::CUdeviceptr;

use super::argument::sealed::Sealed;
use super::argument::{KernelArgument, Null};
use crate::memory::Element;

/// Elements of the host that a kernel reads: it gets the address of a copy on the device.
///
/// The copy is made and freed in the order of the launch's stream. The elements are taken before the launch returns, which
/// does not wait for the kernel.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// # let context = cuda_driver::Driver::simulated()?.device(0)?.primary_context()?;
/// # let module = context.load_ptx(
/// #     ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry copy(.param .u64 from, .param .u64 to) {
/// #          .reg .b64 %rd<6>; .reg .b32 %r<3>; ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to];
/// #          cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2; mov.u32 %r1, %tid.x;
/// #          mul.wide.u32 %rd3, %r1, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
/// #          ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd2], %r2; ret; }",
/// # )?;
/// use cuda_driver::{In, LaunchConfig, Out};
///
/// let copy = module.function("copy")?;
/// let stream = context.create_stream()?;
/// let (from, mut to) = (vec![1_u32, 2, 3], [0; 3]);
/// // SAFETY: the kernel copies a number for each of the three threads.
/// unsafe { copy.launch(&stream, LaunchConfig::new(1, 3), (In(&from), Out(&mut to))) }?;
/// assert_eq!(to, [1, 2, 3]);
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct In<'a, T>(pub &'a [T]);

/// Elements of the host that a kernel writes: it gets the address of memory on the device, zeroed, and the elements are
/// there when the launch returns.
///
/// The launch waits for the kernel. If it fails, or the kernel does, the elements are left as they were; if the kernel has run
/// and a copy back fails, some may be changed.
#[derive(Debug)]
pub struct Out<'a, T>(pub &'a mut [T]);

/// Elements of the host that a kernel reads and writes: it gets the address of a copy on the device, and what it has
/// written is there when the launch returns.
///
/// The launch waits for the kernel, and leaves the elements as they were if that fails, as [`Out`] does.
#[derive(Debug)]
pub struct InOut<'a, T>(pub &'a mut [T]);

impl<T> Clone for In<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<'_, T> {}

impl<'a, T> In<'a, T> {
    /// One value of the host that a kernel reads through a pointer.
    #[must_use]
    pub const fn value(value: &'a T) -> Self {
        Self(std::slice::from_ref(value))
    }
}

impl<'a, T> Out<'a, T> {
    /// One value of the host that a kernel writes through a pointer.
    #[must_use]
    pub const fn value(value: &'a mut T) -> Self {
        Self(std::slice::from_mut(value))
    }
}

impl<'a, T> InOut<'a, T> {
    /// One value of the host that a kernel reads and writes through a pointer.
    #[must_use]
    pub const fn value(value: &'a mut T) -> Self {
        Self(std::slice::from_mut(value))
    }
}

/// Which way elements go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    In,
    Out,
    InOut,
}

/// Host memory that a launch goes through.
///
/// # Invariants
/// `bytes` bytes at `start` are borrowed as `flow` says until the launch returns; those that go in are initialised, and
/// those that come out may be anything.
#[derive(Clone, Copy, Debug)]
pub struct HostRange {
    pub(super) start: *mut u8,
    pub(super) bytes: usize,
    pub(super) flow: Flow,
}

impl HostRange {
    pub(super) fn of_input<T: NoUninit>(host: &[T]) -> Self {
        let () = Element::<T>::VALID;
        Self {
            start: host.as_ptr().cast_mut().cast(),
            bytes: size_of_val(host),
            flow: Flow::In,
        }
    }

    pub(super) fn of_output<T: AnyBitPattern>(host: &mut [T]) -> Self {
        let () = Element::<T>::VALID;
        Self {
            bytes: size_of_val(host),
            start: host.as_mut_ptr().cast(),
            flow: Flow::Out,
        }
    }

    pub(super) fn of_both<T: NoUninit + AnyBitPattern>(host: &mut [T]) -> Self {
        Self {
            flow: Flow::InOut,
            ..Self::of_output(host)
        }
    }
}

macro_rules! host {
    ($($type:ident: $bound:ident $(+ $other:ident)?, $range:ident;)*) => {$(
        impl<T: $bound $(+ $other)?> Sealed for $type<'_, T> {
            const SIZE: usize = size_of::<CUdeviceptr>();
            const STAGED: bool = true;

            type Slot = ();

            fn slot(&self) {}

            /// Nothing yet: the address is known when the copy is made.
            fn pointer(&self, (): &()) -> *mut c_void {
                Null::address()
            }

            fn host(&mut self) -> Option<HostRange> {
                Some(HostRange::$range(self.0))
            }
        }

        impl<T: $bound $(+ $other)?> KernelArgument for $type<'_, T> {}
    )*};
}

host! {
    In: NoUninit, of_input;
    Out: AnyBitPattern, of_output;
    InOut: NoUninit + AnyBitPattern, of_both;
}
