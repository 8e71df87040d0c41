//! Which floating-point numbers registers hold, by the instructions that make and use them: compilers load them as bits.

use crate::{Instruction, Operand, ScalarType};

use super::names::Names;

const HALF: u8 = 1;
const BFLOAT: u8 = 2;
const FLOAT: u8 = 4;
const DOUBLE: u8 = 8;

/// Instructions that pass on what they are given, whatever it is.
const PASSING: [&str; 12] = [
    "atom", "call", "ld", "ldu", "mma", "mov", "red", "selp", "shfl", "slct", "st", "wmma",
];

/// For each register what is made in it, and what it is used as.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    made: Vec<u8>,
    used: Vec<u8>,
}

impl Numbers {
    /// Takes note of the operands of an instruction.
    pub(super) fn see<'a>(&mut self, instruction: &Instruction<'a>, names: &mut Names<'_, 'a>) {
        let pairs = instruction.mnemonic.as_bytes().windows(2);
        let is_float = pairs.into_iter().any(|it| it == b".f" || it == b"bf");
        if !is_float || PASSING.contains(&instruction.opcode()) {
            return;
        }
        let mut types = instruction.modifiers().filter_map(kind);
        let Some(first) = types.next() else {
            return;
        };
        let last = types.last().unwrap_or(first);
        if first | last == 0 {
            return;
        }
        for (index, operand) in instruction.operands.iter().enumerate() {
            let (list, is) = match index {
                0 => (&mut self.made, first),
                _ => (&mut self.used, last),
            };
            if let Operand::Name(name) | Operand::Negated(name) = operand
                && let Some(register) = names.register(name)
            {
                let register = register as usize;
                if list.len() <= register {
                    list.resize(register + 1, 0);
                }
                if let Some(place) = list.get_mut(register) {
                    *place |= is;
                }
            }
        }
    }

    /// The numbers in registers that are loaded, or stored, as elements of a type; nothing where that is not clear.
    pub(super) fn of(
        &self,
        registers: &[u32],
        is_loaded: bool,
        ty: ScalarType,
        lanes: u8,
    ) -> Option<ScalarType> {
        let list = match is_loaded {
            true => &self.used,
            false => &self.made,
        };
        let all = registers.iter();
        let kinds = all.fold(0, |all, &it| all | list.get(it as usize).unwrap_or(&0));
        use ScalarType as S;
        let found = match kinds {
            HALF => S::F16,
            BFLOAT => S::BF16,
            FLOAT => S::F32,
            DOUBLE => S::F64,
            // Moved only: wide copies are made of any type.
            0 if lanes == 1 && matches!(ty, S::F16 | S::BF16 | S::F32 | S::F64) => ty,
            _ => return None,
        };
        let fits = match found.size() {
            2 => matches!(ty.size(), 2 | 4),
            size => size == ty.size(),
        };
        fits.then_some(found)
    }
}

/// The kind of a type, 0 for integers and bits; nothing for other modifiers.
fn kind(modifier: &str) -> Option<u8> {
    use ScalarType as S;
    Some(match ScalarType::from_name(modifier)? {
        S::F16 | S::F16x2 => HALF,
        S::BF16 | S::BF16x2 => BFLOAT,
        S::F32 => FLOAT,
        S::F64 => DOUBLE,
        _ => 0,
    })
}
