//! One block: its warps, its shared memory and its barriers.

use crate::FaultKind;
use crate::exec::barriers::Barriers;
use crate::exec::cluster::{Common, Peers};
use crate::exec::env::LaneError;
use crate::exec::env::Shape;
use crate::exec::local::{LocalMemory, clear};
use crate::exec::scope::Scope;
use crate::exec::templates::Templates;
use crate::exec::unwritten::Unwritten;
use crate::exec::warp::{
    ARRIVALS, BARRIERS, BlockParts, CLUSTER_BARRIER, Meter, Pause, Warp, WarpFault, new_scope,
};

/// A block that runs.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) index: [u32; 3],
    warps: Vec<Warp>,
    pub(crate) shared: Vec<u8>,
    barriers: Barriers,
    /// Where the next turn starts.
    first: usize,
    ended: bool,
}

/// What came of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// All threads have ended.
    Ended,
    /// Every thread that has not ended waits.
    Stuck,
    Ran,
}

impl Block {
    /// A block that can be started.
    pub(crate) fn new(function: usize, shape: &Shape<'_>, templates: &Templates) -> Self {
        let threads = shape.launch.block.iter().product::<u32>();
        let mut barriers = Barriers::default();
        let mut shared = vec![0; shape.shared_bytes as usize];
        let parts = BlockParts {
            shape,
            templates,
            shared: &mut shared,
            barriers: &mut barriers,
            peers: Peers::default(),
            common: &mut Common::default(),
            unwritten: &mut Unwritten::default(),
            block: [0; 3],
            clock: 0,
        };
        let warp = |index| {
            let mut local = LocalMemory::default();
            local.grow(shape.program.codes[function].local_bytes as usize);
            let scope = new_scope(function, 0, &parts, index, 0);
            Warp {
                index,
                live: 0,
                scopes: vec![scope],
                turn: 0,
                spent: 0,
                parked: [0; BARRIERS],
                arrived: 0,
                passed: 0,
                waited: 0,
                local,
            }
        };
        let warps = (0..threads.div_ceil(32)).map(warp).collect();
        Self {
            index: [0; 3],
            warps,
            shared,
            barriers,
            first: 0,
            ended: true,
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// The first thread that can run, and its innermost call.
    pub(crate) fn current(&self) -> Option<(u32, &Scope)> {
        self.warps.iter().find_map(|warp| {
            let mut scopes = warp.scopes.iter().rev();
            let scope = scopes.find(|it| it.runnable & warp.live != 0)?;
            let lane = (scope.runnable & warp.live).trailing_zeros();
            Some((warp.index * 32 + lane, scope))
        })
    }

    /// Puts all threads at the start of the kernel; whatever ran here before has ended. `first` says which warp begins.
    pub(crate) fn start(
        &mut self,
        index: [u32; 3],
        first: usize,
        shape: &Shape<'_>,
        templates: &Templates,
    ) {
        let threads = shape.launch.block.iter().product::<u32>();
        self.index = index;
        self.first = first % self.warps.len().max(1);
        clear(&mut self.shared);
        self.ended = false;
        self.barriers = Barriers::new(threads);
        let parts = BlockParts {
            shape,
            templates,
            shared: &mut self.shared,
            barriers: &mut self.barriers,
            peers: Peers::default(),
            common: &mut Common::default(),
            unwritten: &mut Unwritten::default(),
            block: index,
            clock: 0,
        };
        for warp in &mut self.warps {
            let lanes = u32::MAX >> (32 - (threads - warp.index * 32).min(32));
            warp.restart(lanes, &parts);
        }
    }

    /// Gives each warp a turn of `turn` instructions.
    #[expect(clippy::too_many_arguments, reason = "what a warp needs")]
    pub(crate) fn run(
        &mut self,
        shape: &Shape<'_>,
        templates: &Templates,
        mut peers: Peers<'_>,
        common: &mut Common,
        turn: u64,
        meter: &mut Meter,
        unwritten: &mut Unwritten,
    ) -> Result<Progress, (usize, WarpFault)> {
        if self.ended {
            return Ok(Progress::Ended);
        }
        let mut ended = 0;
        let mut stuck = true;
        let count = self.warps.len();
        for step in 0..count {
            let index = (self.first + step) % count;
            let fuel = turn.min(meter.fuel);
            if fuel == 0 {
                return Ok(Progress::Ran);
            }
            let warp = &mut self.warps[index];
            if warp.live == 0 {
                ended += 1;
                continue;
            }
            let mut parts = BlockParts {
                shape,
                templates,
                shared: &mut self.shared,
                barriers: &mut self.barriers,
                peers: peers.reborrow(),
                common: &mut *common,
                unwritten: &mut *unwritten,
                block: self.index,
                clock: meter.instructions,
            };
            let mut inner = Meter {
                fuel,
                ..Meter::default()
            };
            let pause = warp.run(&mut parts, &mut inner);
            meter.fuel -= inner.instructions.min(meter.fuel);
            meter.instructions += inner.instructions;
            meter.lane_instructions += inner.lane_instructions;
            match pause.map_err(|fault| (index, fault))? {
                Pause::Ended => {
                    ended += 1;
                    stuck = false;
                }
                Pause::Waits => stuck &= inner.instructions == 0,
                Pause::Turn => stuck = false,
            }
            let complete = self.barriers.take_complete();
            for barrier in (0..16).filter(|barrier| complete >> barrier & 1 == 1) {
                stuck = false;
                let waited = self.barriers.last_waited(barrier);
                for warp in &mut self.warps {
                    warp.release(barrier, waited);
                }
            }
        }
        self.ended = ended == count;
        Ok(match (self.ended, stuck) {
            (true, _) => Progress::Ended,
            (false, true) => Progress::Stuck,
            (false, false) => Progress::Ran,
        })
    }

    /// Lets the threads go on that wait at the cluster's barrier: all have arrived.
    pub(crate) fn pass_cluster_barrier(&mut self, rank: u32, common: &mut Common) {
        self.barriers.forget(ARRIVALS);
        for warp in &mut self.warps {
            warp.pass_cluster_barrier(rank, common);
        }
    }

    /// The fault of the first lane that waits in vain.
    #[cold]
    pub(crate) fn deadlock(&self, common: &Common) -> (usize, WarpFault) {
        for (index, warp) in self.warps.iter().enumerate() {
            for scope in &warp.scopes {
                let stuck = scope.parked | scope.waiting;
                if stuck == 0 {
                    continue;
                }
                let lane = stuck.trailing_zeros() as usize;
                let at_barrier = scope.parked >> lane & 1 == 1;
                let pc = scope.places.of(lane) - u32::from(at_barrier);
                let barrier = warp.parked.iter().position(|lanes| lanes >> lane & 1 == 1);
                let waits_for = match barrier {
                    Some(CLUSTER_BARRIER) => common.barrier.missing(),
                    Some(barrier) => self.barriers.missing(barrier),
                    None => String::from(
                        "the other lanes of its member mask, which have not come to this instruction",
                    ),
                };
                let error = LaneError {
                    lane,
                    kind: FaultKind::Deadlock { waits_for },
                };
                return (
                    index,
                    WarpFault {
                        function: scope.function,
                        pc,
                        error,
                    },
                );
            }
        }
        let waits_for = String::from("nothing that could be named");
        (
            0,
            WarpFault {
                function: 0,
                pc: 0,
                error: LaneError {
                    lane: 0,
                    kind: FaultKind::Deadlock { waits_for },
                },
            },
        )
    }
}
