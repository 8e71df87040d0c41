//! `selp`, `slct`, and the logic of predicates.

use crate::code::Instr;
use crate::ops::float::flush;
use crate::ops::map::{Entry, Ty};
use crate::registers::{Lane, Registers, write};

#[inline(always)]
fn select<T: Lane>(i: &Instr, r: &mut Registers, mask: u32) {
    let (a, b, chosen) = (
        T::row(r, i.src[0]),
        T::row(r, i.src[1]),
        r.predicate(i.src[2]),
    );
    let mut out = *b;
    for lane in 0..crate::WARP_SIZE {
        out[lane] = T::choose(chosen, lane, a[lane], b[lane]);
    }
    write(r, i.dst[0], &out, mask);
}

#[inline(always)]
fn select_by<T: Lane>(i: &Instr, r: &mut Registers, mask: u32, first: impl Fn(u32) -> bool) {
    let (a, b, c) = (
        T::row(r, i.src[0]),
        T::row(r, i.src[1]),
        u32::row(r, i.src[2]),
    );
    let mut out = *b;
    for lane in 0..crate::WARP_SIZE {
        out[lane] = if first(c[lane]) { a[lane] } else { b[lane] };
    }
    write(r, i.dst[0], &out, mask);
}

/// `selp`, `slct` and the logic of predicates.
pub(crate) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    use Ty::{B16, B32, B64, F32, F64, Pred};
    Some(match mnemonic {
        ["selp", "b16" | "u16" | "s16"] => Entry::new(B16, &[B16, B16, Pred], select::<u32>),
        ["selp", "b32" | "u32" | "s32"] => Entry::new(B32, &[B32, B32, Pred], select::<u32>),
        ["selp", "b64" | "u64" | "s64"] => Entry::new(B64, &[B64, B64, Pred], select::<u64>),
        ["selp", "f32"] => Entry::new(F32, &[F32, F32, Pred], select::<u32>),
        ["selp", "f64"] => Entry::new(F64, &[F64, F64, Pred], select::<u64>),
        ["slct", "b16" | "u16" | "s16", "s32"] => Entry::new(B16, &[B16, B16, B32], |i, r, m| {
            select_by::<u32>(i, r, m, |c| c as i32 >= 0)
        }),
        ["slct", "b32" | "u32" | "s32", "s32"] => Entry::new(B32, &[B32, B32, B32], |i, r, m| {
            select_by::<u32>(i, r, m, |c| c as i32 >= 0)
        }),
        ["slct", "b64" | "u64" | "s64", "s32"] => Entry::new(B64, &[B64, B64, B32], |i, r, m| {
            select_by::<u64>(i, r, m, |c| c as i32 >= 0)
        }),
        ["slct", "f32", "s32"] => Entry::new(F32, &[F32, F32, B32], |i, r, m| {
            select_by::<u32>(i, r, m, |c| c as i32 >= 0)
        }),
        ["slct", "f64", "s32"] => Entry::new(F64, &[F64, F64, B32], |i, r, m| {
            select_by::<u64>(i, r, m, |c| c as i32 >= 0)
        }),
        ["slct", "b16" | "u16" | "s16", "f32"] => Entry::new(B16, &[B16, B16, F32], |i, r, m| {
            select_by::<u32>(i, r, m, |c| f32::from_bits(c) >= 0.0)
        }),
        ["slct", "b32" | "u32" | "s32", "f32"] => Entry::new(B32, &[B32, B32, F32], |i, r, m| {
            select_by::<u32>(i, r, m, |c| f32::from_bits(c) >= 0.0)
        }),
        ["slct", "b64" | "u64" | "s64", "f32"] => Entry::new(B64, &[B64, B64, F32], |i, r, m| {
            select_by::<u64>(i, r, m, |c| f32::from_bits(c) >= 0.0)
        }),
        ["slct", "f32", "f32"] => Entry::new(F32, &[F32, F32, F32], |i, r, m| {
            select_by::<u32>(i, r, m, |c| f32::from_bits(c) >= 0.0)
        }),
        ["slct", "f64", "f32"] => Entry::new(F64, &[F64, F64, F32], |i, r, m| {
            select_by::<u64>(i, r, m, |c| f32::from_bits(c) >= 0.0)
        }),
        ["slct", "ftz", "b16" | "u16" | "s16", "f32"] => {
            Entry::new(B16, &[B16, B16, F32], |i, r, m| {
                select_by::<u32>(i, r, m, |c| flush(f32::from_bits(c)) >= 0.0);
            })
        }
        ["slct", "ftz", "b32" | "u32" | "s32", "f32"] => {
            Entry::new(B32, &[B32, B32, F32], |i, r, m| {
                select_by::<u32>(i, r, m, |c| flush(f32::from_bits(c)) >= 0.0);
            })
        }
        ["slct", "ftz", "b64" | "u64" | "s64", "f32"] => {
            Entry::new(B64, &[B64, B64, F32], |i, r, m| {
                select_by::<u64>(i, r, m, |c| flush(f32::from_bits(c)) >= 0.0);
            })
        }
        ["slct", "ftz", "f32", "f32"] => Entry::new(F32, &[F32, F32, F32], |i, r, m| {
            select_by::<u32>(i, r, m, |c| flush(f32::from_bits(c)) >= 0.0);
        }),
        ["slct", "ftz", "f64", "f32"] => Entry::new(F64, &[F64, F64, F32], |i, r, m| {
            select_by::<u64>(i, r, m, |c| flush(f32::from_bits(c)) >= 0.0);
        }),
        ["and", "pred"] => Entry::new(Pred, &[Pred, Pred], |i, r, m| {
            predicate(i, r, m, |a, b| a & b)
        }),
        ["or", "pred"] => Entry::new(Pred, &[Pred, Pred], |i, r, m| {
            predicate(i, r, m, |a, b| a | b)
        }),
        ["xor", "pred"] => Entry::new(Pred, &[Pred, Pred], |i, r, m| {
            predicate(i, r, m, |a, b| a ^ b)
        }),
        ["not", "pred"] => Entry::new(Pred, &[Pred], negate),
        ["mov", "pred"] => Entry::new(Pred, &[Pred], |i, r, m| {
            r.set_predicate(i.dst[0], r.predicate(i.src[0]), m)
        }),
        _ => return None,
    })
}

/// `not.pred`
pub(crate) fn negate(i: &Instr, r: &mut Registers, mask: u32) {
    r.set_predicate(i.dst[0], !r.predicate(i.src[0]), mask);
}

fn predicate(i: &Instr, r: &mut Registers, mask: u32, f: fn(u32, u32) -> u32) {
    r.set_predicate(
        i.dst[0],
        f(r.predicate(i.src[0]), r.predicate(i.src[1])),
        mask,
    );
}
