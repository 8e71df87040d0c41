//! Room in local memory that is taken while the function runs.

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use crate::code::Op;
use crate::ops::map::Ty;
use crate::ops::stack;

/// The alignment that `alloca` gives where it names none.
const ALIGN: i64 = 8;

impl<'a> Decoder<'_, 'a> {
    /// Decodes the instruction if it is one of these.
    pub(super) fn stack(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let ty = match mnemonic {
            ["alloca" | "stacksave" | "stackrestore", "u32"] => Ty::B32,
            ["alloca" | "stacksave" | "stackrestore", "u64"] => Ty::B64,
            _ => return Ok(false),
        };
        let wide = ty == Ty::B64;
        match (mnemonic, operands) {
            (["alloca", _], [address, size, rest @ ..]) => {
                let align = match rest {
                    [] => ALIGN,
                    [Operand::Integer(align)] => *align,
                    _ => return Ok(false),
                };
                if !u32::try_from(align).is_ok_and(u32::is_power_of_two) {
                    return Err(format!("{align} is no alignment"));
                }
                let mut instr = self.instr(Op::Access(stack::allocate(wide)));
                instr.src[0] = self.source(size, ty)?;
                instr.dst[0] = self.destination(address, ty)?;
                instr.imm = align;
                self.push(instr);
            }
            (["stacksave", _], [top]) => {
                let mut instr = self.instr(Op::Access(stack::save(wide)));
                instr.dst[0] = self.destination(top, ty)?;
                self.push(instr);
            }
            (["stackrestore", _], [top]) => {
                let mut instr = self.instr(Op::Access(stack::restore(wide)));
                instr.src[0] = self.source(top, ty)?;
                self.push(instr);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
