//! The handle of an instance.

use std::sync::Arc;
use std::time::Duration;

use cuda_sim_machine::Fault as KernelFault;
use cuda_sys::{CUresult, Library};

use crate::builder::{Builder, Settings};
use crate::fault::{CallInfo, FailureMode, Fault, Struck, failing};
use crate::instance::Instance;
use crate::leak::Leak;
use crate::report::Report;
use crate::slot::Slot;
use crate::state::State;
use crate::trace::{Calls, Trace, TraceEntry};

/// An instance of the software driver: its devices, handles, addresses and reports are its own.
///
/// A clone is another handle of the same instance, which lives until the last of its simulators and libraries is gone.
///
/// # Invariants
/// The slot's functions act on `instance` as long as `slot` lives.
#[derive(Debug, Clone)]
pub struct Simulator {
    instance: Arc<Instance>,
    slot: Arc<Slot>,
    seed: u64,
}

impl Default for Simulator {
    fn default() -> Self {
        Self::new()
    }
}

impl Simulator {
    /// An instance with one device like an H200 and a driver of CUDA 13.0.
    ///
    /// # Panics
    /// When too many instances live for too long; [`Builder::build`] reports that instead.
    #[must_use]
    pub fn new() -> Self {
        match Builder::default().build() {
            Ok(simulator) => simulator,
            Err(error) => panic!("{error}"),
        }
    }

    /// Describes an instance.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn from_parts(slot: Slot, settings: Settings) -> Self {
        let seed = settings.seed;
        let instance = Arc::new(Instance::new(State::new(slot.number(), settings)));
        slot.bind(Arc::clone(&instance));
        Self {
            instance,
            slot: Arc::new(slot),
            seed,
        }
    }

    /// The seed it was made with.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The instance as a driver library.
    #[must_use]
    pub fn library(&self) -> Library {
        let simulator = self.clone();
        let resolver = move |name: &std::ffi::CStr| {
            crate::table::resolve(&simulator.instance, simulator.slot.number(), name)
        };
        // SAFETY: each address is that of a function whose type is checked, where it is defined, against the signature of the same name,
        // or a stub that returns an error whatever it is called with; functions are static, so they stay valid.
        unsafe { Library::from_resolver(resolver) }
    }

    /// How often each function was called.
    #[must_use]
    pub fn calls(&self) -> Calls {
        Calls {
            counts: self.instance.counts(),
        }
    }

    /// How often one function was called, by its exact symbol.
    #[must_use]
    pub fn call_count(&self, symbol: &str) -> u64 {
        self.calls().of(symbol)
    }

    /// Starts counting calls anew.
    pub fn reset_calls(&self) {
        self.instance.reset_counts();
    }

    /// Starts listing calls, or ends it and forgets the list.
    pub fn set_trace(&self, on: bool) {
        *self.instance.trace.lock() = on.then(Trace::default);
    }

    /// The calls since tracing was switched on.
    #[must_use]
    pub fn trace(&self) -> Vec<TraceEntry> {
        let trace = self.instance.trace.lock();
        trace
            .as_ref()
            .map(|trace| trace.entries.clone())
            .unwrap_or_default()
    }

    /// The calls since tracing was switched on, as lines of JSON: equal runs of a program give equal bytes, for one seed and one thread.
    ///
    /// A line is an object with `call` (its number), `thread`, `symbol`, `arguments`, `result` (the name of the code) and, of a call that
    /// succeeds, `stored`: what it stored for the caller. Handles, addresses and threads have names in the order in which they appear,
    /// such as `"stream#1"`, `"alloc#2+0x10"` and `"thread#1"`; memory that only the host knows is `"host"`, a place for a result `"out"`, and
    /// a place that is read `"in"`.
    ///
    /// ```
    /// let simulator = cuda_sim::Simulator::new();
    /// simulator.set_trace(true);
    /// let init = simulator.library().cuInit()?;
    /// // SAFETY: no pointers are passed.
    /// unsafe { init(0) };
    /// assert_eq!(
    ///     simulator.trace_json(),
    ///     r#"{"call":1,"thread":"thread#1","symbol":"cuInit","arguments":{"flags":0},"result":"CUDA_SUCCESS","stored":{}}
    /// "#
    /// );
    /// # Ok::<(), cuda_sys::MissingSymbol>(())
    /// ```
    #[must_use]
    pub fn trace_json(&self) -> String {
        let trace = self.instance.trace.lock();
        trace
            .as_ref()
            .map(|trace| trace.lines.clone())
            .unwrap_or_default()
    }

    /// What was made and not released yet.
    #[must_use]
    pub fn leaks(&self) -> Vec<Leak> {
        crate::leak::list(&self.instance.state.lock())
    }

    /// What the checks found, in order.
    #[must_use]
    pub fn reports(&self) -> Vec<Report> {
        self.instance.state.lock().reports.clone()
    }

    /// Takes the reports, so that the next call shows only newer ones.
    #[must_use]
    pub fn take_reports(&self) -> Vec<Report> {
        std::mem::take(&mut self.instance.state.lock().reports)
    }

    /// What kernels printed, as far as they were executed; of very much text, the last 8 MiB.
    ///
    /// It goes to standard output too, unless [`Builder::echo_printf`] is switched off.
    #[must_use]
    pub fn printed(&self) -> String {
        String::from_utf8_lossy(&self.instance.state.lock().printed).into_owned()
    }

    /// Takes what kernels printed, so that the next call shows only what is newer.
    #[must_use]
    pub fn take_printed(&self) -> String {
        let printed = std::mem::take(&mut self.instance.state.lock().printed);
        String::from_utf8_lossy(&printed).into_owned()
    }

    /// The last fault of a kernel.
    #[must_use]
    pub fn last_kernel_fault(&self) -> Option<KernelFault> {
        self.instance.state.lock().last_fault.clone()
    }

    /// The names of functions that were called although the software driver does not have them, and the PTX instructions that launches
    /// failed for, in order: the first thousand, each as often as it was asked for.
    #[must_use]
    pub fn unsupported_calls(&self) -> Vec<String> {
        self.instance.unsupported()
    }

    /// Makes the `nth` call of `symbol` from now (1: the next) return `code` without doing anything; the symbol `*` stands for any.
    ///
    /// A call that does nothing must not say that it succeeded: here and in the other ways to fail, `UNKNOWN` takes the place of `SUCCESS`.
    ///
    /// ```
    /// use cuda_sys::CUresult;
    ///
    /// let simulator = cuda_sim::Simulator::new();
    /// simulator.fail("cuInit", 1, CUresult::CUDA_ERROR_SYSTEM_NOT_READY);
    /// let init = simulator.library().cuInit()?;
    /// // SAFETY: no pointers are passed.
    /// assert_eq!(unsafe { init(0) }, CUresult::CUDA_ERROR_SYSTEM_NOT_READY);
    /// // SAFETY: as above.
    /// assert_eq!(unsafe { init(0) }, CUresult::CUDA_SUCCESS);
    /// # Ok::<(), cuda_sys::MissingSymbol>(())
    /// ```
    pub fn fail(&self, symbol: &str, nth: u64, code: CUresult) {
        self.plan_failure(symbol, nth, code, FailureMode::Refused);
    }

    /// Makes the `nth` call of `symbol` from now return `code` after it was executed; see [`FailureMode::AfterExecuting`] about the codes.
    pub fn fail_after_executing(&self, symbol: &str, nth: u64, code: CUresult) {
        self.plan_failure(symbol, nth, code, FailureMode::AfterExecuting);
    }

    /// Loses the device at the `nth` call of `symbol` from now: that call and all that follow return `code` without doing anything, until
    /// [`clear_failures`](Self::clear_failures).
    pub fn lose_device(&self, symbol: &str, nth: u64, code: CUresult) {
        self.plan_failure(symbol, nth, code, FailureMode::Lost);
    }

    /// Lets `choose` decide about each call whether it fails and how, until [`clear_failures`](Self::clear_failures). The instance waits meanwhile:
    /// it must not be used. Where it panics, the call does not fail.
    ///
    /// ```
    /// use cuda_sim::FailureMode;
    /// use cuda_sys::CUresult;
    ///
    /// let simulator = cuda_sim::Simulator::new();
    /// // Large copies fail.
    /// simulator.fail_when(|call| {
    ///     let large = call.symbol.starts_with("cuMemcpy") && call.size().is_some_and(|size| size > 1 << 20);
    ///     large.then_some((FailureMode::Refused, CUresult::CUDA_ERROR_UNKNOWN))
    /// });
    /// ```
    pub fn fail_when(
        &self,
        choose: impl FnMut(&CallInfo<'_>) -> Option<(FailureMode, CUresult)> + Send + 'static,
    ) {
        self.instance.faults.lock().choose(Box::new(choose));
    }

    /// Makes the `nth` launch of a kernel of that name from now (1: the next; `*`: of any) end in an error of the device when it is executed,
    /// which all later calls on the device give, as after a fault.
    pub fn fault_kernel(&self, name: &str, nth: u64, code: CUresult) {
        let fault = (name.to_owned(), nth.max(1), failing(code));
        self.instance.state.lock().kernel_faults.push(fault);
    }

    /// Changes how much memory a device has. What is allocated stays, even if it is more.
    pub fn set_memory_limit(&self, device: usize, bytes: u64) {
        if let Some(device) = self.instance.state.lock().devices.get_mut(device) {
            device.config.total_memory = bytes;
        }
    }

    pub(crate) fn plan_failure(&self, symbol: &str, nth: u64, result: CUresult, mode: FailureMode) {
        let fault = Fault::new(mode, result);
        self.instance.faults.lock().plan(symbol, nth, fault);
    }

    /// The first call that was made to fail.
    pub(crate) fn first_struck(&self) -> Option<Struck> {
        self.instance.faults.lock().first_struck()
    }

    /// A new instance in the place of this one. Whatever still holds this one's functions reaches the new one from now on.
    pub(crate) fn renewed(&self, settings: Settings) -> Self {
        let seed = settings.seed;
        let instance = Arc::new(Instance::new(State::new(self.slot.number(), settings)));
        self.slot.bind(Arc::clone(&instance));
        Self {
            instance,
            slot: Arc::clone(&self.slot),
            seed,
        }
    }

    /// Forgets the failures that have not struck yet, and ends the loss of a device; says how many those were.
    pub fn clear_failures(&self) -> usize {
        self.instance.faults.lock().clear()
    }

    /// Operations that were enqueued and not executed.
    #[must_use]
    pub fn pending_operations(&self) -> usize {
        self.instance.state.lock().operations.len()
    }

    /// Executes everything that is enqueued. Inside a host function it does nothing, for what is enqueued waits for that.
    pub fn run_all(&self) {
        // A host function would wait for its own end.
        if crate::state::host_function::is_inside(self.instance.id) {
            return;
        }
        let mut state = self.instance.state.lock();
        let all: Vec<_> = state.operations.keys().copied().collect();
        // All operations can be executed: edges only point back.
        let _ = crate::state::schedule::run(&self.instance, &mut state, &all);
    }

    /// Makes every later call return `DEINITIALIZED`, as a driver does while its process ends, and waits up to `patience` for those that are
    /// running. Says whether they ended; otherwise asking for reports waits for them.
    pub fn shut_down(&self, patience: Duration) -> bool {
        self.slot.unbind();
        self.instance.state.try_lock_for(patience).is_some()
    }

    /// Whether this process can use the instance: a child that was forked after `cuInit` cannot, and must not ask anything else of it.
    #[must_use]
    pub fn serves_this_process(&self) -> bool {
        self.instance.serves_this_process()
    }
}
