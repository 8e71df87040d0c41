//! The order in which blocks start.

use crate::Launch;

/// A block that is to start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    /// Its place in the grid.
    pub(crate) block: [u32; 3],
    /// The warp with which its turns begin.
    pub(crate) first_warp: usize,
}

/// Blocks in launch order: ascending, or for a seed other than 0 some other order that visits each block once.
#[derive(Debug)]
pub(crate) struct Order {
    grid: [u32; 3],
    count: u64,
    done: u64,
    start: u64,
    step: u64,
    random: u64,
}

impl Order {
    pub(crate) fn new(launch: &Launch<'_>) -> Self {
        let count = launch
            .grid
            .iter()
            .map(|&extent| u64::from(extent))
            .product::<u64>();
        let mut order = Self {
            grid: launch.grid,
            count,
            done: 0,
            start: 0,
            step: 1,
            random: launch.seed,
        };
        if launch.seed != 0 {
            order.start = order.draw() % count;
            // Steps without a common divisor with the count visit every block.
            order.step = (order.draw() % count).max(1);
            while gcd(order.step, count) != 1 {
                order.step += 1;
            }
        }
        order
    }

    /// A number of a simple well-mixed sequence.
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 1
    }

    /// Blocks that have not started.
    pub(crate) fn remaining(&self) -> u64 {
        self.count - self.done
    }

    /// The next block.
    pub(crate) fn next(&mut self) -> Option<Start> {
        if self.remaining() == 0 {
            return None;
        }
        let linear = (u128::from(self.start) + u128::from(self.done) * u128::from(self.step))
            % u128::from(self.count);
        let linear = linear as u64;
        self.done += 1;
        let (x, y) = (u64::from(self.grid[0]), u64::from(self.grid[1]));
        let block = [
            (linear % x) as u32,
            (linear / x % y) as u32,
            (linear / x / y) as u32,
        ];
        let first_warp = if self.step == 1 && self.start == 0 {
            0
        } else {
            self.draw() as usize & 31
        };
        Some(Start { block, first_warp })
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
