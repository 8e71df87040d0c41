//! Whether an address is one that the instruction can access.

use super::Checker;
use super::forms::Type;
use super::operand::{Context, Wrong};
use super::scope::Symbol;
use crate::{Operand, ScalarType, Space};

impl<'a> Checker<'_, 'a> {
    /// An address in brackets, in the space that the instruction names for this operand; registers may be of any width.
    pub(super) fn address_in(
        &mut self,
        operand: &Operand<'a>,
        space: Space,
        context: &Context<'_>,
    ) -> Result<(), Wrong> {
        if let Operand::Address {
            base: Some(name), ..
        } = operand
            && let Symbol::Register(ty, _) = self.find(name)?
            && Type::Scalar(ty).is_integral()
            && ty != ScalarType::Pred
        {
            return Ok(());
        }
        let context = Context {
            space: Some(space),
            ..*context
        };
        self.address(operand, &context)
    }

    /// An address in brackets, in the space that the instruction names.
    pub(super) fn address(
        &mut self,
        operand: &Operand<'a>,
        context: &Context<'_>,
    ) -> Result<(), Wrong> {
        let name = match operand {
            Operand::Address {
                base: Some(name), ..
            } => name,
            Operand::Address { base: None, .. } => {
                return match context.space {
                    Some(Space::Local) => Ok(()),
                    _ => Err(String::from(
                        "a constant address is only possible in local memory",
                    )),
                };
            }
            Operand::Element(name, _) if matches!(context.opcode, "ld" | "st") => {
                self.array(name)?;
                name
            }
            Operand::Brackets(_) => return Ok(()),
            _ => return Err(String::from("an address in brackets is expected")),
        };
        let home = match self.find(name)? {
            Symbol::Register(ty, _) => {
                if !Type::Scalar(ty).is_integral() || ty == ScalarType::Pred {
                    return Err(format!("`{name}` is {ty} and holds no address"));
                }
                let narrow = ty.size() == 4 && self.module.address_size() == 64;
                let generic = context.space.is_none() && !super::matrix::is_opcode(context.opcode);
                if narrow && (generic || context.space == Some(Space::Global)) {
                    return Err(format!("`{name}` has 32 bits, addresses have 64"));
                }
                return Ok(());
            }
            Symbol::Label(_) => return Err(format!("`{name}` is a label")),
            Symbol::Function(_) => return Ok(()),
            Symbol::Param(param, returned) => {
                if param.space == Space::Register {
                    return Ok(());
                }
                if context.opcode == "st" && !returned {
                    return Err(format!(
                        "`{name}` is a parameter of the function, which can only be read"
                    ));
                }
                Space::Param
            }
            Symbol::Variable(variable) => variable.space,
        };
        let same = match context.space {
            Some(space) => space == home,
            None => home != Space::Param,
        };
        // Textures and the like have addresses of their own kind.
        if same || matches!(home, Space::Texture | Space::SpecialRegister) {
            return Ok(());
        }
        Err(format!(
            "`{name}` lies in {}, the instruction accesses {}",
            shown(home),
            context.space.map_or("generic addresses", shown)
        ))
    }

    /// Only arrays have elements.
    pub(super) fn array(&self, name: &'a str) -> Result<(), Wrong> {
        let is_array = match self.find(name)? {
            Symbol::Variable(variable) => !variable.extents.is_empty(),
            Symbol::Param(param, _) => param.len.is_some(),
            Symbol::Register(..) | Symbol::Function(_) | Symbol::Label(_) => false,
        };
        if is_array {
            return Ok(());
        }
        Err(format!("`{name}` is no array and has no elements"))
    }
}

fn shown(space: Space) -> &'static str {
    match space {
        Space::Register => ".reg",
        Space::SpecialRegister => ".sreg",
        Space::Const => ".const",
        Space::Global => ".global",
        Space::Local => ".local",
        Space::Param => ".param",
        Space::Shared => ".shared",
        Space::Texture => ".tex",
    }
}
