//! Instructions that lanes carry out together: who must be there, and who waits.

use super::masks;
use super::segment::{Event, Outcome};
use crate::WARP_SIZE;
use crate::code::{Access, Code, Instr};
use crate::exec::env::Env;
use crate::exec::scope::Scope;

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
    if scope.waiting == 0 {
        return 0;
    }
    (0..WARP_SIZE)
        .filter(|&lane| scope.waiting >> lane & 1 == 1 && scope.places.of(lane) == pc)
        .fold(0, |mask, lane| mask | 1 << lane)
}

/// Lanes that wait for others of which none is missing any more, because those have ended.
pub(super) fn satisfied(scope: &Scope, code: &Code, live: u32) -> u32 {
    let waits = |lane: &usize| scope.waiting >> lane & 1 == 1;
    for lane in (0..WARP_SIZE).filter(waits) {
        let i = &code.instructions[scope.places.of(lane) as usize];
        let members = members(i, scope, lane);
        let arrived = waiting_at(scope, scope.places.of(lane)) & naming(i, scope, members);
        if members & live & !arrived == 0 {
            return arrived;
        }
    }
    0
}

/// The members that a lane waits for at a `bar.warp.sync`; nothing where it does not wait at one.
pub(super) fn warp_barrier(scope: &Scope, code: &Code, lane: usize) -> Option<u32> {
    let waits = scope.waiting >> lane & 1 == 1;
    let i = code.instructions.get(scope.places.of(lane) as usize)?;
    (waits && i.is_warp_barrier()).then(|| members(i, scope, lane))
}

/// Runs a collective instruction for the lanes whose members that still live are all here, and lets the others wait. Lanes that name
/// different members do not see each other.
pub(super) fn collective<const CHECKED: bool>(
    i: &Instr,
    run: Access,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
    active: u32,
    pc: u32,
) -> Outcome {
    let here = active | waiting_at(scope, pc);
    scope.places.set(mask & !active, pc + 1);
    scope.places.set(active, pc);
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
        if CHECKED && let Some(race) = &mut env.common.race {
            race.warp_sync(env.peers.rank(), env.warp, arrived);
        }
        if CHECKED
            && let Some(fresh) = &mut env.common.fresh
            && env.shape.program.codes[scope.function].opaque.contains(&pc)
        {
            fresh.give_up();
        }
        env.share_waiting(arrived);
        if let Err(error) = run(i, scope, env, arrived) {
            return Outcome::Event(Event::Fault(pc, error));
        }
        scope.places.set(arrived, pc + 1);
    }
    Outcome::Regroup
}
