//! The earlier operations on one shared block that a later one may have to wait for.

use super::{Queue, Rules};

/// A range of bytes inside a block, from `start` up to and without `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Range {
    /// The whole block, however large.
    pub(crate) const ALL: Self = Self {
        start: 0,
        end: u64::MAX,
    };

    fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    fn covers(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// What an operation does to a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It reads.
    Read,
    /// It writes, and perhaps reads.
    Write,
    /// It may read and write, and is somebody else's to order against others of the same kind.
    Unknown,
}

impl Effect {
    /// Whether two operations with these effects on the same bytes need an order.
    pub(super) fn conflicts(self, other: Self) -> bool {
        self == Self::Write || self != other
    }

    /// Whether the bytes may be different afterwards.
    pub(crate) fn writes(self) -> bool {
        self != Self::Read
    }
}

impl From<bool> for Effect {
    fn from(write: bool) -> Self {
        if write { Self::Write } else { Self::Read }
    }
}

/// One earlier operation, or several that one event covers.
struct Entry<E> {
    range: Range,
    effect: Effect,
    stream: u64,
    event: E,
    /// Streams of which everything enqueued from now on is behind the event already; 0 where there is room.
    waited: [u64; 4],
}

impl<E> Entry<E> {
    /// Makes `stream` wait for the event, unless what comes on it is behind the event anyway.
    fn wait<Q: Queue<Event = E>>(&mut self, stream: &Q) -> Result<(), Q::Error> {
        let number = stream.number();
        if self.stream == number || self.waited.contains(&number) {
            return Ok(());
        }
        stream.wait(&self.event)?;
        if let Some(free) = self.waited.iter_mut().find(|stream| **stream == 0) {
            *free = number;
        }
        Ok(())
    }
}

/// All earlier operations that no later write has covered.
pub(crate) struct Entries<E> {
    list: Vec<Entry<E>>,
}

impl<E: Clone> Entries<E> {
    /// More than this are brought down to one, at the price of waits that no conflict asks for.
    const LIMIT: usize = 64;

    /// No entries, and no memory for any.
    pub(crate) const fn new() -> Self {
        Self { list: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn clear(&mut self, removed: &mut Vec<E>) {
        removed.extend(self.list.drain(..).map(|entry| entry.event));
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&E) -> bool, removed: &mut Vec<E>) {
        self.remove_if(|entry| !keep(&entry.event), removed);
    }

    /// Takes out the entries that `leaves` names; their events are the caller's to drop, when nothing is locked.
    fn remove_if(&mut self, mut leaves: impl FnMut(&Entry<E>) -> bool, removed: &mut Vec<E>) {
        let mut index = 0;
        while index < self.list.len() {
            if leaves(&self.list[index]) {
                removed.push(self.list.remove(index).event);
            } else {
                index += 1;
            }
        }
    }

    pub(super) fn push(&mut self, range: Range, effect: Effect, stream: u64, event: E) {
        self.list.push(Entry {
            range,
            effect,
            stream,
            event,
            waited: [0; 4],
        });
    }

    /// Makes room for an operation with that many accesses, so that entering it cannot fail.
    pub(super) fn reserve(&mut self, additional: usize) {
        self.list.reserve(additional);
    }

    /// Replaces all entries of one stream by one event that was recorded behind them all.
    pub(super) fn replace_stream(&mut self, stream: u64, event: E, removed: &mut Vec<E>) {
        self.remove_if(|entry| entry.stream == stream, removed);
        self.push(Range::ALL, Effect::Write, stream, event);
    }

    /// The events of all entries, or of the writes among them.
    pub(super) fn events(&self, writes_only: bool) -> Vec<E> {
        self.list
            .iter()
            .filter(|entry| entry.effect.writes() || !writes_only)
            .map(|entry| entry.event.clone())
            .collect()
    }

    /// Makes `stream` wait for everything that an access of that kind and range conflicts with.
    ///
    /// Returns whether it waited for all entries, so that the operation's event can stand for them all.
    pub(super) fn wait_for_conflicts<Q: Queue<Event = E>>(
        &mut self,
        stream: &Q,
        range: Range,
        effect: Effect,
    ) -> Result<bool, Q::Error> {
        if self.list.len() >= Self::LIMIT {
            self.wait_for_all(stream)?;
            return Ok(true);
        }
        for entry in &mut self.list {
            if entry.range.overlaps(range) && effect.conflicts(entry.effect) {
                entry.wait(stream)?;
            }
        }
        Ok(false)
    }

    /// Makes `stream` wait for every entry.
    pub(super) fn wait_for_all<Q: Queue<Event = E>>(&mut self, stream: &Q) -> Result<(), Q::Error> {
        for entry in &mut self.list {
            entry.wait(stream)?;
        }
        Ok(())
    }

    /// Enters an operation that was enqueued after it waited for its conflicts, and removes what it covers.
    pub(super) fn enter<R: Rules>(
        &mut self,
        range: Range,
        effect: Effect,
        stream: u64,
        event: E,
        removed: &mut Vec<E>,
    ) {
        let write = effect == Effect::Write;
        let covers = |entry: &Entry<E>| {
            let covered = if R::WRITES_REMOVE_ONLY_COVERED || !write {
                range.covers(entry.range)
            } else {
                range.overlaps(entry.range)
            };
            let waited_for = if write {
                true
            } else if R::READS_KEEP_WRITES {
                entry.effect == effect && entry.stream == stream
            } else {
                entry.effect == Effect::Write
            };
            covered && waited_for
        };
        self.remove_if(covers, removed);
        self.push(range, effect, stream, event);
    }
}
