//! Integer arithmetic, logic and shifts.

use super::map::{Entry, Ty, entry, lane, pack, unpack};

/// The form with that mnemonic, split at its dots.
pub(crate) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    arithmetic(mnemonic)
        .or_else(|| multiply(mnemonic))
        .or_else(|| logic(mnemonic))
        .or_else(|| bits(mnemonic))
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
        ["prmt", "b32"] => entry!(B32 <- B32 B32 B32 |a, b, c| permute(a, b, c)),
        _ => return None,
    })
}

fn funnel_left(low: u32, high: u32, by: u32) -> u32 {
    let both = u64::from(high) << 32 | u64::from(low);
    (both << by >> 32) as u32
}

fn funnel_right(low: u32, high: u32, by: u32) -> u32 {
    let both = u64::from(high) << 32 | u64::from(low);
    (both >> by) as u32
}

/// Four bytes of the eight in `a` and `b`, each chosen by four bits; the top bit of a choice replicates the byte's sign.
fn permute(a: u32, b: u32, choice: u32) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let mut out = [0; 4];
    for (index, out) in out.iter_mut().enumerate() {
        let nibble = choice >> (4 * index) & 15;
        let byte = bytes[nibble as usize & 7];
        *out = if nibble & 8 == 0 {
            byte
        } else {
            (byte as i8 >> 7) as u8
        };
    }
    u32::from_le_bytes(out)
}

fn bits(mnemonic: &[&str]) -> Option<Entry> {
    Some(match mnemonic {
        ["dp4a", "u32", "u32"] => entry!(B32 <- B32 B32 B32 |a, b, c| dot4(a, b, c, false, false)),
        ["dp4a", "u32", "s32"] => entry!(B32 <- B32 B32 B32 |a, b, c| dot4(a, b, c, false, true)),
        ["dp4a", "s32", "u32"] => entry!(B32 <- B32 B32 B32 |a, b, c| dot4(a, b, c, true, false)),
        ["dp4a", "s32", "s32"] => entry!(B32 <- B32 B32 B32 |a, b, c| dot4(a, b, c, true, true)),
        ["popc", "b32"] => entry!(B32 <- B32 |a| a.count_ones()),
        ["popc", "b64"] => entry!(B32 <- B64 |a| a.count_ones()),
        ["clz", "b32"] => entry!(B32 <- B32 |a| a.leading_zeros()),
        ["clz", "b64"] => entry!(B32 <- B64 |a| a.leading_zeros()),
        ["brev", "b32"] => entry!(B32 <- B32 |a| a.reverse_bits()),
        ["brev", "b64"] => entry!(B64 <- B64 |a| a.reverse_bits()),
        ["bfind", "u32"] => entry!(B32 <- B32 |a| highest(u64::from(a))),
        ["bfind", "u64"] => entry!(B32 <- B64 |a| highest(a)),
        ["bfind", "s32"] => entry!(B32 <- B32 |a| highest(u64::from(a ^ (a as i32 >> 31) as u32))),
        ["bfind", "s64"] => entry!(B32 <- B64 |a| highest(a ^ (a as i64 >> 63) as u64)),
        ["bfind", "shiftamt", "u32"] => {
            entry!(B32 <- B32 |a| shift_amount(highest(u64::from(a)), 31))
        }
        ["bfind", "shiftamt", "u64"] => entry!(B32 <- B64 |a| shift_amount(highest(a), 63)),
        ["bfind", "shiftamt", "s32"] => {
            entry!(B32 <- B32 |a| shift_amount(highest(u64::from(a ^ (a as i32 >> 31) as u32)), 31))
        }
        ["bfind", "shiftamt", "s64"] => {
            entry!(B32 <- B64 |a| shift_amount(highest(a ^ (a as i64 >> 63) as u64), 63))
        }
        ["bfe", "u32"] => {
            entry!(B32 <- B32 B32 B32 |a, b, c| extract32(a, b, c, false))
        }
        ["bfe", "u64"] => entry!(B64 <- B64 B32 B32 |a, b, c| extract64(a, b, c, false)),
        ["bfe", "s32"] => {
            entry!(B32 <- B32 B32 B32 |a, b, c| extract32(a, b, c, true))
        }
        ["bfe", "s64"] => entry!(B64 <- B64 B32 B32 |a, b, c| extract64(a, b, c, true)),
        ["bfi", "b32"] => Entry {
            dst: Ty::B32,
            src: &[Ty::B32, Ty::B32, Ty::B32, Ty::B32],
            run: |i, r, m| {
                super::map::map4::<u32, u32, u32, u32>(i, r, m, |a, b, c, d| {
                    insert(u64::from(a), u64::from(b), c, d, 32) as u32
                });
            },
        },
        ["bfi", "b64"] => Entry {
            dst: Ty::B64,
            src: &[Ty::B64, Ty::B64, Ty::B32, Ty::B32],
            run: |i, r, m| {
                super::map::map4::<u64, u64, u32, u64>(i, r, m, |a, b, c, d| insert(a, b, c, d, 64))
            },
        },
        _ => return None,
    })
}

/// The four products of bytes, and `c`.
fn dot4(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let byte = |byte: u8, signed| {
        if signed {
            i32::from(byte as i8)
        } else {
            i32::from(byte)
        }
    };
    let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    pairs.fold(c, |sum, (a, b)| {
        sum.wrapping_add((byte(a, a_signed) * byte(b, b_signed)) as u32)
    })
}

/// Position of the highest set bit, or all ones.
fn highest(a: u64) -> u32 {
    63u32.wrapping_sub(a.leading_zeros())
}

/// How far to shift so that the bit at `position` becomes the highest, or all ones.
fn shift_amount(position: u32, top: u32) -> u32 {
    if position == u32::MAX {
        position
    } else {
        top - position
    }
}

/// Of a 32-bit word: position and length are taken from eight bits.
fn extract32(a: u32, start: u32, length: u32, signed: bool) -> u32 {
    extract(
        u64::from(a),
        u64::from(start & 0xff),
        u64::from(length & 0xff),
        32,
        signed,
    ) as u32
}

/// Of a 64-bit word: position and length count in full, as GPUs do it.
fn extract64(a: u64, start: u32, length: u32, signed: bool) -> u64 {
    extract(a, u64::from(start), u64::from(length), 64, signed)
}

/// `length` bits of `a` from bit `start`; past the top, the sign or zero continues.
fn extract(a: u64, start: u64, length: u64, width: u64, signed: bool) -> u64 {
    let top = (start + length).saturating_sub(1).min(width - 1);
    let sign = signed && length > 0 && (a >> top) & 1 == 1;
    let kept = low_bits(length.min(width.saturating_sub(start)) as u32);
    let out = if start < width {
        (a >> start) & kept
    } else {
        0
    };
    if sign { out | !kept } else { out }
}

/// `b` with `length` bits from bit `start` replaced by the low bits of `a`.
fn insert(a: u64, b: u64, start: u32, length: u32, width: u32) -> u64 {
    let (start, length) = (start & 0xff, length & 0xff);
    if start >= width {
        return b;
    }
    let field = low_bits(length.min(width - start)) << start;
    b & !field | a << start & field
}

fn low_bits(count: u32) -> u64 {
    if count >= 64 {
        u64::MAX
    } else {
        (1 << count) - 1
    }
}
