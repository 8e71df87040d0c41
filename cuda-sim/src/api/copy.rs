//! Copies of linear memory.
//!
//! What the host lends is read and written as on a real device: pinned memory when the copy is executed, other memory before the call
//! returns. Synchronous copies run on the legacy default stream (or the thread's own), so streams that do not block are not ordered with
//! them.

use cuda_sys::{CUcontext, CUdeviceptr, CUstream};

use super::prelude::*;
use crate::args::host_address;
use crate::state::host::HostRange;
use crate::state::queue::{End, Work};
use crate::state::schedule;
use crate::submit::{Target, complete, enqueue, target};

built! {
    cuMemcpy [cuMemcpy_ptds] => any, (to: CUdeviceptr, from: CUdeviceptr, len: usize);
    cuMemcpyAsync [cuMemcpyAsync_ptsz] => any_async, (to: CUdeviceptr, from: CUdeviceptr, len: usize, stream: CUstream);
    cuMemcpyHtoD_v2 [cuMemcpyHtoD_v2_ptds] => to_device, (to: CUdeviceptr, from: *const c_void, len: usize);
    cuMemcpyHtoDAsync_v2 [cuMemcpyHtoDAsync_v2_ptsz] => to_device_async, (
        to: CUdeviceptr, from: *const c_void, len: usize, stream: CUstream
    );
    cuMemcpyDtoH_v2 [cuMemcpyDtoH_v2_ptds] => to_host, (to: *mut c_void, from: CUdeviceptr, len: usize);
    cuMemcpyDtoHAsync_v2 [cuMemcpyDtoHAsync_v2_ptsz] => to_host_async, (
        to: *mut c_void, from: CUdeviceptr, len: usize, stream: CUstream
    );
    cuMemcpyDtoD_v2 [cuMemcpyDtoD_v2_ptds] => on_device, (to: CUdeviceptr, from: CUdeviceptr, len: usize);
    cuMemcpyDtoDAsync_v2 [cuMemcpyDtoDAsync_v2_ptsz] => on_device_async, (
        to: CUdeviceptr, from: CUdeviceptr, len: usize, stream: CUstream
    );
    cuMemcpyPeer [cuMemcpyPeer_ptds] => peer, (
        to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, len: usize
    );
    cuMemcpyPeerAsync [cuMemcpyPeerAsync_ptsz] => peer_async, (
        to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, len: usize, stream: CUstream
    );
}

/// Pageable sources up to this size are taken at the call; larger ones are copied before the call returns.
const STAGED: usize = 64 << 10;

/// What an argument of a copy may be.
#[derive(Debug, Clone, Copy)]
enum Argument {
    /// Memory that a device reaches.
    Device(u64),
    /// A host pointer, pinned or not.
    Host(usize),
    /// Either, told apart by what the driver knows.
    Any(u64),
}

/// An end of a copy, with whether it is host memory that the driver does not know.
struct Resolved {
    end: End,
    pageable: bool,
}

fn resolve(state: &State, argument: Argument, len: usize) -> Result<Resolved, CUresult> {
    let address = match argument {
        Argument::Device(address) | Argument::Any(address) => address,
        Argument::Host(address) => address as u64,
    };
    let known = state.space.allocation(address);
    let fits = known.is_some_and(|(block, allocation)| {
        len as u64 <= allocation.size as u64 - (address - block.address)
    });
    match (argument, known) {
        (_, Some(_)) if !fits => Err(code::INVALID_VALUE),
        (_, Some((block, _))) if !block.is_host() => Ok(Resolved {
            end: End::Device(address),
            pageable: false,
        }),
        (Argument::Device(_), Some(_)) => Ok(Resolved {
            end: End::Device(address),
            pageable: false,
        }),
        (_, Some(_)) => Ok(Resolved {
            end: End::Host(HostRange::new(address as usize, len)),
            pageable: false,
        }),
        (Argument::Device(_), None) => Err(code::INVALID_VALUE),
        // What lies among the device addresses and is no allocation is not the host's either.
        (Argument::Host(_) | Argument::Any(_), None) if state.space.is_device_address(address) => {
            Err(code::INVALID_VALUE)
        }
        (Argument::Host(_) | Argument::Any(_), None) if address == 0 => Err(code::INVALID_VALUE),
        (Argument::Host(_) | Argument::Any(_), None) => Ok(Resolved {
            end: End::Host(HostRange::new(address as usize, len)),
            pageable: true,
        }),
    }
}

/// How a copy behaves towards the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Synchronous,
    Asynchronous,
}

fn copy(
    call: &Call<'_>,
    to: Argument,
    from: Argument,
    len: usize,
    stream: CUstream,
    manner: Manner,
) -> Answer {
    let mut state = call.state();
    if manner == Manner::Synchronous {
        state.current(call.thread)?;
    }
    let target: Target = target(call, &mut state, call.stream(stream))?;
    if len == 0 {
        return Ok(());
    }
    let (to, mut from) = (resolve(&state, to, len)?, resolve(&state, from, len)?);
    if manner == Manner::Synchronous {
        state.check_captures(call.thread)?;
        // A copy between pinned and device memory, or out of the device, is complete when it returns; one that the driver stages is
        // complete for the host only; one within the device is not waited for at all.
        if from.pageable && !to.pageable {
            schedule::run_stream(call.instance, &mut state, target.stream.id)?;
        }
    }
    if target.captured {
        return Ok(());
    }
    let staged = from.pageable && len <= STAGED && !to.pageable;
    if staged && let End::Host(range) = &from.end {
        let mut bytes = vec![0; len];
        range.read(&mut bytes);
        from.end = End::Bytes(bytes);
    }
    let within_device = matches!((&to.end, &from.end), (End::Device(_), End::Device(_)));
    let waits = match manner {
        Manner::Synchronous => !staged && !within_device,
        Manner::Asynchronous => to.pageable || from.pageable && !staged,
    };
    let operation = enqueue(
        call,
        &mut state,
        &target,
        Work::Copy {
            to: to.end,
            from: from.end,
            len,
        },
    )?;
    if waits {
        complete(call, &mut state, &target.stream, operation)
    } else {
        Ok(())
    }
}

/// The null stream: the calling symbol says which default stream that is.
const DEFAULT: CUstream = std::ptr::null_mut();

fn any(call: &Call<'_>, to: CUdeviceptr, from: CUdeviceptr, len: usize) -> Answer {
    copy(
        call,
        Argument::Any(to),
        Argument::Any(from),
        len,
        DEFAULT,
        Manner::Synchronous,
    )
}

fn any_async(
    call: &Call<'_>,
    to: CUdeviceptr,
    from: CUdeviceptr,
    len: usize,
    stream: CUstream,
) -> Answer {
    copy(
        call,
        Argument::Any(to),
        Argument::Any(from),
        len,
        stream,
        Manner::Asynchronous,
    )
}

fn to_device(call: &Call<'_>, to: CUdeviceptr, from: *const c_void, len: usize) -> Answer {
    copy(
        call,
        Argument::Device(to),
        Argument::Host(host_address(from)),
        len,
        DEFAULT,
        Manner::Synchronous,
    )
}

fn to_device_async(
    call: &Call<'_>,
    to: CUdeviceptr,
    from: *const c_void,
    len: usize,
    stream: CUstream,
) -> Answer {
    copy(
        call,
        Argument::Device(to),
        Argument::Host(host_address(from)),
        len,
        stream,
        Manner::Asynchronous,
    )
}

fn to_host(call: &Call<'_>, to: *mut c_void, from: CUdeviceptr, len: usize) -> Answer {
    copy(
        call,
        Argument::Host(host_address(to)),
        Argument::Device(from),
        len,
        DEFAULT,
        Manner::Synchronous,
    )
}

fn to_host_async(
    call: &Call<'_>,
    to: *mut c_void,
    from: CUdeviceptr,
    len: usize,
    stream: CUstream,
) -> Answer {
    copy(
        call,
        Argument::Host(host_address(to)),
        Argument::Device(from),
        len,
        stream,
        Manner::Asynchronous,
    )
}

fn on_device(call: &Call<'_>, to: CUdeviceptr, from: CUdeviceptr, len: usize) -> Answer {
    copy(
        call,
        Argument::Device(to),
        Argument::Device(from),
        len,
        DEFAULT,
        Manner::Synchronous,
    )
}

fn on_device_async(
    call: &Call<'_>,
    to: CUdeviceptr,
    from: CUdeviceptr,
    len: usize,
    stream: CUstream,
) -> Answer {
    copy(
        call,
        Argument::Device(to),
        Argument::Device(from),
        len,
        stream,
        Manner::Asynchronous,
    )
}

/// Both contexts must live.
fn check_peers(call: &Call<'_>, one: CUcontext, other: CUcontext) -> Answer {
    let state = call.state();
    state.living(number(one))?;
    state.living(number(other)).map(|_| ())
}

fn peer(
    call: &Call<'_>,
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    len: usize,
) -> Answer {
    check_peers(call, to_context, from_context)?;
    on_device(call, to, from, len)
}

fn peer_async(
    call: &Call<'_>,
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    len: usize,
    stream: CUstream,
) -> Answer {
    check_peers(call, to_context, from_context)?;
    on_device_async(call, to, from, len, stream)
}
