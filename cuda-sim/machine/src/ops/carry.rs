//! Addition, subtraction and multiplication with a carry, which lives in a predicate row of its own.

use crate::WARP_SIZE;
use crate::code::{Alu, Instr};
use crate::registers::{Lane, Registers, write};

/// `imm`: the carry is taken in.
pub(crate) const TAKES: i64 = 1;
/// `imm`: the carry is given out.
pub(crate) const GIVES: i64 = 2;

/// Applies `f(a, b, c, carry in) -> (result, carry out)` to each lane. The carry's row is `dst[1]`.
#[inline(always)]
fn apply<T: Lane>(i: &Instr, r: &mut Registers, mask: u32, f: impl Fn(T, T, T, bool) -> (T, bool)) {
    let (a, b, c) = (
        T::row(r, i.src[0]),
        T::row(r, i.src[1]),
        T::row(r, i.src[2]),
    );
    let carries = if i.imm & TAKES == 0 {
        0
    } else {
        r.predicate(i.dst[1])
    };
    let (mut out, mut given) = ([T::default(); WARP_SIZE], 0);
    for lane in 0..WARP_SIZE {
        let (result, carry) = f(a[lane], b[lane], c[lane], carries >> lane & 1 == 1);
        out[lane] = result;
        given |= u32::from(carry) << lane;
    }
    write(r, i.dst[0], &out, mask);
    if i.imm & GIVES != 0 {
        r.set_predicate(i.dst[1], given, mask);
    }
}

macro_rules! adding {
    ($number:ty, |$a:ident, $b:ident, $c:ident| $first:expr, $second:expr) => {
        |i, r, m| {
            apply::<$number>(i, r, m, |$a, $b, $c, carry| {
                let (sum, one) = <$number>::overflowing_add($first, $second);
                let (sum, two) = sum.overflowing_add(<$number>::from(carry));
                (sum, one | two)
            });
        }
    };
}

/// Subtraction adds the complement: the carry is set where nothing is borrowed, as GPUs do it.
macro_rules! subtracting {
    ($number:ty) => {
        |i, r, m| {
            let takes = i.imm & TAKES != 0;
            apply::<$number>(i, r, m, |a, b, _, carry| {
                let (difference, one) = a.overflowing_sub(b);
                let (difference, two) =
                    difference.overflowing_sub(<$number>::from(takes && !carry));
                (difference, !(one | two))
            });
        }
    };
}

/// A form with a carry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) run: Alu,
    /// Source operands.
    pub(crate) sources: usize,
    pub(crate) wide: bool,
    pub(crate) imm: i64,
}

/// The form with that mnemonic, split at its dots.
pub(crate) fn lookup(mnemonic: &[&str]) -> Option<Form> {
    let (operation, imm, ty) = match mnemonic {
        ["add", "cc", ty] => ("add", GIVES, ty),
        ["addc", ty] => ("add", TAKES, ty),
        ["addc", "cc", ty] => ("add", TAKES | GIVES, ty),
        ["sub", "cc", ty] => ("sub", GIVES, ty),
        ["subc", ty] => ("sub", TAKES, ty),
        ["subc", "cc", ty] => ("sub", TAKES | GIVES, ty),
        ["mad", "lo", "cc", ty] => ("lo", GIVES, ty),
        ["madc", "lo", ty] => ("lo", TAKES, ty),
        ["madc", "lo", "cc", ty] => ("lo", TAKES | GIVES, ty),
        ["mad", "hi", "cc", ty] => ("hi", GIVES, ty),
        ["madc", "hi", ty] => ("hi", TAKES, ty),
        ["madc", "hi", "cc", ty] => ("hi", TAKES | GIVES, ty),
        _ => return None,
    };
    use super::integer::{high_s32, high_s64, high_u32, high_u64};
    let (run, sources): (Alu, usize) = match (operation, *ty) {
        ("add", "u32" | "s32") => (adding!(u32, |a, b, _c| a, b), 2),
        ("add", "u64" | "s64") => (adding!(u64, |a, b, _c| a, b), 2),
        ("sub", "u32" | "s32") => (subtracting!(u32), 2),
        ("sub", "u64" | "s64") => (subtracting!(u64), 2),
        ("lo", "u32" | "s32") => (adding!(u32, |a, b, c| a.wrapping_mul(b), c), 3),
        ("lo", "u64" | "s64") => (adding!(u64, |a, b, c| a.wrapping_mul(b), c), 3),
        ("hi", "u32") => (adding!(u32, |a, b, c| high_u32(a, b), c), 3),
        ("hi", "s32") => (adding!(u32, |a, b, c| high_s32(a, b), c), 3),
        ("hi", "u64") => (adding!(u64, |a, b, c| high_u64(a, b), c), 3),
        ("hi", "s64") => (adding!(u64, |a, b, c| high_s64(a, b), c), 3),
        _ => return None,
    };
    Some(Form {
        run,
        sources,
        wide: ty.ends_with("64"),
        imm,
    })
}
