//! Vector forms: each element is an atomic operation of its own.

use super::add_f32;
use crate::code::{Access, Instr, NONE};
use crate::exec::{Env, LaneError, Scope, Space, resolve};
use crate::ops::float::{Brain, Half, add_halves, max_halves, min_halves};
use crate::ops::map::Ty;
use crate::ops::memory::addresses;
use crate::registers::{Lane, write};
use crate::{FaultKind, WARP_SIZE};

/// A vector form of `atom` or `red`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// The type of each element.
    pub(crate) ty: Ty,
    pub(crate) run: Access,
}

/// Applies `f(old, b, in global memory)` to each element. The rows in `vectors[target]` are the sources, and the destinations behind
/// them where there are any.
fn update<const SIZE: usize>(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
    f: fn(u32, u32, bool) -> u32,
) -> Result<(), LaneError> {
    let addresses = addresses(i, scope);
    let space = Space::from_code(i.src[2]);
    let program = env.shape.program;
    let rows = &program.codes[scope.function].vectors[i.target as usize];
    let returns = i.dst[0] != NONE;
    let count = if returns { rows.len() / 2 } else { rows.len() };
    let whole = SIZE * count;
    let site = scope.site(i);
    for lane in (0..WARP_SIZE).filter(|lane| mask >> lane & 1 == 1) {
        if addresses[lane] & (whole as u64 - 1) != 0 {
            let address = addresses[lane];
            let kind = FaultKind::Misaligned {
                address,
                size: whole,
            };
            return Err(LaneError { lane, kind });
        }
    }
    let (sources, destinations) = rows.split_at(count);
    // All sources are read before the first destination is written: they may be the same registers.
    let values: Vec<_> = sources
        .iter()
        .map(|&row| *u32::row(&scope.registers, row))
        .collect();
    for (part, values) in values.iter().enumerate() {
        let mut out = [0; WARP_SIZE];
        for lane in (0..WARP_SIZE).filter(|lane| mask >> lane & 1 == 1) {
            let address = addresses[lane].wrapping_add((part * SIZE) as u64);
            let global = resolve(space, address).0 == Space::Global;
            let mut change = |old| u64::from(f(old as u32, values[lane], global));
            out[lane] = env.update(site, space, lane, address, SIZE, &mut change)? as u32;
        }
        if let Some(&row) = destinations.get(part) {
            write(&mut scope.registers, row, &out, mask);
        }
    }
    Ok(())
}

/// The form with that operation, `.noftz` or not, that number of elements and that type.
pub(crate) fn lookup(operation: &str, noftz: bool, count: usize, ty: &str) -> Option<Form> {
    macro_rules! form {
        ($ty:ident $size:literal, $f:expr) => {
            Form {
                ty: Ty::$ty,
                run: |i, s, e, m| update::<$size>(i, s, e, m, $f),
            }
        };
    }
    macro_rules! halves {
        ($f:ident) => {
            match ty {
                "f16" => form!(B16 2, |old, b, _| $f::<Half>(old, b) & 0xffff),
                "bf16" => form!(B16 2, |old, b, _| $f::<Brain>(old, b) & 0xffff),
                "f16x2" if count <= 4 => form!(B32 4, |old, b, _| $f::<Half>(old, b)),
                "bf16x2" if count <= 4 => form!(B32 4, |old, b, _| $f::<Brain>(old, b)),
                _ => return None,
            }
        };
    }
    Some(match (operation, noftz) {
        ("add", false) if ty == "f32" && count <= 4 => form!(F32 4, add_f32),
        ("add", true) => halves!(add_halves),
        ("min", true) => halves!(min_halves),
        ("max", true) => halves!(max_halves),
        _ => return None,
    })
}
