//! 128-bit registers: two rows of 64 bits, the low one first.

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use super::symbols::new_row;
use crate::code::Op;
use crate::ops::map::Ty;
use crate::ops::moves;

impl<'a> Decoder<'_, 'a> {
    /// The two rows of a register.
    pub(super) fn halves(&mut self, operand: &Operand<'a>) -> Result<[u32; 2], Why> {
        let row = match operand {
            Operand::Name(name) => self.register(name, 128)?,
            Operand::Sink => new_row(128, &mut self.code),
            _ => return Err(String::from("a 128-bit register is expected")),
        };
        Ok([row, row + 1])
    }

    /// `mov.b128` between registers, and from and to pairs of 64-bit ones.
    pub(super) fn mov_wide(&mut self, operands: &[Operand<'a>]) -> Result<bool, Why> {
        let [destination, source] = operands else {
            return Err(format!("{} operands where 2 are needed", operands.len()));
        };
        let from = match source {
            Operand::Vector(parts) => match &parts[..] {
                [low, high] => [self.source(low, Ty::B64)?, self.source(high, Ty::B64)?],
                _ => return Err(String::from("a pair is expected")),
            },
            source => self.halves(source)?,
        };
        let to = match destination {
            Operand::Vector(parts) => match &parts[..] {
                [low, high] => [
                    self.destination(low, Ty::B64)?,
                    self.destination(high, Ty::B64)?,
                ],
                _ => return Err(String::from("a pair is expected")),
            },
            destination => self.halves(destination)?,
        };
        for (from, to) in from.into_iter().zip(to) {
            let mut instr = self.instr(Op::Alu(moves::double));
            instr.src[0] = from;
            instr.dst[0] = to;
            self.push(instr);
        }
        Ok(true)
    }
}
