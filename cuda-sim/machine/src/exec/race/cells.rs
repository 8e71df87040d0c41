//! The last accesses to each word of global memory, for as much of it as is remembered.

use std::collections::HashMap;

use crate::code::{Reach, TouchKind};

/// Bytes of a word: accesses to different bytes of one do not race.
pub(super) const WORD: u64 = 4;
/// Words of a page.
const WORDS: usize = 64;
/// Pages that are remembered: of 16 MiB of memory. When a launch touches more, everything before is forgotten, and no race with it found.
const MOST_PAGES: usize = 1 << 16;

/// An access that was executed; none at time 0.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Record {
    pub(super) cluster: u32,
    pub(super) time: u32,
    /// Index into the sites of the launch.
    pub(super) site: u32,
    /// The number of the thread in its cluster.
    pub(super) thread: u16,
    /// Which bytes of the word.
    pub(super) bytes: u8,
    pub(super) act: Act,
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Act {
    pub(super) kind: Kind,
    /// Up to where it is strong.
    pub(super) strong: Option<Reach>,
}

/// How an access counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    #[default]
    Read,
    /// A write of what was there already. With others of the kind, and with what wrote the same, it does not race.
    Rewrite,
    Write,
    Update,
}

impl Kind {
    pub(super) fn of(kind: TouchKind, changes: bool) -> Self {
        match kind {
            TouchKind::Read | TouchKind::Await => Self::Read,
            TouchKind::Write if changes => Self::Write,
            TouchKind::Write => Self::Rewrite,
            TouchKind::Update => Self::Update,
        }
    }

    pub(super) fn changes(self) -> bool {
        matches!(self, Self::Write | Self::Update)
    }
}

/// The last accesses to a word. Of the others, one that is unordered with those is enough.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cell {
    pub(super) write: Record,
    /// Reads and rewrites.
    pub(super) others: [Record; 2],
}

/// The words that were accessed.
#[derive(Debug, Default)]
pub(super) struct Cells {
    numbers: HashMap<u64, usize>,
    pages: Vec<[Cell; WORDS]>,
    /// The page that was used last, and its number.
    last: Option<(u64, usize)>,
}

impl Cells {
    /// What is remembered of the word of a number (its address divided by its size).
    pub(super) fn get(&mut self, word: u64) -> &mut Cell {
        let (page, within) = (word / WORDS as u64, word as usize % WORDS);
        let number = match self.last {
            Some((last, number)) if last == page => number,
            _ => self.find(page),
        };
        self.last = Some((page, number));
        &mut self.pages[number][within]
    }

    fn find(&mut self, page: u64) -> usize {
        if let Some(&number) = self.numbers.get(&page) {
            return number;
        }
        if self.pages.len() >= MOST_PAGES {
            self.numbers.clear();
            self.pages.clear();
        }
        let number = self.pages.len();
        self.pages.push([Cell::default(); WORDS]);
        self.numbers.insert(page, number);
        number
    }

    /// Forgets what was done to some bytes.
    pub(super) fn forget(&mut self, address: u64, size: u64) {
        let words = address / WORD..(address.saturating_add(size)).div_ceil(WORD);
        let of_page = |page: u64| page * WORDS as u64..(page + 1) * WORDS as u64;
        for (&page, &number) in &self.numbers {
            let all = of_page(page);
            let part = words.start.max(all.start)..words.end.min(all.end);
            for word in part {
                self.pages[number][(word - all.start) as usize] = Cell::default();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_is_what_was_said() {
        let mut cells = Cells::default();
        for word in 0..200 {
            cells.get(word).write.time = 1;
        }
        cells.forget(60 * WORD, 10 * WORD);
        let left = |word: &u64| cells.get(*word).write.time == 1;
        let left: Vec<u64> = (0..200).filter(left).collect();
        assert_eq!(left.len(), 190);
        assert!(!left.contains(&60) && !left.contains(&69) && left.contains(&70));
    }

    #[test]
    fn memory_is_bounded() {
        let mut cells = Cells::default();
        for page in 0..MOST_PAGES as u64 + 10 {
            cells.get(page * WORDS as u64).write.time = 1;
        }
        assert_eq!(cells.pages.len(), 10);
    }
}
