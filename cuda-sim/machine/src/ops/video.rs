//! The video instructions: arithmetic on selected bytes and halves, with saturation and a second operation.

use crate::code::Instr;
use crate::ops::map::map3;
use crate::registers::Registers;

/// What is computed from two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Sub,
    AbsDiff,
    Min,
    Max,
    Average,
    ShiftLeft,
    ShiftRight,
    /// A comparison: which of less, equal and greater it holds for.
    Set(u8),
}

/// What becomes of the parts' results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Second {
    /// They are put in place of parts of `c`.
    Merge,
    Add,
    Min,
    Max,
}

/// One form, with the parts that its operands select.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Video {
    pub(crate) operation: Operation,
    /// Parts of a word: 1, 2 or 4.
    pub(crate) parts: u32,
    /// Whether destination, `a` and `b` are signed.
    pub(crate) signed: [bool; 3],
    pub(crate) saturates: bool,
    pub(crate) wraps: bool,
    pub(crate) second: Second,
    /// The parts of the destination that are written: where the first one is, the bits of each, and which.
    pub(crate) place: Place,
    /// For each part, which part of `a` or `b` it takes.
    pub(crate) select: [Select; 2],
}

/// Where results go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// First bit of the only part, or 0.
    pub(crate) start: u32,
    pub(crate) bits: u32,
    /// One bit for each part.
    pub(crate) mask: u32,
}

/// Which parts an operand gives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Select {
    pub(crate) bits: u32,
    /// The number of the part in `b` and `a` together, four bits for each.
    pub(crate) numbers: u32,
}

impl Video {
    pub(crate) fn code(self) -> i64 {
        let operation = match self.operation {
            Operation::Add => 0,
            Operation::Sub => 1,
            Operation::AbsDiff => 2,
            Operation::Min => 3,
            Operation::Max => 4,
            Operation::Average => 5,
            Operation::ShiftLeft => 6,
            Operation::ShiftRight => 7,
            Operation::Set(relations) => 8 | relations,
        };
        let second = match self.second {
            Second::Merge => 0,
            Second::Add => 1,
            Second::Min => 2,
            Second::Max => 3,
        };
        // Widths are 8, 16 or 32: two bits tell them apart.
        let width = |bits: u32| i64::from(bits >> 4);
        i64::from(operation)
            | i64::from(self.parts) << 4
            | i64::from(self.signed[0]) << 7
            | i64::from(self.signed[1]) << 8
            | i64::from(self.signed[2]) << 9
            | i64::from(self.saturates) << 10
            | i64::from(self.wraps) << 11
            | second << 12
            | i64::from(self.place.start / 8) << 14
            | width(self.place.bits) << 16
            | i64::from(self.place.mask) << 18
            | width(self.select[0].bits) << 22
            | width(self.select[1].bits) << 24
            | i64::from(self.select[0].numbers) << 26
            | i64::from(self.select[1].numbers) << 42
    }

    fn from_code(code: i64) -> Self {
        let flag = |bit: u32| code >> bit & 1 == 1;
        let width = |bit: u32| match code >> bit & 3 {
            0 => 8,
            1 => 16,
            _ => 32,
        };
        Self {
            operation: match code & 15 {
                0 => Operation::Add,
                1 => Operation::Sub,
                2 => Operation::AbsDiff,
                3 => Operation::Min,
                4 => Operation::Max,
                5 => Operation::Average,
                6 => Operation::ShiftLeft,
                7 => Operation::ShiftRight,
                relations => Operation::Set(relations as u8 & 7),
            },
            parts: (code >> 4 & 7) as u32,
            signed: [flag(7), flag(8), flag(9)],
            saturates: flag(10),
            wraps: flag(11),
            second: match code >> 12 & 3 {
                0 => Second::Merge,
                1 => Second::Add,
                2 => Second::Min,
                _ => Second::Max,
            },
            place: Place {
                start: (code >> 14 & 3) as u32 * 8,
                bits: width(16),
                mask: (code >> 18 & 15) as u32,
            },
            select: [
                Select {
                    bits: width(22),
                    numbers: (code >> 26 & 0xffff) as u32,
                },
                Select {
                    bits: width(24),
                    numbers: (code >> 42 & 0xffff) as u32,
                },
            ],
        }
    }

    /// The number that part `part` takes from `b` and `a`.
    fn taken(&self, both: u64, operand: usize, part: u32) -> i64 {
        let Select { bits, numbers } = self.select[operand];
        let value = both >> (bits * (numbers >> (4 * part) & 7)) & (u64::MAX >> (64 - bits));
        if self.signed[1 + operand] {
            (value << (64 - bits)) as i64 >> (64 - bits)
        } else {
            value as i64
        }
    }

    fn combine(&self, a: i64, b: i64) -> i64 {
        match self.operation {
            Operation::Add => a + b,
            Operation::Sub => a - b,
            Operation::AbsDiff => (a - b).abs(),
            Operation::Min => a.min(b),
            Operation::Max => a.max(b),
            Operation::Average => (a + b + i64::from(a + b >= 0)) >> 1,
            Operation::ShiftLeft => a << self.distance(b),
            Operation::ShiftRight => a >> self.distance(b),
            Operation::Set(relations) => {
                let order = match a.cmp(&b) {
                    std::cmp::Ordering::Less => 1,
                    std::cmp::Ordering::Equal => 2,
                    std::cmp::Ordering::Greater => 4,
                };
                i64::from(relations & order != 0)
            }
        }
    }

    fn distance(&self, b: i64) -> i64 {
        if self.wraps { b & 31 } else { b.clamp(0, 32) }
    }

    fn saturated(&self, value: i64) -> i64 {
        if !self.saturates {
            return value;
        }
        let bits = self.place.bits;
        if self.signed[0] {
            value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            value.clamp(0, (1 << bits) - 1)
        }
    }

    fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        let both = u64::from(b) << 32 | u64::from(a);
        let mut out = c;
        for part in (0..self.parts).filter(|part| self.place.mask >> part & 1 == 1) {
            let value = self.combine(self.taken(both, 0, part), self.taken(both, 1, part));
            let value = self.saturated(value);
            out = match self.second {
                Second::Merge => {
                    let at = self.place.start + part * self.place.bits;
                    let kept = u32::MAX >> (32 - self.place.bits);
                    out & !(kept << at) | (value as u32 & kept) << at
                }
                Second::Add => out.wrapping_add(value as u32),
                Second::Min if self.signed[0] => (out as i32).min(value as i32) as u32,
                Second::Min => out.min(value as u32),
                Second::Max if self.signed[0] => (out as i32).max(value as i32) as u32,
                Second::Max => out.max(value as u32),
            };
        }
        out
    }
}

/// Any video instruction, as `imm` describes it.
pub(crate) fn run(i: &Instr, r: &mut Registers, mask: u32) {
    let video = Video::from_code(i.imm);
    map3::<u32, u32, u32, u32>(i, r, mask, |a, b, c| video.apply(a, b, c));
}
