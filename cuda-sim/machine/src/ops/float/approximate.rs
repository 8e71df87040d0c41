//! Functions that the ISA defines up to an error. Computed in double precision and rounded once, they err by half a unit in the last
//! place, less than the ISA allows; they are not bit for bit what a GPU computes.

use super::flush;
use super::half::{Brain, Format, Half, one};
use crate::ops::map::{Entry, Ty, entry, lane, pack, unpack};

/// Evaluates in double precision.
fn through(x: f32, f: fn(f64) -> f64) -> f32 {
    f(x.into()) as f32
}

/// `1/x` on the high word alone, which is what `rcp.approx.ftz.f64` gives: 20 bits of fraction.
fn coarse(x: f64, f: fn(f64) -> f64) -> f64 {
    let flushed = |x: f64| {
        if x.is_subnormal() {
            0f64.copysign(x)
        } else {
            x
        }
    };
    let y = flushed(f(flushed(x)));
    if y.is_nan() {
        y
    } else {
        f64::from_bits(y.to_bits() & !0xffff_ffff)
    }
}

/// `div.approx` multiplies by the reciprocal, which is lost for divisors above 2^126.
fn divide(a: f32, b: f32) -> f32 {
    let lost = b.abs() > 2f32.powi(126) && b.is_finite();
    if lost { a * 0f32.copysign(b) } else { a / b }
}

/// `ex2.approx.ftz.bf16`
fn flushed_power(x: u16) -> u16 {
    Brain::flush(Brain::round(Brain::widen(Brain::flush(x)).exp2()))
}

/// An operation on a 16-bit number, or on both halves of a word.
macro_rules! halves {
    ($ty:ident $pair:literal, |$x:ident| $body:expr) => {
        Entry::new(Ty::$ty, &[Ty::$ty], |i, r, m| {
            one::<$pair>(i, r, m, |$x| $body)
        })
    };
}

/// The form with that mnemonic, split at its dots.
pub(super) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    Some(match mnemonic {
        ["rcp", "approx", "f32"] => entry!(F32 <- F32 |a| 1.0 / a),
        ["rcp", "approx", "ftz", "f32"] => entry!(F32 <- F32 |a| flush(1.0 / flush(a))),
        ["sqrt", "approx", "f32"] => entry!(F32 <- F32 |a| a.sqrt()),
        ["sqrt", "approx", "ftz", "f32"] => entry!(F32 <- F32 |a| flush(flush(a).sqrt())),
        ["rsqrt", "approx", "f32"] => entry!(F32 <- F32 |a| through(a, |a| 1.0 / a.sqrt())),
        ["rsqrt", "approx", "ftz", "f32"] => {
            entry!(F32 <- F32 |a| flush(through(flush(a), |a| 1.0 / a.sqrt())))
        }
        ["rsqrt", "approx", "f64"] => entry!(F64 <- F64 |a| 1.0 / a.sqrt()),
        ["rcp", "approx", "ftz", "f64"] => entry!(F64 <- F64 |a| coarse(a, |a| 1.0 / a)),
        ["rsqrt", "approx", "ftz", "f64"] => entry!(F64 <- F64 |a| coarse(a, |a| 1.0 / a.sqrt())),
        ["ex2", "approx", "f32"] => entry!(F32 <- F32 |a| through(a, f64::exp2)),
        ["ex2", "approx", "ftz", "f32"] => {
            entry!(F32 <- F32 |a| flush(through(flush(a), f64::exp2)))
        }
        ["lg2", "approx", "f32"] => entry!(F32 <- F32 |a| through(a, f64::log2)),
        ["lg2", "approx", "ftz", "f32"] => {
            entry!(F32 <- F32 |a| flush(through(flush(a), f64::log2)))
        }
        ["sin", "approx", "f32"] => entry!(F32 <- F32 |a| through(a, f64::sin)),
        ["sin", "approx", "ftz", "f32"] => {
            entry!(F32 <- F32 |a| flush(through(flush(a), f64::sin)))
        }
        ["cos", "approx", "f32"] => entry!(F32 <- F32 |a| through(a, f64::cos)),
        ["cos", "approx", "ftz", "f32"] => {
            entry!(F32 <- F32 |a| flush(through(flush(a), f64::cos)))
        }
        ["ex2", "approx", "f16"] => halves!(B16 false, |x| Half::round(Half::widen(x).exp2())),
        ["ex2", "approx", "f16x2"] => halves!(B32 true, |x| Half::round(Half::widen(x).exp2())),
        ["ex2", "approx", "ftz", "bf16"] => halves!(B16 false, |x| flushed_power(x)),
        ["ex2", "approx", "ftz", "bf16x2"] => halves!(B32 true, |x| flushed_power(x)),
        ["tanh", "approx", "f16"] => halves!(B16 false, |x| Half::round(Half::widen(x).tanh())),
        ["tanh", "approx", "f16x2"] => halves!(B32 true, |x| Half::round(Half::widen(x).tanh())),
        ["tanh", "approx", "bf16"] => halves!(B16 false, |x| Brain::round(Brain::widen(x).tanh())),
        ["tanh", "approx", "bf16x2"] => halves!(B32 true, |x| Brain::round(Brain::widen(x).tanh())),
        ["tanh", "approx", "f32"] => entry!(F32 <- F32 |a| through(a, f64::tanh)),
        ["div", "full", "f32"] => entry!(F32 <- F32 F32 |a, b| a / b),
        ["div", "full", "ftz", "f32"] => entry!(F32 <- F32 F32 |a, b| flush(flush(a) / flush(b))),
        ["div", "approx", "f32"] => entry!(F32 <- F32 F32 |a, b| divide(a, b)),
        ["div", "approx", "ftz", "f32"] => {
            entry!(F32 <- F32 F32 |a, b| flush(divide(flush(a), flush(b))))
        }
        _ => return None,
    })
}
