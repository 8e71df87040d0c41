//! The accesses that kernels are made of: all lanes, next to each other. They are told from the address registers alone, and need no
//! address of each lane. Whatever is not such an access is left to the general way.

use crate::code::Instr;
use crate::exec::{Env, Space};
use crate::registers::{Lane, Registers};
use crate::{Contents, WARP_SIZE};

/// Half a warp, as wide as a tile is in many kernels: its lanes often read one element, or a row of them.
const HALF: usize = WARP_SIZE / 2;

/// How some lanes lie to each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Each follows the one before it.
    Row,
    /// All have one address.
    One,
    Other,
}

#[inline(always)]
fn layout<const SIZE: usize, const N: usize>(addresses: &[u32; N]) -> Layout {
    let (mut row, mut one) = (0, 0);
    for (lane, address) in addresses.iter().enumerate() {
        let distance = address.wrapping_sub(addresses[0]);
        row |= distance ^ (lane * SIZE) as u32;
        one |= distance;
    }
    match (row, one) {
        (0, _) => Layout::Row,
        (_, 0) => Layout::One,
        _ => Layout::Other,
    }
}

/// The address of lane 0, where all lanes follow each other.
#[inline(always)]
fn of_row<const SIZE: usize>(i: &Instr, registers: &Registers) -> Option<u64> {
    if i.src[1] != 0 {
        // Elsewhere the addresses of later lanes could wrap around.
        if i.src[2] != Space::Shared.code() {
            return None;
        }
        let base = u32::row(registers, i.src[0]);
        return (layout::<SIZE, WARP_SIZE>(base) == Layout::Row)
            .then(|| u64::from(base[0].wrapping_add(i.imm as u32)));
    }
    let base = u64::row(registers, i.src[0]);
    let mut apart = 0;
    for (lane, address) in base.iter().enumerate() {
        apart |= address.wrapping_sub(base[0]) ^ (lane * SIZE) as u64;
    }
    (apart == 0).then(|| base[0].wrapping_add_signed(i.imm))
}

/// `SIZE` is a power of two, so that the last lane is aligned where the first one is.
#[inline(always)]
fn is_global<const SIZE: usize>(space: u32, address: u64) -> bool {
    let in_space = space == Space::Global.code()
        || space == Space::Generic.code()
            && (address | address.wrapping_add(SIZE as u64 * 32)) >> 48 == 0;
    in_space && address.is_multiple_of(SIZE as u64)
}

/// Reads for all lanes, if they lie so; says whether that was done.
#[inline(always)]
pub(super) fn load<const SIZE: usize>(
    i: &Instr,
    registers: &Registers,
    env: &mut Env<'_>,
    into: &mut [[u8; SIZE]; WARP_SIZE],
) -> bool {
    if i.src[2] == Space::Shared.code() {
        // Addresses of shared memory rarely take 64 bits.
        return i.src[1] != 0 && load_halves(i, registers, env.shared, into);
    }
    let Some(address) = of_row::<SIZE>(i, registers) else {
        return false;
    };
    is_global::<SIZE>(i.src[2], address)
        && matches!(
            env.memory(u32::MAX).load(address, into.as_flattened_mut()),
            Ok(Contents::Written)
        )
}

/// Reads from shared memory for all lanes, if each half of the warp reads a row or a single element.
#[inline(always)]
fn load_halves<const SIZE: usize>(
    i: &Instr,
    registers: &Registers,
    shared: &[u8],
    into: &mut [[u8; SIZE]; WARP_SIZE],
) -> bool {
    let (elements, _) = shared.as_chunks::<SIZE>();
    let halves = u32::row(registers, i.src[0]).as_chunks::<HALF>().0;
    for (base, into) in halves.iter().zip(into.as_chunks_mut::<HALF>().0) {
        let address = base[0].wrapping_add(i.imm as u32) as usize;
        let rest = elements.get(address / SIZE..).unwrap_or(&[]);
        if !address.is_multiple_of(SIZE) {
            return false;
        }
        match (
            layout::<SIZE, HALF>(base),
            rest.split_first_chunk::<HALF>(),
            rest.first(),
        ) {
            (Layout::Row, Some((row, _)), _) => *into = *row,
            (Layout::One, _, Some(element)) => *into = [*element; HALF],
            _ => return false,
        }
    }
    true
}

/// Writes for all lanes, if they lie so; says whether that was done.
#[inline(always)]
pub(super) fn store<const SIZE: usize>(
    i: &Instr,
    registers: &Registers,
    env: &mut Env<'_>,
    bytes: &[[u8; SIZE]; WARP_SIZE],
) -> bool {
    let Some(address) = of_row::<SIZE>(i, registers) else {
        return false;
    };
    if i.src[2] == Space::Shared.code() {
        let (elements, _) = env.shared.as_chunks_mut::<SIZE>();
        let index = usize::try_from(address / SIZE as u64).unwrap_or(usize::MAX);
        let rest = elements.get_mut(index..).unwrap_or(&mut []);
        return match rest.first_chunk_mut::<WARP_SIZE>() {
            Some(row) if address.is_multiple_of(SIZE as u64) => {
                *row = *bytes;
                true
            }
            _ => false,
        };
    }
    is_global::<SIZE>(i.src[2], address)
        && env
            .memory(u32::MAX)
            .store(address, bytes.as_flattened())
            .is_ok()
}
