//! The graph that a program makes, and the judge of it.

use std::cell::RefCell;

use super::{Effect, Range};

/// A stream that only records; its number.
#[derive(Debug)]
pub(super) struct Recorder(pub(super) u64);

/// The use of a range of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) block: usize,
    pub(super) range: Range,
    pub(super) effect: Effect,
}

/// An event; the world knows where it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event(usize);

/// A set of nodes.
#[derive(Clone, Copy, Default)]
struct Nodes([u64; 4]);

impl Nodes {
    fn insert(&mut self, node: usize) {
        self.0[node / 64] |= 1 << (node % 64);
    }

    fn contains(&self, node: usize) -> bool {
        self.0[node / 64] >> (node % 64) & 1 == 1
    }

    fn extend(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }
}

/// Everything that happened, each node with all nodes that are certainly before it.
#[derive(Default)]
pub(super) struct World {
    before: Vec<Nodes>,
    last: Vec<Option<usize>>,
    events: Vec<Option<usize>>,
    uses: Vec<(usize, Use)>,
    /// What each thread of the host has waited for.
    hosts: [Nodes; 2],
    thread: usize,
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::new(World::default());
}

impl World {
    pub(super) fn with<R>(body: impl FnOnce(&mut Self) -> R) -> R {
        WORLD.with_borrow_mut(body)
    }

    pub(super) fn reset() {
        Self::with(|world| {
            world.before.clear();
            world.last.clear();
            world.events.clear();
            world.uses.clear();
            world.hosts = Default::default();
            world.thread = 0;
        });
    }

    /// A new node behind everything that the thread has waited for, and behind `extra`.
    fn node(&mut self, extra: Option<usize>) -> usize {
        let mut before = self.hosts[self.thread];
        if let Some(extra) = extra {
            before.extend(&self.before[extra]);
            before.insert(extra);
        }
        self.before.push(before);
        self.before.len() - 1
    }

    /// A new node at the end of a stream.
    fn on(&mut self, stream: u64, extra: Option<usize>) -> usize {
        let index = usize::try_from(stream).unwrap_or(0);
        if self.last.len() <= index {
            self.last.resize(index + 1, None);
        }
        let node = self.node(extra);
        if let Some(last) = self.last[index].replace(node) {
            let earlier = self.before[last];
            self.before[node].extend(&earlier);
            self.before[node].insert(last);
        }
        node
    }

    pub(super) fn enqueue(&mut self, stream: u64, uses: impl IntoIterator<Item = Use>) {
        let node = self.on(stream, None);
        self.uses.extend(uses.into_iter().map(|part| (node, part)));
    }

    pub(super) fn new_event(&mut self) -> Event {
        self.events.push(None);
        Event(self.events.len() - 1)
    }

    pub(super) fn record(&mut self, stream: u64, event: &Event) {
        let node = self.on(stream, None);
        self.events[event.0] = Some(node);
    }

    pub(super) fn wait(&mut self, stream: u64, event: &Event) {
        let recorded = self.events[event.0];
        self.on(stream, recorded);
    }

    /// The host waits for events, uses a block, and goes on.
    pub(super) fn host(&mut self, events: &[Event], part: Use) {
        let node = self.node(None);
        for event in events {
            if let Some(recorded) = self.events[event.0] {
                let earlier = self.before[recorded];
                self.before[node].extend(&earlier);
                self.before[node].insert(recorded);
            }
        }
        self.uses.push((node, part));
        // What the wait proved complete is in front of whatever anybody does from now on.
        let complete = self.before[node];
        for host in &mut self.hosts {
            host.extend(&complete);
        }
        self.hosts[self.thread].insert(node);
    }

    pub(super) fn fork(&mut self) {
        self.hosts[1] = self.hosts[0];
    }

    pub(super) fn switch(&mut self, thread: usize) {
        self.thread = thread;
    }

    pub(super) fn join(&mut self) {
        let other = self.hosts[1];
        self.hosts[0].extend(&other);
        self.thread = 0;
    }

    /// Whether two uses of the same bytes that need an order have none.
    pub(super) fn has_race(&self) -> bool {
        self.uses.iter().enumerate().any(|(index, (later, a))| {
            self.uses[..index].iter().any(|(earlier, b)| {
                let overlap = a.range.start < b.range.end && b.range.start < a.range.end;
                a.block == b.block
                    && overlap
                    && a.effect.conflicts(b.effect)
                    && earlier != later
                    && !self.before[*later].contains(*earlier)
                    && !self.before[*earlier].contains(*later)
            })
        })
    }
}
