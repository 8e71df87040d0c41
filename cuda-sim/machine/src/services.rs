//! What kernels ask of the driver beside memory: a place to print to, and memory while they run.

use std::fmt;

use crate::{Finding, StillRunning};

/// Where a text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// What `printf` prints.
    Standard,
    /// What a failed `assert` says.
    Error,
}

/// The driver's part in `printf`, `assert`, `malloc` and `free` of kernels.
///
/// Kernels that use it run their blocks in one thread.
pub trait Services: fmt::Debug + Sync {
    /// Prints a text that is complete but may lack the end of its line.
    fn print(&self, output: Output, text: &[u8]);

    /// Allocates `size` bytes of global memory, aligned to 16; 0 when there is no room.
    fn allocate(&self, size: u64) -> u64;

    /// Releases what [`allocate`](Self::allocate) gave. The address is not 0.
    ///
    /// # Errors
    /// Why it cannot be released, as a phrase that can follow "free of address 0x…:".
    fn free(&self, address: u64) -> Result<(), String>;

    /// Hears of what the launch's [`Checks`](crate::Checks) find, and of reads of what nothing had written; by default, nobody does.
    fn found(&self, finding: Finding) {
        drop(finding);
    }

    /// Hears of a launch that takes long: see [`Limits::notice`](crate::Limits::notice). By default, nobody does.
    fn still_running(&self, launch: &StillRunning<'_>) {
        let _ = launch;
    }
}

/// Prints nowhere and has no memory to give.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoServices;

impl Services for NoServices {
    fn print(&self, _: Output, _: &[u8]) {}

    fn allocate(&self, _: u64) -> u64 {
        0
    }

    fn free(&self, _: u64) -> Result<(), String> {
        Err(String::from("nothing was allocated there"))
    }
}
