//! The operations that carry out a conversion, by the widths of the registers.

use super::Conversion;
use crate::code::{Alu, Instr};
use crate::ops::map::map1;
use crate::ops::numbers::{Number, Rounding};
use crate::registers::{Lane, Registers};

/// Any conversion, lane by lane.
fn general<S: Lane, D: Lane, const BITS: u32>(i: &Instr, r: &mut Registers, mask: u32) {
    let conversion = Conversion::from_code(i.imm);
    let kept = u64::MAX >> (64 - BITS);
    map1::<S, D>(i, r, mask, |a| {
        D::from_bits(conversion.apply(a.bits()) & kept)
    });
}

/// The low `FROM` bits, extended to the register.
fn extension<S: Lane, D: Lane, const FROM: u32, const SIGNED: bool, const BITS: u32>(
    i: &Instr,
    r: &mut Registers,
    mask: u32,
) {
    let kept = u64::MAX >> (64 - BITS);
    map1::<S, D>(i, r, mask, |a| {
        let high = a.bits() << (64 - FROM);
        let value = if SIGNED {
            (high as i64 >> (64 - FROM)) as u64
        } else {
            high >> (64 - FROM)
        };
        D::from_bits(value & kept)
    });
}

macro_rules! extensions {
    ($source:ty, $signed:literal, $from:expr, $to:expr) => {
        match ($from, $to) {
            (8, 16) => extension::<$source, u32, 8, $signed, 16>,
            (8, 32) => extension::<$source, u32, 8, $signed, 32>,
            (8, 64) => extension::<$source, u64, 8, $signed, 64>,
            (16, 16) => extension::<$source, u32, 16, $signed, 16>,
            (16, 32) => extension::<$source, u32, 16, $signed, 32>,
            (16, 64) => extension::<$source, u64, 16, $signed, 64>,
            (32, 32) => extension::<$source, u32, 32, $signed, 32>,
            (32, 64) => extension::<$source, u64, 32, $signed, 64>,
            (64, 64) => extension::<$source, u64, 64, $signed, 64>,
            _ => return None,
        }
    };
}

/// The operation for registers of those widths, and what its `imm` must be; the registers may be wider than the types.
pub(crate) fn operation(
    form: &Conversion,
    source_bits: u32,
    destination_bits: u32,
) -> Option<(Alu, i64)> {
    // Bytes that are converted from or to `bf16` lie in registers of just that width.
    let exact = form.from == Number::Bf16 || form.to == Number::Bf16;
    let fits = |number: Number, bits: u32| {
        if number.is_float() || exact && number.bits() == 8 {
            number.bits() == bits
        } else {
            number.bits() <= bits
        }
    };
    if !fits(form.from, source_bits) || !fits(form.to, destination_bits) {
        return None;
    }
    if let Some(run) = quick(form, source_bits, destination_bits) {
        return Some((run, 0));
    }
    let run = match (source_bits, destination_bits) {
        (64, 8) => general::<u64, u32, 8>,
        (8 | 16 | 32, 8) => general::<u32, u32, 8>,
        (64, 16) => general::<u64, u32, 16>,
        (64, 32) => general::<u64, u32, 32>,
        (64, 64) => general::<u64, u64, 64>,
        (8 | 16 | 32, 16) => general::<u32, u32, 16>,
        (8 | 16 | 32, 32) => general::<u32, u32, 32>,
        (8 | 16 | 32, 64) => general::<u32, u64, 64>,
        _ => return None,
    };
    Some((run, form.code()))
}

/// The common forms, which run on all lanes at once.
fn quick(form: &Conversion, source_bits: u32, destination_bits: u32) -> Option<Alu> {
    use Number::{F32, F64, S32, U32};
    if form.saturates || form.flushes || form.cuts || form.bounded {
        return None;
    }
    if !form.from.is_float() && !form.to.is_float() {
        // Where the register is wider than a type that widens, two extensions are needed.
        if form.to.bits() > form.from.bits() && destination_bits > form.to.bits() {
            return None;
        }
        let narrow = if form.to.bits() <= form.from.bits() {
            form.to
        } else {
            form.from
        };
        let run: Alu = match (source_bits, narrow.is_signed()) {
            (64, false) => extensions!(u64, false, narrow.bits(), destination_bits),
            (64, true) => extensions!(u64, true, narrow.bits(), destination_bits),
            (_, false) => extensions!(u32, false, narrow.bits(), destination_bits),
            (_, true) => extensions!(u32, true, narrow.bits(), destination_bits),
        };
        return Some(run);
    }
    Some(
        match (
            form.to,
            form.from,
            form.rounding,
            source_bits,
            destination_bits,
        ) {
            (F32, S32, Rounding::Nearest, 32, 32) => {
                |i, r, m| map1::<u32, u32>(i, r, m, |a| (a as i32 as f32).to_bits())
            }
            (F32, U32, Rounding::Nearest, 32, 32) => {
                |i, r, m| map1::<u32, u32>(i, r, m, |a| (a as f32).to_bits())
            }
            (F64, S32, Rounding::Nearest, 32, 64) => {
                |i, r, m| map1::<u32, u64>(i, r, m, |a| f64::from(a as i32).to_bits())
            }
            (F64, U32, Rounding::Nearest, 32, 64) => {
                |i, r, m| map1::<u32, u64>(i, r, m, |a| f64::from(a).to_bits())
            }
            (S32, F32, Rounding::Zero, 32, 32) => {
                |i, r, m| map1::<u32, u32>(i, r, m, |a| f32::from_bits(a) as i32 as u32)
            }
            (U32, F32, Rounding::Zero, 32, 32) => {
                |i, r, m| map1::<u32, u32>(i, r, m, |a| f32::from_bits(a) as u32)
            }
            _ => return None,
        },
    )
}
