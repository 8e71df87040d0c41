//! Two singles side by side in a 64-bit register: each is computed as the single form computes it.

use super::{directed, flush, fused32};
use crate::code::{Alu, Instr};
use crate::ops::map::{Entry, Ty, map2, map3};
use crate::ops::numbers::Rounding;
use crate::registers::Registers;

/// `imm` beside the rounding: `.ftz`
const FLUSHES: i64 = 8;

fn rounding(imm: i64) -> Rounding {
    Rounding::from_code(imm & 7)
}

/// The two results for the halves of a word.
fn both(f: impl Fn(u32) -> f32) -> u64 {
    let bits = |shift| u64::from(super::canonical32(f(shift)));
    bits(0) | bits(32) << 32
}

fn part(imm: i64, word: u64, shift: u32) -> f32 {
    let x = f32::from_bits((word >> shift) as u32);
    if imm & FLUSHES == 0 { x } else { flush(x) }
}

fn finished(imm: i64, x: f32) -> f32 {
    if imm & FLUSHES == 0 { x } else { flush(x) }
}

fn two(i: &Instr, r: &mut Registers, mask: u32, f: fn(f32, f32, Rounding) -> f32) {
    let imm = i.imm;
    map2::<u64, u64, u64>(i, r, mask, |a, b| {
        both(|shift| {
            finished(
                imm,
                f(part(imm, a, shift), part(imm, b, shift), rounding(imm)),
            )
        })
    });
}

fn three(i: &Instr, r: &mut Registers, mask: u32) {
    let imm = i.imm;
    map3::<u64, u64, u64, u64>(i, r, mask, |a, b, c| {
        both(|shift| {
            let (a, b, c) = (
                part(imm, a, shift),
                part(imm, b, shift),
                part(imm, c, shift),
            );
            finished(
                imm,
                match rounding(imm) {
                    Rounding::Nearest => fused32(a, b, c),
                    mode => directed::fused32(a, b, c, mode),
                },
            )
        })
    });
}

fn add(a: f32, b: f32, mode: Rounding) -> f32 {
    match mode {
        Rounding::Nearest => a + b,
        mode => directed::add32(a, b, mode),
    }
}

fn mul(a: f32, b: f32, mode: Rounding) -> f32 {
    match mode {
        Rounding::Nearest => a * b,
        mode => directed::mul32(a, b, mode),
    }
}

/// The form with that mnemonic, split at its dots.
pub(super) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    let [opcode, modifiers @ .., "f32x2"] = mnemonic else {
        return None;
    };
    let (mode, rest) = Rounding::split(opcode, modifiers)?;
    let flushes = match rest {
        [] => 0,
        ["ftz"] => FLUSHES,
        _ => return None,
    };
    let (run, sources): (Alu, &'static [Ty]) = match *opcode {
        "add" => (|i, r, m| two(i, r, m, add), &[Ty::B64, Ty::B64]),
        "sub" => (
            |i, r, m| two(i, r, m, |a, b, mode| add(a, -b, mode)),
            &[Ty::B64, Ty::B64],
        ),
        "mul" => (|i, r, m| two(i, r, m, mul), &[Ty::B64, Ty::B64]),
        "fma" => (|i, r, m| three(i, r, m), &[Ty::B64, Ty::B64, Ty::B64]),
        _ => return None,
    };
    Some(Entry::new(Ty::B64, sources, run).with(mode as i64 | flushes))
}
