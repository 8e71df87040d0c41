//! The video instructions on halves (`vadd2`) and on bytes (`vadd4`).
//!
//! Those on one part of a word (`vadd`) are not carried out: what GPUs give for them is not what the ISA says.

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use crate::code::Op;
use crate::ops::map::Ty;
use crate::ops::video::{self, Operation, Video};

/// The operation of an opcode, and the parts of a word that it works on.
fn operation(opcode: &str) -> Option<(Operation, u32)> {
    let (name, parts) = match (opcode.strip_suffix('2'), opcode.strip_suffix('4')) {
        (Some(name), _) => (name, 2),
        (_, Some(name)) => (name, 4),
        _ => return None,
    };
    let operation = match name {
        "vadd" => Operation::Add,
        "vsub" => Operation::Sub,
        "vabsdiff" => Operation::AbsDiff,
        "vmin" => Operation::Min,
        "vmax" => Operation::Max,
        "vavrg" => Operation::Average,
        "vset" => Operation::Set(0),
        _ => return None,
    };
    Some((operation, parts))
}

fn relations(comparison: &str) -> Option<u8> {
    Some(match comparison {
        "lt" => 1,
        "eq" => 2,
        "le" => 3,
        "gt" => 4,
        "ne" => 5,
        "ge" => 6,
        _ => return None,
    })
}

fn is_signed(ty: &str) -> Option<bool> {
    match ty {
        "s32" => Some(true),
        "u32" => Some(false),
        _ => None,
    }
}

/// The form with that mnemonic; the selections of its operands are the default ones.
fn form(mnemonic: &[&str]) -> Option<Video> {
    let (opcode, rest) = mnemonic.split_first()?;
    let (mut operation, parts) = operation(opcode)?;
    let (signed, rest) = match (operation, rest) {
        (Operation::Set(_), [a, b, comparison, rest @ ..]) => {
            operation = Operation::Set(relations(comparison)?);
            ([false, is_signed(a)?, is_signed(b)?], rest)
        }
        (_, [d, a, b, rest @ ..]) => ([is_signed(d)?, is_signed(a)?, is_signed(b)?], rest),
        _ => return None,
    };
    let (saturates, adds) = match (operation, rest) {
        (_, []) => (false, false),
        (_, ["add"]) => (false, true),
        (Operation::Set(_), _) => return None,
        (_, ["sat"]) => (true, false),
        _ => return None,
    };
    // The parts of `a` in their order, and those of `b`, which are counted behind them.
    let numbers = |first: u32| (0..parts).fold(0, |all, part| all | (first + part) << (4 * part));
    Some(Video {
        operation,
        parts,
        signed,
        saturates,
        adds,
        mask: (1 << parts) - 1,
        select: [numbers(0), numbers(parts)],
    })
}

/// `%r1.h10` as name and selection.
fn selected<'a>(operand: &Operand<'a>) -> Option<(Operand<'a>, Option<&'a str>)> {
    match operand {
        Operand::Name(name) => Some(match name.rsplit_once('.') {
            Some((name, selection)) => (Operand::Name(name), Some(selection)),
            None => (Operand::Name(name), None),
        }),
        Operand::Integer(value) => Some((Operand::Integer(*value), None)),
        _ => None,
    }
}

/// The digits of a selection of bytes or halves, each below a limit.
fn digits(video: &Video, selection: &str, limit: u32) -> Option<Vec<u32>> {
    let letter = if video.parts == 2 { 'h' } else { 'b' };
    let number = |digit: char| digit.to_digit(10).filter(|&number| number < limit);
    selection
        .strip_prefix(letter)?
        .chars()
        .map(number)
        .collect()
}

impl Video {
    /// `.h10` or `.b3210` of `a` (0) or `b` (1), the highest part first.
    fn selecting(&mut self, operand: usize, selection: &str) -> Option<()> {
        let digits = digits(self, selection, 2 * self.parts)?;
        if digits.len() != self.parts as usize {
            return None;
        }
        self.select[operand] = digits.into_iter().fold(0, |all, number| all << 4 | number);
        Some(())
    }

    /// The parts of the destination that are computed, from the highest to the lowest.
    fn masking(&mut self, selection: &str) -> Option<()> {
        let digits = digits(self, selection, self.parts)?;
        if digits.is_empty() || !digits.is_sorted_by(|a, b| a > b) {
            return None;
        }
        self.mask = digits
            .into_iter()
            .fold(0, |mask, number| mask | 1 << number);
        Some(())
    }
}

impl<'a> Decoder<'_, 'a> {
    /// Decodes the instruction if it is one of these.
    pub(super) fn video(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let (Some(mut video), [destination, a, b, c]) = (form(mnemonic), operands) else {
            return Ok(false);
        };
        let (Some((destination, mask)), Some((a, first)), Some((b, second))) =
            (selected(destination), selected(a), selected(b))
        else {
            return Ok(false);
        };
        let legal = mask.is_none_or(|mask| video.masking(mask).is_some())
            && first.is_none_or(|first| video.selecting(0, first).is_some())
            && second.is_none_or(|second| video.selecting(1, second).is_some());
        if !legal {
            return Ok(false);
        }
        let mut instr = self.instr(Op::Alu(video::run));
        instr.src[0] = self.source(&a, Ty::B32)?;
        instr.src[1] = self.source(&b, Ty::B32)?;
        instr.src[2] = self.source(c, Ty::B32)?;
        instr.dst[0] = self.destination(&destination, Ty::B32)?;
        instr.imm = video.code();
        self.push(instr);
        Ok(true)
    }
}
