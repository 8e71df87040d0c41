//! Integer arithmetic, logic and shifts.

mod bits;
mod fields;
mod packed;

use super::map::{Entry, Ty, entry, lane, pack, unpack};
use crate::processor::for_each_processor;

/// The form with that mnemonic, split at its dots, but for those that are compiled for each kind of processor.
pub(crate) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    bits::lookup(mnemonic)
        .or_else(|| fields::lookup(mnemonic))
        .or_else(|| packed::lookup(mnemonic))
}

fn wide_s16(a: u16, b: u16) -> i32 {
    i32::from(a as i16) * i32::from(b as i16)
}

fn wide_u16(a: u16, b: u16) -> u32 {
    u32::from(a) * u32::from(b)
}

fn wide_s32(a: u32, b: u32) -> i64 {
    i64::from(a as i32) * i64::from(b as i32)
}

fn wide_u32(a: u32, b: u32) -> u64 {
    u64::from(a) * u64::from(b)
}

pub(super) fn high_u64(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

pub(super) fn high_s64(a: u64, b: u64) -> u64 {
    ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
}

pub(super) fn high_u32(a: u32, b: u32) -> u32 {
    (wide_u32(a, b) >> 32) as u32
}

pub(super) fn high_s32(a: u32, b: u32) -> u32 {
    (wide_s32(a, b) >> 32) as u32
}

fn saturating_high_add(a: u32, b: u32, c: u32) -> u32 {
    ((wide_s32(a, b) >> 32) as i32).saturating_add(c as i32) as u32
}

/// The low 24 bits.
fn low24(a: u32) -> u64 {
    u64::from(a & 0xff_ffff)
}

/// The low 24 bits with their sign extended.
fn signed24(a: u32) -> i64 {
    i64::from((a << 8) as i32 >> 8)
}

fn funnel_left(low: u32, high: u32, by: u32) -> u32 {
    let both = u64::from(high) << 32 | u64::from(low);
    (both << by >> 32) as u32
}

fn funnel_right(low: u32, high: u32, by: u32) -> u32 {
    let both = u64::from(high) << 32 | u64::from(low);
    (both >> by) as u32
}

for_each_processor! {
    /// Arithmetic, logic and shifts.
    pub(crate) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
        arithmetic(mnemonic)
            .or_else(|| multiply(mnemonic))
            .or_else(|| logic(mnemonic))
    }

    fn arithmetic(mnemonic: &[&str]) -> Option<Entry> {
        Some(match mnemonic {
            ["add", "u16" | "s16"] => entry!(B16 <- B16 B16 |a, b| a.wrapping_add(b)),
            ["add", "u32" | "s32"] => entry!(B32 <- B32 B32 |a, b| a.wrapping_add(b)),
            ["add", "u64" | "s64"] => entry!(B64 <- B64 B64 |a, b| a.wrapping_add(b)),
            ["add", "sat", "s32"] => {
                entry!(B32 <- B32 B32 |a, b| (a as i32).saturating_add(b as i32) as u32)
            }
            ["sub", "u16" | "s16"] => entry!(B16 <- B16 B16 |a, b| a.wrapping_sub(b)),
            ["sub", "u32" | "s32"] => entry!(B32 <- B32 B32 |a, b| a.wrapping_sub(b)),
            ["sub", "u64" | "s64"] => entry!(B64 <- B64 B64 |a, b| a.wrapping_sub(b)),
            ["sub", "sat", "s32"] => {
                entry!(B32 <- B32 B32 |a, b| (a as i32).saturating_sub(b as i32) as u32)
            }
            // The ISA leaves division by zero open; GPUs give all ones, as the remainder too.
            ["div", "u16"] => entry!(B16 <- B16 B16 |a, b| a.checked_div(b).unwrap_or(u16::MAX)),
            ["div", "s16"] => {
                entry!(B16 <- B16 B16 |a, b| if b == 0 { u16::MAX } else { (a as i16).wrapping_div(b as i16) as u16 })
            }
            ["div", "u32"] => entry!(B32 <- B32 B32 |a, b| a.checked_div(b).unwrap_or(u32::MAX)),
            ["div", "s32"] => {
                entry!(B32 <- B32 B32 |a, b| if b == 0 { u32::MAX } else { (a as i32).wrapping_div(b as i32) as u32 })
            }
            ["div", "u64"] => entry!(B64 <- B64 B64 |a, b| a.checked_div(b).unwrap_or(u64::MAX)),
            ["div", "s64"] => {
                entry!(B64 <- B64 B64 |a, b| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 })
            }
            ["rem", "u16"] => entry!(B16 <- B16 B16 |a, b| a.checked_rem(b).unwrap_or(u16::MAX)),
            ["rem", "s16"] => {
                entry!(B16 <- B16 B16 |a, b| if b == 0 { u16::MAX } else { (a as i16).wrapping_rem(b as i16) as u16 })
            }
            ["rem", "u32"] => entry!(B32 <- B32 B32 |a, b| a.checked_rem(b).unwrap_or(u32::MAX)),
            ["rem", "s32"] => {
                entry!(B32 <- B32 B32 |a, b| if b == 0 { u32::MAX } else { (a as i32).wrapping_rem(b as i32) as u32 })
            }
            ["rem", "u64"] => entry!(B64 <- B64 B64 |a, b| a.checked_rem(b).unwrap_or(u64::MAX)),
            ["rem", "s64"] => {
                entry!(B64 <- B64 B64 |a, b| if b == 0 { u64::MAX } else { (a as i64).wrapping_rem(b as i64) as u64 })
            }
            ["abs", "s16"] => entry!(B16 <- B16 |a| (a as i16).wrapping_abs() as u16),
            ["abs", "s32"] => entry!(B32 <- B32 |a| (a as i32).wrapping_abs() as u32),
            ["abs", "s64"] => entry!(B64 <- B64 |a| (a as i64).wrapping_abs() as u64),
            ["neg", "s16"] => entry!(B16 <- B16 |a| a.wrapping_neg()),
            ["neg", "s32"] => entry!(B32 <- B32 |a| a.wrapping_neg()),
            ["neg", "s64"] => entry!(B64 <- B64 |a| a.wrapping_neg()),
            ["min", "u16"] => entry!(B16 <- B16 B16 |a, b| a.min(b)),
            ["min", "u32"] => entry!(B32 <- B32 B32 |a, b| a.min(b)),
            ["min", "u64"] => entry!(B64 <- B64 B64 |a, b| a.min(b)),
            ["min", "s16"] => entry!(B16 <- B16 B16 |a, b| (a as i16).min(b as i16) as u16),
            ["min", "s32"] => entry!(B32 <- B32 B32 |a, b| (a as i32).min(b as i32) as u32),
            ["min", "s64"] => entry!(B64 <- B64 B64 |a, b| (a as i64).min(b as i64) as u64),
            ["max", "u16"] => entry!(B16 <- B16 B16 |a, b| a.max(b)),
            ["max", "u32"] => entry!(B32 <- B32 B32 |a, b| a.max(b)),
            ["max", "u64"] => entry!(B64 <- B64 B64 |a, b| a.max(b)),
            ["max", "s16"] => entry!(B16 <- B16 B16 |a, b| (a as i16).max(b as i16) as u16),
            ["max", "s32"] => entry!(B32 <- B32 B32 |a, b| (a as i32).max(b as i32) as u32),
            ["max", "s64"] => entry!(B64 <- B64 B64 |a, b| (a as i64).max(b as i64) as u64),
            ["sad", "u16"] => entry!(B16 <- B16 B16 B16 |a, b, c| c.wrapping_add(a.abs_diff(b))),
            ["sad", "u32"] => entry!(B32 <- B32 B32 B32 |a, b, c| c.wrapping_add(a.abs_diff(b))),
            ["sad", "u64"] => entry!(B64 <- B64 B64 B64 |a, b, c| c.wrapping_add(a.abs_diff(b))),
            ["sad", "s16"] => {
                entry!(B16 <- B16 B16 B16 |a, b, c| c.wrapping_add((a as i16).abs_diff(b as i16)))
            }
            ["sad", "s32"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| c.wrapping_add((a as i32).abs_diff(b as i32)))
            }
            ["sad", "s64"] => {
                entry!(B64 <- B64 B64 B64 |a, b, c| c.wrapping_add((a as i64).abs_diff(b as i64)))
            }
            _ => return None,
        })
    }

    fn multiply(mnemonic: &[&str]) -> Option<Entry> {
        Some(match mnemonic {
            ["mul", "lo", "u16" | "s16"] => entry!(B16 <- B16 B16 |a, b| a.wrapping_mul(b)),
            ["mul", "lo", "u32" | "s32"] => entry!(B32 <- B32 B32 |a, b| a.wrapping_mul(b)),
            ["mul", "lo", "u64" | "s64"] => entry!(B64 <- B64 B64 |a, b| a.wrapping_mul(b)),
            ["mul", "hi", "u16"] => entry!(B16 <- B16 B16 |a, b| (wide_u16(a, b) >> 16) as u16),
            ["mul", "hi", "s16"] => entry!(B16 <- B16 B16 |a, b| (wide_s16(a, b) >> 16) as u16),
            ["mul", "hi", "u32"] => entry!(B32 <- B32 B32 |a, b| (wide_u32(a, b) >> 32) as u32),
            ["mul", "hi", "s32"] => entry!(B32 <- B32 B32 |a, b| (wide_s32(a, b) >> 32) as u32),
            ["mul", "hi", "u64"] => entry!(B64 <- B64 B64 |a, b| high_u64(a, b)),
            ["mul", "hi", "s64"] => entry!(B64 <- B64 B64 |a, b| high_s64(a, b)),
            ["mul", "wide", "u16"] => entry!(B32 <- B16 B16 |a, b| wide_u16(a, b)),
            ["mul", "wide", "s16"] => entry!(B32 <- B16 B16 |a, b| wide_s16(a, b) as u32),
            ["mul", "wide", "u32"] => entry!(B64 <- B32 B32 |a, b| wide_u32(a, b)),
            ["mul", "wide", "s32"] => entry!(B64 <- B32 B32 |a, b| wide_s32(a, b) as u64),
            ["mul24", "lo", "u32"] => entry!(B32 <- B32 B32 |a, b| (low24(a) * low24(b)) as u32),
            ["mul24", "lo", "s32"] => entry!(B32 <- B32 B32 |a, b| (signed24(a) * signed24(b)) as u32),
            ["mul24", "hi", "u32"] => {
                entry!(B32 <- B32 B32 |a, b| ((low24(a) * low24(b)) >> 16) as u32)
            }
            ["mul24", "hi", "s32"] => {
                entry!(B32 <- B32 B32 |a, b| ((signed24(a) * signed24(b)) >> 16) as u32)
            }
            ["mad", "lo", "u16" | "s16"] => {
                entry!(B16 <- B16 B16 B16 |a, b, c| a.wrapping_mul(b).wrapping_add(c))
            }
            ["mad", "lo", "u32" | "s32"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| a.wrapping_mul(b).wrapping_add(c))
            }
            ["mad", "lo", "u64" | "s64"] => {
                entry!(B64 <- B64 B64 B64 |a, b, c| a.wrapping_mul(b).wrapping_add(c))
            }
            ["mad", "hi", "u16"] => {
                entry!(B16 <- B16 B16 B16 |a, b, c| ((wide_u16(a, b) >> 16) as u16).wrapping_add(c))
            }
            ["mad", "hi", "s16"] => {
                entry!(B16 <- B16 B16 B16 |a, b, c| ((wide_s16(a, b) >> 16) as u16).wrapping_add(c))
            }
            ["mad", "hi", "u32"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| ((wide_u32(a, b) >> 32) as u32).wrapping_add(c))
            }
            ["mad", "hi", "s32"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| ((wide_s32(a, b) >> 32) as u32).wrapping_add(c))
            }
            ["mad", "hi", "sat", "s32"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| saturating_high_add(a, b, c))
            }
            ["mad", "hi", "u64"] => entry!(B64 <- B64 B64 B64 |a, b, c| high_u64(a, b).wrapping_add(c)),
            ["mad", "hi", "s64"] => entry!(B64 <- B64 B64 B64 |a, b, c| high_s64(a, b).wrapping_add(c)),
            ["mad", "wide", "u16"] => {
                entry!(B32 <- B16 B16 B32 |a, b, c| wide_u16(a, b).wrapping_add(c))
            }
            ["mad", "wide", "s16"] => {
                entry!(B32 <- B16 B16 B32 |a, b, c| (wide_s16(a, b) as u32).wrapping_add(c))
            }
            ["mad", "wide", "u32"] => {
                entry!(B64 <- B32 B32 B64 |a, b, c| wide_u32(a, b).wrapping_add(c))
            }
            ["mad", "wide", "s32"] => {
                entry!(B64 <- B32 B32 B64 |a, b, c| (wide_s32(a, b) as u64).wrapping_add(c))
            }
            ["mad24", "lo", "u32"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| ((low24(a) * low24(b)) as u32).wrapping_add(c))
            }
            ["mad24", "lo", "s32"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| ((signed24(a) * signed24(b)) as u32).wrapping_add(c))
            }
            ["mad24", "hi", "u32"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| (((low24(a) * low24(b)) >> 16) as u32).wrapping_add(c))
            }
            ["mad24", "hi", "sat", "s32"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| {
                    (((signed24(a) * signed24(b)) >> 16) as i32).saturating_add(c as i32) as u32
                })
            }
            ["mad24", "hi", "s32"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| (((signed24(a) * signed24(b)) >> 16) as u32).wrapping_add(c))
            }
            _ => return None,
        })
    }

    fn logic(mnemonic: &[&str]) -> Option<Entry> {
        Some(match mnemonic {
            ["and", "b16"] => entry!(B16 <- B16 B16 |a, b| a & b),
            ["and", "b32"] => entry!(B32 <- B32 B32 |a, b| a & b),
            ["and", "b64"] => entry!(B64 <- B64 B64 |a, b| a & b),
            ["or", "b16"] => entry!(B16 <- B16 B16 |a, b| a | b),
            ["or", "b32"] => entry!(B32 <- B32 B32 |a, b| a | b),
            ["or", "b64"] => entry!(B64 <- B64 B64 |a, b| a | b),
            ["xor", "b16"] => entry!(B16 <- B16 B16 |a, b| a ^ b),
            ["xor", "b32"] => entry!(B32 <- B32 B32 |a, b| a ^ b),
            ["xor", "b64"] => entry!(B64 <- B64 B64 |a, b| a ^ b),
            ["not", "b16"] => entry!(B16 <- B16 |a| !a),
            ["not", "b32"] => entry!(B32 <- B32 |a| !a),
            ["not", "b64"] => entry!(B64 <- B64 |a| !a),
            ["cnot", "b16"] => entry!(B16 <- B16 |a| u16::from(a == 0)),
            ["cnot", "b32"] => entry!(B32 <- B32 |a| u32::from(a == 0)),
            ["cnot", "b64"] => entry!(B64 <- B64 |a| u64::from(a == 0)),
            // Shifts past the width shift everything out.
            ["shl", "b16"] => entry!(B16 <- B16 B32 |a, b| if b > 15 { 0 } else { a << b }),
            ["shl", "b32"] => entry!(B32 <- B32 B32 |a, b| if b > 31 { 0 } else { a << b }),
            ["shl", "b64"] => entry!(B64 <- B64 B32 |a, b| if b > 63 { 0 } else { a << b }),
            ["shr", "u16" | "b16"] => entry!(B16 <- B16 B32 |a, b| if b > 15 { 0 } else { a >> b }),
            ["shr", "u32" | "b32"] => entry!(B32 <- B32 B32 |a, b| if b > 31 { 0 } else { a >> b }),
            ["shr", "u64" | "b64"] => entry!(B64 <- B64 B32 |a, b| if b > 63 { 0 } else { a >> b }),
            ["shr", "s16"] => entry!(B16 <- B16 B32 |a, b| (a as i16 >> b.min(15)) as u16),
            ["shr", "s32"] => entry!(B32 <- B32 B32 |a, b| (a as i32 >> b.min(31)) as u32),
            ["shr", "s64"] => entry!(B64 <- B64 B32 |a, b| (a as i64 >> b.min(63)) as u64),
            ["shf", "l", "wrap", "b32"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| funnel_left(a, b, c & 31))
            }
            ["shf", "l", "clamp", "b32"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| funnel_left(a, b, c.min(32)))
            }
            ["shf", "r", "wrap", "b32"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| funnel_right(a, b, c & 31))
            }
            ["shf", "r", "clamp", "b32"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| funnel_right(a, b, c.min(32)))
            }
            _ => return None,
        })
    }
}
