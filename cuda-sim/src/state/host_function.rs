//! Host functions and stream callbacks: foreign code that runs in stream order, on a thread of the instance's own.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::with_exposed_provenance_mut;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use cuda_sys::{CUhostFn, CUresult, CUstreamCallback};

use crate::args::handle;
use crate::code;
use crate::instance::{Instance, WeakInstance};
use crate::report::{Report, ReportKind};
use crate::state::State;
use crate::state::queue::{OperationId, Work};
use crate::state::schedule;

/// Foreign code to be run.
#[derive(Debug)]
pub(crate) struct Job {
    instance: WeakInstance,
    id: u64,
    operation: OperationId,
    code: Foreign,
}

#[derive(Debug)]
enum Foreign {
    HostFunction {
        function: CUhostFn,
        data: usize,
    },
    Callback {
        function: CUstreamCallback,
        stream: u64,
        status: CUresult,
        data: usize,
    },
}

thread_local! {
    /// The instance whose host function runs on this thread, 0 for none.
    static INSIDE: Cell<u64> = const { Cell::new(0) };
}

/// Whether this thread runs a host function of that instance.
pub(crate) fn is_inside(instance: u64) -> bool {
    INSIDE
        .try_with(|inside| inside.get() == instance)
        .unwrap_or(false)
}

/// Hands the operation to the worker, which is started when first needed. A host function of a poisoned context does not run, a callback
/// is told.
pub(crate) fn start(state: &mut State, instance: &Arc<Instance>, operation: OperationId) {
    let Some(entry) = state.operations.get(&operation) else {
        return;
    };
    let (context, call) = (entry.context, entry.call);
    // Whatever it tells other threads, they know at least that it began.
    let seen = entry.moment.seen();
    let status = state.healthy(context).err().unwrap_or(code::SUCCESS);
    let foreign = match &entry.work {
        Work::HostFunction { function, data } if status == code::SUCCESS => Foreign::HostFunction {
            function: *function,
            data: *data,
        },
        Work::Callback {
            function,
            stream,
            data,
        } => Foreign::Callback {
            function: *function,
            stream: *stream,
            status,
            data: *data,
        },
        _ => {
            let now = state.clock;
            state.finish(operation, now);
            return;
        }
    };
    state.host_learns(&seen);
    let job = Job {
        instance: Arc::downgrade(instance),
        id: instance.id,
        operation,
        code: foreign,
    };
    let mut worker = instance.worker.lock();
    if worker.is_none() {
        let (sender, receiver) = channel();
        let builder = std::thread::Builder::new().name(String::from("cuda-sim host functions"));
        match builder.spawn(move || work(&receiver)) {
            Ok(_) => *worker = Some(sender),
            Err(error) => {
                let message = format!("cannot start the thread for host functions: {error}");
                state.add_report(Report::new(ReportKind::Internal, message, call));
            }
        }
    }
    if worker
        .as_ref()
        .is_none_or(|worker| worker.send(job).is_err())
    {
        // Without a thread it cannot run: the context is lost rather than the function silently skipped.
        drop(worker);
        state.poison(context, code::UNKNOWN);
        let now = state.clock;
        state.finish(operation, now);
    }
}

/// The worker: ends when the instance does.
fn work(jobs: &Receiver<Job>) {
    for job in jobs {
        INSIDE.set(job.id);
        run(&job.code);
        INSIDE.set(0);
        let Some(instance) = job.instance.upgrade() else {
            return;
        };
        let mut guard = instance.state.lock();
        let state = &mut *guard;
        if let Some(operation) = state.operations.get(&job.operation) {
            state.order.hand_off(operation.moment.mark);
        }
        let start = state
            .operations
            .get(&job.operation)
            .map_or(0, |operation| operation.not_before);
        state.finish(job.operation, start + 5_000);
        drop(guard);
        instance.progress.notify_all();
    }
}

/// How long the streams are left to the program's own waits before a host function is brought about.
const PATIENCE: Duration = Duration::from_millis(20);

/// Sees to it that host functions run although nobody waits or asks: a program may wait for what they do.
pub(crate) fn run_soon(instance: &Arc<Instance>) {
    let mut runner = instance.runner.lock();
    if runner.is_none() {
        let (sender, receiver) = channel::<()>();
        let weak = Arc::downgrade(instance);
        let builder = std::thread::Builder::new().name(String::from("cuda-sim streams"));
        if builder
            .spawn(move || run_when_idle(&receiver, &weak))
            .is_ok()
        {
            *runner = Some(sender);
        }
    }
    if let Some(runner) = runner.as_ref() {
        // The thread ends with the instance only.
        let _ = runner.send(());
    }
}

fn run_when_idle(signals: &Receiver<()>, instance: &WeakInstance) {
    while signals.recv().is_ok() {
        loop {
            std::thread::sleep(PATIENCE);
            while signals.try_recv().is_ok() {}
            let Some(instance) = instance.upgrade() else {
                return;
            };
            let mut state = instance.state.lock();
            let noticed = |work: &Work| {
                matches!(
                    work,
                    Work::HostFunction { .. } | Work::Callback { .. } | Work::Put(_)
                )
            };
            let pending = state
                .operations
                .iter()
                .filter(|(_, operation)| noticed(&operation.work));
            let pending: Vec<OperationId> = pending.map(|(id, _)| *id).collect();
            // Where a stream waits for a word, the host may write it at any time.
            if schedule::advance(&instance, &mut state, &pending) {
                break;
            }
        }
    }
}

fn run(code: &Foreign) {
    match *code {
        Foreign::HostFunction {
            function: Some(function),
            data,
        } => {
            let data: *mut c_void = with_exposed_provenance_mut(data);
            // SAFETY: whoever enqueued it promised that it can be called once, on any thread, with this argument.
            unsafe { function(data) };
        }
        Foreign::Callback {
            function: Some(function),
            stream,
            status,
            data,
        } => {
            let data: *mut c_void = with_exposed_provenance_mut(data);
            // SAFETY: as above.
            unsafe { function(handle(stream), status, data) };
        }
        Foreign::HostFunction { function: None, .. } | Foreign::Callback { function: None, .. } => {
        }
    }
}
