//! Constants that an instruction takes from a short range only.

use super::operand::Wrong;
use crate::{Instruction, Operand};

/// Looks at the constants of a barrier: 16 barriers, and threads in whole warps.
pub(super) fn check(instruction: &Instruction<'_>) -> Result<(), Wrong> {
    let opcode = instruction.opcode();
    let mut modifiers = instruction.modifiers().filter(|&it| it != "cta");
    let action = modifiers.next();
    let (number, threads) = match (opcode, action, &instruction.operands[..]) {
        ("bar" | "barrier", Some("sync" | "arrive"), [number]) => (number, None),
        ("bar" | "barrier", Some("sync" | "arrive"), [number, threads]) => (number, Some(threads)),
        ("bar" | "barrier", Some("red"), [_, number, threads, _]) => (number, Some(threads)),
        ("bar" | "barrier", Some("red"), [_, number, _]) => (number, None),
        _ => return Ok(()),
    };
    if let Operand::Integer(number) = number
        && !(0..16).contains(number)
    {
        return Err(format!(
            "there is no barrier {number}: they are numbered from 0 to 15"
        ));
    }
    match threads {
        Some(Operand::Integer(threads)) if threads % 32 != 0 => {
            Err(format!("{threads} threads are not a multiple of 32"))
        }
        _ => Ok(()),
    }
}
