//! Numbers as values: rounding in every direction, halves, and integers of every width.

/// A numeric type of `cvt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    Bf16,
    F32,
    /// A single whose last 13 bits are zero.
    Tf32,
    F64,
}

impl Number {
    const ALL: [Self; 13] = [
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::S8,
        Self::S16,
        Self::S32,
        Self::S64,
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::Tf32,
        Self::F64,
    ];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "u8" => Self::U8,
            "u16" => Self::U16,
            "u32" => Self::U32,
            "u64" => Self::U64,
            "s8" => Self::S8,
            "s16" => Self::S16,
            "s32" => Self::S32,
            "s64" => Self::S64,
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "tf32" => Self::Tf32,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ => return None,
        })
    }

    pub(crate) fn from_code(code: i64) -> Self {
        usize::try_from(code)
            .ok()
            .and_then(|code| Self::ALL.get(code).copied())
            .unwrap_or(Self::U8)
    }

    pub(crate) const fn bits(self) -> u32 {
        match self {
            Self::U8 | Self::S8 => 8,
            Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 16,
            Self::U32 | Self::S32 | Self::F32 | Self::Tf32 => 32,
            Self::U64 | Self::S64 | Self::F64 => 64,
        }
    }

    pub(crate) const fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16 | Self::Bf16 | Self::F32 | Self::Tf32 | Self::F64
        )
    }

    pub(crate) const fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// Whether every integer of the other type is one of this type.
    pub(crate) fn holds_all_of(self, other: Self) -> bool {
        let ((low, high), (other_low, other_high)) = (self.integer_range(), other.integer_range());
        low <= other_low && other_high <= high
    }

    /// The smallest and the largest integer of the type.
    pub(crate) fn integer_range(self) -> (i128, i128) {
        let bits = self.bits();
        if self.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }
}

/// Which way to round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// Towards zero.
    Zero,
    /// Towards negative infinity.
    Down,
    /// Towards positive infinity.
    Up,
    /// To the nearest, ties away from zero.
    Away,
}

impl Rounding {
    const ALL: [Self; 5] = [Self::Nearest, Self::Zero, Self::Down, Self::Up, Self::Away];

    /// The direction that an instruction's modifiers begin with, and the modifiers behind it. To the nearest is what all but `fma` do where
    /// none is named.
    pub(crate) fn split<'a, 'b>(
        opcode: &str,
        modifiers: &'a [&'b str],
    ) -> Option<(Self, &'a [&'b str])> {
        match modifiers {
            ["rn", rest @ ..] => Some((Self::Nearest, rest)),
            ["rz", rest @ ..] => Some((Self::Zero, rest)),
            ["rm", rest @ ..] => Some((Self::Down, rest)),
            ["rp", rest @ ..] => Some((Self::Up, rest)),
            rest => (opcode != "fma").then_some((Self::Nearest, rest)),
        }
    }

    /// The direction, and whether the name is one of those that round to an integral value.
    pub(crate) fn from_name(name: &str) -> Option<(Self, bool)> {
        Some(match name {
            "rn" => (Self::Nearest, false),
            "rz" => (Self::Zero, false),
            "rm" => (Self::Down, false),
            "rp" => (Self::Up, false),
            "rni" => (Self::Nearest, true),
            "rzi" => (Self::Zero, true),
            "rmi" => (Self::Down, true),
            "rpi" => (Self::Up, true),
            "rna" => (Self::Away, false),
            _ => return None,
        })
    }

    pub(crate) fn from_code(code: i64) -> Self {
        usize::try_from(code)
            .ok()
            .and_then(|code| Self::ALL.get(code).copied())
            .unwrap_or(Self::Nearest)
    }

    /// Whether a value between two neighbours goes to the one away from zero, when `half` compares the rest with one half.
    pub(crate) fn away(self, negative: bool, odd: bool, rest: std::cmp::Ordering) -> bool {
        use std::cmp::Ordering::{Equal, Greater};
        match self {
            Self::Nearest => rest == Greater || rest == Equal && odd,
            Self::Away => rest != std::cmp::Ordering::Less,
            Self::Zero => false,
            Self::Down => negative,
            Self::Up => !negative,
        }
    }
}

/// `2^exponent`, for exponents of normal numbers.
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// A half as a double, which holds it exactly.
pub(crate) fn half_to_f64(bits: u16) -> f64 {
    let (exponent, fraction) = (bits >> 10 & 31, f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * power_of_two(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        // The payload, made quiet.
        31 => f64::from_bits(0x7ff8_0000_0000_0000 | u64::from(bits & 0x3ff) << 42),
        _ => (1024.0 + fraction) * power_of_two(i32::from(exponent) - 25),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// The largest finite number of a floating-point type.
pub(crate) fn largest(number: Number) -> f64 {
    match number {
        Number::F16 => 65504.0,
        Number::Bf16 => brain_to_f64(0x7f7f),
        Number::Tf32 => f64::from(f32::from_bits(0x7f7f_e000)),
        Number::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    }
}

/// A `bf16` as a double, which holds it exactly; NaN keeps its payload.
pub(crate) fn brain_to_f64(bits: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(bits) << 16))
}

/// Rounds a double to a type, and returns its bits; NaN becomes the type's canonical one.
pub(crate) fn from_f64(value: f64, to: Number, rounding: Rounding) -> u64 {
    match to {
        Number::F16 | Number::Bf16 if value.is_nan() => 0x7fff,
        Number::F32 | Number::Tf32 if value.is_nan() => 0x7fff_ffff,
        Number::F16 => u64::from(narrow(value, 10, 15, rounding) as u16),
        Number::Bf16 => u64::from(narrow(value, 7, 127, rounding) as u16),
        Number::Tf32 => narrow(value, 10, 127, rounding) << 13,
        Number::F32 => narrow(value, 23, 127, rounding),
        _ => value.to_bits(),
    }
}

/// A NaN with as much of its payload as fits.
pub(crate) fn nan_from_f64(value: f64, to: Number) -> u64 {
    let (bits, sign) = (value.to_bits(), value.to_bits() >> 63);
    match to {
        Number::F16 => sign << 15 | 0x7e00 | bits >> 42 & 0x3ff,
        Number::Bf16 => sign << 15 | 0x7fc0 | bits >> 45 & 0x7f,
        Number::F32 => sign << 31 | 0x7fc0_0000 | bits >> 29 & 0x7f_ffff,
        _ => bits,
    }
}

/// Rounds a double that is not NaN to a format with fewer fraction bits and a smaller exponent.
pub(crate) fn narrow(value: f64, fraction_bits: u32, bias: i32, rounding: Rounding) -> u64 {
    let negative = value.is_sign_negative();
    let bits = value.abs().to_bits();
    let top = u64::from(negative) << (fraction_bits + if bias == 15 { 5 } else { 8 });
    let infinity = (2 * bias as u64 + 1) << fraction_bits;
    if value.is_infinite() {
        return top | infinity;
    }
    let exponent = (bits >> 52) as i32 - 1023;
    let mantissa = if bits >> 52 == 0 {
        bits
    } else {
        bits & ((1 << 52) - 1) | 1 << 52
    };
    // Bits that fall off: more of them below the smallest normal number.
    let denormal = (1 - bias - exponent).max(0);
    let drop = (52 - fraction_bits as i32 + denormal).min(60) as u32;
    let kept = mantissa >> drop;
    let rest = mantissa & ((1 << drop) - 1);
    let exact = rest == 0;
    let up = !exact && rounding.away(negative, kept & 1 == 1, rest.cmp(&(1 << (drop - 1))));
    let kept = kept + u64::from(up);
    // A carry out of the fraction rises into the exponent by itself.
    let out = if denormal > 0 {
        kept
    } else {
        kept + ((exponent + bias - 1) as u64).wrapping_shl(fraction_bits)
    };
    if denormal == 0 && exponent + bias > 2 * bias || out >= infinity {
        let to_infinity = rounding.away(negative, true, std::cmp::Ordering::Greater);
        return top | if to_infinity { infinity } else { infinity - 1 };
    }
    top | out
}

/// An integer rounded to `digits` binary digits, as a double, which holds it exactly.
pub(crate) fn integer_to_f64(
    negative: bool,
    magnitude: u64,
    digits: u32,
    rounding: Rounding,
) -> f64 {
    let drop = (64 - magnitude.leading_zeros()).saturating_sub(digits);
    let mut value = magnitude as f64;
    if drop > 0 {
        let kept = magnitude >> drop;
        let rest = magnitude & ((1 << drop) - 1);
        let up = rest != 0 && rounding.away(negative, kept & 1 == 1, rest.cmp(&(1 << (drop - 1))));
        value = (kept + u64::from(up)) as f64 * power_of_two(drop as i32);
    }
    if negative { -value } else { value }
}

/// Rounds to an integral value.
pub(crate) fn round_to_integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Away => value.round(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

/// A number as an integer, extended to 64 bits; what lies outside goes to the nearest end of the range.
pub(crate) fn to_integer(value: f64, from: Number, to: Number, rounding: Rounding) -> u64 {
    if value.is_nan() {
        // Zero, but for doubles and 64-bit integers the highest bit alone.
        let zero = from != Number::F64 && to.bits() != 64;
        let high = 1u64 << (to.bits() - 1);
        return if zero {
            0
        } else if to.is_signed() {
            high.wrapping_neg()
        } else {
            high
        };
    }
    let (low, high) = to.integer_range();
    (round_to_integral(value, rounding) as i128).clamp(low, high) as u64
}
