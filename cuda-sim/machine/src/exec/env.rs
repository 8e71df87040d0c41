//! What a warp sees beside its registers.

use std::sync::Mutex;

use crate::code::Special;
use crate::exec::barriers::Barriers;
use crate::exec::cluster::{Common, Peers};
use crate::exec::findings::Findings;
use crate::exec::local::LocalMemory;
use crate::exec::race::GlobalRaces;
use crate::exec::unwritten::Unwritten;
use crate::{FaultKind, Launch, Memory, Program};

/// A fault of one lane.
#[derive(Debug)]
pub(crate) struct LaneError {
    pub(crate) lane: usize,
    pub(crate) kind: FaultKind,
}

/// What stays the same during a launch.
pub(crate) struct Shape<'a> {
    pub(crate) program: &'a Program,
    pub(crate) launch: &'a Launch<'a>,
    pub(crate) memory: &'a dyn Memory,
    /// The kernel's offset for each of the program's shared variables.
    pub(crate) shared_offsets: &'a [u32],
    pub(crate) shared_bytes: u32,
    /// Bytes of local memory that a thread may use.
    pub(crate) stack_limit: u32,
    /// Where the checks put what they find; nothing where none is on.
    pub(crate) findings: Option<Findings>,
    /// What is known of accesses to global memory, where races among them are looked for.
    pub(crate) races: Option<Mutex<GlobalRaces>>,
}

/// A warp's surroundings while it runs.
pub(crate) struct Env<'a> {
    pub(crate) shape: &'a Shape<'a>,
    /// The block's shared memory.
    pub(crate) shared: &'a mut [u8],
    /// The warp's local memory.
    pub(crate) local: &'a mut LocalMemory,
    pub(crate) barriers: &'a mut Barriers,
    /// The other blocks of the cluster, and what all of them have in common.
    pub(crate) peers: Peers<'a>,
    pub(crate) common: &'a mut Common,
    /// Reads of what nothing had written.
    pub(crate) unwritten: &'a mut Unwritten,
    /// Coordinates of the block, and the number of the warp in it.
    pub(crate) block: [u32; 3],
    pub(crate) warp: u32,
    /// Lanes that have not ended.
    pub(crate) live: u32,
    /// Lanes for which the launch before has ended: all, unless there is a [prerequisite](crate::Prerequisite).
    pub(crate) waited: u32,
    /// Instructions that the launch has executed: the machine's clock.
    pub(crate) clock: u64,
}

/// The value of a special register in one lane, as far as it is the same in all blocks.
pub(crate) fn special(which: Special, shape: &Shape<'_>, warp: u32, lane: u32) -> u64 {
    let [x, y, z] = shape.launch.block;
    let thread = warp * 32 + lane;
    let value = match which {
        Special::Tid(0) => thread % x,
        Special::Tid(1) => thread / x % y,
        Special::Tid(_) => thread / x / y % z,
        Special::Ntid(axis) => shape.launch.block[axis],
        // Set when a block starts.
        Special::Ctaid(_)
        | Special::Clusterid(_)
        | Special::ClusterCtaid(_)
        | Special::ClusterCtarank => 0,
        Special::Nctaid(axis) => shape.launch.grid[axis],
        Special::Nclusterid(axis) => shape.launch.grid[axis] / shape.cluster()[axis],
        Special::ClusterNctaid(axis) => shape.cluster()[axis],
        Special::ClusterNctarank => shape.cluster().iter().product(),
        Special::ExplicitCluster => u32::from(shape.launch.cluster.is_some()),
        Special::Laneid => lane,
        Special::Warpid => warp,
        Special::Nwarpid => (x * y * z).div_ceil(32),
        Special::Gridid => return shape.launch.grid_id,
        Special::Zero => 0,
        Special::One => 1,
        Special::LanemaskEq => 1 << lane,
        Special::LanemaskLe => u32::MAX >> (31 - lane),
        Special::LanemaskLt => (1 << lane) - 1,
        Special::LanemaskGe => u32::MAX << lane,
        Special::LanemaskGt => (u32::MAX << lane) << 1,
        Special::DynamicSharedSize => shape.launch.dynamic_shared,
        Special::TotalSharedSize => shape.shared_bytes,
        Special::WorkspaceHigh => (shape.launch.workspace >> 32) as u32,
        Special::WorkspaceLow => shape.launch.workspace as u32,
    };
    u64::from(value)
}
