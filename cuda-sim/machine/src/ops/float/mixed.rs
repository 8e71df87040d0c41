//! Single-precision arithmetic that takes 16-bit operands.

use super::{Brain, Format, Half, directed, fused32, saturate};
use crate::code::{Alu, Instr};
use crate::ops::map::{Entry, Ty, map2, map3};
use crate::ops::numbers::Rounding;
use crate::registers::Registers;

/// `imm` beside the rounding: `.sat`, and that the second operand is subtracted.
const SATURATES: i64 = 8;
const NEGATES: i64 = 16;

fn finished(imm: i64, x: f32) -> u32 {
    super::canonical32(if imm & SATURATES == 0 { x } else { saturate(x) })
}

fn sum<F: Format>(i: &Instr, r: &mut Registers, mask: u32) {
    let imm = i.imm;
    map2::<u32, u32, u32>(i, r, mask, |a, c| {
        let (a, c) = (F::widen(a as u16) as f32, f32::from_bits(c));
        let c = if imm & NEGATES == 0 { c } else { -c };
        finished(
            imm,
            match Rounding::from_code(imm & 7) {
                Rounding::Nearest => a + c,
                mode => directed::add32(a, c, mode),
            },
        )
    });
}

fn fused<F: Format>(i: &Instr, r: &mut Registers, mask: u32) {
    let imm = i.imm;
    map3::<u32, u32, u32, u32>(i, r, mask, |a, b, c| {
        let (a, b) = (F::widen(a as u16) as f32, F::widen(b as u16) as f32);
        let c = f32::from_bits(c);
        finished(
            imm,
            match Rounding::from_code(imm & 7) {
                Rounding::Nearest => fused32(a, b, c),
                mode => directed::fused32(a, b, c, mode),
            },
        )
    });
}

/// The form with that mnemonic, split at its dots: `opcode{.rounding}{.sat}.f32.type`.
pub(super) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    let [opcode, modifiers @ .., "f32", ty] = mnemonic else {
        return None;
    };
    let (mode, rest) = Rounding::split(opcode, modifiers)?;
    let saturates = match rest {
        [] => 0,
        ["sat"] => SATURATES,
        _ => return None,
    };
    let (run, sources, negates): (Alu, &'static [Ty], _) = match (*opcode, *ty) {
        ("add", "f16") => (sum::<Half>, &[Ty::B16, Ty::F32], 0),
        ("add", "bf16") => (sum::<Brain>, &[Ty::B16, Ty::F32], 0),
        ("sub", "f16") => (sum::<Half>, &[Ty::B16, Ty::F32], NEGATES),
        ("sub", "bf16") => (sum::<Brain>, &[Ty::B16, Ty::F32], NEGATES),
        ("fma", "f16") => (fused::<Half>, &[Ty::B16, Ty::B16, Ty::F32], 0),
        ("fma", "bf16") => (fused::<Brain>, &[Ty::B16, Ty::B16, Ty::F32], 0),
        _ => return None,
    };
    Some(Entry::new(Ty::F32, sources, run).with(mode as i64 | saturates | negates))
}
