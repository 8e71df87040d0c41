//! The masks of `.sync` instructions, as the checks of a launch see them.

use super::collective::members;
use crate::WARP_SIZE;
use crate::check::FindingKind;
use crate::code::Instr;
use crate::exec::env::Env;
use crate::exec::findings::Seen;
use crate::exec::scope::Scope;

/// Looks at the masks of lanes that come to a `.sync` instruction: they name the lane itself, and those that name each other are the same.
#[cold]
pub(super) fn compare(i: &Instr, scope: &Scope, env: &Env<'_>, here: u32, active: u32) {
    let (Some(findings), true) = (&env.shape.findings, env.shape.launch.checks.sync) else {
        return;
    };
    let lanes_of = |mask: u32| (0..WARP_SIZE).filter(move |lane| mask >> lane & 1 == 1);
    let seen = |lane: usize| Seen {
        site: scope.site(i),
        block: env.block,
        thread: env.warp * WARP_SIZE as u32 + lane as u32,
    };
    for lane in lanes_of(active) {
        let mask = members(i, scope, lane);
        if mask >> lane & 1 == 0 {
            let pair = [seen(lane), seen(lane)];
            findings.add(env.shape, FindingKind::NotInMask, pair, None);
            continue;
        }
        let disagrees = |other: &usize| {
            let theirs = members(i, scope, *other);
            theirs != mask && (mask >> other & 1 == 1 || theirs >> lane & 1 == 1)
        };
        if let Some(other) = lanes_of(here).find(disagrees) {
            let pair = [seen(other), seen(lane)];
            findings.add(env.shape, FindingKind::DifferentMasks, pair, None);
        }
    }
}
