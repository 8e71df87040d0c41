//! Conversions of two numbers at once: halves from singles, and the 8-bit formats.

use super::Conversion;
use crate::ops::map::{Entry, Ty, map1, map2};
use crate::ops::numbers::{Number, Rounding, from_f64, half_to_f64, narrow};

/// `.relu`
const CUTS: i64 = 1;
/// `e5m2`, and not `e4m3`
const E5M2: i64 = 2;

/// The form with that mnemonic, split at its dots.
pub(super) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    let [_, modifiers @ .., to, from] = mnemonic else {
        return None;
    };
    match (*to, *from) {
        ("f16x2", "f32") => halves(modifiers, Number::F16),
        ("bf16x2", "f32") => halves(modifiers, Number::Bf16),
        ("e4m3x2" | "e5m2x2", "f32" | "f16x2") => {
            let cuts = match modifiers {
                ["rn", "satfinite"] => 0,
                ["rn", "satfinite", "relu"] => CUTS,
                _ => return None,
            };
            let imm = cuts | if *to == "e5m2x2" { E5M2 } else { 0 };
            Some(if *from == "f32" {
                to_bytes_from_singles().with(imm)
            } else {
                to_bytes_from_halves().with(imm)
            })
        }
        ("f16x2", "e4m3x2" | "e5m2x2") => {
            let cuts = match modifiers {
                ["rn"] => 0,
                ["rn", "relu"] => CUTS,
                _ => return None,
            };
            let imm = cuts | if *from == "e5m2x2" { E5M2 } else { 0 };
            Some(from_bytes().with(imm))
        }
        _ => None,
    }
}

/// `cvt.rounding{.relu}{.satfinite}.f16x2.f32 d, a, b`: `a` becomes the upper half.
fn halves(modifiers: &[&str], to: Number) -> Option<Entry> {
    let (rounding, rest) = match modifiers {
        ["rn", rest @ ..] => (Rounding::Nearest, rest),
        ["rz", rest @ ..] => (Rounding::Zero, rest),
        _ => return None,
    };
    let (cuts, bounded) = match rest {
        [] => (false, false),
        ["relu"] => (true, false),
        ["satfinite"] => (false, true),
        ["relu", "satfinite"] => (true, true),
        _ => return None,
    };
    let each = Conversion {
        from: Number::F32,
        to,
        rounding,
        integral: false,
        flushes: false,
        saturates: false,
        cuts,
        bounded,
    };
    let entry = Entry::new(Ty::B32, &[Ty::F32, Ty::F32], |i, r, m| {
        let each = Conversion::from_code(i.imm);
        map2::<u32, u32, u32>(i, r, m, |a, b| {
            (each.apply(u64::from(a)) << 16 | each.apply(u64::from(b))) as u32
        });
    });
    Some(entry.with(each.code()))
}

fn to_bytes_from_singles() -> Entry {
    Entry::new(Ty::B16, &[Ty::F32, Ty::F32], |i, r, m| {
        map2::<u32, u32, u32>(i, r, m, |a, b| {
            let byte = |bits: u32| to_byte(f64::from(f32::from_bits(bits)), i.imm);
            byte(a) << 8 | byte(b)
        });
    })
}

fn to_bytes_from_halves() -> Entry {
    Entry::new(Ty::B16, &[Ty::B32], |i, r, m| {
        map1::<u32, u32>(i, r, m, |a| {
            let byte = |bits: u32| to_byte(half_to_f64(bits as u16), i.imm);
            byte(a >> 16) << 8 | byte(a)
        });
    })
}

fn from_bytes() -> Entry {
    Entry::new(Ty::B32, &[Ty::B16], |i, r, m| {
        map1::<u32, u32>(i, r, m, |a| {
            let half = |byte: u32| {
                let value = from_byte(byte as u8, i.imm);
                if i.imm & CUTS != 0 && value.is_sign_negative() && !value.is_nan() {
                    return 0;
                }
                from_f64(value, Number::F16, Rounding::Nearest) as u32
            };
            half(a >> 8) << 16 | half(a)
        });
    })
}

/// Rounds to an 8-bit format; what is too large becomes the largest number.
fn to_byte(value: f64, flags: i64) -> u32 {
    if value.is_nan() {
        return 0x7f;
    }
    if flags & CUTS != 0 && value.is_sign_negative() {
        return 0;
    }
    let sign = u32::from(value.is_sign_negative()) << 7;
    let magnitude = value.abs();
    if flags & E5M2 != 0 {
        let bounded = magnitude.min(57344.0);
        return sign | narrow(bounded, 2, 15, Rounding::Nearest) as u32;
    }
    // The numbers from 256 on take the place of the infinities that this format does not have; they are 32 apart.
    if magnitude >= 248.0 {
        let steps = (magnitude.min(448.0) / 32.0).round_ties_even();
        return sign | (0x70 + steps as u32);
    }
    sign | narrow_e4m3(magnitude)
}

/// A magnitude below 248 in `e4m3`: multiples of 2^-9, with four significant bits.
fn narrow_e4m3(magnitude: f64) -> u32 {
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-6);
    let unit = crate::ops::numbers::power_of_two(exponent - 3);
    let steps = (magnitude / unit).round_ties_even() as u32;
    // A carry out of the fraction rises into the exponent by itself.
    (((exponent + 6) as u32) << 3) + steps
}

fn from_byte(byte: u8, flags: i64) -> f64 {
    let magnitude = if flags & E5M2 != 0 {
        // The upper byte of a half.
        half_to_f64(u16::from(byte & 0x7f) << 8)
    } else {
        let (exponent, fraction) = (i32::from(byte >> 3 & 15), f64::from(byte & 7));
        match (exponent, byte & 7) {
            (15, 7) => f64::NAN,
            (0, _) => fraction * crate::ops::numbers::power_of_two(-9),
            _ => (8.0 + fraction) * crate::ops::numbers::power_of_two(exponent - 10),
        }
    };
    if byte & 0x80 != 0 {
        -magnitude
    } else {
        magnitude
    }
}
