//! The accesses that kernels are made of: all lanes, each half of the warp in a row or at one element. They need no address of each lane.
//! Whatever is not such an access is left to the general way.

use super::pattern::{HALF, Layout, Pattern, pattern, starts};
use crate::code::Instr;
use crate::exec::{Env, Space};
use crate::registers::Registers;
use crate::{Contents, WARP_SIZE};

/// What half a warp accesses.
#[derive(Clone, Copy)]
pub(super) enum Piece<'a, const SIZE: usize> {
    Row(&'a [[u8; SIZE]; HALF]),
    One(&'a [u8; SIZE]),
}

/// Where the halves of a warp read in shared memory, if they lie so and lie inside.
#[inline(always)]
pub(super) fn shared<'a, const SIZE: usize>(
    i: &Instr,
    registers: &mut Registers,
    shared: &'a [u8],
) -> Option<[Piece<'a, SIZE>; 2]> {
    let pattern = pattern::<SIZE>(i, registers);
    let starts = starts(i, registers);
    let elements = shared.as_chunks::<SIZE>().0;
    let piece = |half: usize| {
        let rest = elements.get(index::<SIZE>(starts[half])?..)?;
        match pattern.halves[half] {
            Layout::Row => rest.first_chunk().map(Piece::Row),
            Layout::One => rest.first().map(Piece::One),
            Layout::Other => None,
        }
    };
    Some([piece(0)?, piece(1)?])
}

/// The number of the element at an address, if one starts there.
#[inline(always)]
fn index<const SIZE: usize>(address: u64) -> Option<usize> {
    let index = usize::try_from(address / SIZE as u64).ok()?;
    address.is_multiple_of(SIZE as u64).then_some(index)
}

/// Reads global memory for all lanes, if they lie so; says whether that was done and all of it had been written.
#[inline(always)]
pub(super) fn load<const SIZE: usize>(
    i: &Instr,
    registers: &mut Registers,
    env: &Env<'_>,
    into: &mut [[u8; SIZE]; WARP_SIZE],
) -> bool {
    let Some((pattern, starts)) = global::<SIZE>(i, registers) else {
        return false;
    };
    let read = |address: u64, bytes: &mut [u8]| {
        let loaded = env.memory(u32::MAX).load(address, bytes);
        matches!(loaded, Ok(Contents::Written))
    };
    if pattern.row {
        return read(starts[0], into.as_flattened_mut());
    }
    let halves = into.as_chunks_mut::<HALF>().0;
    for ((half, layout), start) in halves.iter_mut().zip(pattern.halves).zip(starts) {
        let done = match layout {
            Layout::Row => read(start, half.as_flattened_mut()),
            Layout::One => {
                let mut element = [0; SIZE];
                let done = read(start, &mut element);
                *half = [element; HALF];
                done
            }
            Layout::Other => false,
        };
        if !done {
            return false;
        }
    }
    true
}

/// Writes for all lanes, if they lie so; says whether that was done.
#[inline(always)]
pub(super) fn store<const SIZE: usize>(
    i: &Instr,
    registers: &mut Registers,
    env: &mut Env<'_>,
    bytes: &[[u8; SIZE]; WARP_SIZE],
) -> bool {
    if i.src[2] == Space::Shared.code() {
        return store_shared(i, registers, env.shared, bytes);
    }
    let Some((pattern, starts)) = global::<SIZE>(i, registers) else {
        return false;
    };
    let write = |address: u64, bytes: &[u8]| env.memory(u32::MAX).store(address, bytes).is_ok();
    if pattern.row {
        return write(starts[0], bytes.as_flattened());
    }
    // Where one half is refused, the general way writes all of it again, and says which lane is at fault.
    pattern.halves == [Layout::Row; 2]
        && bytes
            .as_chunks::<HALF>()
            .0
            .iter()
            .zip(starts)
            .all(|(half, start)| write(start, half.as_flattened()))
}

#[inline(always)]
fn store_shared<const SIZE: usize>(
    i: &Instr,
    registers: &mut Registers,
    shared: &mut [u8],
    bytes: &[[u8; SIZE]; WARP_SIZE],
) -> bool {
    let pattern = pattern::<SIZE>(i, registers);
    let starts = starts(i, registers);
    let elements = shared.as_chunks_mut::<SIZE>().0;
    pattern.halves == [Layout::Row; 2]
        && bytes
            .as_chunks::<HALF>()
            .0
            .iter()
            .zip(starts)
            .all(|(half, start)| {
                let to = index::<SIZE>(start).and_then(|at| elements.get_mut(at..));
                let to = to.and_then(|rest| rest.first_chunk_mut::<HALF>());
                to.map(|to| *to = *half).is_some()
            })
}

/// How the lanes lie in global memory, if their addresses are there and aligned: `SIZE` is a power of two, so the others of a row are
/// aligned where the first one is.
#[inline(always)]
fn global<const SIZE: usize>(i: &Instr, registers: &mut Registers) -> Option<(Pattern, [u64; 2])> {
    // Narrow addresses of later lanes could wrap around.
    let everywhere = i.src[2] == Space::Global.code();
    if i.src[1] != 0 || !everywhere && i.src[2] != Space::Generic.code() {
        return None;
    }
    let pattern = pattern::<SIZE>(i, registers);
    let starts = starts(i, registers);
    let fits = |address: u64| {
        let beyond = address | address.wrapping_add((SIZE * HALF) as u64);
        (everywhere || beyond >> 48 == 0) && address.is_multiple_of(SIZE as u64)
    };
    (fits(starts[0]) && fits(starts[1])).then_some((pattern, starts))
}
