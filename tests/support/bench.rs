//! The bench of a test: driver, device and context, and the checks at its end.

use std::time::{Duration, Instant};

use cuda_driver::{Context, Driver, Stream};
use cuda_sim::{Builder, Report, Simulator};
use cuda_sys::CUcontext;

use super::{Choice, child, choice, log_lines};

/// What a test works with. It is declared first, so that it is dropped last: then it demands that nothing was leaked and
/// that no check of the software driver found anything.
#[derive(Debug)]
pub(crate) struct Bench {
    driver: Driver,
    context: Option<Context>,
    simulator: Option<Simulator>,
    may_leak: bool,
}

impl Bench {
    /// A bench on the driver that the environment chooses.
    pub(crate) fn new() -> Self {
        Self::with(|builder| builder)
    }

    /// The same with settings for the software driver.
    pub(crate) fn with(settings: impl FnOnce(Builder) -> Builder) -> Self {
        log_lines::collect();
        match choice() {
            Choice::Software(_) => Self::software(settings),
            Choice::Real(driver) => {
                let context = driver.device(0).and_then(|it| it.primary_context());
                Self {
                    driver: driver.clone(),
                    context: Some(context.expect("the device has a primary context")),
                    simulator: None,
                    may_leak: false,
                }
            }
        }
    }

    /// A bench that the test of that full name will ruin, and that may leak. On a real driver it is one of a child process, which runs that
    /// test again: here, where that has succeeded, there is nothing left to do.
    pub(crate) fn to_ruin(test: &str) -> Option<Self> {
        let mut bench = Self::alone(test)?;
        bench.allow_leaks();
        Some(bench)
    }

    /// A bench for the test of that full name, which disturbs others of its process. On a real driver it runs in a child process, as with
    /// [`to_ruin`](Self::to_ruin).
    pub(crate) fn alone(test: &str) -> Option<Self> {
        if matches!(choice(), Choice::Real(_)) && !child::is_child(test) {
            child::must_succeed(test);
            return None;
        }
        Some(Self::new())
    }

    /// A bench for what only the software driver can show; `None`, with a word, on a real driver.
    pub(crate) fn only_software() -> Option<Self> {
        Self::only_software_with(|builder| builder)
    }

    /// The same with settings.
    pub(crate) fn only_software_with(settings: impl FnOnce(Builder) -> Builder) -> Option<Self> {
        log_lines::collect();
        if let Choice::Real(_) = choice() {
            let thread = std::thread::current();
            eprintln!(
                "skipped, needs the software driver: {}",
                thread.name().unwrap_or("a test")
            );
            return None;
        }
        Some(Self::software(settings))
    }

    /// A bench with two devices; `None`, with a word, on a machine that has fewer.
    pub(crate) fn two_devices() -> Option<Self> {
        if let Choice::Real(driver) = choice() {
            let count = driver.device_count().expect("the count of devices");
            if count < 2 {
                eprintln!("skipped, needs two devices, and there are {count}");
                return None;
            }
            return Some(Self::new());
        }
        let devices = vec![cuda_sim::DeviceConfig::h200(); 2];
        Self::only_software_with(|builder| builder.devices(devices))
    }

    fn software(settings: impl FnOnce(Builder) -> Builder) -> Self {
        let seed = match choice() {
            Choice::Software(seed) => *seed,
            Choice::Real(_) => 0,
        };
        let asked = std::env::var("CUDA_TEST_CHECKS").unwrap_or_default();
        let on = |name| asked.split(',').any(|it| it == name || it == "all");
        let builder = Simulator::builder().seed(seed).call_sites(!cfg!(miri));
        let checked = builder
            .racecheck(on("race"))
            .global_races(on("global"))
            .initcheck(on("init"))
            .synccheck(on("sync"));
        let simulator = settings(checked).build().expect("a simulator");
        let driver = Driver::simulated_by(&simulator).expect("the software driver initialises");
        let context = driver.device(0).and_then(|it| it.primary_context());
        Self {
            driver,
            context: Some(context.expect("the device has a primary context")),
            simulator: Some(simulator),
            may_leak: false,
        }
    }

    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The primary context of device 0.
    pub(crate) fn context(&self) -> &Context {
        self.context.as_ref().expect("the bench is in use")
    }

    pub(crate) fn stream(&self) -> Stream {
        self.context().create_stream().expect("a stream")
    }

    pub(crate) fn is_real(&self) -> bool {
        self.simulator.is_none()
    }

    /// The simulator behind a bench of [`Bench::only_software`].
    pub(crate) fn simulator(&self) -> &Simulator {
        self.simulator.as_ref().expect("the software driver")
    }

    /// Takes the reports of the software driver, which the test expects; none on a real one.
    pub(crate) fn take_reports(&self) -> Vec<Report> {
        self.simulator
            .as_ref()
            .map(Simulator::take_reports)
            .unwrap_or_default()
    }

    /// Steps of a slow kernel: some tens of milliseconds on a GPU; software streams are late by themselves.
    pub(crate) fn slow(&self) -> u32 {
        if self.is_real() { 4_000_000 } else { 2 }
    }

    /// How often a test repeats what goes wrong only sometimes.
    pub(crate) fn repeats(&self) -> usize {
        if self.is_real() {
            50
        } else if cfg!(miri) {
            2
        } else {
            8
        }
    }

    /// The context that is current on this thread.
    pub(crate) fn current(&self) -> CUcontext {
        let mut current = std::ptr::null_mut();
        // SAFETY: the pointer is to a live handle.
        unsafe { cuda_driver::call!(self.driver, cuCtxGetCurrent(&raw mut current)) }
            .expect("the current context can be read");
        current
    }

    /// Counts the driver calls of `body`, as text; only on the software driver.
    pub(crate) fn calls_of<R>(&self, body: impl FnOnce() -> R) -> (R, String) {
        let before = self.simulator().calls();
        let result = body();
        (result, self.simulator().calls().since(&before).to_string())
    }

    /// Allows leaks, where the test makes the library prefer one to a dangling pointer.
    pub(crate) fn allow_leaks(&mut self) {
        self.may_leak = true;
    }

    /// Forgets the context, which a test has destroyed or closed by itself.
    pub(crate) fn take_context(&mut self) -> Context {
        self.context.take().expect("the bench is in use")
    }

    fn check(&self) {
        let Some(simulator) = &self.simulator else {
            return;
        };
        let reports: Vec<String> = simulator
            .reports()
            .iter()
            .map(|it| format!("{it:#}"))
            .collect();
        assert!(
            reports.is_empty(),
            "the software driver reports mistakes:\n{}",
            reports.join("\n")
        );
        // What host functions drop is released by whichever thread comes by: this one, or another test's.
        let patience = Instant::now() + Duration::from_secs(2);
        while !self.may_leak && !simulator.leaks().is_empty() && Instant::now() < patience {
            if let Ok(context) = self.driver.device(0).and_then(|it| it.primary_context()) {
                context.collect();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let leaks: Vec<String> = simulator.leaks().iter().map(|it| it.to_string()).collect();
        assert!(
            self.may_leak || leaks.is_empty(),
            "resources are leaked:\n{}",
            leaks.join("\n")
        );
        assert_eq!(simulator.unsupported_calls(), Vec::<String>::new());
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        drop(self.context.take());
        if !std::thread::panicking() {
            self.check();
        }
    }
}
