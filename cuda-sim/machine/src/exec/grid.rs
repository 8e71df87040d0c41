//! A whole launch: checks it, and runs its clusters.

use crate::code::{Code, Instr};
use crate::exec::cluster::{self, Cluster};
use crate::exec::env::Shape;
use crate::exec::findings::Findings;
use crate::exec::order::Start;
use crate::exec::patience::{Age, Patience};
use crate::exec::templates::Templates;
use crate::exec::unwritten::Unwritten;
use crate::exec::warp::{Meter, WarpFault};
use crate::exec::{interleave, race, sequence};
use crate::{
    Checks, Fault, FaultKind, Kernel, Launch, Memory, Place, Program, Statistics, StillRunning,
    WARP_SIZE,
};

/// Instructions that a warp executes in one turn.
pub(super) const TURN: u64 = 10_000;

/// Runs a kernel to its end.
///
/// # Errors
/// The first fault of any thread: that of the first block in launch order that has one, where the blocks do not
/// [interact](Kernel::interaction). What was stored before it stays stored, and blocks that start later may have run.
pub fn run(
    kernel: &Kernel,
    program: &Program,
    launch: &Launch<'_>,
    memory: &dyn Memory,
) -> Result<Statistics, Fault> {
    let fault = |kind| Fault {
        kind,
        kernel: kernel.name.clone(),
        place: None,
    };
    if let Some(unsupported) = &kernel.unsupported {
        return Err(fault(FaultKind::Unsupported(unsupported.clone())));
    }
    check(kernel, program, launch).map_err(|why| fault(FaultKind::InvalidLaunch(why)))?;
    let (shared_offsets, shared_bytes) = kernel.shared_layout(program, launch.dynamic_shared);
    if shared_bytes > launch.limits.shared_bytes {
        let limit = launch.limits.shared_bytes;
        let why =
            format!("{shared_bytes} bytes of shared memory for each block; the limit is {limit}");
        return Err(fault(FaultKind::InvalidLaunch(why)));
    }
    let shape = Shape {
        program,
        launch,
        memory,
        shared_offsets: &shared_offsets,
        shared_bytes,
        stack_limit: kernel
            .frame_bytes
            .saturating_add(launch.limits.stack_bytes)
            .min(launch.limits.local_bytes),
        findings: (launch.checks != Checks::default()).then(|| Findings::new(kernel)),
        races: race::of_launch(launch.checks.global_race),
    };
    let templates = Templates::new(kernel, &shape);
    let grid = Grid {
        kernel,
        shape: &shape,
        templates: &templates,
        patience: Patience::new(&launch.limits),
    };
    let (outcome, unwritten) = match &kernel.interaction {
        None if shape.findings.is_none() => sequence::run(&grid),
        _ => interleave::run(&grid),
    };
    unwritten.report(kernel, &shape);
    outcome
}

/// A launch that has been found in order.
pub(super) struct Grid<'a> {
    kernel: &'a Kernel,
    pub(super) shape: &'a Shape<'a>,
    pub(super) templates: &'a Templates,
    patience: Patience,
}

impl Grid<'_> {
    /// A cluster that can be started.
    pub(super) fn new_cluster(&self) -> Cluster {
        Cluster::new(self.kernel.function, self.shape, self.templates)
    }

    pub(super) fn start(&self, cluster: &mut Cluster, start: Start) {
        cluster.start(start, self.shape, self.templates);
    }

    /// Gives each warp of a cluster a turn of that many instructions; says whether the cluster has ended.
    pub(super) fn advance(
        &self,
        cluster: &mut Cluster,
        turn: u64,
        meter: &mut Meter,
        unwritten: &mut Unwritten,
    ) -> Result<bool, Fault> {
        cluster
            .run(self.shape, self.templates, turn, meter, unwritten)
            .map_err(|it| self.place(it.block, it.warp, it.fault))
    }

    /// Asked after each turn of a cluster, while clusters are left: gives up the launch if it has had its time, and tells that it still runs
    /// when that is due.
    pub(super) fn check_age(&self, cluster: &Cluster, instructions: u64) -> Result<(), Fault> {
        match self.patience.look() {
            Age::Young => Ok(()),
            Age::Over => Err(self.overtime(self.current(cluster), instructions)),
            Age::Tell(age) => {
                let place = self.current(cluster);
                self.shape.launch.services.still_running(&StillRunning {
                    kernel: &self.kernel.name,
                    place: place.as_deref(),
                    instructions,
                    age,
                });
                Ok(())
            }
        }
    }

    #[cold]
    fn overtime(&self, place: Option<Box<Place>>, instructions: u64) -> Fault {
        let limit = self.shape.launch.limits.time.unwrap_or_default();
        Fault {
            kind: FaultKind::Overtime {
                limit,
                instructions,
            },
            kernel: self.kernel.name.clone(),
            place,
        }
    }

    #[cold]
    pub(super) fn timeout(&self, place: Option<Box<Place>>) -> Fault {
        let instructions = self.shape.launch.limits.instructions;
        Fault {
            kind: FaultKind::Timeout { instructions },
            kernel: self.kernel.name.clone(),
            place,
        }
    }

    /// Where the first thread of a cluster is that can run.
    #[cold]
    pub(super) fn current(&self, cluster: &Cluster) -> Option<Box<Place>> {
        let (block, thread, scope) = cluster.current()?;
        let code = self.shape.program.codes.get(scope.function)?;
        let pc = scope.places.of(thread as usize % WARP_SIZE);
        let source = code.instructions.get(pc as usize)?.source;
        let place = self.shape.place(scope.function, source, block, thread);
        place.map(Box::new)
    }

    #[cold]
    fn place(&self, block: [u32; 3], warp: usize, fault: WarpFault) -> Fault {
        let code: &Code = &self.shape.program.codes[fault.function];
        let thread = (warp * 32 + fault.error.lane) as u32;
        let instruction = code.instructions.get(fault.pc as usize);
        let place = |it: &Instr| self.shape.place(fault.function, it.source, block, thread);
        let place = instruction.and_then(place).map(Box::new);
        Fault {
            kind: fault.error.kind,
            kernel: self.kernel.name.clone(),
            place,
        }
    }
}

fn check(kernel: &Kernel, program: &Program, launch: &Launch<'_>) -> Result<(), String> {
    let threads = launch
        .block
        .iter()
        .try_fold(1u32, |product, &extent| product.checked_mul(extent))
        .unwrap_or(u32::MAX);
    if threads == 0 || threads > 1024 {
        let [x, y, z] = launch.block;
        return Err(format!(
            "a block of {x}×{y}×{z} threads; a block has 1 to 1024"
        ));
    }
    let [x, y, z] = launch.grid;
    if launch.grid.contains(&0) || x > i32::MAX as u32 || y > 65_535 || z > 65_535 {
        return Err(format!(
            "a grid of {x}×{y}×{z} blocks; a grid has 1 to 2147483647×65535×65535"
        ));
    }
    cluster::check(launch)?;
    let needed = kernel.params_size();
    if launch.params.len() < needed {
        return Err(format!(
            "{} bytes of parameters; the kernel takes {needed}",
            launch.params.len()
        ));
    }
    if launch.globals.len() != program.globals.len() {
        let (given, needed) = (launch.globals.len(), program.globals.len());
        return Err(format!(
            "{given} addresses of module variables; the module has {needed}"
        ));
    }
    if kernel.local_bytes > launch.limits.local_bytes {
        let (needed, limit) = (kernel.local_bytes, launch.limits.local_bytes);
        return Err(format!(
            "{needed} bytes of local memory for each thread; the limit is {limit}"
        ));
    }
    Ok(())
}
