//! The order in which operations are executed: any that streams and events allow, chosen by the seed.
//!
//! Nothing runs until a call waits or asks. Then steps are drawn from all streams whose head may run, sometimes only from those that the
//! caller waits for, so that work which nobody ordered is found late, early, and in between.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cuda_sys::CUresult;
use parking_lot::MutexGuard;

use crate::code;
use crate::instance::Instance;
use crate::state::State;
use crate::state::context::ContextRef;
use crate::state::host_function;
use crate::state::queue::{OperationId, StreamId, Work};

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Executed, or handed to the worker, an operation.
    Ran,
    /// Nothing can run before a host function returns.
    Busy,
    /// Nothing is enqueued that can run.
    Idle,
}

impl State {
    /// The streams whose head may run now.
    fn ready(&self) -> Vec<(StreamId, OperationId)> {
        let may_run = |id: &OperationId| {
            self.operations
                .get(id)
                .is_some_and(|operation| operation.after.is_empty())
        };
        let heads = self.queues.iter().filter(|(_, queue)| !queue.running);
        heads
            .filter_map(|(stream, queue)| {
                Some((*stream, *queue.operations.front().filter(|id| may_run(id))?))
            })
            .filter(|(_, id)| !self.is_blocked(*id))
            .collect()
    }

    /// Those of some operations that are next in their streams and wait for a word.
    fn blocked(&self, among: &BTreeSet<OperationId>) -> Vec<OperationId> {
        let heads = self.queues.values();
        heads
            .filter_map(|queue| queue.operations.front().copied())
            .filter(|id| among.contains(id) && self.is_blocked(*id))
            .collect()
    }

    /// `targets` and everything that must run before them.
    fn needed(&self, targets: &[OperationId]) -> BTreeSet<OperationId> {
        let mut needed = BTreeSet::new();
        let mut open: Vec<OperationId> = targets.to_vec();
        while let Some(id) = open.pop() {
            let Some(operation) = self.operations.get(&id) else {
                continue;
            };
            if !needed.insert(id) {
                continue;
            }
            open.extend(&operation.after);
            if let Some(queue) = self.queues.get(&operation.stream) {
                // A queue holds its operations in the order of their numbers.
                let position = queue.operations.partition_point(|other| *other < id);
                open.extend(
                    position
                        .checked_sub(1)
                        .and_then(|before| queue.operations.get(before)),
                );
            }
        }
        needed
    }

    /// Runs one operation, chosen by the seed among those that may run and `wanted` allows.
    fn step(&mut self, instance: &Arc<Instance>, wanted: Option<&BTreeSet<OperationId>>) -> Step {
        let mut ready = self.ready();
        if let Some(wanted) = wanted {
            ready.retain(|(_, id)| wanted.contains(id));
        }
        let Some(choice) = self.random.below(ready.len()) else {
            return if self.queues.values().any(|queue| queue.running) {
                Step::Busy
            } else {
                Step::Idle
            };
        };
        let Some((stream, id)) = ready.get(choice).copied() else {
            return Step::Idle;
        };
        let host = matches!(
            self.operations.get(&id).map(|operation| &operation.work),
            Some(Work::HostFunction { .. } | Work::Callback { .. })
        );
        if host {
            if let Some(queue) = self.queues.get_mut(&stream) {
                queue.running = true;
            }
            host_function::start(self, instance, id);
        } else {
            let end = self.execute(id);
            self.finish(id, end);
        }
        Step::Ran
    }
}

/// Executes operations until `targets` are done.
///
/// # Errors
/// `LAUNCH_TIMEOUT` where the targets wait for each other (which no sequence of calls is known to bring about).
pub(crate) fn run(
    instance: &Arc<Instance>,
    state: &mut MutexGuard<'_, State>,
    targets: &[OperationId],
) -> Result<(), CUresult> {
    let mut open: Vec<OperationId> = targets
        .iter()
        .copied()
        .filter(|id| !state.is_done(*id))
        .collect();
    if open.is_empty() {
        state.release_idle_memory(0);
        return Ok(());
    }
    let needed = state.needed(&open);
    // How often, in percent, a step serves only what is waited for.
    let focus = [0, 50, 95][state.random.below(3).unwrap_or(0)];
    let streams: BTreeSet<StreamId> = open
        .iter()
        .filter_map(|id| Some(state.operations.get(id)?.stream))
        .collect();
    let mut idle_since = None;
    loop {
        // What is not done keeps what stands before it from being looked at again.
        while open.last().is_some_and(|id| state.is_done(*id)) {
            open.pop();
        }
        if open.is_empty() {
            break;
        }
        let focused = state.random.below(100).unwrap_or(0) < focus;
        let mut step = state.step(instance, focused.then_some(&needed));
        if focused && step != Step::Ran {
            step = state.step(instance, None);
        }
        match step {
            Step::Ran => idle_since = None,
            Step::Busy => instance.progress.wait(state),
            Step::Idle => {
                let blocked = state.blocked(&needed);
                if blocked.is_empty() {
                    return Err(code::LAUNCH_TIMEOUT);
                }
                // Another thread, or a word written by the host, may end the wait.
                if idle_since.get_or_insert_with(Instant::now).elapsed()
                    < state.options.wait_patience
                {
                    MutexGuard::unlocked(state, || thread::sleep(Duration::from_millis(1)));
                } else {
                    state.give_up_waits(&blocked);
                    idle_since = None;
                }
            }
        }
    }
    let end = streams
        .iter()
        .filter_map(|stream| Some(state.queues.get(stream)?.end))
        .max();
    state.clock = state.clock.max(end.unwrap_or(0));
    state.release_idle_memory(0);
    Ok(())
}

/// Executes operations until `targets` are done or streams wait for words that are not written; whether they are done.
pub(crate) fn advance(
    instance: &Arc<Instance>,
    state: &mut MutexGuard<'_, State>,
    targets: &[OperationId],
) -> bool {
    while !targets.iter().all(|id| state.is_done(*id)) {
        match state.step(instance, None) {
            Step::Ran => {}
            Step::Busy => instance.progress.wait(state),
            Step::Idle => return false,
        }
    }
    state.release_idle_memory(0);
    true
}

/// Executes all operations of a stream.
///
/// # Errors
/// As for [`run`].
pub(crate) fn run_stream(
    instance: &Arc<Instance>,
    state: &mut MutexGuard<'_, State>,
    stream: StreamId,
) -> Result<(), CUresult> {
    let last: Vec<OperationId> = state.last_operation(stream).into_iter().collect();
    let seen = state.order.of_stream(stream);
    run(instance, state, &last)?;
    state.host_learns(&seen);
    Ok(())
}

/// Executes all operations of a context.
///
/// # Errors
/// As for [`run`].
pub(crate) fn run_context(
    instance: &Arc<Instance>,
    state: &mut MutexGuard<'_, State>,
    context: ContextRef,
) -> Result<(), CUresult> {
    let all = state.operations_of(context);
    let seen = state.order.of_contexts(|other| other == context);
    run(instance, state, &all)?;
    state.host_learns(&seen);
    Ok(())
}

/// Executes all operations of the contexts of a device.
///
/// # Errors
/// As for [`run`].
pub(crate) fn run_device(
    instance: &Arc<Instance>,
    state: &mut MutexGuard<'_, State>,
    device: usize,
) -> Result<(), CUresult> {
    let on_device = |context: ContextRef| state.device_of(context) == device;
    let all: Vec<OperationId> = state
        .operations
        .iter()
        .filter(|(_, operation)| on_device(operation.context))
        .map(|(id, _)| *id)
        .collect();
    let seen = state.order.of_contexts(on_device);
    run(instance, state, &all)?;
    state.host_learns(&seen);
    Ok(())
}

/// Executes a few operations, as time passing between two questions would.
pub(crate) fn nudge(instance: &Arc<Instance>, state: &mut MutexGuard<'_, State>) {
    for _ in 0..state.random.below(4).unwrap_or(0) {
        if state.step(instance, None) != Step::Ran {
            break;
        }
    }
}
