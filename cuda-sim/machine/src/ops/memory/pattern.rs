//! How the addresses of a whole warp lie to each other: told from the address registers alone.

use crate::WARP_SIZE;
use crate::code::{FOLLOWS, Instr, LEADS};
use crate::registers::{Lane, Registers};

/// Half a warp, as wide as a tile is in many kernels: its lanes often access one element, or a row of them.
pub(super) const HALF: usize = WARP_SIZE / 2;

/// How some lanes lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Each follows the one before it.
    Row,
    /// All have one address.
    One,
    Other,
}

/// How the lanes of a warp lie to each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pattern {
    pub(super) halves: [Layout; 2],
    /// Whether all lanes are one row.
    pub(super) row: bool,
}

impl Pattern {
    /// All lanes are one row.
    const ROW: Self = Self {
        halves: [Layout::Row; 2],
        row: true,
    };
    /// Nothing that is worth a way of its own.
    pub(crate) const OTHER: Self = Self {
        halves: [Layout::Other; 2],
        row: false,
    };
}

macro_rules! pattern_of {
    ($name:ident, $halves:ident, $lane:ty) => {
        #[inline(always)]
        fn $name<const SIZE: usize>(addresses: &[$lane; WARP_SIZE]) -> Pattern {
            let mut apart = 0;
            for (lane, address) in addresses.iter().enumerate() {
                apart |= address.wrapping_sub(addresses[0]) ^ (lane * SIZE) as $lane;
            }
            if apart == 0 {
                Pattern::ROW
            } else {
                $halves::<SIZE>(addresses)
            }
        }

        #[inline(never)]
        fn $halves<const SIZE: usize>(addresses: &[$lane; WARP_SIZE]) -> Pattern {
            let mut pattern = Pattern::OTHER;
            let halves = addresses.as_chunks::<HALF>().0;
            for (layout, half) in pattern.halves.iter_mut().zip(halves) {
                let (mut row, mut one) = (0, 0);
                for (lane, address) in half.iter().enumerate() {
                    let distance = address.wrapping_sub(half[0]);
                    row |= distance ^ (lane * SIZE) as $lane;
                    one |= distance;
                }
                *layout = match (row, one) {
                    (0, _) => Layout::Row,
                    (_, 0) => Layout::One,
                    _ => Layout::Other,
                };
            }
            pattern
        }
    };
}
pattern_of!(of_words, halves_of_words, u32);
pattern_of!(of_doubles, halves_of_doubles, u64);

/// The pattern of an access by all lanes, each of `SIZE` bytes.
#[inline(always)]
pub(super) fn pattern<const SIZE: usize>(i: &Instr, registers: &mut Registers) -> Pattern {
    let (narrow, row) = (i.src[1] != 0, i.src[0]);
    let known = if narrow {
        &registers.word_patterns
    } else {
        &registers.double_patterns
    };
    if i.target == FOLLOWS
        && let Some(&known) = known.get(row as usize)
    {
        return known;
    }
    compute::<SIZE>(i, registers)
}

#[inline(always)]
fn compute<const SIZE: usize>(i: &Instr, registers: &mut Registers) -> Pattern {
    let (narrow, row) = (i.src[1] != 0, i.src[0]);
    let pattern = if narrow {
        of_words::<SIZE>(u32::row(registers, row))
    } else {
        of_doubles::<SIZE>(u64::row(registers, row))
    };
    if i.target == LEADS {
        remember(i, registers, pattern);
    }
    pattern
}

/// Keeps a pattern for the accesses that follow.
#[inline(always)]
fn remember(i: &Instr, registers: &mut Registers, pattern: Pattern) {
    let patterns = if i.src[1] != 0 {
        &mut registers.word_patterns
    } else {
        &mut registers.double_patterns
    };
    if let Some(known) = patterns.get_mut(i.src[0] as usize) {
        *known = pattern;
    }
}

/// Notes that some lanes only access memory here: whatever is known of all of them is of no use later.
#[inline(always)]
pub(super) fn forget(i: &Instr, registers: &mut Registers) {
    if i.target == LEADS {
        remember(i, registers, Pattern::OTHER);
    }
}

/// The addresses of the first lane of each half.
#[inline(always)]
pub(super) fn starts(i: &Instr, registers: &Registers) -> [u64; 2] {
    if i.src[1] == 0 {
        let base = u64::row(registers, i.src[0]);
        [base[0], base[HALF]].map(|it| it.wrapping_add_signed(i.imm))
    } else {
        let base = u32::row(registers, i.src[0]);
        [base[0], base[HALF]].map(|it| u64::from(it.wrapping_add(i.imm as u32)))
    }
}
