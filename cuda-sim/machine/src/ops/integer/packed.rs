//! Pairs of 16-bit integers, and minima and maxima that are cut off at zero.

use crate::ops::map::{Entry, Ty, entry, lane, pack, unpack};

/// Applies a function to both halves.
fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

fn min_s16(a: u16, b: u16) -> u16 {
    (a as i16).min(b as i16) as u16
}

fn max_s16(a: u16, b: u16) -> u16 {
    (a as i16).max(b as i16) as u16
}

/// The form with that mnemonic, split at its dots.
pub(super) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    Some(match mnemonic {
        ["add", "u16x2" | "s16x2"] => entry!(B32 <- B32 B32 |a, b| halves(a, b, u16::wrapping_add)),
        ["min", "u16x2"] => entry!(B32 <- B32 B32 |a, b| halves(a, b, u16::min)),
        ["max", "u16x2"] => entry!(B32 <- B32 B32 |a, b| halves(a, b, u16::max)),
        ["min", "s16x2"] => entry!(B32 <- B32 B32 |a, b| halves(a, b, min_s16)),
        ["max", "s16x2"] => entry!(B32 <- B32 B32 |a, b| halves(a, b, max_s16)),
        ["min", "relu", "s16x2"] => {
            entry!(B32 <- B32 B32 |a, b| halves(a, b, |a, b| max_s16(min_s16(a, b), 0)))
        }
        ["max", "relu", "s16x2"] => {
            entry!(B32 <- B32 B32 |a, b| halves(a, b, |a, b| max_s16(max_s16(a, b), 0)))
        }
        ["min", "relu", "s32"] => {
            entry!(B32 <- B32 B32 |a, b| (a as i32).min(b as i32).max(0) as u32)
        }
        ["max", "relu", "s32"] => {
            entry!(B32 <- B32 B32 |a, b| (a as i32).max(b as i32).max(0) as u32)
        }
        _ => return None,
    })
}
