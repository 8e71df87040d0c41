//! The address of an entry: a digest of everything that it depends on.

use std::fmt;

use sha2::{Digest, Sha256};

/// The address of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key(pub(super) [u8; 32]);

/// Takes in the parts. Each is preceded by its length, so that no two lists of parts look the same.
pub(crate) struct KeyBuilder(Sha256);

impl KeyBuilder {
    pub(crate) fn new() -> Self {
        let mut builder = Self(Sha256::new());
        // What a change of the parts or of their order must change.
        builder.part(b"cuda-nvrtc key 1");
        builder
    }

    pub(crate) fn part(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    /// A list, preceded by its length.
    pub(crate) fn list<T: AsRef<[u8]>>(&mut self, parts: impl ExactSizeIterator<Item = T>) {
        self.number(parts.len() as u64);
        for part in parts {
            self.part(part.as_ref());
        }
    }

    pub(crate) fn finish(self) -> Key {
        Key(self.0.finalize().into())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(parts: &[&str], list: &[&str]) -> String {
        let mut builder = KeyBuilder::new();
        parts.iter().for_each(|it| builder.part(it.as_bytes()));
        builder.list(list.iter());
        builder.finish().to_string()
    }

    #[test]
    fn parts_that_run_together_differ() {
        let keys = [
            key(&["ab", "c"], &[]),
            key(&["a", "bc"], &[]),
            key(&["abc"], &[]),
            key(&["abc", ""], &[]),
            key(&["ab"], &["c"]),
            key(&["ab"], &["c", ""]),
        ];
        for (index, one) in keys.iter().enumerate() {
            assert_eq!(one.len(), 64);
            assert!(!keys[index + 1..].contains(one), "{index}");
        }
        assert_eq!(key(&["x"], &["y"]), key(&["x"], &["y"]));
    }
}
