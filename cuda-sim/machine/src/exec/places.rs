//! Where each lane of a call is, and which of its lanes run next.

use crate::WARP_SIZE;
use crate::registers::{BITS, Lane, Words};

/// The next instruction of each lane.
#[derive(Debug)]
pub(crate) struct Places {
    at: Words,
    /// Lanes that are known to be at one place, and that place: mostly all of them.
    together: (u32, u32),
}

/// Lanes that run together.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) pc: u32,
    pub(super) mask: u32,
    /// Where the group meets other lanes.
    pub(super) meets: u32,
}

impl Places {
    /// All lanes at the first instruction.
    pub(crate) const START: Self = Self {
        at: [0; WARP_SIZE],
        together: (u32::MAX, 0),
    };

    pub(crate) fn of(&self, lane: usize) -> u32 {
        self.at[lane]
    }

    /// Moves lanes to one place.
    pub(crate) fn set(&mut self, lanes: u32, pc: u32) {
        if lanes == u32::MAX {
            self.at = [pc; WARP_SIZE];
        } else {
            for lane in 0..WARP_SIZE {
                self.at[lane] = u32::choose(lanes, lane, pc, self.at[lane]);
            }
        }
        if lanes != 0 {
            self.together = (lanes, pc);
        }
    }

    /// Moves one lane.
    pub(super) fn set_one(&mut self, lane: usize, pc: u32) {
        self.at[lane] = pc;
        self.together = (1 << lane, pc);
    }

    /// Moves lanes past the instruction at which each is.
    pub(super) fn step(&mut self, lanes: u32) {
        for lane in 0..WARP_SIZE {
            self.at[lane] += lanes >> lane & 1;
        }
        self.together = (0, 0);
    }

    /// The group with the lowest place among the runnable lanes, or, among those that are not `tired`, the lowest of those.
    #[inline]
    pub(super) fn select(&self, runnable: u32, tired: u32) -> Group {
        let (lanes, pc) = self.together;
        if runnable & !lanes == 0 {
            return Group {
                pc,
                mask: runnable,
                meets: u32::MAX,
            };
        }
        self.lowest(runnable, tired)
    }

    fn lowest(&self, runnable: u32, tired: u32) -> Group {
        let eager = match runnable & !tired {
            0 => runnable,
            rested => rested,
        };
        let mut pc = u32::MAX;
        for lane in 0..WARP_SIZE {
            pc = pc.min(u32::choose(eager, lane, self.at[lane], u32::MAX));
        }
        let (mut mask, mut meets) = (0, u32::MAX);
        for (lane, bit) in BITS.into_iter().enumerate() {
            let at = u32::choose(runnable, lane, self.at[lane], u32::MAX);
            mask |= if at == pc { bit } else { 0 };
            meets = meets.min(if at > pc { at } else { u32::MAX });
        }
        Group { pc, mask, meets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_that_are_known_to_be_together_are_selected_as_by_looking_at_each() {
        let mut places = Places::START;
        // Changes of a few lanes each, in an order without a pattern.
        let mut state = 1u32;
        for _ in 0..10_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let lanes = [u32::MAX, 0xffff, 1 << (state >> 27), state, 0][(state >> 8) as usize % 5];
            if state >> 16 & 7 == 0 {
                places.step(lanes);
            } else {
                places.set(lanes, state >> 20 & 3);
            }
            let runnable = [u32::MAX, 0xffff, lanes][(state >> 12) as usize % 3];
            if runnable != 0 {
                assert_eq!(
                    places.select(runnable, lanes),
                    places.lowest(runnable, lanes)
                );
            }
        }
    }
}
