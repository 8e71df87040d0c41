//! Events: `CUDA_EVENT`.

use std::sync::Arc;

use cuda_sys::{CUevent, CUstream};

use super::prelude::*;
use crate::state::event::{DISABLE_TIMING, Event, Record};
use crate::state::queue::{Work, reached};
use crate::state::schedule;
use crate::submit::{submit, target};

built! {
    cuEventCreate => create, (event: Out<CUevent>, flags: c_uint);
    cuEventDestroy [cuEventDestroy_v2] => destroy, (event: CUevent);
    cuEventRecord [cuEventRecord_ptsz] => record, (event: CUevent, stream: CUstream);
    cuEventRecordWithFlags [cuEventRecordWithFlags_ptsz] => record_with_flags, (event: CUevent, stream: CUstream, flags: c_uint);
    cuEventQuery => query, (event: CUevent);
    cuEventSynchronize => synchronize, (event: CUevent);
    cuEventElapsedTime [cuEventElapsedTime_v2] => elapsed_time, (milliseconds: Out<f32>, start: CUevent, end: CUevent);
}

fn create(call: &Call<'_>, event: Out<CUevent>, flags: c_uint) -> Answer {
    let event = event.check()?;
    let mut state = call.state();
    let context = state.current(call.thread)?;
    const INTERPROCESS: u32 = 4;
    if flags > 7 || flags & INTERPROCESS != 0 && flags & DISABLE_TIMING == 0 {
        return Err(code::INVALID_VALUE);
    }
    let created = state.events.insert(Event {
        context,
        flags,
        record: None,
        capture: None,
        call: call.number,
    });
    event.set(handle(created));
    Ok(())
}

fn destroy(call: &Call<'_>, event: CUevent) -> Answer {
    let mut state = call.state();
    let event = number(event);
    state.event(event, call.number)?;
    let reuse = state.options.reuse_handles;
    state.events.remove(event, reuse).map(|_| ())
}

fn record(call: &Call<'_>, event: CUevent, stream: CUstream) -> Answer {
    record_with_flags(call, event, stream, 0)
}

pub(super) fn record_with_flags(
    call: &Call<'_>,
    event: CUevent,
    stream: CUstream,
    flags: c_uint,
) -> Answer {
    let mut state = call.state();
    let event = number(event);
    let target = target(call, &mut state, call.stream(stream))?;
    let context = state.event(event, call.number)?.context;
    if flags > 1 {
        return Err(code::INVALID_VALUE);
    }
    if target.stream.context != context {
        return Err(code::INVALID_HANDLE);
    }
    if target.captured {
        let entry = state.events.get_mut(event)?;
        entry.capture = target.stream.capture;
        if let Some(capture) = target
            .stream
            .capture
            .and_then(|id| state.captures.get_mut(&id))
        {
            capture.record(target.stream.handle, event);
        }
        return Ok(());
    }
    let stamp = Record::new_stamp();
    let work = Work::Record {
        stamp: stamp.clone(),
    };
    let operation = submit(
        call.instance,
        &mut state,
        target.stream.id,
        work,
        &[],
        call.number,
    )?;
    let seen = Arc::new(state.order.of_stream(target.stream.id));
    let entry = state.events.get_mut(event)?;
    entry.record = Some(Record {
        operation,
        stamp,
        seen,
    });
    entry.capture = None;
    Ok(())
}

/// What an event was recorded as, unless waiting for it or asking about it disturbs a capture.
fn settled(
    call: &Call<'_>,
    state: &mut State,
    event: CUevent,
) -> Result<(Option<Record>, crate::state::context::ContextRef), CUresult> {
    let (record, capture, context) = {
        let event = state.event(number(event), call.number)?;
        (event.record.clone(), event.capture, event.context)
    };
    if let Some(id) = capture {
        // Once the capture has ended, the event marks nothing.
        let capture = state.captures.get_mut(&id).ok_or(code::INVALID_VALUE)?;
        capture.invalidated = true;
        return Err(code::CAPTURED_EVENT);
    }
    state.check_captures(call.thread)?;
    Ok((record, context))
}

fn query(call: &Call<'_>, event: CUevent) -> Answer {
    let mut state = call.state();
    let (record, context) = settled(call, &mut state, event)?;
    let Some(record) = record else { return Ok(()) };
    if !state.is_done(record.operation) {
        schedule::nudge(call.instance, &mut state);
    }
    state.healthy(context)?;
    if state.is_done(record.operation) {
        state.host_learns(&record.seen);
        Ok(())
    } else {
        Err(code::NOT_READY)
    }
}

fn synchronize(call: &Call<'_>, event: CUevent) -> Answer {
    let mut state = call.state();
    let (record, context) = settled(call, &mut state, event)?;
    let Some(record) = record else { return Ok(()) };
    if !state.is_done(record.operation) {
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
        schedule::run(call.instance, &mut state, &[record.operation])?;
    }
    state.host_learns(&record.seen);
    state.healthy(context).map(|_| ())
}

fn elapsed_time(call: &Call<'_>, milliseconds: Out<f32>, start: CUevent, end: CUevent) -> Answer {
    let milliseconds = milliseconds.check().map_err(|_| code::INVALID_HANDLE)?;
    let mut state = call.state();
    let mut times = [0; 2];
    let mut contexts = Vec::new();
    let mut records = Vec::new();
    for event in [start, end] {
        let event = state.event(number(event), call.number)?;
        contexts.push(event.context);
        if event.flags & DISABLE_TIMING != 0 {
            return Err(code::INVALID_HANDLE);
        }
        records.push(event.record.clone().ok_or(code::INVALID_HANDLE)?);
    }
    if contexts.first() != contexts.last() {
        return Err(code::INVALID_HANDLE);
    }
    for (time, record) in times.iter_mut().zip(&records) {
        *time = reached(&record.stamp).ok_or(code::NOT_READY)?;
        state.host_learns(&record.seen);
    }
    let [start, end] = times;
    milliseconds.set((end as f64 - start as f64) as f32 / 1e6);
    Ok(())
}
