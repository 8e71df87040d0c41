//! The video instructions, scalar (`vadd`), on halves (`vadd2`) and on bytes (`vadd4`).

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use crate::code::Op;
use crate::ops::map::Ty;
use crate::ops::video::{self, Operation, Place, Second, Select, Video};

/// The operation of an opcode, and the parts of a word that it works on.
fn operation(opcode: &str) -> Option<(Operation, u32)> {
    let (name, parts) = match (opcode.strip_suffix('2'), opcode.strip_suffix('4')) {
        (Some(name), _) => (name, 2),
        (_, Some(name)) => (name, 4),
        _ => (opcode, 1),
    };
    let operation = match (name, parts) {
        ("vadd", _) => Operation::Add,
        ("vsub", _) => Operation::Sub,
        ("vabsdiff", _) => Operation::AbsDiff,
        ("vmin", _) => Operation::Min,
        ("vmax", _) => Operation::Max,
        ("vavrg", 2 | 4) => Operation::Average,
        ("vshl", 1) => Operation::ShiftLeft,
        ("vshr", 1) => Operation::ShiftRight,
        ("vset", _) => Operation::Set(0),
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

/// The form with that mnemonic; the selections of its operands are the default ones. The second value says whether a second operation
/// is named.
fn form(mnemonic: &[&str]) -> Option<(Video, bool)> {
    let (opcode, rest) = mnemonic.split_first()?;
    let (mut operation, parts) = operation(opcode)?;
    let (signed, mut rest) = match (operation, rest) {
        (Operation::Set(_), [a, b, comparison, rest @ ..]) => {
            operation = Operation::Set(relations(comparison)?);
            ([false, is_signed(a)?, is_signed(b)?], rest)
        }
        (_, [d, a, b, rest @ ..]) => ([is_signed(d)?, is_signed(a)?, is_signed(b)?], rest),
        _ => return None,
    };
    let shifts = matches!(operation, Operation::ShiftLeft | Operation::ShiftRight);
    let saturates = rest.first() == Some(&"sat") && !matches!(operation, Operation::Set(_));
    if saturates {
        rest = &rest[1..];
    }
    let wraps = match (shifts, rest) {
        (true, ["clamp", after @ ..]) => {
            rest = after;
            false
        }
        (true, ["wrap", after @ ..]) => {
            rest = after;
            true
        }
        (true, _) => return None,
        (false, _) => false,
    };
    if shifts && signed[2] {
        return None;
    }
    let second = match rest {
        [] => Second::Merge,
        ["add"] if parts == 1 || !saturates => Second::Add,
        ["min"] if parts == 1 => Second::Min,
        ["max"] if parts == 1 => Second::Max,
        _ => return None,
    };
    let bits = 32 / parts;
    // Parts 0, 1 … of `a`, and those of `b`, which are counted behind them.
    let numbers = |first: u32| (0..parts).fold(0, |all, part| all | (first + part) << (4 * part));
    let video = Video {
        operation,
        parts,
        signed,
        saturates,
        wraps,
        second,
        place: Place {
            start: 0,
            bits,
            mask: (1 << parts) - 1,
        },
        select: [
            Select {
                bits,
                numbers: numbers(0),
            },
            Select {
                bits,
                numbers: numbers(parts),
            },
        ],
    };
    Some((video, second != Second::Merge))
}

/// `%r1.b0` as name and selection.
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

impl Video {
    /// `.b0` … `.h1` of a scalar operand, `.h10` or `.b3210` of a vector one. `operand` is 0 for `a`, 1 for `b`.
    fn selecting(&mut self, operand: usize, selection: &str) -> Option<()> {
        let (bits, digits) = match selection.as_bytes() {
            [b'b', digits @ ..] => (8, digits),
            [b'h', digits @ ..] => (16, digits),
            _ => return None,
        };
        let per_word = 32 / bits;
        if digits.len() != self.parts as usize || self.parts > 1 && self.parts != per_word {
            return None;
        }
        // A scalar operand gives a part of its own; vector operands give parts of both.
        let (limit, first) = match self.parts {
            1 => (per_word, operand as u32 * per_word),
            _ => (2 * per_word, 0),
        };
        let mut numbers = 0;
        for digit in digits {
            let number = u32::from(digit.wrapping_sub(b'0'));
            if number >= limit {
                return None;
            }
            numbers = numbers << 4 | (first + number);
        }
        self.select[operand] = Select { bits, numbers };
        Some(())
    }

    /// The part of the destination that is written, or the mask of parts.
    fn placing(&mut self, selection: &str) -> Option<()> {
        let (bits, digits) = match selection.as_bytes() {
            [b'b', digits @ ..] => (8, digits),
            [b'h', digits @ ..] => (16, digits),
            _ => return None,
        };
        if self.parts > 1 && self.parts != 32 / bits || self.parts == 1 && digits.len() != 1 {
            return None;
        }
        let mut mask = 0u32;
        for digit in digits {
            let number = u32::from(digit.wrapping_sub(b'0'));
            // From the highest part to the lowest.
            if number >= 32 / bits || mask & ((2 << number) - 1) != 0 {
                return None;
            }
            mask |= 1 << number;
        }
        self.place = match self.parts {
            1 => Place {
                start: mask.trailing_zeros() * bits,
                bits,
                mask: 1,
            },
            _ => Place {
                start: 0,
                bits,
                mask,
            },
        };
        (mask != 0).then_some(())
    }
}

impl<'a> Decoder<'_, 'a> {
    /// Decodes the instruction if it is one of these.
    pub(super) fn video(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let Some((mut video, second)) = form(mnemonic) else {
            return Ok(false);
        };
        let [destination, a, b, rest @ ..] = operands else {
            return Ok(false);
        };
        let (Some((destination, place)), Some((a, first)), Some((b, other))) =
            (selected(destination), selected(a), selected(b))
        else {
            return Ok(false);
        };
        let legal = place
            .is_none_or(|place| !(second && video.parts == 1) && video.placing(place).is_some())
            && first.is_none_or(|first| video.selecting(0, first).is_some())
            && other.is_none_or(|other| video.selecting(1, other).is_some());
        if !legal {
            return Ok(false);
        }
        let mut instr = self.instr(Op::Alu(video::run));
        let zero = Operand::Integer(0);
        let c = match rest {
            [c] if second || place.is_some() || video.parts > 1 => c,
            [] if !second && place.is_none() && video.parts == 1 => &zero,
            _ => return Ok(false),
        };
        instr.src[0] = self.source(&a, Ty::B32)?;
        instr.src[1] = self.source(&b, Ty::B32)?;
        instr.src[2] = self.source(c, Ty::B32)?;
        instr.dst[0] = self.destination(&destination, Ty::B32)?;
        instr.imm = video.code();
        self.push(instr);
        Ok(true)
    }
}
