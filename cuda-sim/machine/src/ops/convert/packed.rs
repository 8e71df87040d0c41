//! `cvt.pack`: two integers saturated into the low end of a word.

use crate::ops::map::{Entry, Ty, map2, map3};

/// The form with that mnemonic, split at its dots.
pub(super) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    let (ty, with_rest) = match mnemonic {
        ["cvt", "pack", "sat", ty @ ("u16" | "s16"), "s32"] => (ty, false),
        [
            "cvt",
            "pack",
            "sat",
            ty @ ("u8" | "s8" | "u4" | "s4" | "u2" | "s2"),
            "s32",
            "b32",
        ] => (ty, true),
        _ => return None,
    };
    let bits: i64 = ty[1..].parse().ok()?;
    let imm = bits | i64::from(ty.starts_with('s')) << 8;
    Some(if with_rest {
        // What was packed before moves up.
        Entry::new(Ty::B32, &[Ty::B32, Ty::B32, Ty::B32], |i, r, m| {
            let (bits, signed) = (i.imm as u32 & 0xff, i.imm >> 8 == 1);
            map3::<u32, u32, u32, u32>(i, r, m, |a, b, c| {
                c << (2 * bits) | both(a as i32, b as i32, bits, signed)
            });
        })
        .with(imm)
    } else {
        Entry::new(Ty::B32, &[Ty::B32, Ty::B32], |i, r, m| {
            let (bits, signed) = (i.imm as u32 & 0xff, i.imm >> 8 == 1);
            map2::<u32, u32, u32>(i, r, m, |a, b| both(a as i32, b as i32, bits, signed));
        })
        .with(imm)
    })
}

/// `a` above `b`, each saturated to so many bits.
fn both(a: i32, b: i32, bits: u32, signed: bool) -> u32 {
    let (low, high) = if signed {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    };
    let kept = (1u32 << bits) - 1;
    let part = |value: i32| value.clamp(low, high) as u32 & kept;
    part(a) << bits | part(b)
}
