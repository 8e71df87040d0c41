//! Counting, finding, extracting and inserting bits, and sums of byte products.

use crate::ops::map::{Entry, Ty, entry, lane, pack, unpack};

/// The form with that mnemonic, split at its dots.
pub(super) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    Some(match mnemonic {
        ["dp4a", "u32", "u32"] => entry!(B32 <- B32 B32 B32 |a, b, c| dot4(a, b, c, false, false)),
        ["dp4a", "u32", "s32"] => entry!(B32 <- B32 B32 B32 |a, b, c| dot4(a, b, c, false, true)),
        ["dp4a", "s32", "u32"] => entry!(B32 <- B32 B32 B32 |a, b, c| dot4(a, b, c, true, false)),
        ["dp4a", "s32", "s32"] => entry!(B32 <- B32 B32 B32 |a, b, c| dot4(a, b, c, true, true)),
        [
            "dp2a",
            half @ ("lo" | "hi"),
            a @ ("u32" | "s32"),
            b @ ("u32" | "s32"),
        ] => {
            let shift = if *half == "hi" { 16 } else { 0 };
            let signs = i64::from(*a == "s32") | i64::from(*b == "s32") << 1;
            Entry::new(Ty::B32, &[Ty::B32, Ty::B32, Ty::B32], |i, r, m| {
                let (shift, signs) = (i.imm >> 8, i.imm & 3);
                crate::ops::map::map3::<u32, u32, u32, u32>(i, r, m, |a, b, c| {
                    dot2(a, b >> shift, c, signs & 1 == 1, signs & 2 == 2)
                });
            })
            .with(shift << 8 | signs)
        }
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
                crate::ops::map::map4::<u32, u32, u32, u32>(i, r, m, |a, b, c, d| {
                    insert(u64::from(a), u64::from(b), c & 0xff, d & 0xff, 32) as u32
                });
            },
            imm: 0,
        },
        ["bfi", "b64"] => Entry {
            dst: Ty::B64,
            src: &[Ty::B64, Ty::B64, Ty::B32, Ty::B32],
            run: |i, r, m| {
                crate::ops::map::map4::<u64, u64, u32, u64>(i, r, m, |a, b, c, d| {
                    insert(a, b, c, d, 64)
                })
            },
            imm: 0,
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

/// The products of the two halves of `a` and the two low bytes of `b`, and `c`.
fn dot2(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let product = |index: u32| {
        let (half, byte) = ((a >> (16 * index)) as u16, (b >> (8 * index)) as u8);
        let half = if a_signed {
            i32::from(half as i16)
        } else {
            i32::from(half)
        };
        let byte = if b_signed {
            i32::from(byte as i8)
        } else {
            i32::from(byte)
        };
        (half * byte) as u32
    };
    c.wrapping_add(product(0)).wrapping_add(product(1))
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

/// `b` with `length` bits from bit `start` replaced by the low bits of `a`. As with [`extract`], both numbers are taken from eight bits
/// for 32-bit words and count in full for 64-bit words.
fn insert(a: u64, b: u64, start: u32, length: u32, width: u32) -> u64 {
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
