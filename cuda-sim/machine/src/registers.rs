//! The register file of one call: a row of 32 lanes for each register.

use crate::WARP_SIZE;
use crate::code::{Cleared, RowCounts};
use crate::ops::memory::Pattern;

/// A row of 32-bit lanes; 8- and 16-bit registers live in one, zero-extended.
pub(crate) type Words = [u32; WARP_SIZE];
/// A row of 64-bit lanes.
pub(crate) type Doubles = [u64; WARP_SIZE];

/// Registers as structure of arrays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Registers {
    pub(crate) words: Vec<Words>,
    pub(crate) doubles: Vec<Doubles>,
    /// One bit for each lane.
    pub(crate) predicates: Vec<u32>,
    /// How the lanes of 32-bit rows lie to each other as addresses, as far as an access that others follow has found out.
    pub(crate) word_patterns: Vec<Pattern>,
    /// The same of 64-bit rows.
    pub(crate) double_patterns: Vec<Pattern>,
}

impl Registers {
    pub(crate) fn new(rows: RowCounts) -> Self {
        Self {
            words: vec![[0; WARP_SIZE]; rows.words],
            doubles: vec![[0; WARP_SIZE]; rows.doubles],
            predicates: vec![0; rows.predicates],
            word_patterns: vec![Pattern::OTHER; rows.words],
            double_patterns: vec![Pattern::OTHER; rows.doubles],
        }
    }

    /// Makes the file ready for another block, where `initial` is what it was at first.
    pub(crate) fn restart(&mut self, initial: &Self, cleared: &Cleared) {
        for &row in &cleared.words {
            self.words[row as usize] = [0; WARP_SIZE];
        }
        for &row in &cleared.doubles {
            self.doubles[row as usize] = [0; WARP_SIZE];
        }
        self.predicates.clone_from(&initial.predicates);
    }

    /// A predicate as a mask of lanes.
    #[inline(always)]
    pub(crate) fn predicate(&self, row: u32) -> u32 {
        self.predicates[row as usize]
    }

    /// Writes the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn set_predicate(&mut self, row: u32, bits: u32, mask: u32) {
        let old = &mut self.predicates[row as usize];
        *old = *old & !mask | bits & mask;
    }
}

/// The bit of each lane in a mask. A test against a table of constants becomes one vector comparison, where a shift by the number of the
/// lane would be done lane by lane.
pub(crate) const BITS: Words = {
    let mut bits = [0; WARP_SIZE];
    let mut lane = 0;
    while lane < WARP_SIZE {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};
/// The same, as wide as the rows of 64-bit lanes.
const WIDE_BITS: Doubles = {
    let mut bits = [0; WARP_SIZE];
    let mut lane = 0;
    while lane < WARP_SIZE {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// A lane value that has rows of its own.
pub(crate) trait Lane: Copy + Default {
    /// The first value where the mask has that lane, else the second.
    fn choose(mask: u32, lane: usize, inside: Self, outside: Self) -> Self;
    fn row(registers: &Registers, row: u32) -> &[Self; WARP_SIZE];
    fn row_mut(registers: &mut Registers, row: u32) -> &mut [Self; WARP_SIZE];
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
}

impl Lane for u32 {
    #[inline(always)]
    fn choose(mask: u32, lane: usize, inside: Self, outside: Self) -> Self {
        if mask & BITS[lane] != 0 {
            inside
        } else {
            outside
        }
    }
    #[inline(always)]
    fn row(registers: &Registers, row: u32) -> &Words {
        &registers.words[row as usize]
    }
    #[inline(always)]
    fn row_mut(registers: &mut Registers, row: u32) -> &mut Words {
        &mut registers.words[row as usize]
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        bits as Self
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self)
    }
}

impl Lane for u64 {
    #[inline(always)]
    fn choose(mask: u32, lane: usize, inside: Self, outside: Self) -> Self {
        if Self::from(mask) & WIDE_BITS[lane] != 0 {
            inside
        } else {
            outside
        }
    }
    #[inline(always)]
    fn row(registers: &Registers, row: u32) -> &Doubles {
        &registers.doubles[row as usize]
    }
    #[inline(always)]
    fn row_mut(registers: &mut Registers, row: u32) -> &mut Doubles {
        &mut registers.doubles[row as usize]
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        bits
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self
    }
}

/// Writes the lanes of `mask`.
#[inline(always)]
pub(crate) fn write<T: Lane>(registers: &mut Registers, row: u32, out: &[T; WARP_SIZE], mask: u32) {
    let old = T::row_mut(registers, row);
    if mask == u32::MAX {
        *old = *out;
    } else {
        for lane in 0..WARP_SIZE {
            old[lane] = T::choose(mask, lane, out[lane], old[lane]);
        }
    }
}
