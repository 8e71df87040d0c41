//! What asynchronous reductions do to an element.

use crate::exec::Reduction;
use crate::ops::atomic::{add_f32, add_f64};
use crate::ops::float::{Brain, Half, add_halves, max_halves, min_halves};

fn combine(size: usize, apply: fn(u64, u64) -> u64) -> Option<Reduction> {
    Some(Reduction { size, apply })
}

fn low(value: u32) -> u64 {
    u64::from(value & 0xffff)
}

/// In shared memory: the operations of `red.async` and `cp.reduce.async.bulk`.
pub(crate) fn shared(operation: &str, ty: &str) -> Option<Reduction> {
    match (operation, ty) {
        ("add", "u32" | "s32") => combine(4, |a, b| (a as u32).wrapping_add(b as u32).into()),
        ("add", "u64" | "s64") => combine(8, u64::wrapping_add),
        ("min", "u32") => combine(4, u64::min),
        ("max", "u32") => combine(4, u64::max),
        ("min", "s32") => combine(4, |a, b| ((a as i32).min(b as i32) as u32).into()),
        ("max", "s32") => combine(4, |a, b| ((a as i32).max(b as i32) as u32).into()),
        ("inc", "u32") => combine(4, |a, b| if a >= b { 0 } else { a + 1 }),
        ("dec", "u32") => combine(4, |a, b| if a == 0 || a > b { b } else { a - 1 }),
        ("and", "b32") => combine(4, |a, b| a & b),
        ("or", "b32") => combine(4, |a, b| a | b),
        ("xor", "b32") => combine(4, |a, b| a ^ b),
        _ => None,
    }
}

/// In global memory: the operations of `cp.reduce.async.bulk`.
pub(crate) fn global(operation: &str, noftz: bool, ty: &str) -> Option<Reduction> {
    match (operation, noftz, ty) {
        ("add", true, "f16") => combine(2, |a, b| low(add_halves::<Half>(a as u32, b as u32))),
        ("add", true, "bf16") => combine(2, |a, b| low(add_halves::<Brain>(a as u32, b as u32))),
        (_, true, _) => None,
        ("add", false, "f32") => combine(4, |a, b| add_f32(a as u32, b as u32, true).into()),
        ("add", false, "f64") => combine(8, |a, b| add_f64(a, b, true)),
        ("min", false, "f16") => combine(2, |a, b| low(min_halves::<Half>(a as u32, b as u32))),
        ("max", false, "f16") => combine(2, |a, b| low(max_halves::<Half>(a as u32, b as u32))),
        ("min", false, "bf16") => combine(2, |a, b| low(min_halves::<Brain>(a as u32, b as u32))),
        ("max", false, "bf16") => combine(2, |a, b| low(max_halves::<Brain>(a as u32, b as u32))),
        ("min", false, "u64") => combine(8, u64::min),
        ("max", false, "u64") => combine(8, u64::max),
        ("min", false, "s64") => combine(8, |a, b| (a as i64).min(b as i64) as u64),
        ("max", false, "s64") => combine(8, |a, b| (a as i64).max(b as i64) as u64),
        ("and", false, "b64") => combine(8, |a, b| a & b),
        ("or", false, "b64") => combine(8, |a, b| a | b),
        ("xor", false, "b64") => combine(8, |a, b| a ^ b),
        (operation, false, ty) => shared(operation, ty),
    }
}
