//! One block: its warps, its shared memory and its barriers.

use crate::code::{Instr, Op};
use crate::exec::env::LaneError;
use crate::exec::env::Shape;
use crate::exec::local::{LocalMemory, clear};
use crate::exec::templates::Templates;
use crate::exec::warp::{BlockParts, Meter, Pause, Warp, WarpFault, new_scope};
use crate::registers::Registers;
use crate::{FaultKind, WARP_SIZE};

/// A barrier while threads arrive.
#[derive(Debug, Clone, Copy, Default)]
struct Barrier {
    arrived: u32,
    /// Threads that must arrive; nothing for all that live.
    expected: Option<u32>,
    /// Threads of this phase whose predicate was set.
    set: u32,
    /// The same of the phase before: what `bar.red` reads.
    last_set: u32,
    /// Threads of the phase before.
    last_arrived: u32,
    in_use: bool,
}

/// The sixteen barriers of a block.
#[derive(Debug, Default)]
pub(crate) struct Barriers {
    barriers: [Barrier; 16],
    /// Threads of the block that have not ended.
    live: u32,
    /// Barriers whose threads can go on.
    complete: u32,
}

impl Barriers {
    /// Lanes arrive at a barrier; returns its number if they have to wait.
    pub(crate) fn arrive(
        &mut self,
        i: &Instr,
        registers: &Registers,
        lanes: u32,
    ) -> Result<Option<usize>, LaneError> {
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
        barrier.arrived += lanes.count_ones();
        if i.op_is_reduction() {
            barrier.set += (registers.predicate(i.src[2]) & lanes).count_ones();
        }
        self.check(number);
        Ok((!matches!(i.op, Op::BarrierArrive)).then_some(number))
    }

    fn check(&mut self, number: usize) {
        let live = self.live;
        let barrier = &mut self.barriers[number];
        if barrier.in_use && barrier.arrived >= barrier.expected.unwrap_or(live) {
            *barrier = Barrier {
                last_set: barrier.set,
                last_arrived: barrier.arrived,
                ..Barrier::default()
            };
            self.complete |= 1 << number;
        }
    }

    /// Threads end; barriers that wait for all living threads need not wait for them.
    pub(crate) fn leave(&mut self, threads: u32) {
        self.live -= threads;
        for number in 0..self.barriers.len() {
            self.check(number);
        }
    }

    /// What the last phase of a barrier counted: threads whose predicate was set, and threads.
    pub(crate) fn last(&self, number: usize) -> (u32, u32) {
        self.barriers
            .get(number)
            .map_or((0, 0), |barrier| (barrier.last_set, barrier.last_arrived))
    }

    /// A sentence about what a barrier still waits for.
    fn missing(&self, number: usize) -> String {
        let barrier = &self.barriers[number];
        let expected = barrier.expected.unwrap_or(self.live);
        format!(
            "barrier {number}, at which {} of {expected} threads have arrived",
            barrier.arrived
        )
    }
}

/// A block that runs.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) index: [u32; 3],
    warps: Vec<Warp>,
    shared: Vec<u8>,
    barriers: Barriers,
    /// Where the next turn starts.
    first: usize,
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
                parked: [0; 16],
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
        }
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
        self.barriers = Barriers {
            live: threads,
            ..Barriers::default()
        };
        let parts = BlockParts {
            shape,
            templates,
            shared: &mut self.shared,
            barriers: &mut self.barriers,
            block: index,
            clock: 0,
        };
        for warp in &mut self.warps {
            let lanes = u32::MAX >> (32 - (threads - warp.index * 32).min(32));
            warp.restart(lanes, &parts);
        }
    }

    /// Gives each warp a turn of `turn` instructions. Says whether the block has ended.
    pub(crate) fn run(
        &mut self,
        shape: &Shape<'_>,
        templates: &Templates,
        turn: u64,
        meter: &mut Meter,
    ) -> Result<bool, (usize, WarpFault)> {
        let mut ended = 0;
        let mut stuck = true;
        let count = self.warps.len();
        for step in 0..count {
            let index = (self.first + step) % count;
            let fuel = turn.min(meter.fuel);
            if fuel == 0 {
                return Ok(false);
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
            let complete = std::mem::take(&mut self.barriers.complete);
            for barrier in (0..16).filter(|barrier| complete >> barrier & 1 == 1) {
                stuck = false;
                for warp in &mut self.warps {
                    warp.release(barrier);
                }
            }
        }
        if ended < count && stuck {
            return Err(self.deadlock());
        }
        Ok(ended == count)
    }

    /// The fault of the first lane that waits in vain.
    #[cold]
    fn deadlock(&self) -> (usize, WarpFault) {
        for (index, warp) in self.warps.iter().enumerate() {
            for scope in &warp.scopes {
                let stuck = scope.parked | scope.waiting;
                if stuck == 0 {
                    continue;
                }
                let lane = stuck.trailing_zeros() as usize;
                let at_barrier = scope.parked >> lane & 1 == 1;
                let pc = scope.pcs[lane] - u32::from(at_barrier);
                let barrier = warp.parked.iter().position(|lanes| lanes >> lane & 1 == 1);
                let waits_for = match barrier {
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
