//! Conversions between all numeric types.

use super::map::map1;
use super::numbers::{
    Number, Rounding, from_f64, half_to_f64, integer_to_f64, nan_from_f64, round_to_integral,
    to_integer,
};
use crate::code::{Alu, Instr};
use crate::registers::{Lane, Registers};

/// A form of `cvt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub(crate) from: Number,
    pub(crate) to: Number,
    rounding: Rounding,
    integral: bool,
    flushes: bool,
    saturates: bool,
}

/// The form with that mnemonic, split at its dots: `cvt{.rounding}{.ftz}{.sat}.to.from`.
pub(crate) fn lookup(mnemonic: &[&str]) -> Option<Conversion> {
    let [_, modifiers @ .., to, from] = mnemonic else {
        return None;
    };
    let (to, from) = (Number::from_name(to)?, Number::from_name(from)?);
    let (rounding, rest) = match modifiers {
        [first, rest @ ..] => {
            Rounding::from_name(first).map_or((None, modifiers), |rounding| (Some(rounding), rest))
        }
        [] => (None, modifiers),
    };
    let (flushes, saturates) = match rest {
        [] => (false, false),
        ["ftz"] => (true, false),
        ["sat"] => (false, true),
        ["ftz", "sat"] => (true, true),
        _ => return None,
    };
    let involves_f32 = from == Number::F32 || to == Number::F32;
    if flushes && !involves_f32 {
        return None;
    }
    let legal = match (from.is_float(), to.is_float(), rounding) {
        // Saturation that can never happen is not allowed to be written.
        (false, false, None) => !(flushes || saturates && to.holds_all_of(from)),
        (true, false, Some((_, integral))) => integral,
        (false, true, Some((_, integral))) => !integral,
        (true, true, None) => from.bits() <= to.bits(),
        (true, true, Some((_, true))) => from == to,
        (true, true, Some((_, false))) => from.bits() > to.bits(),
        _ => false,
    };
    let (rounding, integral) = rounding.unwrap_or((Rounding::Nearest, false));
    legal.then_some(Conversion {
        from,
        to,
        rounding,
        integral,
        flushes,
        saturates,
    })
}

/// Reads the low bits of a lane as an integer of that type, extended to 64 bits.
fn extend(bits: u64, number: Number) -> u64 {
    let unused = 64 - number.bits();
    if number.is_signed() {
        ((bits << unused) as i64 >> unused) as u64
    } else {
        bits << unused >> unused
    }
}

/// A denormal single becomes zero of its sign.
fn flush(value: f64) -> f64 {
    if value.abs() < f64::from(f32::MIN_POSITIVE) {
        0f64.copysign(value)
    } else {
        value
    }
}

impl Conversion {
    /// Converts one value, given and returned by its bits; an integer result is extended to 64 bits.
    pub(crate) fn apply(&self, bits: u64) -> u64 {
        if !self.from.is_float() {
            let value = extend(bits, self.from);
            return if self.to.is_float() {
                self.integer_to_float(value)
            } else {
                self.integer_to_integer(value)
            };
        }
        // A move, but for halves, whose NaN becomes canonical.
        if self.from == self.to
            && self.from != Number::F16
            && !self.integral
            && !self.flushes
            && !self.saturates
        {
            return bits;
        }
        let mut value = match self.from {
            Number::F16 => half_to_f64(bits as u16),
            Number::F32 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        };
        // A conversion to half precision keeps denormal singles, `.ftz` or not.
        if self.flushes && self.from == Number::F32 && self.to != Number::F16 {
            value = flush(value);
        }
        if !self.to.is_float() {
            return to_integer(value, self.from, self.to, self.rounding);
        }
        if self.integral {
            value = round_to_integral(value, self.rounding);
        }
        self.finish(value)
    }

    fn integer_to_integer(&self, value: u64) -> u64 {
        if !self.saturates {
            return extend(value, self.to);
        }
        let wide = if self.from.is_signed() {
            i128::from(value as i64)
        } else {
            i128::from(value)
        };
        let (low, high) = self.to.integer_range();
        wide.clamp(low, high) as u64
    }

    fn integer_to_float(&self, value: u64) -> u64 {
        let negative = self.from.is_signed() && (value as i64) < 0;
        let magnitude = if negative {
            value.wrapping_neg()
        } else {
            value
        };
        let digits = match self.to {
            Number::F16 => 11,
            Number::F32 => 24,
            _ => 53,
        };
        self.finish(integer_to_f64(negative, magnitude, digits, self.rounding))
    }

    /// Saturates, rounds to the destination's precision and flushes.
    fn finish(&self, mut value: f64) -> u64 {
        if self.saturates {
            value = if value > 0.0 { value.min(1.0) } else { 0.0 };
        }
        // NaN keeps sign and payload on the way to and from doubles, and becomes canonical otherwise.
        if value.is_nan() && (self.from == Number::F64 || self.to == Number::F64) {
            return nan_from_f64(value, self.to);
        }
        let bits = from_f64(value, self.to, self.rounding);
        let denormal = self.flushes && self.to == Number::F32 && bits & 0x7f80_0000 == 0;
        if denormal { bits & 0x8000_0000 } else { bits }
    }

    /// The form by a number that fits an instruction.
    fn code(&self) -> i64 {
        let flags = i64::from(self.integral)
            | i64::from(self.flushes) << 1
            | i64::from(self.saturates) << 2;
        self.from as i64 | (self.to as i64) << 8 | (self.rounding as i64) << 16 | flags << 24
    }

    fn from_code(code: i64) -> Self {
        let flag = |bit: u32| code >> (24 + bit) & 1 == 1;
        Self {
            from: Number::from_code(code & 0xff),
            to: Number::from_code(code >> 8 & 0xff),
            rounding: Rounding::from_code(code >> 16 & 0xff),
            integral: flag(0),
            flushes: flag(1),
            saturates: flag(2),
        }
    }
}

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
    let fits = |number: Number, bits: u32| {
        if number.is_float() {
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
        (64, 16) => general::<u64, u32, 16>,
        (64, 32) => general::<u64, u32, 32>,
        (64, 64) => general::<u64, u64, 64>,
        (16 | 32, 16) => general::<u32, u32, 16>,
        (16 | 32, 32) => general::<u32, u32, 32>,
        (16 | 32, 64) => general::<u32, u64, 64>,
        _ => return None,
    };
    Some((run, form.code()))
}

/// The common forms, which run on all lanes at once.
fn quick(form: &Conversion, source_bits: u32, destination_bits: u32) -> Option<Alu> {
    use Number::{F32, F64, S32, U32};
    if form.saturates || form.flushes {
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
