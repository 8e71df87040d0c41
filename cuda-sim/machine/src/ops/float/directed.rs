//! Arithmetic rounded towards zero, down and up.

use super::soft;
use super::{flush, saturate, settled};
use crate::ops::map::{Entry, Ty, entry, lane, pack, unpack};
use crate::ops::numbers::{Number, Rounding, from_f64};

/// Rounds a double that stands for an exact single-precision result. Products and their sums are first computed with the same
/// direction in double precision, after which rounding once more in that direction changes nothing.
fn single(value: f64, rounding: Rounding) -> f32 {
    f32::from_bits(from_f64(value, Number::F32, rounding) as u32)
}

pub(super) fn add32(a: f32, b: f32, rounding: Rounding) -> f32 {
    single(soft::add(a.into(), b.into(), rounding), rounding)
}

pub(super) fn mul32(a: f32, b: f32, rounding: Rounding) -> f32 {
    // 48 bits at most: exact.
    single(f64::from(a) * f64::from(b), rounding)
}

pub(super) fn fused32(a: f32, b: f32, c: f32, rounding: Rounding) -> f32 {
    single(
        soft::fused(a.into(), b.into(), c.into(), rounding),
        rounding,
    )
}

fn div32(a: f32, b: f32, rounding: Rounding) -> f32 {
    single(soft::quotient(a.into(), b.into(), rounding), rounding)
}

/// The quotient is flushed when it is denormal before it is rounded.
fn flushed_div32(a: f32, b: f32, rounding: Rounding) -> f32 {
    let truncated = div32(a, b, Rounding::Zero);
    if truncated.abs() < f32::MIN_POSITIVE {
        flush(truncated)
    } else {
        div32(a, b, rounding)
    }
}

fn sqrt32(a: f32, rounding: Rounding) -> f32 {
    single(soft::root(a.into(), rounding), rounding)
}

macro_rules! direction {
    ($rest:expr, $mode:expr) => {{
        const MODE: Rounding = $mode;
        match $rest {
            ["add", "f32"] => entry!(F32 <- F32 F32 |a, b| add32(a, b, MODE)),
            ["add", "ftz", "f32"] => entry!(F32 <- F32 F32 |a, b| flush(add32(flush(a), flush(b), MODE))),
            ["add", "sat", "f32"] => entry!(F32 <- F32 F32 |a, b| saturate(add32(a, b, MODE))),
            ["add", "ftz", "sat", "f32"] => entry!(F32 <- F32 F32 |a, b| saturate(flush(add32(flush(a), flush(b), MODE)))),
            ["sub", "f32"] => entry!(F32 <- F32 F32 |a, b| add32(a, -b, MODE)),
            ["sub", "ftz", "f32"] => entry!(F32 <- F32 F32 |a, b| flush(add32(flush(a), -flush(b), MODE))),
            ["sub", "sat", "f32"] => entry!(F32 <- F32 F32 |a, b| saturate(add32(a, -b, MODE))),
            ["sub", "ftz", "sat", "f32"] => entry!(F32 <- F32 F32 |a, b| saturate(flush(add32(flush(a), -flush(b), MODE)))),
            ["mul", "f32"] => entry!(F32 <- F32 F32 |a, b| mul32(a, b, MODE)),
            ["mul", "ftz", "f32"] => entry!(F32 <- F32 F32 |a, b| flush(mul32(flush(a), flush(b), MODE))),
            ["mul", "sat", "f32"] => entry!(F32 <- F32 F32 |a, b| saturate(mul32(a, b, MODE))),
            ["mul", "ftz", "sat", "f32"] => entry!(F32 <- F32 F32 |a, b| saturate(flush(mul32(flush(a), flush(b), MODE)))),
            ["fma" | "mad", "f32"] => entry!(F32 <- F32 F32 F32 |a, b, c| fused32(a, b, c, MODE)),
            ["fma" | "mad", "ftz", "f32"] => {
                entry!(F32 <- F32 F32 F32 |a, b, c| flush(fused32(flush(a), flush(b), flush(c), MODE)))
            }
            ["fma" | "mad", "sat", "f32"] => entry!(F32 <- F32 F32 F32 |a, b, c| saturate(fused32(a, b, c, MODE))),
            ["fma" | "mad", "ftz", "sat", "f32"] => {
                entry!(F32 <- F32 F32 F32 |a, b, c| saturate(flush(fused32(flush(a), flush(b), flush(c), MODE))))
            }
            ["div", "f32"] => entry!(F32 <- F32 F32 |a, b| div32(a, b, MODE)),
            ["div", "ftz", "f32"] => entry!(F32 <- F32 F32 |a, b| flushed_div32(flush(a), flush(b), MODE)),
            ["rcp", "f32"] => entry!(F32 <- F32 |a| div32(1.0, a, MODE)),
            ["rcp", "ftz", "f32"] => entry!(F32 <- F32 |a| flush(div32(1.0, flush(a), MODE))),
            ["sqrt", "f32"] => entry!(F32 <- F32 |a| sqrt32(a, MODE)),
            ["sqrt", "ftz", "f32"] => entry!(F32 <- F32 |a| flush(sqrt32(flush(a), MODE))),
            ["add", "f64"] => entry!(F64 <- F64 F64 |a, b| settled(soft::add(a, b, MODE), [b, a])),
            ["sub", "f64"] => entry!(F64 <- F64 F64 |a, b| settled(soft::add(a, -b, MODE), [b, a])),
            ["mul", "f64"] => entry!(F64 <- F64 F64 |a, b| settled(soft::product(a, b, MODE), [b, a])),
            ["fma" | "mad", "f64"] => entry!(F64 <- F64 F64 F64 |a, b, c| settled(soft::fused(a, b, c, MODE), [b, c, a])),
            ["div", "f64"] => entry!(F64 <- F64 F64 |a, b| settled(soft::quotient(a, b, MODE), [a, b])),
            ["rcp", "f64"] => entry!(F64 <- F64 |a| settled(soft::quotient(1.0, a, MODE), [a])),
            ["sqrt", "f64"] => entry!(F64 <- F64 |a| settled(soft::root(a, MODE), [a])),
            _ => return None,
        }
    }};
}

/// `opcode.rz`, `.rm` and `.rp`.
pub(super) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    let [opcode, mode, rest @ ..] = mnemonic else {
        return None;
    };
    let mut parts = vec![*opcode];
    parts.extend(rest);
    Some(match *mode {
        "rz" => direction!(parts.as_slice(), Rounding::Zero),
        "rm" => direction!(parts.as_slice(), Rounding::Down),
        "rp" => direction!(parts.as_slice(), Rounding::Up),
        _ => return None,
    })
}
