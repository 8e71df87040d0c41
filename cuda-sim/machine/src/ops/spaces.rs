//! Which space a generic address leads to, and which block's shared memory: each block is a cluster of its own.

use crate::code::Instr;
use crate::exec::{Env, LaneError, Scope, Space, resolve};
use crate::ops::map::{Entry, Ty, entry, lane, pack, unpack};
use crate::registers::Lane;
use crate::{GlobalSpace, WARP_SIZE};

/// `imm` for constant variables, which lie in global memory here.
const CONSTANT: i64 = 16;

/// How [`is_in_space`] is told the space.
pub(crate) fn space_code(space: &str) -> Option<i64> {
    let space = match space {
        "const" => return Some(CONSTANT),
        "global" => Space::Global,
        "shared" | "shared::cta" | "shared::cluster" => Space::Shared,
        "local" => Space::Local,
        "param" | "param::entry" => Space::Param,
        _ => return None,
    };
    Some(i64::from(space.code()))
}

/// Whether the address is that of a constant variable.
fn is_constant(address: u64, env: &Env<'_>) -> bool {
    let globals = &env.shape.program.globals;
    globals
        .iter()
        .zip(env.shape.launch.globals)
        .any(|(global, &start)| {
            global.space == GlobalSpace::Const
                && address
                    .checked_sub(start)
                    .is_some_and(|offset| offset < global.size as u64)
        })
}

/// `isspacep`
pub(crate) fn is_in_space(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let addresses = u64::row(&scope.registers, i.src[0]);
    let holds = |address: u64| match resolve(Space::Generic, address).0 {
        Space::Global if is_constant(address, env) => i.imm == CONSTANT,
        space => i.imm == i64::from(space.code()),
    };
    let inside = (0..WARP_SIZE)
        .filter(|&lane| mask >> lane & 1 == 1 && holds(addresses[lane]))
        .fold(0, |all, lane| all | 1 << lane);
    scope.registers.set_predicate(i.dst[0], inside, mask);
    Ok(())
}

/// The forms of `mapa` and `getctarank`, split at their dots. An address that is mapped to a block that the cluster does not have lies in
/// no memory.
pub(crate) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    Some(match mnemonic {
        ["mapa", "shared::cluster", "u32"] => {
            entry!(B32 <- B32 B32 |a, b| if b == 0 { a } else { u32::MAX })
        }
        ["mapa", "u64"] | ["mapa", "shared::cluster", "u64"] => {
            entry!(B64 <- B64 B32 |a, b| if b == 0 { a } else { u64::MAX })
        }
        ["getctarank", "shared::cluster", "u32"] => entry!(B32 <- B32 |_a| 0),
        ["getctarank", "u64"] | ["getctarank", "shared::cluster", "u64"] => {
            entry!(B32 <- B64 |_a| 0)
        }
        _ => return None,
    })
}
