//! The innermost loop: runs the lanes of one call, lowest program counter first, until something concerns the whole warp.

use super::masks;
use crate::FaultKind;
use crate::WARP_SIZE;
use crate::code::{Code, Instr, NONE, Op};
use crate::exec::env::{Env, LaneError};
use crate::exec::race::{Race, Suspect};
use crate::exec::scope::Scope;
use crate::exec::warp::Meter;
use crate::ops::compare::Combine;

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

/// The group of lanes that runs.
struct Group {
    pc: u32,
    mask: u32,
    /// Where the group meets other lanes.
    meets: u32,
}

/// The group with the lowest program counter, or, among lanes that are not in `tired`, the lowest of those.
fn select(scope: &Scope, tired: u32) -> Group {
    let eager = if scope.runnable & !tired == 0 {
        scope.runnable
    } else {
        scope.runnable & !tired
    };
    let (mut pc, mut meets) = (u32::MAX, u32::MAX);
    for lane in 0..WARP_SIZE {
        let at = if eager >> lane & 1 == 1 {
            scope.pcs[lane]
        } else {
            u32::MAX
        };
        pc = pc.min(at);
    }
    let mut mask = 0;
    for lane in 0..WARP_SIZE {
        let here = scope.runnable >> lane & 1 == 1;
        mask |= u32::from(here && scope.pcs[lane] == pc) << lane;
        let ahead = if here && scope.pcs[lane] > pc {
            scope.pcs[lane]
        } else {
            u32::MAX
        };
        meets = meets.min(ahead);
    }
    Group { pc, mask, meets }
}

fn set_pcs(scope: &mut Scope, lanes: u32, pc: u32) {
    for (lane, at) in scope.pcs.iter_mut().enumerate() {
        if lanes >> lane & 1 == 1 {
            *at = pc;
        }
    }
}

/// The lanes that must be at a collective instruction before it runs.
pub(super) fn members(i: &Instr, scope: &Scope, first: usize) -> u32 {
    scope.registers.words[i.src[3] as usize][first]
}

/// The lanes that name these members.
fn naming(i: &Instr, scope: &Scope, members: u32) -> u32 {
    let row = &scope.registers.words[i.src[3] as usize];
    let same = (0..WARP_SIZE).filter(|&lane| row[lane] == members);
    same.fold(0, |mask, lane| mask | 1 << lane)
}

/// The lanes that wait at an instruction.
fn waiting_at(scope: &Scope, pc: u32) -> u32 {
    (0..WARP_SIZE)
        .filter(|&lane| scope.waiting >> lane & 1 == 1 && scope.pcs[lane] == pc)
        .fold(0, |mask, lane| mask | 1 << lane)
}

/// Lanes that wait for others of which none is missing any more, because those have ended.
pub(super) fn satisfied(scope: &Scope, code: &Code, live: u32) -> u32 {
    let waits = |lane: &usize| scope.waiting >> lane & 1 == 1;
    for lane in (0..WARP_SIZE).filter(waits) {
        let i = &code.instructions[scope.pcs[lane] as usize];
        let members = members(i, scope, lane);
        let arrived = waiting_at(scope, scope.pcs[lane]) & naming(i, scope, members);
        if members & live & !arrived == 0 {
            return arrived;
        }
    }
    0
}

/// The members that a lane waits for at a `bar.warp.sync`; nothing where it does not wait at one.
pub(super) fn warp_barrier(scope: &Scope, code: &Code, lane: usize) -> Option<u32> {
    let waits = scope.waiting >> lane & 1 == 1;
    let i = code.instructions.get(scope.pcs[lane] as usize)?;
    (waits && i.is_warp_barrier()).then(|| members(i, scope, lane))
}

/// `CHECKED`: with the checks of the launch.
pub(super) fn run<const CHECKED: bool>(
    scope: &mut Scope,
    code: &Code,
    env: &mut Env<'_>,
    meter: &mut Meter,
) -> Event {
    let mut tired = 0;
    let clock = env.clock;
    loop {
        if scope.runnable == 0 {
            return Event::Idle;
        }
        let group = select(scope, tired);
        env.clock = clock + meter.instructions;
        let before = meter.fuel;
        let outcome = run_group::<CHECKED>(&group, scope, code, env, meter);
        let executed = before - meter.fuel;
        meter.instructions += executed;
        meter.lane_instructions += executed * u64::from(group.mask.count_ones());
        match outcome {
            Outcome::Regroup => tired = 0,
            Outcome::Tired => tired = group.mask,
            Outcome::Event(event) => return event,
        }
    }
}

enum Outcome {
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
    let mut back_edges = if mask == scope.runnable {
        u32::MAX
    } else {
        BACK_EDGES
    };
    let start = meter.fuel;
    let clock = env.clock;
    loop {
        if meter.fuel == 0 {
            set_pcs(scope, mask, pc);
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
                    env.clock = clock + (start - meter.fuel);
                    let suspects = if CHECKED {
                        observe(i, pc, scope, code, env, active)
                    } else {
                        Vec::new()
                    };
                    if let Err(error) = run(i, scope, env, active) {
                        set_pcs(scope, mask, pc);
                        return Outcome::Event(Event::Fault(pc, error));
                    }
                    if CHECKED {
                        Race::confirm(suspects, env.shape, env.shared, env.block);
                    }
                }
            }
            Op::Branch => {
                if active == mask {
                    target = i.target;
                } else if active != 0 {
                    set_pcs(scope, mask, pc + 1);
                    set_pcs(scope, active, i.target);
                    return Outcome::Regroup;
                }
            }
            Op::BranchIndexed => {
                set_pcs(scope, mask, pc + 1);
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
                    scope.pcs[lane] = to;
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
            Op::BarrierSync | Op::BarrierArrive | Op::BarrierReduce if active == 0 => {}
            Op::Call | Op::CallIndirect => {
                set_pcs(scope, mask, pc + 1);
                return Outcome::Event(Event::Call(pc, active));
            }
            Op::Return => {
                set_pcs(scope, mask, pc + 1);
                return Outcome::Event(Event::Return(active));
            }
            Op::Exit => {
                set_pcs(scope, mask, pc + 1);
                return Outcome::Event(Event::Exit(active));
            }
            Op::BarrierSync | Op::BarrierArrive | Op::BarrierReduce => {
                set_pcs(scope, mask, pc + 1);
                return Outcome::Event(Event::Barrier(pc, active));
            }
            Op::Trap => {
                set_pcs(scope, mask, pc);
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
                set_pcs(scope, mask, target);
                return Outcome::Tired;
            }
        }
        pc = target;
        if pc >= group.meets {
            set_pcs(scope, mask, pc);
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

/// Runs a collective instruction for the lanes whose members that still live are all here, and lets the others wait. Lanes that name
/// different members do not see each other.
fn collective<const CHECKED: bool>(
    i: &Instr,
    run: crate::code::Access,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
    active: u32,
    pc: u32,
) -> Outcome {
    let here = active | waiting_at(scope, pc);
    set_pcs(scope, mask & !active, pc + 1);
    set_pcs(scope, active, pc);
    if CHECKED {
        masks::compare(i, scope, env, here, active);
    }
    let mut left = active;
    while left != 0 {
        let members = members(i, scope, left.trailing_zeros() as usize);
        let arrived = here & naming(i, scope, members);
        left &= !arrived;
        if members & env.live & !arrived != 0 {
            scope.runnable &= !(arrived & active);
            scope.waiting |= arrived & active;
            continue;
        }
        scope.waiting &= !arrived;
        scope.runnable |= arrived;
        if CHECKED && let Some(race) = &mut env.barriers.race {
            race.warp_sync(env.warp, arrived);
        }
        if let Err(error) = run(i, scope, env, arrived) {
            return Outcome::Event(Event::Fault(pc, error));
        }
        set_pcs(scope, arrived, pc + 1);
    }
    Outcome::Regroup
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
) -> Vec<Suspect> {
    match (&mut env.barriers.race, code.touches.get(&pc)) {
        (Some(race), Some(&touch)) => race.observe(i, touch, scope, env.shared, env.warp, active),
        _ => Vec::new(),
    }
}
