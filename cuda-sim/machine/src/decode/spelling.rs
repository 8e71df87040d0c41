//! Operands that can be written in two ways: elements of arrays become names and addresses with an offset in bytes, and single values lose
//! their braces, before anything else looks at an instruction.

use std::borrow::Cow;

use cuda_ptx::{Instruction, Operand, Statement};

use super::function::{Decoder, Why};

impl<'a> Decoder<'_, 'a> {
    /// The operands, as the rest of the decoder knows them.
    pub(super) fn plain_operands<'i>(
        &self,
        instruction: &'i Instruction<'a>,
    ) -> Result<Cow<'i, [Operand<'a>]>, Why> {
        let moves = instruction.opcode() == "mov";
        let is_special = |operand: &Operand<'_>| match operand {
            Operand::Element(..) => true,
            Operand::Vector(parts) => moves && parts.len() == 1,
            _ => false,
        };
        if !instruction.operands.iter().any(is_special) {
            return Ok(Cow::Borrowed(&instruction.operands));
        }
        let accesses = matches!(instruction.opcode(), "ld" | "st");
        let operands = instruction.operands.iter().map(|operand| match operand {
            Operand::Vector(parts) if moves => Ok(match &**parts {
                [single] => single.clone(),
                _ => operand.clone(),
            }),
            Operand::Element(name, index) => {
                let offset = self.element_offset(name, *index)?;
                Ok(if accesses {
                    Operand::Address {
                        base: Some(name),
                        offset,
                    }
                } else {
                    Operand::Offset(name, offset)
                })
            }
            other => Ok(other.clone()),
        });
        Ok(Cow::Owned(operands.collect::<Result<_, Why>>()?))
    }

    /// Where an element starts, in bytes. The elements of vectors count for themselves.
    fn element_offset(&self, name: &str, index: i64) -> Result<i64, Why> {
        let size = self
            .element_size(name)
            .ok_or_else(|| format!("`{name}` is no array and has no elements"))?;
        index
            .checked_mul(size as i64)
            .ok_or_else(|| format!("the element {index} of `{name}` has no address"))
    }

    fn element_size(&self, name: &str) -> Option<usize> {
        let body = self.function.body.as_deref().unwrap_or(&[]);
        let inside = body.iter().filter_map(|statement| match statement {
            Statement::Variable(variable) if variable.name == name => Some(variable),
            _ => None,
        });
        // The last one that stands before the instruction is meant.
        let line = self.line();
        let inside = inside
            .take_while(|variable| variable.position.line <= line)
            .last();
        if let Some(variable) = inside {
            return Some(variable.ty.size());
        }
        let mut params = self.function.params.iter();
        if let Some(param) = params.find(|param| param.name == name) {
            return Some(param.ty.size());
        }
        let mut outside = self.names.module.variables().iter();
        let variable = outside.find(|variable| variable.name == name)?;
        Some(variable.ty.size())
    }
}
