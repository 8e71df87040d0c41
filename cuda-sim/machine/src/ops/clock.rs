//! Special registers that change while a warp runs.

use crate::WARP_SIZE;
use crate::code::Instr;
use crate::exec::{Env, LaneError, Scope};
use crate::registers::write;

/// Nanoseconds of `%globaltimer` at the first instruction. Each executed instruction counts as one clock and one nanosecond, so that
/// runs can be repeated exactly.
const EPOCH: u64 = 1 << 40;

/// The clock, shifted right by `imm` bits from the start in `target`: 32-bit registers.
pub(crate) fn read_word(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let value = (value(i, env) >> i.imm) as u32;
    write(&mut scope.registers, i.dst[0], &[value; WARP_SIZE], mask);
    Ok(())
}

/// The same for 64-bit registers.
pub(crate) fn read_double(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let value = value(i, env);
    write(&mut scope.registers, i.dst[0], &[value; WARP_SIZE], mask);
    Ok(())
}

fn value(i: &Instr, env: &mut Env<'_>) -> u64 {
    // Whoever asks for the time while it waits for something does nothing else.
    let accesses = &mut env.common.flight.waiting.accesses;
    *accesses = accesses.saturating_sub(1);
    env.clock + if i.target == 1 { EPOCH } else { 0 }
}
