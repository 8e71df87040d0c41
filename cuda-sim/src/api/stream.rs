//! Streams: `CUDA_STREAM`, and host functions in them.

use cuda_sys::{CUcontext, CUdevice, CUevent, CUhostFn, CUstream, CUstreamCallback};

use parking_lot::MutexGuard;

use super::prelude::*;
use crate::args::host_address;
use crate::state::host_function;
use crate::state::queue::Work;
use crate::state::schedule;
use crate::state::stream::Stream;
use crate::submit::{self, Target, target};

built! {
    cuStreamCreate => create, (stream: Out<CUstream>, flags: c_uint);
    cuStreamCreateWithPriority => create_with_priority, (stream: Out<CUstream>, flags: c_uint, priority: c_int);
    cuStreamDestroy [cuStreamDestroy_v2] => destroy, (stream: CUstream);
    cuStreamQuery [cuStreamQuery_ptsz] => query, (stream: CUstream);
    cuStreamSynchronize [cuStreamSynchronize_ptsz] => synchronize, (stream: CUstream);
    cuStreamWaitEvent [cuStreamWaitEvent_ptsz] => wait_event, (stream: CUstream, event: CUevent, flags: c_uint);
    cuStreamGetFlags [cuStreamGetFlags_ptsz] => flags, (stream: CUstream, flags: Out<c_uint>);
    cuStreamGetPriority [cuStreamGetPriority_ptsz] => priority, (stream: CUstream, priority: Out<c_int>);
    cuStreamGetCtx [cuStreamGetCtx_ptsz] => context, (stream: CUstream, context: Out<CUcontext>);
    cuStreamGetId [cuStreamGetId_ptsz] => id, (stream: CUstream, id: Out<c_ulonglong>);
    cuStreamGetDevice [cuStreamGetDevice_ptsz] => device, (stream: CUstream, device: Out<CUdevice>);
    cuStreamAddCallback [cuStreamAddCallback_ptsz] => add_callback, (
        stream: CUstream, callback: CUstreamCallback, data: *mut c_void, flags: c_uint
    );
    cuLaunchHostFunc [cuLaunchHostFunc_ptsz] => launch_host_function, (stream: CUstream, function: CUhostFn, data: *mut c_void);
}

fn create(call: &Call<'_>, stream: Out<CUstream>, flags: c_uint) -> Answer {
    create_with_priority(call, stream, flags, 0)
}

fn create_with_priority(
    call: &Call<'_>,
    stream: Out<CUstream>,
    flags: c_uint,
    priority: c_int,
) -> Answer {
    let stream = stream.check()?;
    let mut state = call.state();
    let context = state.current(call.thread)?;
    if flags > 1 {
        return Err(code::INVALID_VALUE);
    }
    let id = state.open_queue(context, false, flags & 1 == 0);
    let priority = priority.clamp(super::context::GREATEST_PRIORITY, 0);
    let created = state.streams.insert(Stream {
        context,
        id,
        flags,
        priority,
        capture: None,
        call: call.number,
    });
    stream.set(handle(created));
    Ok(())
}

fn destroy(call: &Call<'_>, stream: CUstream) -> Answer {
    let mut state = call.state();
    let handle = number(stream);
    if handle <= 2 {
        return Err(code::INVALID_HANDLE);
    }
    let stream = state.stream(call.thread, handle, call.number)?;
    if let Some(id) = stream.capture {
        // The capture ends with the stream on which it began; without another of its streams it cannot end well.
        match state.captures.get_mut(&id) {
            Some(capture) if capture.origin != handle => capture.invalidated = true,
            _ => state.end_capture(id),
        }
    }
    let reuse = state.options.reuse_handles;
    drop(state.streams.remove(handle, reuse));
    // Its work goes on.
    let idle = state.queues.get_mut(&stream.id).is_none_or(|queue| {
        queue.closed = true;
        queue.operations.is_empty()
    });
    if idle {
        state.queues.remove(&stream.id);
    }
    Ok(())
}

fn query(call: &Call<'_>, stream: CUstream) -> Answer {
    let mut state = call.state();
    let stream = state.stream(call.thread, call.stream(stream), call.number)?;
    refuse_captured(&mut state, stream.capture)?;
    state.check_implicit(&stream)?;
    state.check_captures(call.thread)?;
    schedule::nudge(call.instance, &mut state);
    state.healthy(stream.context)?;
    if state.last_operation(stream.id).is_none() {
        let seen = state.order.of_stream(stream.id);
        state.host_learns(&seen);
        Ok(())
    } else {
        Err(code::NOT_READY)
    }
}

/// Refuses to wait for a captured stream, and kills the capture.
fn refuse_captured(state: &mut State, capture: Option<u64>) -> Answer {
    match capture.and_then(|id| state.captures.get_mut(&id)) {
        None => Ok(()),
        Some(capture) => {
            capture.invalidated = true;
            Err(code::STREAM_CAPTURE_UNSUPPORTED)
        }
    }
}

fn synchronize(call: &Call<'_>, stream: CUstream) -> Answer {
    let mut state = call.state();
    let stream = state.stream(call.thread, call.stream(stream), call.number)?;
    if call.outside_host_function().is_err() {
        let message = format!(
            "{} inside a host function: a real driver can wait for ever here",
            call.symbol
        );
        state.add_report(crate::Report::new(
            crate::ReportKind::HostFunction,
            message,
            call.number,
        ));
        return Err(code::NOT_PERMITTED);
    }
    refuse_captured(&mut state, stream.capture)?;
    state.check_implicit(&stream)?;
    state.check_captures(call.thread)?;
    schedule::run_stream(call.instance, &mut state, stream.id)?;
    state.healthy(stream.context).map(|_| ())
}

fn wait_event(call: &Call<'_>, stream: CUstream, event: CUevent, flags: c_uint) -> Answer {
    let mut state = call.state();
    // The event's context is not asked about: a stream may wait for another device's event.
    let (record, capture) = {
        let event = state.event(number(event), call.number)?;
        (event.record.clone(), event.capture)
    };
    if flags > 1 {
        return Err(code::INVALID_VALUE);
    }
    let target = target(call, &mut state, call.stream(stream))?;
    if let Some(capture) = capture {
        return state.wait_in_capture(&target.stream, number(event), capture);
    }
    let Some(record) = record else {
        return Ok(());
    };
    if target.captured {
        // A graph cannot depend on what is outside of it.
        if let Some(capture) = target
            .stream
            .capture
            .and_then(|id| state.captures.get_mut(&id))
        {
            capture.invalidated = true;
        }
        return Err(code::STREAM_CAPTURE_ISOLATION);
    }
    state.order.wait(target.stream.id, &record.seen);
    if state.is_done(record.operation) {
        if let (Some(reached), Some(queue)) = (
            crate::state::queue::reached(&record.stamp),
            state.queues.get_mut(&target.stream.id),
        ) {
            queue.end = queue.end.max(reached);
        }
        return Ok(());
    }
    submit::submit(
        call.instance,
        &mut state,
        target.stream.id,
        Work::Wait,
        &[record.operation],
        call.number,
    )
    .map(|_| ())
}

/// The flags and priority of a stream's handle: default streams have none.
fn flags_and_priority(
    call: &Call<'_>,
    state: &mut State,
    stream: CUstream,
) -> Result<(u32, i32), CUresult> {
    let stream = state.stream(call.thread, call.stream(stream), call.number)?;
    refuse_captured(state, stream.capture)?;
    Ok(state
        .streams
        .get(stream.handle)
        .map_or((0, 0), |stream| (stream.flags, stream.priority)))
}

fn flags(call: &Call<'_>, stream: CUstream, flags: Out<c_uint>) -> Answer {
    let flags = flags.check()?;
    flags.set(flags_and_priority(call, &mut call.state(), stream)?.0);
    Ok(())
}

fn priority(call: &Call<'_>, stream: CUstream, priority: Out<c_int>) -> Answer {
    let priority = priority.check()?;
    priority.set(flags_and_priority(call, &mut call.state(), stream)?.1);
    Ok(())
}

fn context(call: &Call<'_>, stream: CUstream, context: Out<CUcontext>) -> Answer {
    let context = context.check()?;
    context.set(handle(
        call.state()
            .stream(call.thread, call.stream(stream), call.number)?
            .context
            .handle,
    ));
    Ok(())
}

fn id(call: &Call<'_>, stream: CUstream, id: Out<c_ulonglong>) -> Answer {
    let id = id.check()?;
    id.set(
        call.state()
            .stream(call.thread, call.stream(stream), call.number)?
            .id
            .0,
    );
    Ok(())
}

fn device(call: &Call<'_>, stream: CUstream, device: Out<CUdevice>) -> Answer {
    let device = device.check()?;
    let mut state = call.state();
    let stream = state.stream(call.thread, call.stream(stream), call.number)?;
    device.set(state.device_handle(state.device_of(stream.context)));
    Ok(())
}

/// Enqueues foreign code, which runs even if nobody waits.
fn enqueue_host(
    call: &Call<'_>,
    state: &mut MutexGuard<'_, State>,
    target: &Target,
    work: Work,
) -> Answer {
    submit::enqueue(call, state, target, work)?;
    host_function::run_soon(call.instance);
    Ok(())
}

fn add_callback(
    call: &Call<'_>,
    stream: CUstream,
    callback: CUstreamCallback,
    data: *mut c_void,
    flags: c_uint,
) -> Answer {
    if callback.is_none() || flags != 0 {
        return Err(code::INVALID_VALUE);
    }
    let mut state = call.state();
    let target = target(call, &mut state, call.stream(stream))?;
    if target.captured {
        refuse_captured(&mut state, target.stream.capture)?;
    }
    let work = Work::Callback {
        function: callback,
        stream: number(stream),
        data: host_address(data),
    };
    enqueue_host(call, &mut state, &target, work)
}

fn launch_host_function(
    call: &Call<'_>,
    stream: CUstream,
    function: CUhostFn,
    data: *mut c_void,
) -> Answer {
    if function.is_none() {
        return Err(code::INVALID_VALUE);
    }
    let mut state = call.state();
    let target = target(call, &mut state, call.stream(stream))?;
    let work = Work::HostFunction {
        function,
        data: host_address(data),
    };
    enqueue_host(call, &mut state, &target, work)
}
