//! Floating-point arithmetic that the ISA defines to the bit.

mod approximate;
mod directed;
mod extremes;
mod half;
mod mixed;
mod pairs;
mod soft;

pub(crate) use extremes::{extreme, of_three};
pub(crate) use half::{Brain, Format, Half, add_halves, max_halves, min_halves};
pub(crate) use soft::fused as fused64;

use super::map::{Entry, Ty, entry, lane, pack, unpack};
use crate::processor::for_each_processor;
pub(crate) use crate::processor::portable::fused32;

/// A single-precision result by its bits: every NaN is the one that GPUs produce.
#[inline(always)]
pub(crate) fn canonical32(x: f32) -> u32 {
    if x.is_nan() { 0x7fff_ffff } else { x.to_bits() }
}

/// A double-precision result by its bits: a NaN operand goes through, and a new NaN is the one that GPUs produce.
#[inline(always)]
pub(crate) fn canonical64(x: f64) -> u64 {
    x.to_bits()
}

/// A NaN, made quiet.
#[inline(always)]
pub(crate) fn quiet64(x: f64) -> f64 {
    f64::from_bits(x.to_bits() | 1 << 51)
}

/// A double-precision result; a NaN is the first operand that is one, made quiet, or else the one that arises anew. Which NaN the host's
/// own arithmetic gives depends on the host.
#[inline(always)]
pub(crate) fn settled<const N: usize>(result: f64, operands: [f64; N]) -> f64 {
    let mut nan = f64::from_bits(0xfff8_0000_0000_0000);
    for operand in operands.into_iter().rev() {
        nan = if operand.is_nan() {
            quiet64(operand)
        } else {
            nan
        };
    }
    if result.is_nan() { nan } else { result }
}

/// `.ftz`: a denormal becomes zero of its sign.
#[inline(always)]
pub(crate) fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    })
}

/// `.sat`: to 0 … 1, NaN to 0.
#[inline(always)]
pub(crate) fn saturate(x: f32) -> f32 {
    if x > 0.0 {
        if x < 1.0 { x } else { 1.0 }
    } else {
        0.0
    }
}

/// `a + b`, rounded so that the last bit is set where the sum is not exact: rounding once more to fewer bits then gives what rounding
/// the exact sum would.
#[inline(always)]
pub(crate) fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let shift = sum - a;
    let error = (a - (sum - shift)) + (b - shift);
    let bits = sum.to_bits();
    // Infinities and NaN have no meaningful error; comparing with zero leaves them alone.
    let inexact = if error.abs() > 0.0 { u64::MAX } else { 0 };
    let away = (error.to_bits() ^ bits) >> 63;
    f64::from_bits((bits.wrapping_sub(away) | 1) & inexact | bits & !inexact)
}

/// The form with that mnemonic, split at its dots, but for those that are compiled for each kind of processor.
pub(crate) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    extremes::lookup(mnemonic)
        .or_else(|| pairs::lookup(mnemonic))
        .or_else(|| mixed::lookup(mnemonic))
        .or_else(|| directed::lookup(mnemonic))
        .or_else(|| approximate::lookup(mnemonic))
        .or_else(|| half::lookup(mnemonic))
}

/// The four forms of a single-precision operation: plain, `.ftz`, `.sat`, `.ftz.sat`.
macro_rules! variants {
    ($rest:expr, F32 F32 |$a:ident, $b:ident| $body:expr) => {
        match $rest {
            ["f32"] => entry!(F32 <- F32 F32 |$a, $b| $body),
            ["ftz", "f32"] => entry!(F32 <- F32 F32 |$a, $b| { let ($a, $b) = (flush($a), flush($b)); flush($body) }),
            ["sat", "f32"] => entry!(F32 <- F32 F32 |$a, $b| saturate($body)),
            ["ftz", "sat", "f32"] => {
                entry!(F32 <- F32 F32 |$a, $b| { let ($a, $b) = (flush($a), flush($b)); saturate(flush($body)) })
            }
            _ => return None,
        }
    };
    ($rest:expr, F32 F32 F32 |$a:ident, $b:ident, $c:ident| $body:expr) => {
        match $rest {
            ["f32"] => entry!(F32 <- F32 F32 F32 |$a, $b, $c| $body),
            ["ftz", "f32"] => {
                entry!(F32 <- F32 F32 F32 |$a, $b, $c| { let ($a, $b, $c) = (flush($a), flush($b), flush($c)); flush($body) })
            }
            ["sat", "f32"] => entry!(F32 <- F32 F32 F32 |$a, $b, $c| saturate($body)),
            ["ftz", "sat", "f32"] => entry!(F32 <- F32 F32 F32 |$a, $b, $c| {
                let ($a, $b, $c) = (flush($a), flush($b), flush($c));
                saturate(flush($body))
            }),
            _ => return None,
        }
    };
}

for_each_processor! {
    /// The forms that round to the nearest.
    pub(crate) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
        nearest32(mnemonic).or_else(|| nearest64(mnemonic))
    }

    fn nearest32(mnemonic: &[&str]) -> Option<Entry> {
        Some(match mnemonic {
            ["add", "rn", rest @ ..] | ["add", rest @ ..] => variants!(rest, F32 F32 |a, b| a + b),
            ["sub", "rn", rest @ ..] | ["sub", rest @ ..] => variants!(rest, F32 F32 |a, b| a - b),
            ["mul", "rn", rest @ ..] | ["mul", rest @ ..] => variants!(rest, F32 F32 |a, b| a * b),
            ["fma" | "mad", "rn", rest @ ..] => variants!(rest, F32 F32 F32 |a, b, c| fused32(a, b, c)),
            ["div", "rn", "f32"] => entry!(F32 <- F32 F32 |a, b| a / b),
            ["div", "rn", "ftz", "f32"] => entry!(F32 <- F32 F32 |a, b| flush(flush(a) / flush(b))),
            ["rcp", "rn", "f32"] => entry!(F32 <- F32 |a| 1.0 / a),
            ["rcp", "rn", "ftz", "f32"] => entry!(F32 <- F32 |a| flush(1.0 / flush(a))),
            ["sqrt", "rn", "f32"] => entry!(F32 <- F32 |a| a.sqrt()),
            ["sqrt", "rn", "ftz", "f32"] => entry!(F32 <- F32 |a| flush(flush(a).sqrt())),
            ["neg", "f32"] => entry!(F32 <- F32 |a| -a),
            ["neg", "ftz", "f32"] => entry!(F32 <- F32 |a| -flush(a)),
            ["abs", "f32"] => entry!(F32 <- F32 |a| a.abs()),
            ["abs", "ftz", "f32"] => entry!(F32 <- F32 |a| flush(a).abs()),
            ["copysign", "f32"] => entry!(B32 <- B32 B32 |a, b| a & 0x8000_0000 | b & 0x7fff_ffff),
            _ => return None,
        })
    }

    fn nearest64(mnemonic: &[&str]) -> Option<Entry> {
        Some(match mnemonic {
            ["add", "f64"] | ["add", "rn", "f64"] => {
                entry!(F64 <- F64 F64 |a, b| settled(a + b, [b, a]))
            }
            ["sub", "f64"] | ["sub", "rn", "f64"] => {
                entry!(F64 <- F64 F64 |a, b| settled(a - b, [b, a]))
            }
            ["mul", "f64"] | ["mul", "rn", "f64"] => {
                entry!(F64 <- F64 F64 |a, b| settled(a * b, [b, a]))
            }
            ["fma" | "mad", "rn", "f64"] => {
                entry!(F64 <- F64 F64 F64 |a, b, c| settled(a.mul_add(b, c), [b, c, a]))
            }
            ["div", "rn", "f64"] => entry!(F64 <- F64 F64 |a, b| settled(a / b, [a, b])),
            ["rcp", "rn", "f64"] => entry!(F64 <- F64 |a| settled(1.0 / a, [a])),
            ["sqrt", "rn", "f64"] => entry!(F64 <- F64 |a| settled(a.sqrt(), [a])),
            ["neg", "f64"] => entry!(F64 <- F64 |a| settled(-a, [a])),
            ["abs", "f64"] => entry!(F64 <- F64 |a| settled(a.abs(), [a])),
            ["copysign", "f64"] => entry!(B64 <- B64 B64 |a, b| a & 1 << 63 | b & !(1 << 63)),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::fused32;

    #[test]
    fn fused_with_infinities() {
        for x in [1f32, -1.0] {
            for y in [f32::INFINITY, f32::NEG_INFINITY] {
                for z in [1f32, -1.0] {
                    assert_eq!(fused32(x, y, z), x * y);
                    assert_eq!(fused32(z, x, y), y);
                }
            }
        }
    }
}
