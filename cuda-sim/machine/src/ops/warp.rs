//! Exchange between the lanes of a warp. The mask of each operation holds the lanes that take part.

use super::map::Ty;
use crate::WARP_SIZE;
use crate::code::{Access, Instr, NONE};
use crate::exec::{Env, LaneError, Scope};
use crate::registers::{Lane, write};

/// Numbers of the lanes in a mask.
fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..WARP_SIZE).filter(move |lane| mask >> lane & 1 == 1)
}

/// The operation of `shfl` in that mode.
pub(crate) fn shuffle(mode: &str) -> Option<Access> {
    Some(match mode {
        "up" => |i, s, _, m| exchange(i, s, m, |lane, b, _, max| (lane - b, lane - b >= max)),
        "down" => |i, s, _, m| exchange(i, s, m, |lane, b, _, max| (lane + b, lane + b <= max)),
        "bfly" => |i, s, _, m| exchange(i, s, m, |lane, b, _, max| (lane ^ b, lane ^ b <= max)),
        "idx" => |i, s, _, m| {
            exchange(i, s, m, |lane, b, segment, max| {
                let from = lane & segment | b & !segment;
                (from, from <= max)
            })
        },
        _ => return None,
    })
}

/// Each lane reads `a` of another; `choose(lane, b, segment mask, bound)` says of which, and whether that is within its segment.
#[inline(always)]
fn exchange(
    i: &Instr,
    scope: &mut Scope,
    mask: u32,
    choose: impl Fn(i32, i32, i32, i32) -> (i32, bool),
) -> Result<(), LaneError> {
    let registers = &scope.registers;
    let (a, b, c) = (
        u32::row(registers, i.src[0]),
        u32::row(registers, i.src[1]),
        u32::row(registers, i.src[2]),
    );
    let (mut out, mut valid) = (*a, 0);
    for lane in lanes(mask) {
        let (step, clamp, segment) = (
            b[lane] as i32 & 31,
            c[lane] as i32 & 31,
            (c[lane] >> 8) as i32 & 31,
        );
        let bound = lane as i32 & segment | clamp & !segment;
        let (from, inside) = choose(lane as i32, step, segment, bound);
        out[lane] = if inside {
            a[(from & 31) as usize]
        } else {
            a[lane]
        };
        valid |= u32::from(inside) << lane;
    }
    write(&mut scope.registers, i.dst[0], &out, mask);
    if i.dst[1] != NONE {
        scope.registers.set_predicate(i.dst[1], valid, mask);
    }
    Ok(())
}

/// The operation of `vote` in that mode, and the type of its result.
pub(crate) fn vote(mode: &str, ty: &str) -> Option<(Access, Ty)> {
    fn decide(i: &Instr, scope: &mut Scope, mask: u32, f: fn(u32, u32) -> bool) {
        let set = scope.registers.predicate(i.src[0]) & mask;
        scope
            .registers
            .set_predicate(i.dst[0], if f(set, mask) { u32::MAX } else { 0 }, mask);
    }
    let run: Access = match (mode, ty) {
        ("all", "pred") => |i, s, _, m| {
            decide(i, s, m, |set, all| set == all);
            Ok(())
        },
        ("any", "pred") => |i, s, _, m| {
            decide(i, s, m, |set, _| set != 0);
            Ok(())
        },
        ("uni", "pred") => |i, s, _, m| {
            decide(i, s, m, |set, all| set == all || set == 0);
            Ok(())
        },
        ("ballot", "b32") => |i, s, _, m| {
            let set = s.registers.predicate(i.src[0]) & m;
            write(&mut s.registers, i.dst[0], &[set; WARP_SIZE], m);
            Ok(())
        },
        _ => return None,
    };
    Some((run, if mode == "ballot" { Ty::B32 } else { Ty::Pred }))
}

/// The operation of `match` in that mode, and the type that it compares.
pub(crate) fn matching(mode: &str, ty: &str) -> Option<(Access, Ty)> {
    Some(match (mode, ty) {
        ("any", "b32") => (|i, s, _, m| match_any::<u32>(i, s, m), Ty::B32),
        ("any", "b64") => (|i, s, _, m| match_any::<u64>(i, s, m), Ty::B64),
        ("all", "b32") => (|i, s, _, m| match_all::<u32>(i, s, m), Ty::B32),
        ("all", "b64") => (|i, s, _, m| match_all::<u64>(i, s, m), Ty::B64),
        _ => return None,
    })
}

fn match_any<T: Lane + PartialEq>(
    i: &Instr,
    scope: &mut Scope,
    mask: u32,
) -> Result<(), LaneError> {
    let a = T::row(&scope.registers, i.src[0]);
    let mut out = [0u32; WARP_SIZE];
    for lane in lanes(mask) {
        out[lane] = lanes(mask)
            .filter(|&other| a[other] == a[lane])
            .fold(0, |same, other| same | 1 << other);
    }
    write(&mut scope.registers, i.dst[0], &out, mask);
    Ok(())
}

fn match_all<T: Lane + PartialEq>(
    i: &Instr,
    scope: &mut Scope,
    mask: u32,
) -> Result<(), LaneError> {
    let a = T::row(&scope.registers, i.src[0]);
    let first = lanes(mask).next().map(|lane| a[lane]);
    let same = lanes(mask).all(|lane| Some(a[lane]) == first);
    write(
        &mut scope.registers,
        i.dst[0],
        &[if same { mask } else { 0 }; WARP_SIZE],
        mask,
    );
    if i.dst[1] != NONE {
        scope
            .registers
            .set_predicate(i.dst[1], if same { u32::MAX } else { 0 }, mask);
    }
    Ok(())
}

/// The operation of `redux`.
pub(crate) fn reduction(operation: &str, ty: &str) -> Option<Access> {
    fn reduce(i: &Instr, scope: &mut Scope, mask: u32, f: fn(u32, u32) -> u32) {
        let a = u32::row(&scope.registers, i.src[0]);
        let value = lanes(mask).map(|lane| a[lane]).reduce(f).unwrap_or(0);
        write(&mut scope.registers, i.dst[0], &[value; WARP_SIZE], mask);
    }
    macro_rules! by {
        (|$a:ident, $b:ident| $body:expr) => {
            |i, s, _, m| {
                reduce(i, s, m, |$a, $b| $body);
                Ok(())
            }
        };
    }
    Some(match (operation, ty) {
        ("add", "u32" | "s32") => by!(|a, b| a.wrapping_add(b)),
        ("min", "u32") => by!(|a, b| a.min(b)),
        ("min", "s32") => by!(|a, b| (a as i32).min(b as i32) as u32),
        ("max", "u32") => by!(|a, b| a.max(b)),
        ("max", "s32") => by!(|a, b| (a as i32).max(b as i32) as u32),
        ("and", "b32") => by!(|a, b| a & b),
        ("or", "b32") => by!(|a, b| a | b),
        ("xor", "b32") => by!(|a, b| a ^ b),
        _ => return None,
    })
}

/// The operation of `redux` on singles: the modifiers behind the operation.
pub(crate) fn single_reduction(operation: &str, modifiers: &[&str]) -> Option<(Access, i64)> {
    let flags = match modifiers {
        [] => 0,
        ["NaN"] => 2,
        ["abs"] => 4,
        ["abs", "NaN"] => 6,
        _ => return None,
    };
    let smaller = match operation {
        "min" => 1,
        "max" => 0,
        _ => return None,
    };
    let run: Access = |i, scope, _, mask| {
        let a = u32::row(&scope.registers, i.src[0]);
        let value = lanes(mask)
            .map(|lane| f32::from_bits(a[lane]))
            .reduce(|a, b| super::float::extreme(i.imm & 1 == 1, i.imm & 6, a, b));
        // A single lane's own value is treated as if it met itself.
        let value = value.map_or(0.0, |a| super::float::extreme(true, i.imm & 6, a, a));
        let bits = super::float::canonical32(value);
        write(&mut scope.registers, i.dst[0], &[bits; WARP_SIZE], mask);
        Ok(())
    };
    Some((run, flags | smaller))
}

/// `activemask`
pub(crate) fn active_mask(
    i: &Instr,
    scope: &mut Scope,
    _: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    write(&mut scope.registers, i.dst[0], &[mask; WARP_SIZE], mask);
    Ok(())
}

/// `elect.sync`: the lowest lane leads.
pub(crate) fn elect(
    i: &Instr,
    scope: &mut Scope,
    _: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let leader = mask.trailing_zeros();
    write(&mut scope.registers, i.dst[0], &[leader; WARP_SIZE], mask);
    if i.dst[1] != NONE {
        let elected = 1u32.checked_shl(leader).unwrap_or(0);
        scope.registers.set_predicate(i.dst[1], elected, mask);
    }
    Ok(())
}

/// `bar.warp.sync`: to have come together is all.
pub(crate) fn nothing(_: &Instr, _: &mut Scope, _: &mut Env<'_>, _: u32) -> Result<(), LaneError> {
    Ok(())
}

/// The second half of `bar.red`: 0 reads the count, 1 whether all were set, 2 whether any was.
pub(crate) fn barrier_result(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let lane = mask.trailing_zeros() as usize & 31;
    let (set, arrived) = env
        .barriers
        .last(u32::row(&scope.registers, i.src[0])[lane] as usize);
    let truth = |condition: bool| if condition { u32::MAX } else { 0 };
    match i.imm {
        0 => write(&mut scope.registers, i.dst[0], &[set; WARP_SIZE], mask),
        1 => scope
            .registers
            .set_predicate(i.dst[0], truth(set == arrived), mask),
        _ => scope
            .registers
            .set_predicate(i.dst[0], truth(set != 0), mask),
    }
    Ok(())
}
