//! Copies: one verb for all ends, and the driver's copy for each pair of them.

use std::sync::Arc;

use bytemuck::AnyBitPattern;
use cuda_sys::CUdeviceptr;

use super::block::Block;
use super::element::{offset, require_equal_len, size_in_bytes};
use super::pinned::PinnedMemory;
use super::place::{CopyDestination, CopySource, Place, Start};
use super::transfer;
use crate::call;
use crate::error::{Doing, Error, ErrorKind, Result, count};
use crate::order::{Access, Operation, Sound};
use crate::process;
use crate::stream::sealed::Sealed;
use crate::stream::{BorrowedStream, PerThreadStream, Stream, StreamCore};

/// The operations on memory, for each kind of stream.
macro_rules! copies {
    ($($stream:ty),*) => {$(
        impl $stream {
            /// Copies `from` to `to`, which must be of the same length, in the order of this stream.
            ///
            /// Host slices are never in use after the return: a copy from one has taken it, a copy to one is complete.
            /// Copies between device memory and page-locked memory are enqueued and run by themselves; whatever uses
            /// either of them later waits for the copy. Copies between different devices go from one to the other
            /// directly.
            ///
            /// # Errors
            /// [`ErrorKind::InvalidArgument`] if the lengths differ, [`ErrorKind::Mismatch`] for memory of another driver;
            /// what the driver returns.
            ///
            /// ```
            /// # fn main() -> cuda_driver::Result<()> {
            /// # #[cfg(feature = "simulator")] {
            /// # let context = cuda_driver::Driver::simulated()?.device(0)?.primary_context()?;
            /// let stream = context.create_stream()?;
            /// let source = stream.upload(&[1_u8, 2, 3, 4])?;
            /// let mut target = stream.zeroed::<u8>(2)?;
            /// stream.copy(&source.slice(1..3)?, &mut target)?;
            /// assert_eq!(target.to_vec()?, [2, 3]);
            /// # }
            /// # Ok(())
            /// # }
            /// ```
            #[doc(alias = "cuMemcpyHtoDAsync")]
            #[doc(alias = "cuMemcpyDtoHAsync")]
            #[doc(alias = "cuMemcpyDtoDAsync")]
            #[doc(alias = "cuMemcpyPeerAsync")]
            #[doc(alias = "memcpy")]
            pub fn copy<T, S, D>(&self, from: &S, to: &mut D) -> Result<()>
            where
                S: CopySource<T> + ?Sized,
                D: CopyDestination<T> + ?Sized,
            {
                let (from, to) = (from.source(), to.destination());
                copy(self.stream_core(), from, to, size_of::<T>())
            }

            /// Copies all elements of `from` into a new vector and waits for them.
            ///
            /// # Errors
            /// As [`Stream::copy`].
            #[doc(alias = "cuMemcpyDtoHAsync")]
            #[doc(alias = "memcpy_dtov")]
            pub fn download<T, S>(&self, from: &S) -> Result<Vec<T>>
            where
                T: AnyBitPattern,
                S: CopySource<T> + ?Sized,
            {
                let len = from.source().len;
                let bytes = size_in_bytes::<T>(len)?;
                let mut to = Vec::new();
                to.try_reserve_exact(len).map_err(|_| {
                    Error::new(ErrorKind::OutOfMemory, format!("the host does not have {} left", count(bytes, "byte")))
                })?;
                to.resize(len, T::zeroed());
                self.copy(from, &mut to)?;
                Ok(to)
            }
        }
    )*};
}

copies!(Stream, BorrowedStream, PerThreadStream);

/// Copies places of `element` bytes each, which must be of the same length.
pub(crate) fn copy(
    stream: &StreamCore,
    from: Place<'_>,
    to: Place<'_>,
    element: usize,
) -> Result<()> {
    let doing = || {
        format!(
            "copy {} of {}",
            count(from.len, "element"),
            count(element, "byte")
        )
    };
    require_equal_len(from.len, to.len).doing(doing)?;
    // The lengths are those of memory that exists, so the product fits.
    let bytes = from.len * element;
    if bytes == 0 {
        return Ok(());
    }
    copy_bytes(stream, from.start, to.start, bytes).doing(doing)
}

fn copy_bytes(stream: &StreamCore, from: Start<'_>, to: Start<'_>, bytes: usize) -> Result<()> {
    match (from, to) {
        (Start::Device(from, source), Start::Device(to, target)) => {
            device_to_device(stream, (from, source), (to, target), bytes)
        }
        (Start::Pinned(from, source), Start::Device(to, target)) => {
            stream.require_driver("memory", source.context().driver())?;
            stream.require_driver("memory", target.context().driver())?;
            let read = source.access(from, bytes, false);
            let write = target.access(to, offset(bytes), true);
            enqueue(stream, [read, write], || {
                // SAFETY: both ranges are live and stay so until the copy is done: the tracker has both accesses.
                unsafe {
                    call!(
                        stream.driver(),
                        cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, stream.as_raw())
                    )
                }
            })
        }
        (Start::Device(from, source), Start::Pinned(to, target)) => {
            stream.require_driver("memory", source.context().driver())?;
            stream.require_driver("memory", target.context().driver())?;
            let read = source.access(from, offset(bytes), false);
            let write = target.access(to, bytes, true);
            enqueue(stream, [read, write], || {
                // SAFETY: both ranges are live and stay so until the copy is done: the tracker has both accesses.
                unsafe {
                    call!(
                        stream.driver(),
                        cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, stream.as_raw())
                    )
                }
            })
        }
        (Start::Host(from), Start::Device(to, target)) => {
            stream.require_driver("memory", target.context().driver())?;
            transfer::host_to_device(stream, from, (to, Some(target)), bytes)
        }
        (Start::Device(from, source), Start::Host(to)) => {
            stream.require_driver("memory", source.context().driver())?;
            transfer::device_to_host(stream, (from, Some(source)), to, bytes)
        }
        (from, to) => host_to_host(from, to, bytes),
    }
}

/// Copies within the host, after what the device still does to either end.
fn host_to_host(from: Start<'_>, to: Start<'_>, bytes: usize) -> Result<()> {
    let host = |place, writes_only| match place {
        Start::Host(start) => Ok(start),
        Start::Pinned(start, memory) => {
            PinnedMemory::wait(memory, writes_only)?;
            Ok(start)
        }
        Start::Device(..) => Err(Error::invalid("device memory is not copied by the host")),
    };
    let (from, to) = (host(from, true)?, host(to, false)?);
    // SAFETY: both places are live host memory of that many bytes, and the destination is borrowed mutably, so they do not
    // overlap; nothing of the device's is in flight on them.
    unsafe { std::ptr::copy_nonoverlapping(from.cast_const(), to, bytes) };
    Ok(())
}

fn device_to_device(
    stream: &StreamCore,
    (from, source): (CUdeviceptr, &Block),
    (to, target): (CUdeviceptr, &Block),
    bytes: usize,
) -> Result<()> {
    stream.require_driver("memory", source.context().driver())?;
    stream.require_driver("memory", target.context().driver())?;
    // Borrows rule this out for all memory but variables of modules, of which there are several handles.
    if from.abs_diff(to) < offset(bytes) {
        return Err(Error::invalid("both ends are the same memory, or overlap"));
    }
    let read = source.access(from, offset(bytes), false);
    let write = target.access(to, offset(bytes), true);
    let (ours, theirs) = (target.context(), source.context());
    if Arc::ptr_eq(ours, theirs) && Arc::ptr_eq(ours, stream.context()) {
        return enqueue(stream, [read, write], || {
            // SAFETY: both ranges are live and stay so until the copy is done: the tracker has both accesses.
            unsafe {
                call!(
                    stream.driver(),
                    cuMemcpyDtoDAsync_v2(to, from, bytes, stream.as_raw())
                )
            }
        });
    }
    enqueue(stream, [read, write], || {
        let (to_context, from_context) = (ours.as_raw(), theirs.as_raw());
        // SAFETY: both ranges are live memory of the contexts named, and stay so until the copy is done.
        unsafe {
            call!(
                stream.driver(),
                cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, stream.as_raw())
            )
        }
    })
}

/// Enqueues one copy in the order that its accesses demand.
pub(super) fn enqueue<const N: usize>(
    stream: &StreamCore,
    mut accesses: [Access<'_, StreamCore>; N],
    call: impl FnMut() -> Result<()>,
) -> Result<()> {
    // Before the first lock, which the thread that it waits for may hold.
    process::permit()?;
    Operation::run::<Sound, _>(stream, &mut accesses, || stream.enqueue(call))
}
