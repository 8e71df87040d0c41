//! Loads and stores of single elements and of vectors.

mod pattern;
mod row;

use super::map::Ty;
use crate::code::{Access, Instr};
use crate::exec::{Env, LaneError, Scope, Space};
use crate::processor::for_each_processor;
use crate::registers::{Doubles, Lane, write};
use crate::{Lanes, WARP_SIZE};
pub(crate) use pattern::Pattern;
use pattern::{HALF, forget};
use row::Piece;

/// The type of an element in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) bytes: usize,
    pub(crate) signed: bool,
    pub(crate) float: bool,
}

impl Element {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let (bytes, signed, float) = match name {
            "b8" | "u8" => (1, false, false),
            "b16" | "u16" => (2, false, false),
            "b32" | "u32" => (4, false, false),
            "b64" | "u64" => (8, false, false),
            "s8" => (1, true, false),
            "s16" => (2, true, false),
            "s32" => (4, true, false),
            "s64" => (8, true, false),
            "f32" => (4, false, true),
            "f64" => (8, false, true),
            _ => return None,
        };
        Some(Self {
            bytes,
            signed,
            float,
        })
    }

    pub(crate) const fn bits(self) -> u32 {
        self.bytes as u32 * 8
    }

    /// The type of a constant that is stored.
    pub(crate) const fn ty(self) -> Ty {
        match (self.bytes, self.float) {
            (8, true) => Ty::F64,
            (8, false) => Ty::B64,
            (4, true) => Ty::F32,
            (2, _) => Ty::B16,
            _ => Ty::B32,
        }
    }
}

/// The address of each lane.
#[inline(always)]
pub(crate) fn addresses(i: &Instr, scope: &Scope) -> Doubles {
    let mut out = [0; WARP_SIZE];
    if i.src[1] == 0 {
        let base = u64::row(&scope.registers, i.src[0]);
        for lane in 0..WARP_SIZE {
            out[lane] = base[lane].wrapping_add_signed(i.imm);
        }
    } else {
        let (base, offset) = (u32::row(&scope.registers, i.src[0]), i.imm as u32);
        for lane in 0..WARP_SIZE {
            out[lane] = u64::from(base[lane].wrapping_add(offset));
        }
    }
    out
}

/// An element as the register's bits.
#[inline(always)]
fn decode<const BYTES: usize, const SIGNED: bool, const BITS: u32>(bytes: &[u8; BYTES]) -> u64 {
    let mut word = [0; 8];
    word[..BYTES].copy_from_slice(bytes);
    let value = u64::from_le_bytes(word);
    let unused = 64 - 8 * BYTES as u32;
    let value = if SIGNED {
        ((value << unused) as i64 >> unused) as u64
    } else {
        value
    };
    value & (u64::MAX >> (64 - BITS))
}

/// Reads `size` bytes for each lane of the mask, wherever they are.
#[inline(never)]
fn load_lanes(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
    size: usize,
    into: &mut [u8],
) -> Result<(), LaneError> {
    let lanes = Lanes {
        mask,
        size,
        addresses: &addresses(i, scope),
    };
    env.read(
        scope.site(i),
        Space::from_code(i.src[2]),
        &lanes,
        into,
        scope,
    )
}

/// Writes `size` bytes for each lane of the mask, wherever they go.
#[inline(never)]
fn store_lanes(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
    size: usize,
    bytes: &[u8],
) -> Result<(), LaneError> {
    let lanes = Lanes {
        mask,
        size,
        addresses: &addresses(i, scope),
    };
    env.write(Space::from_code(i.src[2]), &lanes, bytes, scope)
}

#[inline(always)]
fn load_one<D: Lane, const BYTES: usize, const SIGNED: bool, const BITS: u32>(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let value = |bytes: &[u8; BYTES]| D::from_bits(decode::<BYTES, SIGNED, BITS>(bytes));
    let registers = &mut scope.registers;
    let mut buffer = [[0; BYTES]; WARP_SIZE];
    let mut done = false;
    if mask != u32::MAX {
        forget(i, registers);
    } else if i.src[2] != Space::Shared.code() {
        done = row::load(i, registers, env, &mut buffer);
    } else if let Some(pieces) = row::shared(i, registers, env.shared) {
        let out = D::row_mut(registers, i.dst[0]).as_chunks_mut::<HALF>().0;
        for (out, piece) in out.iter_mut().zip(pieces) {
            match piece {
                Piece::Row(row) => *out = row.map(|bytes| value(&bytes)),
                Piece::One(element) => *out = [value(element); HALF],
            }
        }
        return Ok(());
    }
    if !done {
        load_lanes(i, scope, env, mask, BYTES, buffer.as_flattened_mut())?;
    }
    let mut out = [D::default(); WARP_SIZE];
    for (out, bytes) in out.iter_mut().zip(&buffer) {
        *out = value(bytes);
    }
    write(&mut scope.registers, i.dst[0], &out, mask);
    Ok(())
}

#[inline(always)]
fn load_many<
    D: Lane,
    const BYTES: usize,
    const SIGNED: bool,
    const BITS: u32,
    const COUNT: usize,
>(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let mut buffer = [[[0; BYTES]; COUNT]; WARP_SIZE];
    let bytes = buffer.as_flattened_mut().as_flattened_mut();
    load_lanes(i, scope, env, mask, BYTES * COUNT, bytes)?;
    let rows = &env.shape.program.codes[scope.function].vectors[i.target as usize];
    for (part, &row) in rows.iter().enumerate().take(COUNT) {
        let mut out = [D::default(); WARP_SIZE];
        for (out, lane) in out.iter_mut().zip(&buffer) {
            *out = D::from_bits(decode::<BYTES, SIGNED, BITS>(&lane[part]));
        }
        write(&mut scope.registers, row, &out, mask);
    }
    Ok(())
}

#[inline(always)]
fn store_one<S: Lane, const BYTES: usize>(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let mut buffer = [[0; BYTES]; WARP_SIZE];
    for (bytes, value) in buffer.iter_mut().zip(S::row(&scope.registers, i.src[3])) {
        bytes.copy_from_slice(&value.bits().to_le_bytes()[..BYTES]);
    }
    if mask != u32::MAX {
        forget(i, &mut scope.registers);
    } else if row::store(i, &mut scope.registers, env, &buffer) {
        return Ok(());
    }
    store_lanes(i, scope, env, mask, BYTES, buffer.as_flattened())
}

#[inline(always)]
fn store_many<S: Lane, const BYTES: usize, const COUNT: usize>(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let mut buffer = [[[0; BYTES]; COUNT]; WARP_SIZE];
    let rows = &env.shape.program.codes[scope.function].vectors[i.target as usize];
    for (part, &row) in rows.iter().enumerate().take(COUNT) {
        for (lane, value) in buffer.iter_mut().zip(S::row(&scope.registers, row)) {
            lane[part].copy_from_slice(&value.bits().to_le_bytes()[..BYTES]);
        }
    }
    let bytes = buffer.as_flattened().as_flattened();
    store_lanes(i, scope, env, mask, BYTES * COUNT, bytes)
}

for_each_processor! {
    /// The operation that loads `count` elements into registers of `register_bits`.
    pub(crate) fn load(element: Element, register_bits: u32, count: usize) -> Option<Access> {
        macro_rules! counts {
            ($lane:ty, $bytes:literal, $signed:literal, $bits:literal) => {
                match count {
                    1 => |i, s, e, m| load_one::<$lane, $bytes, $signed, $bits>(i, s, e, m),
                    2 => |i, s, e, m| load_many::<$lane, $bytes, $signed, $bits, 2>(i, s, e, m),
                    4 => |i, s, e, m| load_many::<$lane, $bytes, $signed, $bits, 4>(i, s, e, m),
                    _ => return None,
                }
            };
        }
        Some(match (element.bytes, element.signed, register_bits) {
            (1, false, 8 | 16 | 32) => counts!(u32, 1, false, 32),
            (1, true, 8) => counts!(u32, 1, true, 8),
            (1, true, 16) => counts!(u32, 1, true, 16),
            (1, true, 32) => counts!(u32, 1, true, 32),
            (1, false, 64) => counts!(u64, 1, false, 64),
            (1, true, 64) => counts!(u64, 1, true, 64),
            (2, false, 16 | 32) => counts!(u32, 2, false, 32),
            (2, true, 16) => counts!(u32, 2, true, 16),
            (2, true, 32) => counts!(u32, 2, true, 32),
            (2, false, 64) => counts!(u64, 2, false, 64),
            (2, true, 64) => counts!(u64, 2, true, 64),
            (4, _, 32) if count == 8 => {
                |i, s, e, m| load_many::<u32, 4, false, 32, 8>(i, s, e, m)
            }
            (4, _, 32) => counts!(u32, 4, false, 32),
            (4, false, 64) => counts!(u64, 4, false, 64),
            (4, true, 64) => counts!(u64, 4, true, 64),
            (8, _, 64) => counts!(u64, 8, false, 64),
            _ => return None,
        })
    }

    /// The operation that stores `count` elements from 32-bit or 64-bit rows.
    pub(crate) fn store(element: Element, wide: bool, count: usize) -> Option<Access> {
        macro_rules! counts {
            ($lane:ty, $bytes:literal) => {
                match count {
                    1 => |i, s, e, m| store_one::<$lane, $bytes>(i, s, e, m),
                    2 => |i, s, e, m| store_many::<$lane, $bytes, 2>(i, s, e, m),
                    4 => |i, s, e, m| store_many::<$lane, $bytes, 4>(i, s, e, m),
                    _ => return None,
                }
            };
        }
        Some(match (element.bytes, wide) {
            (1, false) => counts!(u32, 1),
            (1, true) => counts!(u64, 1),
            (2, false) => counts!(u32, 2),
            (2, true) => counts!(u64, 2),
            (4, false) if count == 8 => |i, s, e, m| store_many::<u32, 4, 8>(i, s, e, m),
            (4, false) => counts!(u32, 4),
            (4, true) => counts!(u64, 4),
            (8, true) => counts!(u64, 8),
            _ => return None,
        })
    }
}
