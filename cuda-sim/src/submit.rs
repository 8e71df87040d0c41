//! From a call to an operation on a stream.

use std::sync::Arc;

use cuda_sys::CUresult;
use parking_lot::MutexGuard;

use crate::call::Call;
use crate::instance::Instance;
use crate::state::State;
use crate::state::queue::{OperationId, StreamId, Work};
use crate::state::schedule;
use crate::state::stream::StreamRef;

/// Where an operation goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) stream: StreamRef,
    /// A capture records it; it is not executed.
    pub(crate) captured: bool,
}

/// The stream of a call's argument (as [`Call::stream`] gives it), ready for an operation.
///
/// # Errors
/// What [`State::stream`] gives, and what captures give.
pub(crate) fn target(call: &Call<'_>, state: &mut State, handle: u64) -> Result<Target, CUresult> {
    let stream = state.stream(call.thread, handle, call.number)?;
    state.check_implicit(&stream)?;
    let captured = state.is_captured(stream.capture)?;
    Ok(Target { stream, captured })
}

/// Enqueues an operation, and executes it at once where the instance does not defer.
pub(crate) fn submit(
    instance: &Arc<Instance>,
    state: &mut MutexGuard<'_, State>,
    stream: StreamId,
    work: Work,
    after: &[OperationId],
    call: u64,
) -> Result<OperationId, CUresult> {
    if matches!(work, Work::Kernel(_)) {
        while let Some(oldest) = state.full_queue(stream) {
            schedule::run(instance, state, &[oldest])?;
        }
    }
    let operation = state.enqueue(stream, work, after, call);
    if !state.options.deferred {
        schedule::advance(instance, state, &[operation]);
    }
    Ok(operation)
}

/// Enqueues an operation of a call, unless a capture records it.
///
/// # Errors
/// As for [`schedule::run`].
pub(crate) fn enqueue(
    call: &Call<'_>,
    state: &mut MutexGuard<'_, State>,
    target: &Target,
    work: Work,
) -> Result<Option<OperationId>, CUresult> {
    if target.captured {
        state.note_captured(&target.stream);
        return Ok(None);
    }
    submit(
        call.instance,
        state,
        target.stream.id,
        work,
        &[],
        call.number,
    )
    .map(Some)
}

/// Runs a stream up to an operation, and gives the error of its context.
///
/// # Errors
/// The context's error.
pub(crate) fn complete(
    call: &Call<'_>,
    state: &mut MutexGuard<'_, State>,
    stream: &StreamRef,
    operation: Option<OperationId>,
) -> Result<(), CUresult> {
    let operations: Vec<OperationId> = operation.into_iter().collect();
    let seen = state.order.of_stream(stream.id);
    schedule::run(call.instance, state, &operations)?;
    state.host_learns(&seen);
    state.healthy(stream.context).map(|_| ())
}
