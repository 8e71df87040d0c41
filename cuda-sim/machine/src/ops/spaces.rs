//! Which space a generic address leads to, and which block's shared memory.

use crate::code::Instr;
use crate::exec::{Env, LaneError, RANK_SHIFT, Scope, Space, resolve};
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
        "shared" | "shared::cta" => Space::Shared,
        "shared::cluster" => Space::Cluster,
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
    let asks_for = |space: Space| i.imm == i64::from(space.code());
    let holds = |address: u64| match resolve(Space::Generic, address) {
        (Space::Global, _) if is_constant(address, env) => i.imm == CONSTANT,
        (Space::Cluster, offset) => match offset >> RANK_SHIFT {
            // What is too large for an offset lies in the window all the same.
            rank if rank == u64::from(env.peers.rank()) || env.peers.blocks() == 1 => {
                asks_for(Space::Shared) || asks_for(Space::Cluster)
            }
            // The window is as large for the blocks that there are not.
            _ => asks_for(Space::Cluster),
        },
        (space, _) => asks_for(space),
    };
    let inside = (0..WARP_SIZE)
        .filter(|&lane| mask >> lane & 1 == 1 && holds(addresses[lane]))
        .fold(0, |all, lane| all | 1 << lane);
    scope.registers.set_predicate(i.dst[0], inside, mask);
    Ok(())
}

/// Of a 32-bit address of shared memory, that of the same place in another block. Where no cluster has such a block, no memory is there.
fn mapped(address: u32, rank: u32) -> u32 {
    match u8::try_from(rank) {
        Ok(rank) => address & ((1 << RANK_SHIFT) - 1) | u32::from(rank) << RANK_SHIFT,
        Err(_) => u32::MAX,
    }
}

/// The same of a generic address, which must lie in shared memory.
fn mapped_generic(address: u64, rank: u32) -> u64 {
    match resolve(Space::Generic, address) {
        (Space::Cluster, offset) => address - offset + u64::from(mapped(offset as u32, rank)),
        _ => u64::MAX,
    }
}

/// The forms of `mapa` and `getctarank`, split at their dots.
pub(crate) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    Some(match mnemonic {
        ["mapa", "shared::cluster", "u32"] => {
            entry!(B32 <- B32 B32 |a, b| mapped(a, b))
        }
        ["mapa", "shared::cluster", "u64"] => {
            entry!(B64 <- B64 B32 |a, b| u64::from(mapped(a as u32, b)))
        }
        ["mapa", "u64"] => entry!(B64 <- B64 B32 |a, b| mapped_generic(a, b)),
        ["getctarank", "shared::cluster", "u32"] => entry!(B32 <- B32 |a| a >> RANK_SHIFT),
        ["getctarank", "u64"] | ["getctarank", "shared::cluster", "u64"] => {
            entry!(B32 <- B64 |a| a as u32 >> RANK_SHIFT)
        }
        _ => return None,
    })
}
