//! `ldmatrix`, `stmatrix` and `movmatrix`: matrices of eight rows of eight elements of 16 bits, of which each lane holds a pair.

use super::{all_lanes, memory};
use crate::code::Instr;
use crate::exec::{Env, LaneError, Scope, Space, resolve};
use crate::ops::memory::addresses;
use crate::registers::Words;
use crate::{FaultKind, Lanes, WARP_SIZE, Window};

/// Bytes of a row.
const ROW: usize = 16;

/// The rows of up to four matrices.
type Rows = [[u8; ROW]; WARP_SIZE];

/// The addresses of the rows, which the lanes of `mask` give, within shared memory.
fn row_addresses(
    i: &Instr,
    scope: &Scope,
    env: &Env<'_>,
    mask: u32,
) -> Result<[u64; WARP_SIZE], LaneError> {
    let mut addresses = addresses(i, scope);
    if i.src[2] != Space::Generic.code() {
        return Ok(addresses);
    }
    let taking_part = addresses.iter_mut().enumerate();
    for (lane, address) in taking_part.filter(|(lane, _)| mask >> lane & 1 == 1) {
        match resolve(Space::Generic, *address) {
            (Space::Shared | Space::Cluster, offset) => *address = offset,
            _ => {
                let kind = FaultKind::OutOfRange {
                    window: Window::Shared,
                    address: *address,
                    size: ROW,
                    limit: env.shared.len() as u64,
                };
                return Err(LaneError { lane, kind });
            }
        }
    }
    Ok(addresses)
}

/// The pair of elements that a lane holds of a matrix, or of its transpose.
#[inline(always)]
fn pair(matrix: &[[u8; ROW]], lane: usize, transposed: bool) -> u32 {
    let (line, first) = (lane / 4, lane % 4 * 2);
    let element = |row: usize, column: usize| {
        u32::from(matrix[row][2 * column]) | u32::from(matrix[row][2 * column + 1]) << 8
    };
    if transposed {
        element(first, line) | element(first + 1, line) << 16
    } else {
        element(line, first) | element(line, first + 1) << 16
    }
}

/// Puts a lane's pair where it belongs in a matrix, or in its transpose.
#[inline(always)]
fn put(matrix: &mut [[u8; ROW]], lane: usize, word: u32, transposed: bool) {
    let (line, first) = (lane / 4, lane % 4 * 2);
    for (part, element) in [word as u16, (word >> 16) as u16].into_iter().enumerate() {
        let (row, column) = if transposed {
            (first + part, line)
        } else {
            (line, first + part)
        };
        matrix[row][2 * column..][..2].copy_from_slice(&element.to_le_bytes());
    }
}

/// Lanes that give the addresses of the rows of so many matrices.
fn addressing(matrices: usize) -> u32 {
    u32::MAX >> (WARP_SIZE - 8 * matrices)
}

/// `ldmatrix`: the rows of registers are [`vectors`](crate::code::Code::vectors)`[target]`.
pub(crate) fn load<const TRANSPOSED: bool>(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    all_lanes(mask)?;
    let registers = &env.shape.program.codes[scope.function].vectors[i.target as usize];
    let mask = addressing(registers.len());
    let lanes = Lanes {
        mask,
        size: ROW,
        addresses: &row_addresses(i, scope, env, mask)?,
    };
    let mut rows: Rows = [[0; ROW]; WARP_SIZE];
    memory::read(
        i,
        scope,
        env,
        Space::Shared,
        &lanes,
        rows.as_flattened_mut(),
    )?;
    for (&row, matrix) in registers.iter().zip(rows.chunks_exact(8)) {
        let words = &mut scope.registers.words[row as usize];
        for (lane, word) in words.iter_mut().enumerate() {
            *word = pair(matrix, lane, TRANSPOSED);
        }
    }
    Ok(())
}

/// `stmatrix`, in the same way.
pub(crate) fn store<const TRANSPOSED: bool>(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    all_lanes(mask)?;
    let registers = &env.shape.program.codes[scope.function].vectors[i.target as usize];
    let mut rows: Rows = [[0; ROW]; WARP_SIZE];
    for (&row, matrix) in registers.iter().zip(rows.chunks_exact_mut(8)) {
        for (lane, &word) in scope.registers.words[row as usize].iter().enumerate() {
            put(matrix, lane, word, TRANSPOSED);
        }
    }
    let mask = addressing(registers.len());
    let lanes = Lanes {
        mask,
        size: ROW,
        addresses: &row_addresses(i, scope, env, mask)?,
    };
    memory::write(i, scope, env, Space::Shared, &lanes, rows.as_flattened())
}

/// `movmatrix`: the transpose of one matrix.
pub(crate) fn transpose(
    i: &Instr,
    scope: &mut Scope,
    _: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    all_lanes(mask)?;
    let mut matrix = [[0; ROW]; 8];
    for (lane, &word) in scope.registers.words[i.src[0] as usize].iter().enumerate() {
        put(&mut matrix, lane, word, false);
    }
    let mut out: Words = [0; WARP_SIZE];
    for (lane, word) in out.iter_mut().enumerate() {
        *word = pair(&matrix, lane, true);
    }
    scope.registers.words[i.dst[0] as usize] = out;
    Ok(())
}
