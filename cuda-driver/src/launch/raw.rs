//! Handing our memory and our streams to other libraries, in order.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use cuda_sys::{CUdeviceptr, CUstream};

use super::argument::sealed::Sealed;
use super::require_parts;
use crate::error::{Doing, Result};
use crate::memory::{DeviceAllocation, DeviceSlice, DeviceSliceMut};
use crate::order::{Access, Operation};
use crate::process;
use crate::stream::sealed::Sealed as _;
use crate::stream::{BorrowedStream, PerThreadStream, Stream, StreamCore};

/// Memory that is handed to another library: a tuple of `&memory` for what it reads and `&mut memory` for what it writes.
pub trait RawParts: parts::Sealed {}

pub(crate) mod parts {
    use super::{Access, StreamCore};

    pub trait Sealed {
        /// The addresses, in the same order.
        type Raw;

        #[doc(hidden)]
        fn raw(&self) -> Self::Raw;
        #[doc(hidden)]
        #[expect(private_interfaces, reason = "nobody else calls it")]
        fn accesses(&self) -> Vec<Access<'_, StreamCore>>;
    }
}

/// What has an address.
trait Memory: Sealed {
    fn raw_address(&self) -> CUdeviceptr;
}

macro_rules! memory {
    ($($type:ty),*) => {$(
        impl<T> Memory for $type {
            fn raw_address(&self) -> CUdeviceptr {
                *self.address()
            }
        }
    )*};
}

memory!(
    &DeviceAllocation<T>,
    &mut DeviceAllocation<T>,
    DeviceSlice<'_, T>,
    &DeviceSlice<'_, T>,
    &DeviceSliceMut<'_, T>,
    DeviceSliceMut<'_, T>,
    &mut DeviceSliceMut<'_, T>
);

macro_rules! tuple {
    ($($name:ident $index:tt $raw:ty),*) => {
        impl<$($name: Memory),*> parts::Sealed for ($($name,)*) {
            type Raw = ($($raw,)*);

            fn raw(&self) -> Self::Raw {
                ($(self.$index.raw_address(),)*)
            }

            #[expect(private_interfaces, reason = "nobody else calls it")]
            fn accesses(&self) -> Vec<Access<'_, StreamCore>> {
                let uses = [$(self.$index.memory_use()),*];
                uses.into_iter().flatten().map(|memory| memory.0).collect()
            }
        }

        impl<$($name: Memory),*> RawParts for ($($name,)*) {}
    };
}

type Address = CUdeviceptr;

tuple!(A 0 Address);
tuple!(A 0 Address, B 1 Address);
tuple!(A 0 Address, B 1 Address, C 2 Address);
tuple!(A 0 Address, B 1 Address, C 2 Address, D 3 Address);
tuple!(A 0 Address, B 1 Address, C 2 Address, D 3 Address, E 4 Address);
tuple!(A 0 Address, B 1 Address, C 2 Address, D 3 Address, E 4 Address, F 5 Address);
tuple!(A 0 Address, B 1 Address, C 2 Address, D 3 Address, E 4 Address, F 5 Address, G 6 Address);
tuple!(A 0 Address, B 1 Address, C 2 Address, D 3 Address, E 4 Address, F 5 Address, G 6 Address, H 7 Address);

macro_rules! with_raw {
    ($($stream:ty),*) => {$(
        impl $stream {
            /// Gives the raw stream and the addresses of memory to code that enqueues work by itself, such as cuBLAS or NCCL.
            ///
            /// What was enqueued on the memory elsewhere is waited for first, and what comes later waits for all that `body`
            /// enqueued on the stream, also if it panics.
            ///
            /// # Errors
            /// What the waits before or the record after return.
            ///
            /// # Safety
            /// * `body` uses the memory only by enqueuing on the stream it is given, and writes only what was passed as `&mut`.
            /// * It leaves valid elements, and keeps neither address nor stream.
            ///
            /// ```
            /// # fn main() -> cuda_driver::Result<()> {
            /// # #[cfg(feature = "simulator")] {
            /// # let driver = cuda_driver::Driver::simulated()?;
            /// # let context = driver.device(0)?.primary_context()?;
            /// use cuda_driver::call;
            ///
            /// let stream = context.create_stream()?;
            /// let mut memory = stream.zeroed::<u32>(4)?;
            /// // SAFETY: the call writes the four elements, on the stream that it is given.
            /// unsafe {
            ///     stream.with_raw((&mut memory,), |stream, (address,)| {
            ///         call!(driver, cuMemsetD32Async(address, 7, 4, stream))
            ///     })
            /// }??;
            /// assert_eq!(memory.to_vec()?, [7; 4]);
            /// # }
            /// # Ok(())
            /// # }
            /// ```
            pub unsafe fn with_raw<P: RawParts, R>(
                &self,
                parts: P,
                body: impl FnOnce(CUstream, P::Raw) -> R,
            ) -> Result<R> {
                with_raw(self.stream_core(), &parts, body)
            }
        }
    )*};
}

with_raw!(Stream, BorrowedStream, PerThreadStream);

fn with_raw<P: RawParts, R>(
    stream: &StreamCore,
    parts: &P,
    body: impl FnOnce(CUstream, P::Raw) -> R,
) -> Result<R> {
    let doing = || "hand memory to another library";
    process::permit().doing(doing)?;
    let mut accesses = parts.accesses();
    require_parts(stream, &accesses).doing(doing)?;
    let event = Operation::open(stream, &mut accesses).doing(doing)?;
    let result = catch_unwind(AssertUnwindSafe(|| body(stream.as_raw(), parts.raw())));
    let closed = Operation::close(stream, &accesses, event).doing(doing);
    match result {
        Ok(result) => closed.map(|()| result),
        Err(panic) => resume_unwind(panic),
    }
}
