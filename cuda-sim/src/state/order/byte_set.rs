//! Sets of bytes of a block: what an operation touched.

use std::ops::Range;

/// A set of offsets.
///
/// # Invariants
/// Runs are sorted, not empty, and neither overlap nor touch. Bit *b* of `words[w]` stands for offset `first + 64 * w + b`; `first` is a
/// multiple of 64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ByteSet {
    /// A few runs.
    Runs(Vec<Range<u64>>),
    /// Many runs.
    Bits { first: u64, words: Box<[u64]> },
}

impl ByteSet {
    /// Ascending runs, which may touch or overlap.
    pub(crate) fn from_runs(mut runs: Vec<Range<u64>>) -> Self {
        runs.dedup_by(|run, last| {
            let joins = run.start <= last.end;
            if joins {
                last.end = last.end.max(run.end);
            }
            joins
        });
        runs.retain(|run| !run.is_empty());
        Self::Runs(runs)
    }

    /// The bytes whose bits are set, from pieces of a map in ascending order: each the offset of its first bit, a multiple of 64, and words.
    pub(crate) fn from_pieces(pieces: &[(u64, Vec<u64>)]) -> Self {
        let bits = |(first, words): &(u64, Vec<u64>)| RunsOfBits::new(*first, words.clone());
        let mut runs: Vec<Range<u64>> = Vec::new();
        for run in pieces.iter().flat_map(bits) {
            match runs.last_mut() {
                Some(last) if last.end == run.start => last.end = run.end,
                _ => runs.push(run),
            }
        }
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
            return Self::Runs(runs);
        };
        // A run takes two words; bits are only better where there are many.
        let (first, end) = (first.start / 64 * 64, last.end);
        let words = (end - first).div_ceil(64);
        if runs.len() as u64 <= words / 2 || runs.len() < 64 {
            runs.shrink_to_fit();
            return Self::Runs(runs);
        }
        let mut bits = vec![0; words as usize];
        for run in &runs {
            for offset in run.clone() {
                let offset = offset - first;
                if let Some(word) = bits.get_mut((offset / 64) as usize) {
                    *word |= 1 << (offset % 64);
                }
            }
        }
        Self::Bits {
            first,
            words: bits.into_boxed_slice(),
        }
    }

    /// Bytes of memory that the set takes.
    pub(crate) fn cost(&self) -> usize {
        match self {
            Self::Runs(runs) => runs.len() * 16,
            Self::Bits { words, .. } => words.len() * 8,
        }
    }

    fn runs(&self) -> Runs<'_> {
        match self {
            Self::Runs(runs) => Runs::Listed(runs.iter()),
            Self::Bits { first, words } => Runs::Bits(RunsOfBits::new(*first, words)),
        }
    }

    /// The first run of bytes that both have.
    pub(crate) fn first_common(&self, other: &Self) -> Option<Range<u64>> {
        let (mut ours, mut theirs) = (self.runs(), other.runs());
        let (mut one, mut two) = (ours.next()?, theirs.next()?);
        loop {
            let common = one.start.max(two.start)..one.end.min(two.end);
            if !common.is_empty() {
                return Some(common);
            }
            if one.end <= two.start {
                one = ours.next()?;
            } else {
                two = theirs.next()?;
            }
        }
    }

    /// Whether all bytes of `other` are in this set.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let mut ours = self.runs();
        let mut current = ours.next();
        for run in other.runs() {
            while current.as_ref().is_some_and(|it| it.end <= run.start) {
                current = ours.next();
            }
            let inside = |it: &Range<u64>| it.start <= run.start && run.end <= it.end;
            if !current.as_ref().is_some_and(inside) {
                return false;
            }
        }
        true
    }
}

enum Runs<'a> {
    Listed(std::slice::Iter<'a, Range<u64>>),
    Bits(RunsOfBits<&'a [u64]>),
}

impl Iterator for Runs<'_> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        match self {
            Self::Listed(runs) => runs.next().cloned(),
            Self::Bits(runs) => runs.next(),
        }
    }
}

/// The runs of set bits of a map.
struct RunsOfBits<W> {
    first: u64,
    words: W,
    /// The next bit to look at.
    at: u64,
}

impl<W: AsRef<[u64]>> RunsOfBits<W> {
    fn new(first: u64, words: W) -> Self {
        Self {
            first,
            words,
            at: 0,
        }
    }

    /// The first bit from `from` on that is set, or that is not; the end where there is none.
    fn seek(&self, from: u64, set: bool) -> u64 {
        let words = self.words.as_ref();
        let flip = if set { 0 } else { u64::MAX };
        let mut index = (from / 64) as usize;
        let mut mask = u64::MAX << (from % 64);
        while let Some(word) = words.get(index) {
            let found = (word ^ flip) & mask;
            if found != 0 {
                return index as u64 * 64 + u64::from(found.trailing_zeros());
            }
            mask = u64::MAX;
            index += 1;
        }
        words.len() as u64 * 64
    }
}

impl<W: AsRef<[u64]>> Iterator for RunsOfBits<W> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        let start = self.seek(self.at, true);
        if start >= self.words.as_ref().len() as u64 * 64 {
            self.at = start;
            return None;
        }
        self.at = self.seek(start, false);
        Some(self.first + start..self.first + self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(run: Range<u64>) -> ByteSet {
        ByteSet::from_runs(vec![run])
    }

    /// The set of the offsets for which `choose` says yes, in pieces of 128.
    fn set(len: u64, choose: impl Fn(u64) -> bool) -> ByteSet {
        let word = |base: u64| {
            (0..64)
                .filter(|bit| base + bit < len && choose(base + bit))
                .fold(0, |word, bit| word | 1 << bit)
        };
        let pieces: Vec<(u64, Vec<u64>)> = (0..len.div_ceil(128))
            .map(|piece| (piece * 128, vec![word(piece * 128), word(piece * 128 + 64)]))
            .collect();
        ByteSet::from_pieces(&pieces)
    }

    #[test]
    fn runs_go_over_the_bounds_of_pieces_and_words() {
        let all = set(1000, |it| it >= 3);
        assert_eq!(all, run(3..1000));
        assert!(matches!(set(4000, |it| it % 8 < 4), ByteSet::Bits { .. }));
        assert_eq!(set(500, |_| false), run(0..0));
    }

    #[test]
    fn common_bytes_and_covering_are_exact() {
        let (even, odd) = (set(9000, |it| it % 8 < 4), set(9000, |it| it % 8 >= 4));
        assert_eq!(even.first_common(&odd), None);
        let part = run(4..9);
        assert_eq!(even.first_common(&part), Some(8..9));
        assert_eq!(part.first_common(&odd), Some(4..8));
        assert!(set(9000, |_| true).covers(&even) && !even.covers(&part));
        assert!(even.covers(&run(8..12)) && !even.covers(&odd));
        let later = set(9000, |it| it > 640 && it % 8 == 1);
        assert!(even.covers(&later) && !later.covers(&even));
        assert_eq!(later.first_common(&even), Some(641..642));
    }
}
