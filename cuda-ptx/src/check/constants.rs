//! Constants that an instruction takes from a short range only.

use super::operand::Wrong;
use crate::{Instruction, Operand};

/// The most bytes of a bulk copy.
const MOST_BULK: i64 = (1 << 20) - 16;

/// Looks at constants.
pub(super) fn check(instruction: &Instruction<'_>) -> Result<(), Wrong> {
    match (instruction.opcode(), &instruction.operands[..]) {
        ("cp", _) => copy(instruction),
        ("fence", [_, Operand::Integer(size)]) if *size != 128 => {
            Err(format!("{size} bytes: a tensor map has 128"))
        }
        _ => barrier(instruction),
    }
}

/// The size of a copy.
fn copy(instruction: &Instruction<'_>) -> Result<(), Wrong> {
    let modifiers: Vec<&str> = instruction.modifiers().collect();
    let tensor = modifiers.contains(&"tensor");
    let (size, bulk) = match (&modifiers[..], &instruction.operands[..]) {
        (["async", "bulk", "prefetch", ..], [_, Operand::Integer(size), ..]) => (*size, true),
        (["async", "bulk", ..] | ["reduce", ..], [_, _, Operand::Integer(size), ..]) => {
            (*size, true)
        }
        (["async", ..], [_, _, Operand::Integer(size), ..]) => (*size, false),
        _ => return Ok(()),
    };
    let sizes = if modifiers.contains(&"ca") {
        "4, 8 or 16"
    } else {
        "16"
    };
    if let ("async", false, Some(Operand::Integer(given))) =
        (modifiers[0], bulk, instruction.operands.get(3))
        && !(0..=size).contains(given)
    {
        return Err(format!("{given} bytes of {size} cannot be read"));
    }
    match size {
        _ if tensor => Ok(()),
        0..=MOST_BULK if bulk && size % 16 == 0 => Ok(()),
        _ if bulk => Err(format!(
            "{size} bytes: a bulk copy has a multiple of 16, at most {MOST_BULK}"
        )),
        16 => Ok(()),
        4 | 8 if modifiers.contains(&"ca") => Ok(()),
        _ => Err(format!("{size} bytes: this copy has {sizes}")),
    }
}

/// Of a barrier: there are 16, and threads come in whole warps.
fn barrier(instruction: &Instruction<'_>) -> Result<(), Wrong> {
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
