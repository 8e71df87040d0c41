//! What a launch is made of, and what it reports when it succeeds.

use std::time::Duration;

use crate::{CODE_WINDOW, Checks, NoServices, Place, Prerequisite, Services};

/// One launch of a kernel.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y and z, where the launch has clusters: they divide the grid, and are at most 16 together. They run at the
    /// same time and reach each other's shared memory. Without, each block is a cluster of its own.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The parameter buffer, laid out as [`Kernel::params`](crate::Kernel::params) says.
    pub params: &'a [u8],
    /// The device address of each of [`Program::globals`](crate::Program::globals), in that order.
    pub globals: &'a [u64],
    /// Where the addresses of the program's functions start; see [`Program::code_bytes`](crate::Program::code_bytes).
    pub code: u64,
    /// Address of the words through which the blocks of a cooperative launch wait for each other, which `%envreg1` and `%envreg2` read:
    /// 4 KiB, zero before the first launch that uses them. 0 in other launches.
    pub workspace: u64,
    /// What `%gridid` reads.
    pub grid_id: u64,
    /// Chooses the order in which blocks and warps run, where CUDA leaves it open; 0 is ascending order.
    pub seed: u64,
    /// The launch that this one may begin ahead of: programmatic dependent launch. With one, all blocks run on one thread.
    pub prerequisite: Option<&'a dyn Prerequisite>,
    /// What `printf`, `assert`, `malloc` and `free` of the kernel use.
    pub services: &'a dyn Services,
    /// Mistakes to look for, which [`Services::found`] hears of.
    pub checks: Checks,
    /// When to give up.
    pub limits: Limits,
    /// The most threads of the host that run blocks, where the kernel's blocks do not [interact](crate::Kernel::interaction) and there is
    /// enough to do. Memory, statistics and faults are the same for every number.
    pub threads: usize,
}

impl<'a> Launch<'a> {
    /// A launch without dynamic shared memory, module variables and services, in ascending order, with the default limits, on one thread.
    #[must_use]
    pub const fn new(grid: [u32; 3], block: [u32; 3], params: &'a [u8]) -> Self {
        Self {
            grid,
            block,
            cluster: None,
            dynamic_shared: 0,
            params,
            globals: &[],
            code: CODE_WINDOW,
            workspace: 0,
            grid_id: 1,
            seed: 0,
            prerequisite: None,
            services: &NoServices,
            checks: Checks {
                race: false,
                global_race: false,
                unwritten: false,
                sync: false,
            },
            limits: Limits::DEFAULT,
            threads: 1,
        }
    }
}

/// When a launch is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Instructions executed by warps, all together, counted block after block in launch order; more is reported as a timeout. A fault is
    /// reported where all that was executed before it in launch order lies within the limit, whatever ran beside it.
    pub instructions: u64,
    /// Bytes of local memory (variables and call frames) that one thread may use.
    pub local_bytes: u32,
    /// Bytes of it for what cannot be known before the launch: calls that are nested deeper than the kernel has functions, `alloca`.
    pub stack_bytes: u32,
    /// Bytes of shared memory, static and dynamic, that one block may use.
    pub shared_bytes: u32,
    /// How long the launch may take by the clock of the host; looked at about every millisecond.
    pub time: Option<Duration>,
    /// The age at which [`Services::still_running`] is told of it, and again at each doubling.
    pub notice: Option<Duration>,
}

impl Limits {
    /// No limit on instructions and time, nothing told, 512 KiB of local memory for each thread, 227 KiB of shared memory for each block.
    pub const DEFAULT: Self = Self {
        instructions: u64::MAX,
        local_bytes: 512 << 10,
        stack_bytes: 512 << 10,
        shared_bytes: 227 << 10,
        time: None,
        notice: None,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A launch that takes long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StillRunning<'a> {
    /// The kernel that was launched.
    pub kernel: &'a str,
    /// Where one of the threads that can run is.
    pub place: Option<&'a Place>,
    /// Instructions that the warps have executed which the same thread of the host runs.
    pub instructions: u64,
    /// Since the launch began.
    pub age: Duration,
}

/// What a launch did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Blocks that ran to their end.
    pub blocks: u64,
    /// Instructions executed by warps.
    pub instructions: u64,
    /// Instructions executed by lanes: each warp instruction counts its active lanes.
    pub lane_instructions: u64,
}
