//! Sweeps: each driver call of a program fails in turn, and the program has to bear it.

mod findings;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cuda_sys::CUresult;

use crate::builder::{BuildError, Builder};
use crate::fault::FailureMode;
use crate::leak::{Leak, LeakKind};
use crate::simulator::Simulator;

pub use findings::{Finding, Mistake, SweepReport};

/// Lets each driver call of `program` fail in turn; see [`Sweep`].
///
/// ```
/// # fn check(result: cuda_sys::CUresult) -> Result<(), String> {
/// #     if result.0 == 0 { Ok(()) } else { Err(format!("{result:?}")) }
/// # }
/// cuda_sim::sweep(|simulator| {
///     let cuda = simulator.library();
///     let (init, count) = (cuda.cuInit().unwrap(), cuda.cuDeviceGetCount().unwrap());
///     // SAFETY: no pointers are passed.
///     check(unsafe { init(0) })?;
///     let mut devices = 0;
///     // SAFETY: the count is written before the call returns.
///     check(unsafe { count(&raw mut devices) })?;
///     assert_eq!(devices, 1);
///     Ok::<(), String>(())
/// })
/// .assert_clean();
/// ```
pub fn sweep<E: fmt::Display>(program: impl Fn(&Simulator) -> Result<(), E>) -> SweepReport {
    Sweep::new().run(program)
}

/// A sweep: it runs a program once to count its *n* driver calls, and then *n* times for each way to fail, each time on a new instance, with
/// call *k* failing.
///
/// The program returns a `Result`, and asserts by itself that its results are right before it returns `Ok`: a failure that is passed over
/// and leads to a wrong result thus is a panic. What a run must not end with are panics, reports of any check, and leaks. Some leaks are
/// right: of what a refused call should have released, or what a failed wait leaves unproved, and of what a call made that then
/// reported a failure. [`leaks_allowed`](Self::leaks_allowed) decides about those.
///
/// The program is to make all it uses from the simulator that it is given, and to have released it when it returns.
#[derive(Debug)]
#[must_use]
pub struct Sweep {
    builder: fn() -> Builder,
    ways: Vec<(FailureMode, CUresult)>,
    leaks_allowed: fn(&Failure, &Leak) -> bool,
    every: u64,
}

/// The failure of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// Which of the program's calls failed, from 1.
    pub nth: u64,
    /// The exact symbol of the function.
    pub symbol: &'static str,
    /// Number of the call, as leaks and reports count.
    pub call: u64,
    /// How it failed.
    pub mode: FailureMode,
    /// What it returned.
    pub code: CUresult,
}

impl Failure {
    /// Whether a leak is what the failure leaves no way around: see [`Sweep`].
    #[must_use]
    pub fn excuses(&self, leak: &Leak) -> bool {
        const RELEASES: [&str; 8] = [
            "Free",
            "Destroy",
            "Unload",
            "Release",
            "Unregister",
            "Synchronize",
            "Query",
            "PopCurrent",
        ];
        match self.mode {
            FailureMode::Refused => RELEASES.iter().any(|part| self.symbol.contains(part)),
            FailureMode::AfterExecuting => {
                // The retains of a primary context are counted, not told apart.
                let retained = leak.kind == LeakKind::PrimaryContext
                    && self.symbol == "cuDevicePrimaryCtxRetain";
                leak.call == self.call
                    || retained
                    || RELEASES.iter().any(|part| self.symbol.contains(part))
            }
            FailureMode::Lost => true,
        }
    }
}

impl Default for Sweep {
    fn default() -> Self {
        Self::new()
    }
}

impl Sweep {
    /// Each call is refused once with `OUT_OF_MEMORY`, fails once with `UNKNOWN` after it was executed, and once loses the device with
    /// `LAUNCH_FAILED`; call sites are noted.
    pub fn new() -> Self {
        Self {
            builder: || Simulator::builder().call_sites(true),
            ways: vec![
                (FailureMode::Refused, CUresult::CUDA_ERROR_OUT_OF_MEMORY),
                (FailureMode::AfterExecuting, CUresult::CUDA_ERROR_UNKNOWN),
                (FailureMode::Lost, CUresult::CUDA_ERROR_LAUNCH_FAILED),
            ],
            leaks_allowed: Failure::excuses,
            every: 1,
        }
    }

    /// Describes the instance of each run.
    pub fn builder(mut self, builder: fn() -> Builder) -> Self {
        self.builder = builder;
        self
    }

    /// The ways to fail, instead of those of [`new`](Self::new).
    pub fn ways(mut self, ways: &[(FailureMode, CUresult)]) -> Self {
        self.ways = ways.to_vec();
        self
    }

    /// Decides which leaks are right after a failure. Default: [`Failure::excuses`].
    pub fn leaks_allowed(mut self, allowed: fn(&Failure, &Leak) -> bool) -> Self {
        self.leaks_allowed = allowed;
        self
    }

    /// Lets only each such call fail, where a program makes very many. Default: 1.
    pub fn every(mut self, nth: u64) -> Self {
        self.every = nth.max(1);
        self
    }

    /// Sweeps over a program.
    pub fn run<E: fmt::Display>(
        &self,
        program: impl Fn(&Simulator) -> Result<(), E>,
    ) -> SweepReport {
        self.run_with(|_| (), |simulator, ()| program(simulator))
    }

    /// Sweeps over a program that starts from what `setup` makes: the calls of `setup` do not fail, those of the program do, and those that
    /// release what `setup` made do not.
    pub fn run_with<T, E: fmt::Display>(
        &self,
        setup: impl Fn(&Simulator) -> T,
        program: impl Fn(&Simulator, &T) -> Result<(), E>,
    ) -> SweepReport {
        let mut report = SweepReport::default();
        let first = match (self.builder)().build() {
            Ok(first) => first,
            Err(error) => {
                report.add_start(Mistake::NoSimulator(error));
                return report;
            }
        };
        let one = |failure: Option<(u64, FailureMode, CUresult)>| -> Result<Run, BuildError> {
            let simulator = first.renewed((self.builder)().into_settings()?);
            Ok(one_run(&simulator, failure, &setup, &program))
        };
        match one(None) {
            Ok(run) => {
                report.calls = run.calls;
                let failed = run.result.err().map(Mistake::Failed);
                let mistakes = run.mistakes.into_iter().chain(failed);
                mistakes.for_each(|mistake| report.add_start(mistake));
                let leaks = run.leaks;
                if !leaks.is_empty() {
                    report.add_start(Mistake::Leaks(leaks));
                }
            }
            Err(error) => report.add_start(Mistake::NoSimulator(error)),
        }
        if !report.is_clean() {
            return report;
        }
        for &(mode, code) in &self.ways {
            for nth in (1..=report.calls).step_by(self.every as usize) {
                report.runs += 1;
                let run = match one(Some((nth, mode, code))) {
                    Ok(run) => run,
                    Err(error) => {
                        report.add_start(Mistake::NoSimulator(error));
                        return report;
                    }
                };
                // A program that took another path may have made fewer calls.
                let Some((symbol, call)) = run.struck else {
                    continue;
                };
                let failure = Failure {
                    nth,
                    symbol,
                    call,
                    mode,
                    code,
                };
                report.add(failure, run, self.leaks_allowed);
            }
        }
        report
    }
}

/// What one run showed.
#[derive(Debug)]
struct Run {
    calls: u64,
    struck: Option<(&'static str, u64)>,
    result: Result<(), String>,
    mistakes: Vec<Mistake>,
    leaks: Vec<Leak>,
}

fn one_run<T, E: fmt::Display>(
    simulator: &Simulator,
    failure: Option<(u64, FailureMode, CUresult)>,
    setup: &impl Fn(&Simulator) -> T,
    program: &impl Fn(&Simulator, &T) -> Result<(), E>,
) -> Run {
    let mut mistakes = Vec::new();
    let mut calls = 0;
    let mut leaks = Vec::new();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let made = setup(simulator);
        let before = simulator.calls().total();
        let owned = simulator.leaks();
        if let Some((nth, mode, code)) = failure {
            simulator.plan_failure("*", nth, code, mode);
        }
        let result = catch_unwind(AssertUnwindSafe(|| {
            program(simulator, &made).map_err(|error| error.to_string())
        }));
        calls = simulator.calls().total() - before;
        simulator.clear_failures();
        // The end of a context would take what the program left with it.
        leaks = simulator.leaks();
        leaks.retain(|leak| !owned.contains(leak));
        drop(made);
        result
    }));
    let result = match ended {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) | Err(panic) => {
            let text = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned());
            mistakes.push(Mistake::Panic(text.unwrap_or_default()));
            Ok(())
        }
    };
    // What is enqueued and waited for by nobody may race or fault all the same.
    simulator.run_all();
    let reports = simulator.take_reports();
    if !reports.is_empty() {
        mistakes.push(Mistake::Reports(reports));
    }
    for leak in simulator.leaks() {
        if !leaks.contains(&leak) {
            leaks.push(leak);
        }
    }
    Run {
        calls,
        struck: simulator
            .first_struck()
            .map(|struck| (struck.symbol, struck.call)),
        result,
        mistakes,
        leaks,
    }
}
