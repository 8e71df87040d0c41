//! The seeded choices of an instance.

/// A small generator (splitmix64): equal seeds give equal choices on every platform.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `count`; nothing where there is none.
    pub(crate) fn below(&mut self, count: usize) -> Option<usize> {
        (count > 0).then(|| ((u128::from(self.next()) * count as u128) >> 64) as usize)
    }
}
