//! A hash of short names that is fast, and unknown to whoever writes a text: its keys are drawn anew for each module.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Draws the keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys(u64, u64);

impl Default for Keys {
    fn default() -> Self {
        let state = RandomState::new();
        // An odd factor loses nothing.
        Self(state.hash_one(0), state.hash_one(1) | 1)
    }
}

impl BuildHasher for Keys {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded {
            state: self.0,
            factor: self.1,
        }
    }
}

/// Multiplies to 128 bits and folds these to 64, for every 8 bytes.
#[derive(Debug)]
pub(super) struct Folded {
    state: u64,
    factor: u64,
}

impl Folded {
    fn add(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.factor);
        let [low, high] = [product as u64, (product >> 64) as u64];
        self.state = (low ^ high).rotate_left(23).wrapping_add(word);
    }
}

impl Hasher for Folded {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.add(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        for (place, byte) in last.iter_mut().zip(rest) {
            *place = *byte;
        }
        self.add(u64::from_le_bytes(last) ^ ((bytes.len() as u64) << 56));
    }

    fn write_u8(&mut self, _: u8) {
        // What ends a text: its length is in already.
    }

    fn finish(&self) -> u64 {
        let product = u128::from(self.state) * u128::from(self.factor);
        (product as u64) ^ (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        let keys = Keys::default();
        let names = (0..10_000)
            .flat_map(|index| [format!("%rd{index}"), format!("kernel_{index}_param_3")]);
        let mut hashes: Vec<u64> = names.map(|name| keys.hash_one(name.as_str())).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 20_000);
        assert_ne!(keys.hash_one("a"), Keys::default().hash_one("a"));
    }
}
