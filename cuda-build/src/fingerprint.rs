//! Fingerprints of contents: FNV-1a with 128 bits and steps of 8 bytes, the same on every machine and for every version of Rust.
//!
//! They find changes that were made in good faith; they are no protection against contents made to collide.

use std::fmt;
use std::str::FromStr;

/// The fingerprint of a sequence of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint(u128);

const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

impl Fingerprint {
    /// Of no parts.
    pub(crate) const EMPTY: Self = Self(START);

    /// Of one part.
    pub(crate) fn of(part: &[u8]) -> Self {
        Self::EMPTY.with(part)
    }

    /// With one more part. The length counts, so that parts cannot run into each other.
    pub(crate) fn with(self, part: &[u8]) -> Self {
        let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
        let (words, rest) = part.as_chunks::<8>();
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        let mut state = step(self.0, length);
        for word in words.iter().chain([&last]) {
            state = step(state, u64::from_le_bytes(*word));
        }
        Self(state)
    }
}

fn step(state: u128, word: u64) -> u128 {
    (state ^ u128::from(word)).wrapping_mul(PRIME)
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(text, 16).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let ab_c = Fingerprint::of(b"ab").with(b"c");
        assert_ne!(ab_c, Fingerprint::of(b"a").with(b"bc"));
        assert_ne!(ab_c, ab_c.with(b""));
        assert_ne!(Fingerprint::of(b"ab"), Fingerprint::of(b"ab\0"));
        assert_ne!(Fingerprint::of(b"12345678"), Fingerprint::of(b"12345679"));
        assert_eq!(ab_c.to_string().parse(), Ok(ab_c));
    }

    /// Committed files carry fingerprints, so they may never change.
    #[test]
    fn the_fingerprint_of_a_text_is_fixed() {
        assert_eq!(
            Fingerprint::of(b"kernel").to_string(),
            "ad5282bbbcab1be95ac276fea57ae596"
        );
    }
}
