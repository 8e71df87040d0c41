//! The operands of matrix instructions: registers in braces, which as a whole have one type.

use super::Checker;
use super::forms::Type;
use super::operand::Wrong;
use super::scope::Symbol;
use super::types::fits;
use crate::{Operand, ScalarType};

/// Whether matrix instructions are the ones with that opcode. Their addresses may have 32 bits where no space is named.
pub(super) fn is_opcode(opcode: &str) -> bool {
    matches!(
        opcode,
        "mma" | "wmma" | "ldmatrix" | "stmatrix" | "movmatrix"
    )
}

/// Whether a modifier belongs to matrices: a shape, or how a matrix lies.
pub(super) fn stands_once(modifier: &str) -> bool {
    let is_shape = modifier
        .strip_prefix('m')
        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    is_shape || matches!(modifier, "aligned" | "trans" | "row" | "col" | "popc")
}

impl<'m, 'a> Checker<'m, 'a> {
    /// A vector of so many elements, each of that type, or a register of its size where there are none.
    pub(super) fn fragment(
        &mut self,
        operand: &'m Operand<'a>,
        ty: Type,
        count: usize,
        written: bool,
    ) -> Result<(), Wrong> {
        let parts = match operand {
            Operand::Name(name) if count == 0 => return self.element(name, ty).map(|_| ()),
            Operand::Sink if count == 0 && written => return Ok(()),
            _ if count == 0 => return Err(String::from("a register is expected")),
            Operand::Vector(parts) => parts,
            Operand::Name(name) => {
                return match self.find(name)? {
                    Symbol::Register(_, vector) if count > 1 && usize::from(vector) == count => {
                        Ok(())
                    }
                    _ => Err(format!("a vector of {count} elements is expected")),
                };
            }
            _ => return Err(format!("a vector of {count} elements is expected")),
        };
        if parts.len() != count {
            return Err(format!(
                "the vector has {} elements where {count} are expected",
                parts.len()
            ));
        }
        let mut registers = Vec::new();
        for part in parts {
            match part {
                Operand::Name(name) => registers.push(self.element(name, ty)?),
                Operand::Sink if written => {}
                Operand::Integer(_) | Operand::Float32(_) | Operand::Float64(_) if !written => {}
                Operand::Sink => return Err(String::from("`_` has no value")),
                _ => {
                    return Err(String::from(
                        "the vector has elements that are no registers",
                    ));
                }
            }
        }
        if registers.is_empty() && written {
            return Err(String::from("the vector has no register"));
        }
        let untyped = |it: &&(&str, ScalarType)| matches!(it.1, ScalarType::B32 | ScalarType::B64);
        let mut typed = registers.iter().filter(|it| !untyped(it));
        if let Some((first, register)) = typed.next()
            && let Some((name, other)) = typed.find(|it| differ(it.1, *register))
        {
            return Err(format!(
                "`{name}` is {other} in a vector with `{first}`, which is {register}"
            ));
        }
        // One register without a type makes the vector one of bits.
        if registers.iter().any(|it| untyped(&it)) {
            return Ok(());
        }
        if let Some((first, register)) = registers.first() {
            fits(first, *register, 1, ty, false)?;
        }
        constants(parts, ty, registers.is_empty())
    }

    /// The type of a register in a vector, which must have the right size.
    fn element(&self, name: &'a str, ty: Type) -> Result<(&'a str, ScalarType), Wrong> {
        match self.find(name)? {
            Symbol::Register(register, 1) if register.size() * 8 == ty.bits() => {
                Ok((name, register))
            }
            Symbol::Register(register, vector) => {
                fits(name, register, vector, ty, false).map(|()| (name, register))
            }
            _ => Err(format!("`{name}` is not a register")),
        }
    }
}

/// Whether registers of these types cannot be in one vector.
fn differ(one: ScalarType, other: ScalarType) -> bool {
    let integral = |ty| Type::Scalar(ty).is_integral();
    one != other && !(integral(one) && integral(other))
}

/// The constants of a vector in which no register is untyped.
fn constants(parts: &[Operand<'_>], ty: Type, alone: bool) -> Result<(), Wrong> {
    let possible = |part: &Operand<'_>| match part {
        Operand::Integer(_) => ty.is_integral() || alone && ty.bits() == 64,
        Operand::Float32(_) => matches!(ty, Type::Scalar(ScalarType::F32 | ScalarType::B32)),
        Operand::Float64(_) => match ty {
            Type::Scalar(ScalarType::F64) => true,
            // Among registers, it is converted.
            Type::Scalar(ScalarType::F32) => !alone,
            _ => false,
        },
        _ => true,
    };
    if parts.iter().all(possible) {
        Ok(())
    } else {
        Err(format!("constants where {} is expected", ty.shown()))
    }
}
