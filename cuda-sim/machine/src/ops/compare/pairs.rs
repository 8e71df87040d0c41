//! Comparisons of two halves at once: `setp.f16x2` with a predicate for each, `set.f16x2` with a value for each.

use super::Combine;
use crate::WARP_SIZE;
use crate::code::{Alu, Instr, NONE};
use crate::ops::float::{Brain, Format, Half};
use crate::registers::{Lane, Registers, write};

/// A comparison of pairs; `imm` of its instruction holds it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairs {
    operator: u8,
    flushes: bool,
    brain: bool,
    pub(crate) combine: Combine,
}

/// The comparisons of floating-point numbers: which of less, equal, greater and unordered they hold for.
fn relations(operator: &str) -> Option<u8> {
    const LESS: u8 = 1;
    const EQUAL: u8 = 2;
    const GREATER: u8 = 4;
    const UNORDERED: u8 = 8;
    Some(match operator {
        "eq" => EQUAL,
        "ne" => LESS | GREATER,
        "lt" => LESS,
        "le" => LESS | EQUAL,
        "gt" => GREATER,
        "ge" => GREATER | EQUAL,
        "equ" => EQUAL | UNORDERED,
        "neu" => LESS | GREATER | UNORDERED,
        "ltu" => LESS | UNORDERED,
        "leu" => LESS | EQUAL | UNORDERED,
        "gtu" => GREATER | UNORDERED,
        "geu" => GREATER | EQUAL | UNORDERED,
        "num" => LESS | EQUAL | GREATER,
        "nan" => UNORDERED,
        _ => return None,
    })
}

impl Pairs {
    /// The comparison with that operator and type; `flushes` is `.ftz`.
    pub(crate) fn new(operator: &str, flushes: bool, ty: &str, combine: Combine) -> Option<Self> {
        let brain = match ty {
            "f16x2" => false,
            "bf16x2" if !flushes => true,
            _ => return None,
        };
        Some(Self {
            operator: relations(operator)?,
            flushes,
            brain,
            combine,
        })
    }

    pub(crate) fn code(self) -> i64 {
        i64::from(self.operator)
            | i64::from(self.flushes) << 4
            | i64::from(self.brain) << 5
            | (self.combine as i64) << 6
    }

    fn from_code(code: i64) -> Self {
        Self {
            operator: code as u8 & 15,
            flushes: code >> 4 & 1 == 1,
            brain: code >> 5 & 1 == 1,
            combine: match code >> 6 & 3 {
                0 => Combine::Nothing,
                1 => Combine::And,
                2 => Combine::Or,
                _ => Combine::Xor,
            },
        }
    }

    fn holds(self, a: u16, b: u16) -> bool {
        fn order<F: Format>(a: u16, b: u16, flushes: bool) -> u8 {
            let widen = |bits| F::widen(if flushes { F::flush(bits) } else { bits });
            match widen(a).partial_cmp(&widen(b)) {
                Some(std::cmp::Ordering::Less) => 1,
                Some(std::cmp::Ordering::Equal) => 2,
                Some(std::cmp::Ordering::Greater) => 4,
                None => 8,
            }
        }
        let order = if self.brain {
            order::<Brain>(a, b, self.flushes)
        } else {
            order::<Half>(a, b, self.flushes)
        };
        self.operator & order != 0
    }

    /// The lanes for whose low, and whose high, halves it holds, combined with the predicate `src[2]`.
    fn test(self, i: &Instr, r: &Registers) -> [u32; 2] {
        let (a, b) = (u32::row(r, i.src[0]), u32::row(r, i.src[1]));
        let mut bits = [0; 2];
        for lane in 0..WARP_SIZE {
            let (a, b) = (a[lane], b[lane]);
            bits[0] |= u32::from(self.holds(a as u16, b as u16)) << lane;
            bits[1] |= u32::from(self.holds((a >> 16) as u16, (b >> 16) as u16)) << lane;
        }
        let with = r.predicate(i.src[2]);
        bits.map(|bits| self.combine.apply(bits, with))
    }
}

/// `setp`: the low halves' predicate is `dst[0]`, the high halves' `dst[1]`.
pub(crate) const SET_PREDICATES: Alu = |i, r, mask| {
    let bits = Pairs::from_code(i.imm).test(i, r);
    for (row, bits) in i.dst.into_iter().zip(bits) {
        if row != NONE {
            r.set_predicate(row, bits, mask);
        }
    }
};

/// `set`: `target` has the value for each half.
pub(crate) const SET_WORD: Alu = |i, r, mask| {
    let [low, high] = Pairs::from_code(i.imm).test(i, r);
    let mut out = [0; WARP_SIZE];
    for (lane, out) in out.iter_mut().enumerate() {
        let low = if low >> lane & 1 == 1 { 0xffff } else { 0 };
        let high = if high >> lane & 1 == 1 {
            0xffff_0000
        } else {
            0
        };
        *out = i.target & (low | high);
    }
    write(r, i.dst[0], &out, mask);
};

/// What `set` stores for pairs of that type.
pub(crate) fn set_value(dtype: &str, stype: &str) -> Option<u32> {
    Some(match (dtype, stype) {
        ("u32" | "s32", _) => u32::MAX,
        ("f16x2", "f16x2") => 0x3c00_3c00,
        ("bf16x2", "bf16x2") => 0x3f80_3f80,
        _ => return None,
    })
}
