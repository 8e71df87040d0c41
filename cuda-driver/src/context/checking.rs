//! Whether each launch is waited for, so that a fault is reported by the launch that caused it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Context;
use crate::process;

/// When the kernels of a context are checked for faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LaunchChecking {
    /// When something waits for them: the error says which launches were in flight.
    #[default]
    WhenWaited,
    /// After each launch, which waits for the kernel and so names the one that failed, with its configuration. Slow.
    EachLaunch,
}

/// The environment variable that makes a whole program check each launch.
const VARIABLE: &str = "CUDA_DRIVER_CHECK_LAUNCHES";

/// The setting of one context, which the process counts while it is on.
#[derive(Debug)]
pub(super) struct Checking(AtomicBool);

impl Checking {
    /// As the environment says.
    pub(super) fn from_environment() -> Self {
        static WANTED: OnceLock<bool> = OnceLock::new();
        let wanted = WANTED.get_or_init(|| {
            std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
        });
        let this = Self(AtomicBool::new(false));
        this.set(*wanted);
        this
    }

    fn set(&self, on: bool) {
        let before = self.0.swap(on, Ordering::Relaxed);
        match (before, on) {
            (false, true) => process::begin_checking(),
            (true, false) => process::end_checking(),
            _ => {}
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Checking {
    fn drop(&mut self) {
        self.set(false);
    }
}

impl Context {
    /// Sets when kernels are checked for faults, for all launches in this context from now on.
    ///
    /// With [`LaunchChecking::EachLaunch`] every launch waits for its kernel, and the error of the launch names the kernel
    /// that failed. The environment variable `CUDA_DRIVER_CHECK_LAUNCHES`, set to anything but `0`, does so for all contexts
    /// of a program from the start.
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # #[cfg(feature = "simulator")] {
    /// use cuda_driver::{Driver, LaunchChecking};
    ///
    /// let context = Driver::simulated()?.device(0)?.primary_context()?;
    /// context.set_launch_checking(LaunchChecking::EachLaunch);
    /// assert_eq!(context.launch_checking(), LaunchChecking::EachLaunch);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "CUDA_LAUNCH_BLOCKING")]
    pub fn set_launch_checking(&self, checking: LaunchChecking) {
        self.core
            .checking
            .set(checking == LaunchChecking::EachLaunch);
    }

    /// When kernels are checked for faults.
    #[must_use]
    pub fn launch_checking(&self) -> LaunchChecking {
        if self.core.checks_launches() {
            LaunchChecking::EachLaunch
        } else {
            LaunchChecking::WhenWaited
        }
    }
}
