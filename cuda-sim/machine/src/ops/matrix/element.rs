//! The types of matrix elements, and their values as what is computed with.

use crate::registers::Words;

/// The type of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F16,
    Bf16,
    /// A single of which the last 13 bits are not looked at.
    Tf32,
    F32,
    F64,
    /// Eight bits, four of them exponent; no infinities.
    E4m3,
    /// Eight bits, five of them exponent.
    E5m2,
    S8,
    U8,
    S4,
    U4,
    B1,
    S32,
}

impl Element {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "tf32" => Self::Tf32,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "e4m3" => Self::E4m3,
            "e5m2" => Self::E5m2,
            "s8" => Self::S8,
            "u8" => Self::U8,
            "s4" => Self::S4,
            "u4" => Self::U4,
            "b1" => Self::B1,
            "s32" => Self::S32,
            _ => return None,
        })
    }

    pub(crate) const fn bits(self) -> usize {
        match self {
            Self::F64 => 64,
            Self::Tf32 | Self::F32 | Self::S32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::E4m3 | Self::E5m2 | Self::S8 | Self::U8 => 8,
            Self::S4 | Self::U4 => 4,
            Self::B1 => 1,
        }
    }

    /// Elements that a register holds.
    pub(crate) const fn per_register(self) -> usize {
        match self {
            Self::F64 => 1,
            other => 32 / other.bits(),
        }
    }
}

/// Most elements of a row of 32-bit registers that are computed with one by one.
pub(super) const MOST: usize = 8 * 32;

/// The floating-point numbers in a row of registers, lane after lane, without loss.
#[inline(always)]
pub(super) fn numbers(element: Element, words: &Words, into: &mut [f64; MOST]) {
    match element {
        Element::F16 => spread::<2>(words, into, |word, part| half(word >> (16 * part))),
        Element::Bf16 => spread::<2>(words, into, |word, part| {
            f32::from_bits(word >> (16 * part) << 16)
        }),
        Element::Tf32 => spread::<1>(words, into, |word, _| f32::from_bits(word & 0xffff_e000)),
        Element::E4m3 => spread::<4>(words, into, |word, part| quarter(word >> (8 * part))),
        Element::E5m2 => spread::<4>(words, into, |word, part| half(word >> (8 * part) << 8)),
        Element::F32 => spread::<1>(words, into, |word, _| f32::from_bits(word)),
        // Doubles have rows of their own; the others are integers.
        Element::F64
        | Element::S8
        | Element::U8
        | Element::S4
        | Element::U4
        | Element::B1
        | Element::S32 => {}
    }
}

#[inline(always)]
fn spread<const EACH: usize>(
    words: &Words,
    into: &mut [f64; MOST],
    value: impl Fn(u32, u32) -> f32,
) {
    for (out, &word) in into.as_chunks_mut::<EACH>().0.iter_mut().zip(words) {
        for (part, out) in out.iter_mut().enumerate() {
            *out = f64::from(value(word, part as u32));
        }
    }
}

/// The number of a `f16` in the lower half of a word. Without a branch, so that a row becomes vector instructions.
#[inline(always)]
fn half(word: u32) -> f32 {
    let magnitude = word & 0x7fff;
    // As the exponent and fraction of a single, the bits stand for a number that is smaller by the difference of the biases.
    let finite = f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000);
    let bits = if magnitude < 0x7c00 {
        finite.to_bits()
    } else {
        magnitude << 13 | 0x7f80_0000
    };
    f32::from_bits(bits | (word & 0x8000) << 16)
}

/// The number of an `e4m3` in the lowest byte of a word.
#[inline(always)]
fn quarter(word: u32) -> f32 {
    let magnitude = word & 0x7f;
    let finite = f32::from_bits(magnitude << 20) * f32::from_bits(0x7b80_0000);
    let bits = if magnitude == 0x7f {
        0x7fc0_0000
    } else {
        finite.to_bits()
    };
    f32::from_bits(bits | (word & 0x80) << 24)
}

/// The integers in a row of registers, lane after lane.
#[inline(always)]
pub(super) fn integers(element: Element, words: &Words, into: &mut [i32; MOST]) {
    match element {
        Element::S8 => split::<4>(words, into, |word, part| {
            (word << (24 - 8 * part)) as i32 >> 24
        }),
        Element::U8 => split::<4>(words, into, |word, part| (word >> (8 * part) & 0xff) as i32),
        Element::S4 => split::<8>(words, into, |word, part| {
            (word << (28 - 4 * part)) as i32 >> 28
        }),
        Element::U4 => split::<8>(words, into, |word, part| (word >> (4 * part) & 15) as i32),
        // 32 bits at a time.
        Element::B1 | Element::S32 => split::<1>(words, into, |word, _| word as i32),
        Element::F16
        | Element::Bf16
        | Element::Tf32
        | Element::F32
        | Element::F64
        | Element::E4m3
        | Element::E5m2 => {}
    }
}

#[inline(always)]
fn split<const EACH: usize>(
    words: &Words,
    into: &mut [i32; MOST],
    value: impl Fn(u32, u32) -> i32,
) {
    for (out, &word) in into.as_chunks_mut::<EACH>().0.iter_mut().zip(words) {
        for (part, out) in out.iter_mut().enumerate() {
            *out = value(word, part as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::numbers::half_to_f64;

    #[test]
    fn halves_and_quarters_have_their_values() {
        for bits in 0..=u16::MAX {
            let (got, expected) = (f64::from(half(bits.into())), half_to_f64(bits));
            assert!(
                got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
                "{bits:#x}: {got}, not {expected}"
            );
        }
        for bits in 0..=u8::MAX {
            let (exponent, fraction) = (i32::from(bits >> 3 & 15), f64::from(bits & 7));
            let magnitude = match exponent {
                0 => fraction / 512.0,
                15 if bits & 7 == 7 => f64::NAN,
                _ => (1.0 + fraction / 8.0) * 2f64.powi(exponent - 7),
            };
            let expected = if bits & 0x80 == 0 {
                magnitude
            } else {
                -magnitude
            };
            let got = f64::from(quarter(bits.into()));
            assert!(
                got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
                "{bits:#x}: {got}, not {expected}"
            );
        }
    }
}
