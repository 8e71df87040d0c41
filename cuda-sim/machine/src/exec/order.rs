//! The order in which clusters start; without clusters, each block is one.

use crate::Launch;

/// A cluster that is to start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    /// The place of its first block in the grid.
    pub(crate) block: [u32; 3],
    /// The warp with which its turns begin.
    pub(crate) first_warp: usize,
}

/// Clusters in launch order: ascending, or for a seed other than 0 some other order that visits each one once.
#[derive(Debug)]
pub(crate) struct Order {
    /// Clusters of the grid, and blocks of each.
    clusters: [u32; 3],
    cluster: [u32; 3],
    count: u64,
    done: u64,
    start: u64,
    step: u64,
    random: u64,
}

impl Order {
    pub(crate) fn new(launch: &Launch<'_>) -> Self {
        let cluster = launch.cluster.unwrap_or([1; 3]);
        let axes = [0, 1, 2];
        let clusters = axes.map(|axis: usize| launch.grid[axis] / cluster[axis]);
        let count = clusters
            .iter()
            .map(|&extent| u64::from(extent))
            .product::<u64>();
        let mut order = Self {
            clusters,
            cluster,
            count,
            done: 0,
            start: 0,
            step: 1,
            random: launch.seed,
        };
        if launch.seed != 0 {
            order.start = order.draw() % count;
            // Steps without a common divisor with the count visit every cluster.
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

    /// Clusters that have not started.
    pub(crate) fn remaining(&self) -> u64 {
        self.count - self.done
    }

    /// The next cluster.
    pub(crate) fn next(&mut self) -> Option<Start> {
        if self.remaining() == 0 {
            return None;
        }
        let linear = (u128::from(self.start) + u128::from(self.done) * u128::from(self.step))
            % u128::from(self.count);
        let linear = linear as u64;
        self.done += 1;
        let (x, y) = (u64::from(self.clusters[0]), u64::from(self.clusters[1]));
        let block = [
            (linear % x) as u32 * self.cluster[0],
            (linear / x % y) as u32 * self.cluster[1],
            (linear / x / y) as u32 * self.cluster[2],
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
