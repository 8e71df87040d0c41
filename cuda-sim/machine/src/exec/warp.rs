//! One warp: which of its lanes run next, and what happens when they call, return, end or wait.

mod call;
mod cluster;
mod collective;
mod masks;
mod segment;

use crate::WARP_SIZE;
use crate::code::Op;
use crate::exec::ahead::at_start;
use crate::exec::barriers::{Arrival, Barriers};
use crate::exec::cluster::{Common, Peers};
use crate::exec::env::Shape;
use crate::exec::env::{Env, LaneError};
use crate::exec::local::{LocalMemory, clear};
use crate::exec::places::Places;
use crate::exec::scope::{Scope, enter_block};
use crate::exec::templates::Templates;
use crate::exec::unwritten::Unwritten;
pub(crate) use call::new_scope;
pub(crate) use cluster::ARRIVALS;
use cluster::ClusterLanes;
use segment::Event;

/// Instructions after which the lanes of another call get their turn.
const CALL_QUANTUM: u64 = 20_000;

/// Barriers at which lanes can wait: the sixteen of the block, and that of its cluster.
pub(crate) const BARRIERS: usize = 17;
/// The number of the cluster's.
pub(crate) const CLUSTER_BARRIER: usize = 16;

/// A warp of a block.
#[derive(Debug)]
pub(crate) struct Warp {
    /// Number in the block.
    pub(crate) index: u32,
    /// Lanes that have not ended.
    pub(crate) live: u32,
    pub(crate) scopes: Vec<Scope>,
    /// Which call's turn it is, and the instructions that it has executed of its quantum. They outlast the warp's own turns.
    pub(crate) turn: usize,
    pub(crate) spent: u64,
    /// Lanes that wait at each barrier.
    pub(crate) parked: [u32; BARRIERS],
    /// Lanes that have arrived at the cluster's barrier while others have not, and lanes that have since all had arrived need not wait.
    pub(crate) arrived: u32,
    pub(crate) passed: u32,
    /// Lanes for which the launch before has ended.
    pub(crate) waited: u32,
    pub(crate) local: LocalMemory,
}

/// Why a warp stopped running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// All its lanes have ended.
    Ended,
    /// All its lanes wait.
    Waits,
    /// Its turn is over.
    Turn,
}

/// A fault with the instruction at which it happened.
#[derive(Debug)]
pub(crate) struct WarpFault {
    pub(crate) function: usize,
    pub(crate) pc: u32,
    pub(crate) error: LaneError,
}

/// What a turn may use, and what it used.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meter {
    /// Instructions that may still be executed in this turn.
    pub(crate) fuel: u64,
    pub(crate) instructions: u64,
    pub(crate) lane_instructions: u64,
}

/// The parts of the block that a running warp touches.
pub(crate) struct BlockParts<'a> {
    pub(crate) shape: &'a Shape<'a>,
    pub(crate) templates: &'a Templates,
    pub(crate) shared: &'a mut [u8],
    pub(crate) barriers: &'a mut Barriers,
    pub(crate) peers: Peers<'a>,
    pub(crate) common: &'a mut Common,
    pub(crate) unwritten: &'a mut Unwritten,
    pub(crate) block: [u32; 3],
    pub(crate) clock: u64,
}

impl Warp {
    /// Runs until nothing can run or the fuel is used up.
    pub(crate) fn run(
        &mut self,
        parts: &mut BlockParts<'_>,
        meter: &mut Meter,
    ) -> Result<Pause, WarpFault> {
        loop {
            let Some(index) = self.choose(self.turn, parts) else {
                return Ok(if self.live == 0 {
                    Pause::Ended
                } else {
                    Pause::Waits
                });
            };
            let others = self
                .scopes
                .iter()
                .enumerate()
                .any(|(other, scope)| other != index && scope.runnable != 0);
            let quantum = if others {
                meter
                    .fuel
                    .min(CALL_QUANTUM.saturating_sub(self.spent).max(1))
            } else {
                meter.fuel
            };
            let mut inner = Meter {
                fuel: quantum,
                ..Meter::default()
            };
            let function = self.scopes[index].function;
            let code = &parts.shape.program.codes[function];
            let mut env = Env {
                shape: parts.shape,
                shared: parts.shared,
                local: &mut self.local,
                barriers: &mut *parts.barriers,
                peers: parts.peers.reborrow(),
                common: &mut *parts.common,
                unwritten: &mut *parts.unwritten,
                block: parts.block,
                warp: self.index,
                live: self.live,
                waited: self.waited,
                clock: parts.clock + meter.instructions,
            };
            let scope = &mut self.scopes[index];
            let event = if env.shape.findings.is_some() {
                segment::run::<true>(scope, code, &mut env, &mut inner)
            } else {
                segment::run::<false>(scope, code, &mut env, &mut inner)
            };
            self.waited = env.waited;
            meter.fuel -= inner.instructions.min(meter.fuel);
            meter.instructions += inner.instructions;
            meter.lane_instructions += inner.lane_instructions;
            self.spent = match event {
                Event::Fuel if others => self.spent + inner.instructions,
                _ => 0,
            };
            if others && (matches!(event, Event::Vain) || self.spent >= CALL_QUANTUM) {
                (self.turn, self.spent) = (self.turn.wrapping_add(1), 0);
            }
            match event {
                Event::Idle => self.turn = 0,
                Event::Fuel if meter.fuel == 0 => return Ok(Pause::Turn),
                Event::Vain if !others => return Ok(Pause::Turn),
                Event::Fuel | Event::Vain => {}
                Event::Fault(pc, error) => {
                    return Err(WarpFault {
                        function,
                        pc,
                        error,
                    });
                }
                Event::Exit(lanes) => self.exit(lanes, parts),
                Event::Return(lanes) => self.return_from(index, lanes, parts),
                Event::Call(pc, lanes) => {
                    self.call(index, pc, lanes, parts)
                        .map_err(|error| WarpFault {
                            function,
                            pc,
                            error,
                        })?
                }
                Event::Barrier(pc, lanes) => {
                    self.barrier(index, pc, lanes, parts)
                        .map_err(|error| WarpFault {
                            function,
                            pc,
                            error,
                        })?;
                }
            }
        }
    }

    /// The scope that runs next: the innermost call first; each exhausted quantum passes on to the next one outwards.
    fn choose(&mut self, turn: usize, parts: &mut BlockParts<'_>) -> Option<usize> {
        let runnable = self
            .scopes
            .iter()
            .filter(|scope| scope.runnable != 0)
            .count();
        if runnable == 0 {
            return self.wake_waiting(parts);
        }
        let candidates = self
            .scopes
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, scope)| scope.runnable != 0);
        candidates.map(|(index, _)| index).nth(turn % runnable)
    }

    /// Lets lanes try again that waited for lanes which have ended since.
    fn wake_waiting(&mut self, parts: &mut BlockParts<'_>) -> Option<usize> {
        let live = self.live;
        for (index, scope) in self
            .scopes
            .iter_mut()
            .enumerate()
            .filter(|(_, scope)| scope.waiting != 0)
        {
            let lanes =
                collective::satisfied(scope, &parts.shape.program.codes[scope.function], live);
            if lanes != 0 {
                scope.waiting &= !lanes;
                scope.runnable |= lanes;
                return Some(index);
            }
        }
        self.pass_warp_barrier(parts)
    }

    /// Lets lanes go on that wait at `bar.warp.sync`, each where it is: the instruction need not be the same for all.
    fn pass_warp_barrier(&mut self, parts: &mut BlockParts<'_>) -> Option<usize> {
        if self.scopes.iter().all(|scope| scope.waiting == 0) {
            return None;
        }
        let code = |scope: &Scope| &parts.shape.program.codes[scope.function];
        let waits_for = |scope: &Scope, lane| collective::warp_barrier(scope, code(scope), lane);
        let lanes = self.scopes.iter().flat_map(|scope| {
            (0..WARP_SIZE).filter_map(move |lane| Some((lane, waits_for(scope, lane)?)))
        });
        let lanes: Vec<(usize, u32)> = lanes.collect();
        let arrived = |members: u32| {
            let same = lanes.iter().filter(|(_, other)| *other == members);
            same.fold(0u32, |mask, (lane, _)| mask | 1 << lane)
        };
        let complete = |&(_, members): &(usize, u32)| {
            let arrived = arrived(members);
            (members & self.live & !arrived == 0).then_some(arrived)
        };
        let passing = lanes.iter().find_map(complete)?;
        if let Some(race) = &mut parts.common.race {
            race.warp_sync(parts.peers.rank(), self.index, passing);
        }
        if self.waited & passing != 0 {
            self.waited |= passing;
        }
        let mut first = None;
        for (index, scope) in self.scopes.iter_mut().enumerate() {
            let lanes = scope.waiting & passing;
            scope.places.step(lanes);
            scope.waiting &= !lanes;
            scope.runnable |= lanes;
            if lanes != 0 {
                first = Some(index);
            }
        }
        first
    }

    fn exit(&mut self, lanes: u32, parts: &mut BlockParts<'_>) {
        self.live &= !lanes;
        for scope in &mut self.scopes {
            scope.remove(lanes);
        }
        self.drop_finished();
        let (rank, race) = (parts.peers.rank(), &mut parts.common.race);
        parts.barriers.leave(lanes.count_ones(), rank, race);
        self.leave_cluster(lanes, parts.common);
    }

    fn drop_finished(&mut self) {
        while self.scopes.len() > 1 && self.scopes.last().is_some_and(|scope| scope.members() == 0)
        {
            self.scopes.pop();
        }
    }

    fn barrier(
        &mut self,
        index: usize,
        pc: u32,
        lanes: u32,
        parts: &mut BlockParts<'_>,
    ) -> Result<(), LaneError> {
        let scope = &mut self.scopes[index];
        let instruction = &parts.shape.program.codes[scope.function].instructions[pc as usize];
        let arrival = Arrival {
            instruction,
            scope,
            warp: self.index,
            lanes,
            live: self.live,
            block: parts.block,
            rank: parts.peers.rank(),
            waited: self.waited & lanes != 0,
        };
        let (shape, barriers) = (parts.shape, &mut *parts.barriers);
        let (barrier, waiting) = match instruction.op {
            Op::ClusterArrive | Op::ClusterWait => {
                let at = ClusterLanes {
                    arrived: &mut self.arrived,
                    passed: &mut self.passed,
                    waited: &mut self.waited,
                };
                let waiting = at.come(&arrival, shape, barriers, parts.common)?;
                (CLUSTER_BARRIER, waiting)
            }
            _ => match barriers.arrive(&arrival, shape, &mut parts.common.race)? {
                Some(barrier) => (barrier, lanes),
                None => return Ok(()),
            },
        };
        scope.runnable &= !waiting;
        scope.parked |= waiting;
        self.parked[barrier] |= waiting;
        Ok(())
    }

    /// Lets the lanes go on that wait at a barrier, to which a thread may have come for which the launch before had ended.
    pub(crate) fn release(&mut self, barrier: usize, waited: bool) {
        let lanes = std::mem::take(&mut self.parked[barrier]);
        if waited {
            self.waited |= lanes;
        }
        for scope in &mut self.scopes {
            let freed = scope.parked & lanes;
            scope.parked &= !freed;
            scope.runnable |= freed;
        }
    }
}

impl Warp {
    /// Puts the warp at the start of the kernel in another block; it has ended in its last one.
    pub(crate) fn restart(&mut self, lanes: u32, parts: &BlockParts<'_>) {
        self.live = lanes;
        self.parked = [0; BARRIERS];
        (self.arrived, self.passed) = (0, 0);
        (self.turn, self.spent) = (0, 0);
        self.waited = at_start(parts.shape.launch);
        self.local.clear();
        self.scopes.truncate(1);
        let (Some(scope), Some(template)) =
            (self.scopes.first_mut(), parts.templates.of_warp(self.index))
        else {
            return;
        };
        let code = &parts.shape.program.codes[scope.function];
        scope.registers.restart(template, &code.cleared);
        enter_block(&mut scope.registers, code, parts.shape, parts.block);
        clear(&mut scope.params);
        scope.places = Places::START;
        scope.tops = scope.first_tops(parts.shape);
        (scope.runnable, scope.parked, scope.waiting, scope.calling) = (lanes, 0, 0, 0);
        (scope.tired, scope.interrupted) = (0, (0, 0));
    }
}
