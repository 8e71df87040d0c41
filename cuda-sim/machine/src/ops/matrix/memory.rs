//! Accesses to memory by matrix instructions, of which each lane may make several: what the checks of single accesses look at is looked at
//! here.

use crate::Lanes;
use crate::code::{Instr, Touch, TouchKind};
use crate::exec::{Env, LaneError, Scope, Space};

const fn touch(kind: TouchKind, size: usize) -> Touch {
    Touch {
        kind,
        size: size as u32,
        strong: None,
        acquires: false,
        releases: false,
    }
}

/// Reads for each lane of the mask.
pub(super) fn read(
    i: &Instr,
    scope: &Scope,
    env: &mut Env<'_>,
    space: Space,
    lanes: &Lanes<'_>,
    into: &mut [u8],
) -> Result<(), LaneError> {
    let observed = env.observe(i, scope, space, touch(TouchKind::Read, lanes.size), lanes);
    env.read(scope.site(i), space, lanes, into, scope)?;
    if let Some(observed) = observed {
        observed.confirm(env, lanes.mask);
    }
    Ok(())
}

/// Writes for each lane of the mask.
pub(super) fn write(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    space: Space,
    lanes: &Lanes<'_>,
    bytes: &[u8],
) -> Result<(), LaneError> {
    let observed = env.observe(i, scope, space, touch(TouchKind::Write, lanes.size), lanes);
    env.write(space, lanes, bytes, scope)?;
    if let Some(observed) = observed {
        observed.confirm(env, lanes.mask);
    }
    Ok(())
}
