//! An instance of the software driver: everything that its calls share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Weak};

use parking_lot::{Condvar, Mutex};

use crate::fault::Faults;
use crate::report::Report;
use crate::site::Sites;
use crate::state::State;
use crate::state::host_function::Job;
use crate::trace::Trace;
use crate::trace::argument::Named;

/// An instance. One lock guards its state; it is never held while foreign code runs.
#[derive(Debug)]
pub(crate) struct Instance {
    /// Never reused within a process, unlike the slot.
    pub(crate) id: u64,
    /// The process that it belongs to.
    process: AtomicU32,
    pub(crate) state: Mutex<State>,
    /// Where calls were made; the state has it too.
    pub(crate) sites: Arc<Sites>,
    /// Signalled when a host function returned.
    pub(crate) progress: Condvar,
    pub(crate) faults: Mutex<Faults>,
    pub(crate) trace: Mutex<Option<Trace>>,
    /// The queue of the thread that runs host functions, once there is one.
    pub(crate) worker: Mutex<Option<Sender<Job>>>,
    /// Wakes the thread that runs the streams of host functions when nobody waits, once there is one.
    pub(crate) runner: Mutex<Option<Sender<()>>>,
    calls: Mutex<BTreeMap<&'static str, u64>>,
    numbers: AtomicU64,
    /// Names of functions that were called and are not built, and of what else is not.
    unsupported: Mutex<Vec<String>>,
}

/// Names of what is not built that are kept; programs that ask again and again must not fill the memory.
const KEPT_UNSUPPORTED: usize = 1000;

impl Instance {
    pub(crate) fn new(state: State) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            id: NEXT.fetch_add(1, Relaxed),
            process: AtomicU32::new(std::process::id()),
            sites: Arc::clone(&state.sites),
            state: Mutex::new(state),
            progress: Condvar::new(),
            faults: Mutex::new(Faults::default()),
            trace: Mutex::new(None),
            worker: Mutex::new(None),
            runner: Mutex::new(None),
            calls: Mutex::new(BTreeMap::new()),
            numbers: AtomicU64::new(0),
            unsupported: Mutex::new(Vec::new()),
        }
    }

    /// Whether this process may use it. A forked child has no driver, and must not touch locks that its parent's other threads may have
    /// held; but it takes over one that was not initialised.
    pub(crate) fn serves_this_process(&self) -> bool {
        let process = std::process::id();
        if self.process.load(Relaxed) == process {
            return true;
        }
        let fresh = self
            .state
            .try_lock()
            .is_some_and(|state| !state.initialised);
        if fresh {
            self.process.store(process, Relaxed);
        }
        fresh
    }

    /// Counts a call and numbers it.
    pub(crate) fn count(&self, symbol: &'static str) -> u64 {
        *self.calls.lock().entry(symbol).or_insert(0) += 1;
        self.numbers.fetch_add(1, Relaxed) + 1
    }

    /// How often each symbol was called.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.calls.lock().clone()
    }

    /// Starts counting anew; the numbers of calls go on.
    pub(crate) fn reset_counts(&self) {
        self.calls.lock().clear();
    }

    /// Arguments as JSON, under the names that the trace gives.
    pub(crate) fn name(&self, arguments: &[Named]) -> Vec<(&'static str, String)> {
        let mut trace = self.trace.lock();
        let Some(trace) = trace.as_mut() else {
            return Vec::new();
        };
        let state = self.state.lock();
        let named = |argument: &Named| (argument.0, trace.names.json(&state, argument));
        arguments.iter().map(named).collect()
    }

    /// Keeps the name of something that is not built, as long as there is room.
    pub(crate) fn note_unsupported(&self, name: String) {
        let mut names = self.unsupported.lock();
        if names.len() < KEPT_UNSUPPORTED {
            names.push(name);
        }
    }

    /// What was asked for and is not built, in order.
    pub(crate) fn unsupported(&self) -> Vec<String> {
        self.unsupported.lock().clone()
    }

    /// Adds a report.
    pub(crate) fn add_report(&self, report: Report) {
        self.state.lock().add_report(report);
    }
}

/// The instance as a host function's job knows it.
pub(crate) type WeakInstance = Weak<Instance>;
