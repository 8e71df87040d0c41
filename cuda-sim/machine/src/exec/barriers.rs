//! The barriers of a block.

use std::collections::HashMap;

use crate::check::FindingKind;
use crate::code::{Instr, Op};
use crate::exec::env::{LaneError, Shape};
use crate::exec::findings::{Seen, Site};
use crate::exec::race::Race;
use crate::exec::scope::Scope;
use crate::{FaultKind, WARP_SIZE};

/// A barrier while threads arrive.
#[derive(Debug, Clone, Copy, Default)]
struct Barrier {
    /// Threads as the barrier counts them.
    arrived: u32,
    /// Threads that came.
    came: u32,
    /// Threads that must arrive; nothing for all that live.
    expected: Option<u32>,
    /// Threads of this phase whose predicate was set.
    set: u32,
    /// The same of the phase before: what `bar.red` reads.
    last_set: u32,
    /// Threads of the phase before.
    last_came: u32,
    /// Whether the launch before has ended for a thread of this phase, and of the phase before.
    waited: bool,
    last_waited: bool,
    in_use: bool,
}

/// The sixteen barriers of a block, and what they order.
#[derive(Debug, Default)]
pub(crate) struct Barriers {
    barriers: [Barrier; 16],
    /// Threads of the block that have not ended.
    live: u32,
    /// Threads of the block that have ended.
    ended: u32,
    /// Barriers whose threads can go on.
    complete: u32,
    /// The instruction through which a warp came first to a barrier that wants all of it at one, where that is looked at.
    first: HashMap<(usize, u32), Seen>,
}

/// Who comes to a barrier.
pub(crate) struct Arrival<'a> {
    pub(crate) instruction: &'a Instr,
    pub(crate) scope: &'a Scope,
    /// The warp and its lanes that come together.
    pub(crate) warp: u32,
    pub(crate) lanes: u32,
    /// Lanes of the warp that have not ended.
    pub(crate) live: u32,
    pub(crate) block: [u32; 3],
    /// The number of the block in its cluster.
    pub(crate) rank: u32,
    /// Whether the launch before has ended for one of the lanes.
    pub(crate) waited: bool,
}

impl Barriers {
    pub(crate) fn new(threads: u32) -> Self {
        Self {
            live: threads,
            ..Self::default()
        }
    }

    /// Lanes arrive at a barrier; returns its number if they have to wait.
    pub(crate) fn arrive(
        &mut self,
        arrival: &Arrival<'_>,
        shape: &Shape<'_>,
        race: &mut Option<Box<Race>>,
    ) -> Result<Option<usize>, LaneError> {
        let (i, lanes) = (arrival.instruction, arrival.lanes);
        let registers = &arrival.scope.registers;
        let lane = lanes.trailing_zeros() as usize;
        let fault = |why: String| LaneError {
            lane,
            kind: FaultKind::Barrier(why),
        };
        let number = registers.words[i.src[0] as usize][lane] as usize;
        let expected = (i.imm != 0).then(|| registers.words[i.src[1] as usize][lane]);
        let Some(barrier) = self.barriers.get_mut(number) else {
            return Err(fault(format!(
                "there is no barrier {number}; a block has the barriers 0 to 15"
            )));
        };
        if let Some(expected) =
            expected.filter(|&count| count == 0 || count % WARP_SIZE as u32 != 0)
        {
            return Err(fault(format!(
                "barrier {number} is to wait for {expected} threads, which is no multiple of the warp size"
            )));
        }
        if barrier.in_use && barrier.expected != expected {
            return Err(fault(format!(
                "barrier {number} is waited for with different numbers of threads at once"
            )));
        }
        barrier.in_use = true;
        barrier.expected = expected;
        barrier.came += lanes.count_ones();
        barrier.waited |= arrival.waited;
        // A whole warp counts as such, also when some of its lanes have ended or never were.
        barrier.arrived += if expected.is_some() && lanes == arrival.live {
            WARP_SIZE as u32
        } else {
            lanes.count_ones()
        };
        if i.op_is_reduction() {
            barrier.set += (registers.predicate(i.src[2]) & lanes).count_ones();
        }
        let waits = !matches!(i.op, Op::BarrierArrive);
        if let Some(race) = race {
            race.arrive(arrival.rank, number, arrival.warp, lanes, waits);
        }
        if i.is_aligned() && shape.launch.checks.sync {
            self.compare(number, arrival, shape);
        }
        self.check(number, arrival.rank, race);
        Ok(waits.then_some(number))
    }

    /// A warp must come to an aligned barrier as a whole, at one instruction.
    #[cold]
    pub(crate) fn compare(&mut self, number: usize, arrival: &Arrival<'_>, shape: &Shape<'_>) {
        let here = Seen {
            site: Site {
                function: arrival.scope.function,
                source: arrival.instruction.source,
            },
            block: arrival.block,
            thread: arrival.warp * WARP_SIZE as u32 + arrival.lanes.trailing_zeros(),
        };
        let key = (number, arrival.warp);
        let first = *self.first.entry(key).or_insert(here);
        if let (Some(findings), true) = (&shape.findings, first.site != here.site) {
            let kind = FindingKind::DividedBarrier;
            findings.add(shape, kind, [first, here], None);
        }
    }

    fn check(&mut self, number: usize, rank: u32, race: &mut Option<Box<Race>>) {
        let live = self.live;
        let barrier = &mut self.barriers[number];
        if barrier.in_use && barrier.arrived >= barrier.expected.unwrap_or(live) {
            *barrier = Barrier {
                last_set: barrier.set,
                last_came: barrier.came,
                last_waited: barrier.waited,
                ..Barrier::default()
            };
            self.complete |= 1 << number;
            if let Some(race) = race {
                race.complete(rank, number);
            }
            self.forget(number);
        }
    }

    /// Forgets through which instruction warps came to a barrier.
    pub(crate) fn forget(&mut self, number: usize) {
        self.first.retain(|(other, _), _| *other != number);
    }

    /// Forgets it for one warp.
    pub(crate) fn forget_warp(&mut self, number: usize, warp: u32) {
        self.first.remove(&(number, warp));
    }

    /// The barriers that have opened since the last question.
    pub(crate) fn take_complete(&mut self) -> u32 {
        std::mem::take(&mut self.complete)
    }

    /// Threads end; barriers that wait for all living threads need not wait for them.
    pub(crate) fn leave(&mut self, threads: u32, rank: u32, race: &mut Option<Box<Race>>) {
        self.live -= threads;
        self.ended += threads;
        for number in 0..self.barriers.len() {
            self.check(number, rank, race);
        }
    }

    /// What the last phase of a barrier counted: threads whose predicate was set, and threads.
    pub(crate) fn last(&self, number: usize) -> (u32, u32) {
        self.barriers
            .get(number)
            .map_or((0, 0), |barrier| (barrier.last_set, barrier.last_came))
    }

    /// Whether the launch before had ended for a thread of a barrier's last phase.
    pub(crate) fn last_waited(&self, number: usize) -> bool {
        self.barriers.get(number).is_some_and(|it| it.last_waited)
    }

    /// A sentence about what a barrier still waits for.
    pub(crate) fn missing(&self, number: usize) -> String {
        let barrier = &self.barriers[number];
        let expected = barrier.expected.unwrap_or(self.live);
        let ended = match self.ended {
            0 => String::new(),
            ended => format!("; {ended} threads of the block have ended"),
        };
        format!(
            "barrier {number}, at which {} of {expected} threads have arrived{ended}",
            barrier.arrived
        )
    }
}
