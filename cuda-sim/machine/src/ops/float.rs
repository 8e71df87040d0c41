//! Floating-point arithmetic.

use super::map::{Entry, Ty, entry, lane, pack, unpack};

/// A single-precision result by its bits: every NaN is the one that GPUs produce.
#[inline(always)]
pub(crate) fn canonical32(x: f32) -> u32 {
    if x.is_nan() { 0x7fff_ffff } else { x.to_bits() }
}

/// A double-precision result by its bits.
#[inline(always)]
pub(crate) fn canonical64(x: f64) -> u64 {
    x.to_bits()
}

/// `.ftz`: a denormal becomes zero of its sign.
#[inline(always)]
pub(crate) fn flush(x: f32) -> f32 {
    if x.to_bits() & 0x7f80_0000 == 0 { f32::from_bits(x.to_bits() & 0x8000_0000) } else { x }
}

/// `.sat`: to 0 … 1, NaN to 0.
#[inline(always)]
pub(crate) fn saturate(x: f32) -> f32 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// The form with that mnemonic, split at its dots.
pub(crate) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    Some(match mnemonic {
        ["add", "f32"] | ["add", "rn", "f32"] => entry!(F32 <- F32 F32 |a, b| a + b),
        ["sub", "f32"] | ["sub", "rn", "f32"] => entry!(F32 <- F32 F32 |a, b| a - b),
        ["mul", "f32"] | ["mul", "rn", "f32"] => entry!(F32 <- F32 F32 |a, b| a * b),
        _ => return None,
    })
}
