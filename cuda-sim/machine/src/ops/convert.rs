//! Conversions between all numeric types.

mod lanes;
mod packed;
mod pairs;

pub(crate) use lanes::operation;

use super::float::quiet64;
use super::map::Entry;
use super::numbers::{
    Number, Rounding, brain_to_f64, from_f64, half_to_f64, integer_to_f64, largest, nan_from_f64,
    round_to_integral, to_integer,
};

/// The conversions of pairs, and those that pack several integers into a word.
pub(crate) fn of_several(mnemonic: &[&str]) -> Option<Entry> {
    pairs::lookup(mnemonic).or_else(|| packed::lookup(mnemonic))
}

/// A form of `cvt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub(crate) from: Number,
    pub(crate) to: Number,
    rounding: Rounding,
    integral: bool,
    flushes: bool,
    saturates: bool,
    /// `.relu`: what is negative becomes 0.
    cuts: bool,
    /// `.satfinite`: what is too large becomes the largest number.
    bounded: bool,
}

/// The form with that mnemonic, split at its dots: `cvt{.rounding}{.ftz}{.sat}.to.from`, or
/// `cvt.rounding{.relu}{.satfinite}.to.f32` for the types below single precision.
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
    let [flushes, saturates, cuts, bounded] = match rest {
        [] => [false; 4],
        ["ftz"] => [true, false, false, false],
        ["sat"] => [false, true, false, false],
        ["ftz", "sat"] => [true, true, false, false],
        ["relu"] => [false, false, true, false],
        ["satfinite"] => [false, false, false, true],
        ["relu", "satfinite"] => [false, false, true, true],
        _ => return None,
    };
    let legal = if cuts || bounded || to == Number::Tf32 || from == Number::Tf32 {
        !(flushes || saturates)
            && narrows(
                to,
                from,
                rounding.map(|(rounding, _)| rounding),
                cuts,
                bounded,
            )
    } else if from == Number::Bf16 || to == Number::Bf16 {
        !saturates && is_legal(to, from, rounding, flushes, false)
    } else {
        is_legal(to, from, rounding, flushes, saturates)
    };
    let (rounding, integral) = rounding.unwrap_or((Rounding::Nearest, false));
    legal.then_some(Conversion {
        from,
        to,
        rounding,
        integral,
        flushes,
        saturates,
        cuts,
        bounded,
    })
}

/// Whether the conversions with `.relu` and `.satfinite`, and those to `tf32`, have such a form.
fn narrows(
    to: Number,
    from: Number,
    rounding: Option<Rounding>,
    cuts: bool,
    bounded: bool,
) -> bool {
    from == Number::F32
        && match (to, rounding) {
            (Number::Tf32, Some(Rounding::Away)) => !cuts,
            (Number::Tf32, Some(Rounding::Nearest | Rounding::Zero)) => !bounded,
            (Number::F16 | Number::Bf16, Some(Rounding::Nearest | Rounding::Zero)) => true,
            _ => false,
        }
}

/// Whether the other conversions have such a form.
fn is_legal(
    to: Number,
    from: Number,
    rounding: Option<(Rounding, bool)>,
    flushes: bool,
    saturates: bool,
) -> bool {
    let involves_f32 = from == Number::F32 || to == Number::F32;
    if flushes && !involves_f32 || matches!(rounding, Some((Rounding::Away, _))) {
        return false;
    }
    match (from.is_float(), to.is_float(), rounding) {
        // Saturation that can never happen is not allowed to be written.
        (false, false, None) => !(flushes || saturates && to.holds_all_of(from)),
        (true, false, Some((_, integral))) => integral,
        (false, true, Some((_, integral))) => !integral,
        (true, true, None) => from == to || from.bits() < to.bits(),
        (true, true, Some((_, true))) => from == to,
        (true, true, Some((_, false))) => {
            from.bits() > to.bits() || from != to && from.bits() == to.bits()
        }
        _ => false,
    }
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
        if let Some(bits) = self.of_bits(bits) {
            return bits;
        }
        let mut value = match self.from {
            Number::F16 => half_to_f64(bits as u16),
            Number::Bf16 => brain_to_f64(bits as u16),
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

    /// The conversions that work on bits and not on numbers: moves, and what GPUs do to NaN.
    fn of_bits(&self, bits: u64) -> Option<u64> {
        let plain = !(self.integral || self.flushes || self.saturates);
        let single = bits as u32;
        match (self.from, self.to) {
            // A half's NaN becomes canonical.
            (from, to) if from == to && plain && from.bits() > 16 => Some(bits),
            (Number::Bf16, Number::F32) if plain => Some(bits << 16),
            // Away from zero: half a step of the last bit that is kept. With `.satfinite` NaN is lowered like infinity.
            (Number::F32, Number::Tf32) if self.rounding == Rounding::Away => {
                let step = if f32::from_bits(single).is_nan() {
                    0
                } else {
                    0x1000
                };
                let rounded = single.wrapping_add(step) & 0xffff_e000;
                let over = self.bounded && rounded & 0x7f80_0000 == 0x7f80_0000;
                Some(u64::from(if over { rounded - 0x2000 } else { rounded }))
            }
            (Number::F32, Number::Tf32) if f32::from_bits(single).is_nan() => Some(0x7fff_e000),
            // A single's NaN is made canonical where denormals are flushed.
            (Number::F32, Number::F64) if self.flushes && !self.saturates => f32::from_bits(single)
                .is_nan()
                .then_some(0x7fff_ffff_e000_0000),
            _ => None,
        }
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
            Number::Bf16 => 8,
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
            return nan_from_f64(quiet64(value), self.to);
        }
        if self.cuts && value.is_sign_negative() && !value.is_nan() {
            return 0;
        }
        if self.bounded && !value.is_nan() {
            let limit = largest(self.to);
            value = value.clamp(-limit, limit);
        }
        let bits = from_f64(value, self.to, self.rounding);
        let denormal = self.flushes && self.to == Number::F32 && bits & 0x7f80_0000 == 0;
        if denormal { bits & 0x8000_0000 } else { bits }
    }

    /// The form by a number that fits an instruction.
    fn code(&self) -> i64 {
        let flags = i64::from(self.integral)
            | i64::from(self.flushes) << 1
            | i64::from(self.saturates) << 2
            | i64::from(self.cuts) << 3
            | i64::from(self.bounded) << 4;
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
            cuts: flag(3),
            bounded: flag(4),
        }
    }
}
