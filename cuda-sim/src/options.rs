//! Ways in which an instance can be asked to behave like other drivers.

use std::time::Duration;

use cuda_sim_machine::{Checks, Limits};

/// How an instance behaves where drivers differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// Every call wants a current context.
    pub(crate) old_driver: bool,
    /// A destroyed object's handle goes to the next one at once.
    pub(crate) reuse_handles: bool,
    /// Blocks of a launch run in a seeded order.
    pub(crate) shuffle_blocks: bool,
    /// Operations wait until something waits for them or asks; otherwise each runs when it is enqueued.
    pub(crate) deferred: bool,
    /// The place of each call is noted.
    pub(crate) call_sites: bool,
    /// Operations that touch the same bytes must be ordered.
    pub(crate) check_order: bool,
    /// What asynchronous copies borrow from the host is watched.
    pub(crate) watch_host: bool,
    /// How long a stream waits for a word.
    pub(crate) wait_patience: Duration,
    /// What is looked for between the threads of a block.
    pub(crate) checks: Checks,
    /// What kernels print goes to the process's own output too.
    pub(crate) echo_printf: bool,
    /// Launches that wait in a stream before the next one has to.
    pub(crate) launch_queue: usize,
    /// When kernels are given up, and when it is told that one still runs.
    pub(crate) limits: Limits,
    /// The most threads that run one kernel.
    pub(crate) threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            old_driver: false,
            reuse_handles: true,
            shuffle_blocks: false,
            deferred: true,
            call_sites: false,
            launch_queue: 1_020,
            check_order: true,
            watch_host: true,
            wait_patience: Duration::from_secs(10),
            checks: Checks::default(),
            echo_printf: true,
            limits: Limits {
                notice: Some(Duration::from_secs(30)),
                ..Limits::DEFAULT
            },
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
