//! Copies between ordinary host slices and the device, through page-locked memory of ours.
//!
//! The slices may be pageable, registered, mapped or managed without our knowledge, so the driver is never given their
//! address: it may take the bytes after the return. What it is given is a staging buffer, which outlives the copy whatever
//! happens.

use cuda_sys::CUdeviceptr;

use super::block::Block;
use super::copy::enqueue;
use super::element::offset;
use super::staging::{Bounce, LARGE, SMALL};
use crate::call;
use crate::error::{Error, Result};
use crate::process;
use crate::stream::StreamCore;

/// Copies from the slice at `from`, which is taken completely before the return.
pub(crate) fn host_to_device(
    stream: &StreamCore,
    from: *const u8,
    (to, target): (CUdeviceptr, Option<&Block>),
    bytes: usize,
) -> Result<()> {
    process::permit()?;
    let mut done = 0;
    while done < bytes {
        let piece = if bytes <= SMALL {
            bytes
        } else {
            (bytes - done).min(LARGE)
        };
        let (staging, staged) = stream.reserve_staging(piece)?;
        // SAFETY: `done + piece` does not exceed the length of the slice.
        let source = unsafe { from.add(done) };
        // SAFETY: the slice and the reserved part of the staging buffer have that many bytes and do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(source, staged, piece) };
        let to = to + offset(done);
        enqueue_on(stream, (to, target), (piece, true), || {
            // SAFETY: the staged bytes stay until the stream has passed the event that their buffer waits for, and the
            // destination until the copy is done: the tracker has the access.
            unsafe {
                call!(
                    stream.driver(),
                    cuMemcpyHtoDAsync_v2(to, staged.cast(), piece, stream.as_raw())
                )
            }
        })?;
        drop(staging);
        done += piece;
    }
    Ok(())
}

/// Copies to the slice at `to`, complete at the return.
pub(crate) fn device_to_host(
    stream: &StreamCore,
    (from, source): (CUdeviceptr, Option<&Block>),
    to: *mut u8,
    bytes: usize,
) -> Result<()> {
    process::permit()?;
    // While one buffer is emptied by the host, the device fills the other.
    let mut filled: Option<(Bounce, usize, usize)> = None;
    let mut spare = None;
    let mut done = 0;
    while done < bytes {
        let piece = if bytes <= SMALL {
            bytes
        } else {
            (bytes - done).min(LARGE)
        };
        let mut bounce = match spare.take() {
            Some(bounce) => bounce,
            None => Bounce::take(stream.context(), piece)?,
        };
        let from = from + offset(done);
        let staged = bounce.start();
        let mut queued = false;
        let result = enqueue_on(stream, (from, source), (piece, false), || {
            // SAFETY: the buffer lives until its event is done or for ever, and the source until the copy is done: the
            // tracker has the access.
            let result = unsafe {
                call!(
                    stream.driver(),
                    cuMemcpyDtoHAsync_v2(staged.cast(), from, piece, stream.as_raw())
                )
            };
            // Another call of the operation may fail after this one: only its own refusal proves that nothing runs.
            queued |= !result.as_ref().is_err_and(Error::is_refusal);
            result
        });
        bounce.set_pending(queued);
        result?;
        bounce.record(stream)?;
        if let Some(previous) = filled.replace((bounce, done, piece)) {
            spare = Some(empty(previous, to)?);
        }
        done += piece;
    }
    if let Some(last) = filled {
        empty(last, to)?;
    }
    Ok(())
}

/// Enqueues one copy in the order that its access demands; memory that no other stream uses is in order by itself.
fn enqueue_on(
    stream: &StreamCore,
    (address, block): (CUdeviceptr, Option<&Block>),
    (bytes, write): (usize, bool),
    call: impl FnMut() -> Result<()>,
) -> Result<()> {
    match block {
        Some(block) => enqueue(stream, [block.access(address, offset(bytes), write)], call),
        None => enqueue(stream, [], call),
    }
}

/// Waits for a buffer, and copies what came to its place in the slice.
fn empty((mut bounce, at, piece): (Bounce, usize, usize), to: *mut u8) -> Result<Bounce> {
    bounce.wait()?;
    // SAFETY: `at + piece` does not exceed the length of the slice.
    let target = unsafe { to.add(at) };
    // SAFETY: the buffer was filled with that many bytes, and does not overlap the slice.
    unsafe { std::ptr::copy_nonoverlapping(bounce.start().cast_const(), target, piece) };
    Ok(bounce)
}
