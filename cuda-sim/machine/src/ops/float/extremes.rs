//! Minima and maxima.

use super::flush;
use crate::code::{Alu, Instr};
use crate::ops::map::{Entry, Ty, entry, lane, map2, map3, pack, unpack};
use crate::registers::Registers;

/// The smaller operand; −0 is smaller than +0, and a number wins over NaN.
#[inline(always)]
fn min32(a: f32, b: f32) -> f32 {
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else if a == b {
        f32::from_bits(a.to_bits() | b.to_bits())
    } else if a < b {
        a
    } else {
        b
    }
}

#[inline(always)]
fn max32(a: f32, b: f32) -> f32 {
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else if a == b {
        f32::from_bits(a.to_bits() & b.to_bits())
    } else if a > b {
        a
    } else {
        b
    }
}

#[inline(always)]
pub(super) fn min64(a: f64, b: f64) -> f64 {
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else if a == b {
        f64::from_bits(a.to_bits() | b.to_bits())
    } else if a < b {
        a
    } else {
        b
    }
}

#[inline(always)]
pub(super) fn max64(a: f64, b: f64) -> f64 {
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else if a == b {
        f64::from_bits(a.to_bits() & b.to_bits())
    } else if a > b {
        a
    } else {
        b
    }
}

/// Two NaN give the second one, made quiet.
fn quieted(x: f64) -> f64 {
    if x.is_nan() { super::quiet64(x) } else { x }
}

/// `.ftz`
const FLUSHES: i64 = 1;
/// `.NaN`
const PROPAGATES: i64 = 2;
/// `.abs`: compares magnitudes.
const MAGNITUDES: i64 = 4;
/// `.xorsign`: the result's sign is the product's.
const SIGNS: i64 = 8;

#[inline(always)]
fn least(flags: i64, a: f32, b: f32, choose: fn(f32, f32) -> f32) -> f32 {
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    let has = |flag| flags & flag != 0;
    if a.is_nan() && b.is_nan() || has(PROPAGATES) && (a.is_nan() || b.is_nan()) {
        return f32::NAN;
    }
    let prepared = |x: f32| {
        let x = if has(FLUSHES) { flush(x) } else { x };
        if has(MAGNITUDES) { x.abs() } else { x }
    };
    let result = choose(prepared(a), prepared(b));
    if has(SIGNS) {
        f32::from_bits(result.to_bits() | sign)
    } else {
        result
    }
}

/// The smaller or the larger one; `flags` are 2 for `.NaN` and 4 for `.abs`.
pub(crate) fn extreme(smaller: bool, flags: i64, a: f32, b: f32) -> f32 {
    least(flags, a, b, if smaller { min32 } else { max32 })
}

/// Applies it to two operands, or to three one after the other.
#[inline(always)]
fn run2(i: &Instr, r: &mut Registers, mask: u32, choose: fn(f32, f32) -> f32) {
    let flags = i.imm;
    map2::<u32, u32, u32>(i, r, mask, |a, b| {
        let result = least(flags, f32::from_bits(a), f32::from_bits(b), choose);
        super::canonical32(result)
    });
}

#[inline(always)]
fn run3(i: &Instr, r: &mut Registers, mask: u32, choose: fn(f32, f32) -> f32) {
    let flags = i.imm;
    map3::<u32, u32, u32, u32>(i, r, mask, |a, b, c| {
        let two = least(flags, f32::from_bits(a), f32::from_bits(b), choose);
        super::canonical32(least(flags, two, f32::from_bits(c), choose))
    });
}

/// The form with that mnemonic, split at its dots.
pub(super) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    let (smaller, rest) = match mnemonic {
        ["min", rest @ ..] => (true, rest),
        ["max", rest @ ..] => (false, rest),
        _ => return None,
    };
    // The plain forms are common: they get operations of their own.
    let imm = match (smaller, rest) {
        (true, ["f32"]) => return Some(entry!(F32 <- F32 F32 |a, b| min32(a, b))),
        (false, ["f32"]) => return Some(entry!(F32 <- F32 F32 |a, b| max32(a, b))),
        (true, ["f64"]) => return Some(entry!(F64 <- F64 F64 |a, b| quieted(min64(a, b)))),
        (false, ["f64"]) => return Some(entry!(F64 <- F64 F64 |a, b| quieted(max64(a, b)))),
        (_, ["ftz", "f32"]) => FLUSHES,
        (_, ["NaN", "f32"]) => PROPAGATES,
        (_, ["ftz", "NaN", "f32"]) => FLUSHES | PROPAGATES,
        (_, ["xorsign", "abs", "f32"]) => MAGNITUDES | SIGNS,
        (_, ["ftz", "xorsign", "abs", "f32"]) => FLUSHES | MAGNITUDES | SIGNS,
        (_, ["NaN", "xorsign", "abs", "f32"]) => PROPAGATES | MAGNITUDES | SIGNS,
        (_, ["ftz", "NaN", "xorsign", "abs", "f32"]) => FLUSHES | PROPAGATES | MAGNITUDES | SIGNS,
        _ => return None,
    };
    let run: Alu = if smaller {
        |i, r, m| run2(i, r, m, min32)
    } else {
        |i, r, m| run2(i, r, m, max32)
    };
    Some(Entry::new(Ty::F32, &[Ty::F32, Ty::F32], run).with(imm))
}

/// The form with three operands.
pub(crate) fn of_three(mnemonic: &[&str]) -> Option<Entry> {
    let (run, rest): (Alu, _) = match mnemonic {
        ["min", rest @ ..] => (|i, r, m| run3(i, r, m, min32), rest),
        ["max", rest @ ..] => (|i, r, m| run3(i, r, m, max32), rest),
        _ => return None,
    };
    let imm = match rest {
        ["f32"] => 0,
        ["ftz", "f32"] => FLUSHES,
        ["NaN", "f32"] => PROPAGATES,
        ["ftz", "NaN", "f32"] => FLUSHES | PROPAGATES,
        ["abs", "f32"] => MAGNITUDES,
        ["ftz", "abs", "f32"] => FLUSHES | MAGNITUDES,
        ["NaN", "abs", "f32"] => PROPAGATES | MAGNITUDES,
        ["ftz", "NaN", "abs", "f32"] => FLUSHES | PROPAGATES | MAGNITUDES,
        _ => return None,
    };
    Some(Entry::new(Ty::F32, &[Ty::F32, Ty::F32, Ty::F32], run).with(imm))
}
