//! What a running kernel touches of a block, collected while it runs, on however many threads.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::report::AccessKind;
use crate::state::order::byte_set::ByteSet;

/// Words of a map that share one bit of the list of changed ones: 4 KiB of the block.
const CHUNK: usize = 64;

/// The bytes of one block that were touched since they were last taken, by kind.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    read: OnceLock<Map>,
    written: OnceLock<Map>,
    atomic: OnceLock<Map>,
}

impl Touched {
    /// Notes bytes of a block of that capacity.
    #[inline]
    pub(crate) fn note(&self, kind: AccessKind, capacity: usize, offset: usize, len: usize) {
        let map = match kind {
            AccessKind::Read => &self.read,
            AccessKind::Write => &self.written,
            AccessKind::Atomic => &self.atomic,
        };
        map.get_or_init(|| Map::new(capacity)).set(offset, len);
    }

    /// Takes what was touched; the next launch starts with nothing.
    pub(crate) fn take(&self) -> impl Iterator<Item = (AccessKind, ByteSet)> {
        let kinds = [
            (AccessKind::Read, &self.read),
            (AccessKind::Atomic, &self.atomic),
            (AccessKind::Write, &self.written),
        ];
        kinds
            .into_iter()
            .filter_map(|(kind, map)| Some((kind, map.get()?.take()?)))
    }
}

/// One bit for each byte.
#[derive(Debug)]
struct Map {
    words: Box<[AtomicU64]>,
    /// One bit for each chunk of words that may hold something.
    changed: Box<[AtomicU64]>,
}

fn zeroed(count: usize) -> Box<[AtomicU64]> {
    crate::state::storage::zeroed(count).unwrap_or_default()
}

impl Map {
    fn new(capacity: usize) -> Self {
        let words = capacity.div_ceil(64);
        Self {
            words: zeroed(words),
            changed: zeroed(words.div_ceil(CHUNK * 64)),
        }
    }

    #[inline]
    fn set(&self, offset: usize, len: usize) {
        let end = offset + len;
        let mut at = offset;
        while at < end {
            let index = at / 64;
            let stop = end.min((index + 1) * 64);
            let mask = (u64::MAX << (at % 64)) & (u64::MAX >> (63 - (stop - 1) % 64));
            self.set_word(index, mask);
            at = stop;
        }
    }

    #[inline]
    fn set_word(&self, index: usize, mask: u64) {
        let Some(word) = self.words.get(index) else {
            return;
        };
        if word.load(Relaxed) & mask == mask {
            return;
        }
        if mask == u64::MAX {
            word.store(mask, Relaxed);
        } else {
            word.fetch_or(mask, Relaxed);
        }
        let chunk = index / CHUNK;
        if let Some(word) = self.changed.get(chunk / 64) {
            let bit = 1 << (chunk % 64);
            if word.load(Relaxed) & bit == 0 {
                word.fetch_or(bit, Relaxed);
            }
        }
    }

    fn take(&self) -> Option<ByteSet> {
        let mut pieces = Vec::new();
        for (index, changed) in self.changed.iter().enumerate() {
            let mut bits = changed.swap(0, Relaxed);
            while bits != 0 {
                let chunk = index * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let words = self.words.iter().skip(chunk * CHUNK).take(CHUNK);
                let words = words.map(|word| word.swap(0, Relaxed)).collect();
                pieces.push(((chunk * CHUNK * 64) as u64, words));
            }
        }
        (!pieces.is_empty()).then(|| ByteSet::from_pieces(&pieces))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(run: std::ops::Range<u64>) -> ByteSet {
        ByteSet::from_runs(vec![run])
    }

    #[test]
    fn what_was_touched_is_taken_once_and_exactly() {
        let touched = Touched::default();
        touched.note(AccessKind::Read, 20_000, 60, 70);
        touched.note(AccessKind::Read, 20_000, 130, 10);
        touched.note(AccessKind::Write, 20_000, 19_999, 1);
        let taken: Vec<_> = touched.take().collect();
        assert_eq!(
            taken,
            [
                (AccessKind::Read, run(60..140)),
                (AccessKind::Write, run(19_999..20_000))
            ]
        );
        assert_eq!(touched.take().count(), 0);
        touched.note(AccessKind::Atomic, 20_000, 4096, 4);
        let taken: Vec<_> = touched.take().collect();
        assert_eq!(taken, [(AccessKind::Atomic, run(4096..4100))]);
    }
}
