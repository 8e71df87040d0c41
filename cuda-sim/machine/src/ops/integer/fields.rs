//! Masks, extensions, permutations of bytes, and the n-th set bit.

use crate::ops::map::{Entry, Ty, entry, lane, pack, unpack};

/// The form with that mnemonic, split at its dots.
pub(super) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    Some(match mnemonic {
        ["bmsk", "clamp", "b32"] => entry!(B32 <- B32 B32 |a, b| mask(a.min(32), b.min(32))),
        ["bmsk", "wrap", "b32"] => entry!(B32 <- B32 B32 |a, b| mask(a & 31, b & 31)),
        ["szext", "clamp", "u32"] => entry!(B32 <- B32 B32 |a, b| a & mask(0, b.min(32))),
        ["szext", "wrap", "u32"] => entry!(B32 <- B32 B32 |a, b| a & mask(0, b & 31)),
        ["szext", "clamp", "s32"] => entry!(B32 <- B32 B32 |a, b| sign_extend(a, b.min(32))),
        ["szext", "wrap", "s32"] => entry!(B32 <- B32 B32 |a, b| sign_extend(a, b & 31)),
        ["fns", "b32"] => entry!(B32 <- B32 B32 B32 |a, b, c| nth_set(a, b, c as i32)),
        ["prmt", "b32"] => entry!(B32 <- B32 B32 B32 |a, b, c| permute(a, b, c)),
        // The bytes from the chosen one upwards, or downwards.
        ["prmt", "b32", "f4e"] => {
            entry!(B32 <- B32 B32 B32 |a, b, c| choose(a, b, |to| (c & 3) + to))
        }
        ["prmt", "b32", "b4e"] => {
            entry!(B32 <- B32 B32 B32 |a, b, c| choose(a, b, |to| (c & 3).wrapping_sub(to)))
        }
        // One byte, or one half, everywhere.
        ["prmt", "b32", "rc8"] => entry!(B32 <- B32 B32 B32 |a, b, c| choose(a, b, |_| c & 3)),
        ["prmt", "b32", "rc16"] => {
            entry!(B32 <- B32 B32 B32 |a, b, c| choose(a, b, |to| (c & 1) * 2 + (to & 1)))
        }
        // Bytes below, or above, the chosen one become copies of it.
        ["prmt", "b32", "ecl"] => {
            entry!(B32 <- B32 B32 B32 |a, b, c| choose(a, b, |to| to.max(c & 3)))
        }
        ["prmt", "b32", "ecr"] => {
            entry!(B32 <- B32 B32 B32 |a, b, c| choose(a, b, |to| to.min(c & 3)))
        }
        _ => return None,
    })
}

/// `length` set bits from bit `start`, both at most 32.
fn mask(start: u32, length: u32) -> u32 {
    (((1u64 << length) - 1) << start) as u32
}

/// The low `length` bits with their sign extended.
fn sign_extend(a: u32, length: u32) -> u32 {
    if length == 0 {
        return 0;
    }
    let unused = 32 - length;
    ((a << unused) as i32 >> unused) as u32
}

/// The position of the set bit that is `offset` further than `base`, counting `base` itself as the first; all ones where there is none.
fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let mut left = if offset == 0 {
        0
    } else {
        offset.unsigned_abs() - 1
    };
    let mut at = i64::from(base);
    while (0..32).contains(&at) {
        if mask >> at & 1 == 1 {
            if left == 0 {
                return at as u32;
            }
            left -= 1;
        }
        match offset.signum() {
            0 => break,
            step => at += i64::from(step),
        }
    }
    u32::MAX
}

/// The bytes of `b` and `a`, of which byte `to` of the result is number `from(to)`.
fn choose(a: u32, b: u32, from: impl Fn(u32) -> u32) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    u32::from_le_bytes([0, 1, 2, 3].map(|to| bytes[from(to) as usize & 7]))
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
