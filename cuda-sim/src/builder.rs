//! Settings of an instance.

use std::time::Duration;

use crate::device::DeviceConfig;
use crate::listener::Listener;
use crate::options::Options;
use crate::report::Report;
use crate::simulator::Simulator;
use crate::slot::{SLOTS, Slot};

/// Why no instance could be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Too many instances live at the same time.
    #[error(
        "cannot make a software driver: {SLOTS} instances live already and none ended within {waited:?}; drop some"
    )]
    OutOfSlots {
        /// How long the builder waited for one to end.
        waited: Duration,
    },
    /// More devices than addresses can tell apart.
    #[error(
        "cannot make a software driver with {devices} devices: at most {MAX_DEVICES} fit into its address space"
    )]
    TooManyDevices {
        /// The devices that were asked for.
        devices: usize,
    },
}

/// The most devices of one instance.
pub(crate) const MAX_DEVICES: usize = 16;

/// What an instance starts from.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) devices: Vec<DeviceConfig>,
    pub(crate) seed: u64,
    pub(crate) driver_version: i32,
    pub(crate) options: Options,
    pub(crate) listener: Option<Listener>,
}

/// Describes an instance of the software driver; see [`Simulator::builder`].
///
/// ```
/// use cuda_sim::{DeviceConfig, Simulator};
///
/// let small = DeviceConfig { total_memory: 1 << 20, ..DeviceConfig::h200() };
/// let simulator = Simulator::builder().devices(vec![small.clone(), small]).seed(7).build()?;
/// assert_eq!(simulator.seed(), 7);
/// # Ok::<(), cuda_sim::BuildError>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Builder {
    pub(crate) settings: Settings,
    patience: Duration,
}

impl Default for Builder {
    fn default() -> Self {
        let settings = Settings {
            devices: vec![DeviceConfig::h200()],
            seed: 0,
            driver_version: 13_000,
            options: Options::default(),
            listener: None,
        };
        Self {
            settings,
            patience: Duration::from_secs(120),
        }
    }
}

impl Builder {
    /// The devices, in order of their ordinals; none is allowed. Default: one [`DeviceConfig::h200`].
    pub fn devices(mut self, devices: Vec<DeviceConfig>) -> Self {
        self.settings.devices = devices;
        self
    }

    /// Replaces the devices by what `select` makes of them.
    pub(crate) fn select_devices(
        mut self,
        select: impl FnOnce(Vec<DeviceConfig>) -> Vec<DeviceConfig>,
    ) -> Self {
        self.settings.devices = select(self.settings.devices);
        self
    }

    /// What chooses among the legal orders of execution; the same seed and the same calls of one thread give the same order. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// The CUDA version of the driver, 1000 × major + 10 × minor: newer symbols and newer PTX are unknown to it. Default: 13000.
    pub fn driver_version(mut self, version: i32) -> Self {
        self.settings.driver_version = version;
        self
    }

    /// Gives every device that many bytes of memory.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        for device in &mut self.settings.devices {
            device.total_memory = bytes;
        }
        self
    }

    /// Behaves like old drivers: every call that works on objects fails with `INVALID_CONTEXT` where no context is current. Default: off.
    pub fn old_driver(mut self, old: bool) -> Self {
        self.settings.options.old_driver = old;
        self
    }

    /// Gives the handle of a destroyed object to the next one of its kind, as real drivers do. Default: on.
    pub fn reuse_handles(mut self, reuse: bool) -> Self {
        self.settings.options.reuse_handles = reuse;
        self
    }

    /// Runs the blocks of a launch in a seeded order instead of ascending. Default: off.
    pub fn shuffle_blocks(mut self, shuffle: bool) -> Self {
        self.settings.options.shuffle_blocks = shuffle;
        self
    }

    /// Leaves work until a call waits for it or asks about it, which is what finds missing dependencies; without it each operation is
    /// executed when it is enqueued. Default: on.
    pub fn deferred(mut self, deferred: bool) -> Self {
        self.settings.options.deferred = deferred;
        self
    }

    /// Reports accesses to shared memory by two threads of a block that nothing orders
    /// ([`ReportKind::SharedRace`](crate::ReportKind::SharedRace)), each pair of instructions once in a launch;
    /// [`Checks`](cuda_sim_machine::Checks) says what is seen and what is not. Kernels run many times slower. Default: off.
    pub fn racecheck(mut self, check: bool) -> Self {
        self.settings.options.checks.race = check;
        self
    }

    /// Reports accesses to global memory by two threads of a kernel, of one block or of different ones, that nothing orders
    /// ([`ReportKind::GlobalRace`](crate::ReportKind::GlobalRace)): a missing barrier, a flag without its fences, an atomic operation of too
    /// small a scope; each pair of instructions once in a launch. [`Checks`](cuda_sim_machine::Checks) says what is seen and what is not.
    /// Kernels run many times slower, on one thread. Default: off.
    pub fn global_races(mut self, check: bool) -> Self {
        self.settings.options.checks.global_race = check;
        self
    }

    /// Reports reads of shared and local memory that nothing had written
    /// ([`ReportKind::UninitialisedRead`](crate::ReportKind::UninitialisedRead)); of global memory, they are always reported.
    /// [`Checks`](cuda_sim_machine::Checks) says what is seen and what is not. Kernels run many times slower, on one thread. Default: off,
    /// also because compilers may read what is not used then.
    pub fn initcheck(mut self, check: bool) -> Self {
        self.settings.options.checks.unwritten = check;
        self
    }

    /// Reports warps that come to a barrier divided, and `.sync` instructions with wrong masks
    /// ([`ReportKind::Synchronisation`](crate::ReportKind::Synchronisation)). Kernels run on one thread. Default: off.
    pub fn synccheck(mut self, check: bool) -> Self {
        self.settings.options.checks.sync = check;
        self
    }

    /// Passes on what kernels print (`printf`) to standard output and what failed assertions say to standard error, when the work is
    /// executed. What is printed is kept for [`Simulator::printed`] in either case. Default: on.
    pub fn echo_printf(mut self, echo: bool) -> Self {
        self.settings.options.echo_printf = echo;
        self
    }

    /// Gives up a kernel after that many instructions of its warps, as a real driver does with kernels that run too long on a GPU with a
    /// display. Default: never.
    pub fn instruction_limit(mut self, instructions: u64) -> Self {
        self.settings.options.limits.instructions = instructions;
        self
    }

    /// Gives up a kernel that takes longer than that, by the clock of the host; what it had done until then differs from run to run, which
    /// [`instruction_limit`](Self::instruction_limit) does not. Default: never, as on a GPU without a display, where an endless kernel hangs
    /// the program for ever: how long a correct one takes here depends on the machine.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.settings.options.limits.time = Some(limit);
        self
    }

    /// Writes a line to standard error when a kernel has run for that long, and at each doubling of that time: which kernel, where in it one of
    /// its threads is, and how to set a limit. It is written past what a test harness captures, and is no report. [`Duration::MAX`] is never.
    /// Default: 30 seconds.
    pub fn notice_after(mut self, age: Duration) -> Self {
        self.settings.options.limits.notice = (age != Duration::MAX).then_some(age);
        self
    }

    /// Tells `listener` of each report as soon as it is found. The instance waits meanwhile: the listener must not use it. A panic of
    /// the listener is printed and ends there: to fail a test, look at [`Simulator::reports`].
    pub fn on_report(mut self, listener: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        self.settings.listener = Some(Listener::new(listener));
        self
    }

    /// Notes where each call was made, so that reports and leaks name the file and line of the program. Each call then walks up its stack,
    /// a few microseconds. Default: off.
    pub fn call_sites(mut self, on: bool) -> Self {
        self.settings.options.call_sites = on;
        self
    }

    /// Reports operations that touch the same bytes, at least one of them writing, without an order between them: a race, found whichever
    /// of them the seed lets run first. Default: on.
    pub fn check_order(mut self, on: bool) -> Self {
        self.settings.options.check_order = on;
        self
    }

    /// Watches pinned and registered host memory from an asynchronous copy's call to its execution: the destination holds `0xFB` in every
    /// byte meanwhile, so that a program which reads too early sees nonsense, and a program that writes to the destination, or changes the
    /// source, is reported ([`ReportKind::HostBufferChanged`](crate::ReportKind::HostBufferChanged)). The first MiB of a copy is watched; none
    /// is while host functions or waits for words are pending, or once a kernel has accessed memory of the host. Without
    /// [`deferred`](Self::deferred) there is nothing to watch. Default: on.
    pub fn watch_host(mut self, on: bool) -> Self {
        self.settings.options.watch_host = on;
        self
    }

    /// Runs the blocks of one kernel on at most that many threads, where they cannot influence each other and have enough to do. Results do
    /// not depend on it. Default: as many as the system offers.
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings.options.threads = threads.max(1);
        self
    }

    /// How long a call waits for a stream that waits for a word which nothing writes (`cuStreamWaitValue32` and others) before it fails with
    /// `LAUNCH_TIMEOUT` and a report. Default: ten seconds.
    pub fn wait_patience(mut self, patience: Duration) -> Self {
        self.settings.options.wait_patience = patience;
        self
    }

    /// So many launches can wait in a stream; a further one waits until the first of them was executed. Default: 1020, as on an H200.
    pub fn launch_queue(mut self, launches: usize) -> Self {
        self.settings.options.launch_queue = launches.max(1);
        self
    }

    /// How long [`build`](Self::build) waits where too many instances live. Default: two minutes.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Makes the instance.
    ///
    /// # Errors
    /// [`BuildError::OutOfSlots`] when too many instances live for too long, [`BuildError::TooManyDevices`].
    pub fn build(self) -> Result<Simulator, BuildError> {
        let patience = self.patience;
        let settings = self.into_settings()?;
        let slot = Slot::take(patience).ok_or(BuildError::OutOfSlots { waited: patience })?;
        Ok(Simulator::from_parts(slot, settings))
    }

    /// The settings, checked.
    ///
    /// # Errors
    /// [`BuildError::TooManyDevices`]
    pub(crate) fn into_settings(self) -> Result<Settings, BuildError> {
        let devices = self.settings.devices.len();
        if devices > MAX_DEVICES {
            return Err(BuildError::TooManyDevices { devices });
        }
        Ok(self.settings)
    }
}
