//! Atomic read-modify-write, lane after lane.

pub(crate) mod vector;

use super::float::{Brain, Half, add_halves, flush, settled};
use super::map::Ty;
use super::memory::addresses;
use crate::WARP_SIZE;
use crate::code::{Access, Instr, NONE};
use crate::exec::{Env, LaneError, Scope, Space, resolve};
use crate::registers::{Lane, write};

/// A form of `atom` or `red`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) ty: Ty,
    /// Operands after the address.
    pub(crate) operands: usize,
    pub(crate) run: Access,
}

/// Applies `f(old, b, c, in global memory)` to the word of each lane.
#[inline(always)]
fn update<T: Lane>(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
    size: usize,
    f: impl Fn(T, T, T, bool) -> T,
) -> Result<(), LaneError> {
    let addresses = addresses(i, scope);
    let space = Space::from_code(i.src[2]);
    let (b, c) = (
        *T::row(&scope.registers, i.src[3]),
        *T::row(&scope.registers, i.target),
    );
    let site = scope.site(i);
    let mut out = [T::default(); WARP_SIZE];
    for lane in (0..WARP_SIZE).filter(|lane| mask >> lane & 1 == 1) {
        let global = resolve(space, addresses[lane]).0 == Space::Global;
        let mut change = |old| f(T::from_bits(old), b[lane], c[lane], global).bits();
        out[lane] =
            T::from_bits(env.update(site, space, lane, addresses[lane], size, &mut change)?);
    }
    if i.dst[0] != NONE {
        write(&mut scope.registers, i.dst[0], &out, mask);
    }
    Ok(())
}

macro_rules! form {
    ($ty:ident $lane:ty, $operands:literal, |$old:ident, $b:ident, $c:ident, $global:ident| $body:expr) => {
        Form {
            ty: Ty::$ty,
            operands: $operands,
            run: |i, s, e, m| {
                update::<$lane>(
                    i,
                    s,
                    e,
                    m,
                    Ty::$ty.bits() as usize / 8,
                    |$old, $b, $c, $global| $body,
                )
            },
        }
    };
}

pub(crate) fn add_f32(a: u32, b: u32, global: bool) -> u32 {
    let (a, b) = (f32::from_bits(a), f32::from_bits(b));
    // Atomic addition in global memory flushes denormals; in shared memory it does not.
    super::float::canonical32(if global {
        flush(flush(a) + flush(b))
    } else {
        a + b
    })
}

/// In global memory a NaN operand goes through as it is, the second before the first; in shared memory it is made quiet.
pub(crate) fn add_f64(a: u64, b: u64, global: bool) -> u64 {
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    match (x.is_nan(), y.is_nan()) {
        (_, true) if global => b,
        (true, _) if global => a,
        _ => settled(x + y, [x, y]).to_bits(),
    }
}

/// The form with that operation, `.noftz` or not, and that type.
pub(crate) fn lookup(operation: &str, noftz: bool, ty: &str) -> Option<Form> {
    if noftz {
        return without_flushing(operation, ty);
    }
    Some(match (operation, ty) {
        ("add", "u32" | "s32") => form!(B32 u32, 1, |old, b, _c, _g| old.wrapping_add(b)),
        ("add", "u64") => form!(B64 u64, 1, |old, b, _c, _g| old.wrapping_add(b)),
        ("add", "f32") => form!(F32 u32, 1, |old, b, _c, global| add_f32(old, b, global)),
        ("add", "f64") => {
            form!(F64 u64, 1, |old, b, _c, global| add_f64(old, b, global))
        }
        ("min", "u32") => form!(B32 u32, 1, |old, b, _c, _g| old.min(b)),
        ("min", "s32") => form!(B32 u32, 1, |old, b, _c, _g| (old as i32).min(b as i32) as u32),
        ("min", "u64") => form!(B64 u64, 1, |old, b, _c, _g| old.min(b)),
        ("min", "s64") => form!(B64 u64, 1, |old, b, _c, _g| (old as i64).min(b as i64) as u64),
        ("max", "u32") => form!(B32 u32, 1, |old, b, _c, _g| old.max(b)),
        ("max", "s32") => form!(B32 u32, 1, |old, b, _c, _g| (old as i32).max(b as i32) as u32),
        ("max", "u64") => form!(B64 u64, 1, |old, b, _c, _g| old.max(b)),
        ("max", "s64") => form!(B64 u64, 1, |old, b, _c, _g| (old as i64).max(b as i64) as u64),
        ("and", "b32") => form!(B32 u32, 1, |old, b, _c, _g| old & b),
        ("and", "b64") => form!(B64 u64, 1, |old, b, _c, _g| old & b),
        ("or", "b32") => form!(B32 u32, 1, |old, b, _c, _g| old | b),
        ("or", "b64") => form!(B64 u64, 1, |old, b, _c, _g| old | b),
        ("xor", "b32") => form!(B32 u32, 1, |old, b, _c, _g| old ^ b),
        ("xor", "b64") => form!(B64 u64, 1, |old, b, _c, _g| old ^ b),
        ("exch", "b32") => form!(B32 u32, 1, |_old, b, _c, _g| b),
        ("exch", "b64") => form!(B64 u64, 1, |_old, b, _c, _g| b),
        ("inc", "u32") => form!(B32 u32, 1, |old, b, _c, _g| if old >= b { 0 } else { old + 1 }),
        ("dec", "u32") => {
            form!(B32 u32, 1, |old, b, _c, _g| if old == 0 || old > b { b } else { old - 1 })
        }
        ("cas", "b16") => form!(B16 u32, 2, |old, b, c, _g| if old == b { c } else { old }),
        ("cas", "b32") => form!(B32 u32, 2, |old, b, c, _g| if old == b { c } else { old }),
        ("cas", "b64") => form!(B64 u64, 2, |old, b, c, _g| if old == b { c } else { old }),
        _ => return None,
    })
}

/// Additions of 16-bit numbers, which keep denormals in every space.
fn without_flushing(operation: &str, ty: &str) -> Option<Form> {
    Some(match (operation, ty) {
        ("add", "f16") => {
            form!(B16 u32, 1, |old, b, _c, _g| add_halves::<Half>(old, b) & 0xffff)
        }
        ("add", "bf16") => {
            form!(B16 u32, 1, |old, b, _c, _g| add_halves::<Brain>(old, b) & 0xffff)
        }
        ("add", "f16x2") => form!(B32 u32, 1, |old, b, _c, _g| add_halves::<Half>(old, b)),
        ("add", "bf16x2") => form!(B32 u32, 1, |old, b, _c, _g| add_halves::<Brain>(old, b)),
        _ => return None,
    })
}
