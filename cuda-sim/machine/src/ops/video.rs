//! The video instructions on two halves or four bytes: arithmetic on selected parts, with saturation or a sum.

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
    /// A comparison: which of less, equal and greater it holds for.
    Set(u8),
}

/// One form, with the parts that its operands select.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Video {
    pub(crate) operation: Operation,
    /// Parts of a word: 2 or 4.
    pub(crate) parts: u32,
    /// Whether destination, `a` and `b` are signed.
    pub(crate) signed: [bool; 3],
    pub(crate) saturates: bool,
    /// The parts' results are added to `c`, and not put in place of its parts.
    pub(crate) adds: bool,
    /// The parts that are computed, one bit for each.
    pub(crate) mask: u32,
    /// For `a` and `b`: the number of the part in both together that each part takes, four bits for each.
    pub(crate) select: [u32; 2],
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
            Operation::Set(relations) => 8 | relations,
        };
        i64::from(operation)
            | i64::from(self.parts) << 4
            | i64::from(self.signed[0]) << 7
            | i64::from(self.signed[1]) << 8
            | i64::from(self.signed[2]) << 9
            | i64::from(self.saturates) << 10
            | i64::from(self.adds) << 11
            | i64::from(self.mask) << 12
            | i64::from(self.select[0]) << 16
            | i64::from(self.select[1]) << 32
    }

    fn from_code(code: i64) -> Self {
        let flag = |bit: u32| code >> bit & 1 == 1;
        Self {
            operation: match code & 15 {
                0 => Operation::Add,
                1 => Operation::Sub,
                2 => Operation::AbsDiff,
                3 => Operation::Min,
                4 => Operation::Max,
                5 => Operation::Average,
                relations => Operation::Set(relations as u8 & 7),
            },
            parts: (code >> 4 & 7) as u32,
            signed: [flag(7), flag(8), flag(9)],
            saturates: flag(10),
            adds: flag(11),
            mask: (code >> 12 & 15) as u32,
            select: [(code >> 16 & 0xffff) as u32, (code >> 32 & 0xffff) as u32],
        }
    }

    fn bits(&self) -> u32 {
        if self.parts == 2 { 16 } else { 8 }
    }

    /// The number that part `part` takes from `b` and `a`.
    fn taken(&self, both: u64, operand: usize, part: u32) -> i64 {
        let bits = self.bits();
        let number = self.select[operand] >> (4 * part) & 7;
        let value = both >> (bits * number) & ((1 << bits) - 1);
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

    fn saturated(&self, value: i64) -> i64 {
        if !self.saturates {
            return value;
        }
        let bits = self.bits();
        if self.signed[0] {
            value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            value.clamp(0, (1 << bits) - 1)
        }
    }

    fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        let both = u64::from(b) << 32 | u64::from(a);
        let mut out = c;
        for part in (0..self.parts).filter(|part| self.mask >> part & 1 == 1) {
            let value = self.combine(self.taken(both, 0, part), self.taken(both, 1, part));
            let value = self.saturated(value) as u32;
            out = if self.adds {
                out.wrapping_add(value)
            } else {
                let kept = (1 << self.bits()) - 1;
                let at = part * self.bits();
                out & !(kept << at) | (value & kept) << at
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
