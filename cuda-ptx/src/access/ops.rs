//! What instructions make of values: the few rules that matter for addresses.

use crate::{Instruction, Operand, ScalarType};

use super::memory::{Place, place};
use super::names::{FROM_MEMORY, NEAR_ADDRESS, NULL, NUMBER, Names};

/// How a register gets its value from the sources of an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rule {
    /// The first source.
    Copy,
    /// The first source is copied; it is taken for an address in global memory.
    Global,
    /// The sum of all.
    Sum,
    /// The first without the second.
    Difference,
    /// The product of the first two, and the third.
    ProductAndSum,
    /// Any of them.
    Either,
    /// The bits of both: a sum where one is a number.
    Bits,
    /// Numbers, no addresses.
    Scaled,
    /// Halves of an address, or an address from its halves.
    Pieces,
    /// So many bytes from so far behind the address that is the source.
    Load { offset: i64, width: u32 },
    /// What a call returns there.
    Returned { call: u32, offset: u32, width: u32 },
}

/// An operation with its sources as a range of a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Op {
    pub(super) to: u32,
    pub(super) rule: Rule,
    pub(super) sources: (u32, u32),
}

/// Instructions whose first operand is no register that they write, or a predicate.
const WITHOUT_RESULT: [&str; 26] = [
    "bar",
    "barrier",
    "bra",
    "brkpt",
    "brx",
    "call",
    "cp",
    "discard",
    "exit",
    "fence",
    "griddepcontrol",
    "membar",
    "nanosleep",
    "pmevent",
    "prefetch",
    "prefetchu",
    "red",
    "ret",
    "setmaxnreg",
    "setp",
    "st",
    "stackrestore",
    "sured",
    "sust",
    "testp",
    "trap",
];

pub(super) fn has_result(opcode: &str) -> bool {
    !WITHOUT_RESULT.contains(&opcode)
}

/// The rule of an instruction that is no load.
pub(super) fn rule_of(instruction: &Instruction<'_>) -> Rule {
    let opcode = instruction.opcode();
    let is_vector =
        |index: usize| matches!(instruction.operands.get(index), Some(Operand::Vector(_)));
    let mut types = instruction.modifiers().filter_map(ScalarType::from_name);
    let ty = types.next();
    let is_float = matches!(
        ty,
        Some(
            ScalarType::F16
                | ScalarType::F16x2
                | ScalarType::BF16
                | ScalarType::BF16x2
                | ScalarType::F32
                | ScalarType::F64
        )
    );
    match opcode {
        "mov" if is_vector(0) || is_vector(1) => Rule::Pieces,
        "mov" => Rule::Copy,
        "cvta" => match instruction.modifiers().next() {
            Some("to") if instruction.modifiers().nth(1) == Some("global") => Rule::Global,
            _ => Rule::Copy,
        },
        "selp" | "slct" => Rule::Either,
        _ if is_float => Rule::Scaled,
        "add" => Rule::Sum,
        "sub" => Rule::Difference,
        "mad" if instruction.modifiers().next() != Some("hi") => Rule::ProductAndSum,
        "min" | "max" => Rule::Either,
        "or" => Rule::Bits,
        // Rounding an address down keeps what it is derived from.
        "and" if matches!(instruction.operands.get(2), Some(Operand::Integer(mask)) if *mask < 0) => {
            Rule::Copy
        }
        "cvt"
            if types.next().is_some_and(|from| from.size() == 8)
                && ty.is_some_and(|it| it.size() == 8) =>
        {
            Rule::Copy
        }
        "and" | "cnot" | "cvt" | "div" | "mul" | "mul24" | "mad" | "mad24" | "not" | "popc"
        | "clz" | "rem" | "sad" | "set" | "shl" | "shr" | "xor" | "bfind" | "brev" => Rule::Scaled,
        _ => Rule::Pieces,
    }
}

/// What an instruction makes whatever its operands are, if it is known that way: a register that holds it.
pub(super) fn fixed_result(instruction: &Instruction<'_>) -> Option<u32> {
    match instruction.opcode() {
        "cvta" => {
            let first = instruction.modifiers().next()?;
            // A parameter's address stays known.
            let is_near = place(first) == Some(Place::Near);
            is_near.then_some(NEAR_ADDRESS)
        }
        "alloca" => Some(NEAR_ADDRESS),
        "atom" | "ldmatrix" | "ldu" | "multimem" | "suld" | "tcgen05" | "tex" | "tld4" | "wmma" => {
            Some(FROM_MEMORY)
        }
        _ => None,
    }
}

/// The sources that an operand consists of.
pub(super) fn sources<'a>(operand: &Operand<'a>, names: &mut Names<'_, 'a>, to: &mut Vec<u32>) {
    let (Operand::Vector(list) | Operand::List(list) | Operand::Brackets(list)) = operand else {
        return source(operand, names, to);
    };
    // Operands nest a few levels at most; the parser sees to that.
    let mut waiting: Vec<&Operand<'a>> = list.iter().rev().collect();
    while let Some(operand) = waiting.pop() {
        match operand {
            Operand::Vector(list) | Operand::List(list) | Operand::Brackets(list) => {
                waiting.extend(list.iter().rev());
            }
            single => source(single, names, to),
        }
    }
}

/// The source that an operand without parts is.
fn source<'a>(operand: &Operand<'a>, names: &mut Names<'_, 'a>, to: &mut Vec<u32>) {
    let register = match operand {
        Operand::Name(name) | Operand::Not(name) | Operand::Negated(name) => names.source(name, 0),
        Operand::Offset(name, offset)
        | Operand::Address {
            base: Some(name),
            offset,
        } => names.source(name, *offset),
        Operand::Integer(0) => NULL,
        Operand::Pair(first, second) => {
            to.push(names.source(first, 0));
            names.source(second, 0)
        }
        _ => NUMBER,
    };
    to.push(register);
}

/// The registers that an operand names as results.
pub(super) fn results<'a>(operand: &Operand<'a>, names: &mut Names<'_, 'a>, to: &mut Vec<u32>) {
    match operand {
        Operand::Name(name) => to.extend(names.register(name)),
        Operand::Pair(first, second) => {
            to.extend(names.register(first));
            to.extend(names.register(second));
        }
        Operand::Vector(list) => {
            // A place for those that are not wanted, because the others' places count.
            for operand in list {
                let register = operand.name().and_then(|it| names.register(it));
                to.push(register.unwrap_or(u32::MAX));
            }
        }
        _ => {}
    }
}
