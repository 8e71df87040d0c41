//! The innermost loop: runs the lanes of one call, lowest program counter first, until something concerns the whole warp.

use super::collective::collective;
use crate::code::{Code, Instr, NONE, Op};
use crate::exec::env::{Env, LaneError};
use crate::exec::places::Group;
use crate::exec::race::Observed;
use crate::exec::scope::Scope;
use crate::exec::spaces::Space;
use crate::exec::warp::Meter;
use crate::ops::compare::Combine;
use crate::ops::memory::addresses;
use crate::{FaultKind, Lanes, WARP_SIZE};

/// Backward branches that one group of lanes may take while other lanes of the call could run: lanes that spin until another lane of
/// their warp has done something must let that lane run.
const BACK_EDGES: u32 = 256;

/// Why the loop stopped.
#[derive(Debug)]
pub(super) enum Event {
    /// No lane of the call can run.
    Idle,
    /// The fuel is used up.
    Fuel,
    /// All lanes of the call have asked in vain.
    Vain,
    /// These lanes end.
    Exit(u32),
    /// These lanes return.
    Return(u32),
    /// These lanes are at a call.
    Call(u32, u32),
    /// These lanes have come to a barrier.
    Barrier(u32, u32),
    /// A lane faults.
    Fault(u32, LaneError),
}

/// `CHECKED`: with the checks of the launch.
pub(super) fn run<const CHECKED: bool>(
    scope: &mut Scope,
    code: &Code,
    env: &mut Env<'_>,
    meter: &mut Meter,
) -> Event {
    let clock = env.clock;
    loop {
        if scope.runnable == 0 {
            return Event::Idle;
        }
        let group = scope.places.select(scope.runnable, scope.tired);
        env.clock = clock + meter.instructions;
        let before = meter.fuel;
        let outcome = run_group::<CHECKED>(&group, scope, code, env, meter);
        let executed = before - meter.fuel;
        meter.instructions += executed;
        meter.lane_instructions += executed * u64::from(group.mask.count_ones());
        match outcome {
            Outcome::Regroup => scope.tired = 0,
            Outcome::Tired => scope.tired = group.mask,
            // The next turn goes on where this one ends.
            Outcome::Event(Event::Fuel) => return Event::Fuel,
            Outcome::Event(event) => {
                scope.tired = 0;
                return event;
            }
        }
    }
}

pub(super) enum Outcome {
    /// Lanes diverged or met.
    Regroup,
    /// The group has taken many backward branches while others could run.
    Tired,
    Event(Event),
}

#[inline(always)]
fn run_group<const CHECKED: bool>(
    group: &Group,
    scope: &mut Scope,
    code: &Code,
    env: &mut Env<'_>,
    meter: &mut Meter,
) -> Outcome {
    let mask = group.mask;
    let mut pc = group.pc;
    let interrupted = std::mem::take(&mut scope.interrupted);
    let mut back_edges = match interrupted {
        _ if mask == scope.runnable => u32::MAX,
        (lanes, left) if lanes == mask => left,
        _ => BACK_EDGES,
    };
    let start = meter.fuel;
    let clock = env.clock;
    loop {
        if meter.fuel == 0 {
            scope.places.set(mask, pc);
            scope.interrupted = (mask, back_edges.min(BACK_EDGES));
            return Outcome::Event(Event::Fuel);
        }
        meter.fuel -= 1;
        let i = &code.instructions[pc as usize];
        let active = if i.guard == NONE {
            mask
        } else {
            mask & (scope.registers.predicate(i.guard) ^ i.guard_flip)
        };
        let mut target = pc + 1;
        match i.op {
            Op::Alu(run) => run(i, &mut scope.registers, active),
            Op::Nothing => {
                let more = u64::from((i.target - 1).min(group.meets - target)).min(meter.fuel);
                meter.fuel -= more;
                target += more as u32;
            }
            Op::SetPredicate(test, combine) => {
                set_predicate(i, scope, test(i, &scope.registers), combine, active)
            }
            Op::SetWord(test, combine) => {
                let bits = combine.apply(
                    test(i, &scope.registers),
                    scope.registers.predicate(i.src[2]),
                );
                let row = &mut scope.registers.words[i.dst[0] as usize];
                for (lane, word) in row
                    .iter_mut()
                    .enumerate()
                    .filter(|(lane, _)| active >> lane & 1 == 1)
                {
                    *word = if bits >> lane & 1 == 1 { i.target } else { 0 };
                }
            }
            Op::Access(run) => {
                if active != 0 {
                    env.common.flight.waiting.accesses += 1;
                    env.clock = clock + (start - meter.fuel);
                    let observed = if CHECKED {
                        observe(i, pc, scope, code, env, active)
                    } else {
                        None
                    };
                    if let Err(error) = run(i, scope, env, active) {
                        scope.places.set(mask, pc);
                        return Outcome::Event(Event::Fault(pc, error));
                    }
                    if let Some(observed) = observed {
                        observed.confirm(env, active);
                    }
                }
            }
            Op::Poll(run) if active != 0 => {
                if CHECKED {
                    observe(i, pc, scope, code, env, active);
                }
                if let Err(error) = run(i, scope, env, active) {
                    scope.places.set(mask, pc);
                    return Outcome::Event(Event::Fault(pc, error));
                }
                if scope.registers.predicate(i.dst[0]) & active == 0 {
                    let alone = mask == scope.runnable;
                    scope.places.set(mask, pc + 1);
                    return if alone {
                        Outcome::Event(Event::Vain)
                    } else {
                        Outcome::Tired
                    };
                }
            }
            Op::Poll(_) => {}
            Op::Branch => {
                if active == mask {
                    target = i.target;
                } else if active != 0 {
                    scope.places.set(mask, pc + 1);
                    scope.places.set(active, i.target);
                    return Outcome::Regroup;
                }
            }
            Op::BranchIndexed => {
                scope.places.set(mask, pc + 1);
                let table = &code.tables[i.target as usize];
                for lane in (0..WARP_SIZE).filter(|lane| active >> lane & 1 == 1) {
                    let index = scope.registers.words[i.src[0] as usize][lane];
                    let Some(&to) = table.get(index as usize) else {
                        let kind = FaultKind::BranchOutOfTable {
                            index,
                            entries: table.len(),
                        };
                        return Outcome::Event(Event::Fault(pc, LaneError { lane, kind }));
                    };
                    scope.places.set_one(lane, to);
                }
                return Outcome::Regroup;
            }
            Op::Collective(run) => {
                if active != 0 {
                    return collective::<CHECKED>(i, run, scope, env, mask, active, pc);
                }
            }
            Op::Call | Op::CallIndirect if active == 0 => {}
            Op::Return if active == 0 => {}
            Op::Exit if active == 0 => {}
            Op::Trap if active == 0 => {}
            Op::BarrierSync
            | Op::BarrierArrive
            | Op::BarrierReduce
            | Op::ClusterArrive
            | Op::ClusterWait
                if active == 0 => {}
            Op::Call | Op::CallIndirect => {
                scope.places.set(mask, pc + 1);
                return Outcome::Event(Event::Call(pc, active));
            }
            Op::Return => {
                scope.places.set(mask, pc + 1);
                return Outcome::Event(Event::Return(active));
            }
            Op::Exit => {
                scope.places.set(mask, pc + 1);
                return Outcome::Event(Event::Exit(active));
            }
            Op::BarrierSync
            | Op::BarrierArrive
            | Op::BarrierReduce
            | Op::ClusterArrive
            | Op::ClusterWait => {
                scope.places.set(mask, pc + 1);
                return Outcome::Event(Event::Barrier(pc, active));
            }
            Op::Trap => {
                scope.places.set(mask, pc);
                let lane = active.trailing_zeros() as usize;
                return Outcome::Event(Event::Fault(
                    pc,
                    LaneError {
                        lane,
                        kind: FaultKind::Trap,
                    },
                ));
            }
        }
        if target <= pc {
            back_edges -= 1;
            if back_edges == 0 {
                scope.places.set(mask, target);
                return Outcome::Tired;
            }
        }
        pc = target;
        if pc >= group.meets {
            scope.places.set(mask, pc);
            return Outcome::Regroup;
        }
    }
}

fn set_predicate(i: &Instr, scope: &mut Scope, bits: u32, combine: Combine, active: u32) {
    let with = if combine == Combine::Nothing {
        0
    } else {
        scope.registers.predicate(i.src[2])
    };
    if i.dst[0] != NONE {
        scope
            .registers
            .set_predicate(i.dst[0], combine.apply(bits, with), active);
    }
    if i.dst[1] != NONE {
        scope
            .registers
            .set_predicate(i.dst[1], combine.apply(!bits, with), active);
    }
}

/// What the lanes' access races with; nothing where that is not looked for.
#[cold]
fn observe(
    i: &Instr,
    pc: u32,
    scope: &Scope,
    code: &Code,
    env: &mut Env<'_>,
    active: u32,
) -> Option<Observed> {
    let Some(&touch) = code.touches.get(&pc) else {
        if let Some(fresh) = env.common.fresh.as_mut()
            && code.opaque.contains(&pc)
        {
            fresh.give_up();
        }
        return None;
    };
    let lanes = Lanes {
        mask: active,
        size: touch.size as usize,
        addresses: &addresses(i, scope),
    };
    env.observe(i, scope, Space::from_code(i.src[2]), touch, &lanes)
}
