//! Asynchronous operations that threads of a cluster have started and that have not happened yet.
//!
//! An operation may happen at any time until somebody has waited for it. When it does depends on the launch's seed: at once, after some
//! turns of the cluster's warps, or once nobody can go on without it. With seed 0, each one happens late.

mod operation;
mod waiting;

use std::collections::{HashMap, VecDeque};

use crate::FaultKind;
use crate::exec::env::Shape;
use crate::exec::findings::Seen;
use crate::exec::race::Race;
use crate::exec::unwritten::Unwritten;
pub(crate) use operation::{Operation, Origin, Reduction, SharedAt, SharedBlocks, Target};
pub(crate) use waiting::{Poll, Round};

/// Turns after which an operation happens at the latest.
const LATEST: u64 = 64;

/// The most operations and bytes in flight: far more than what programs have there that wait for it.
const MOST_OPERATIONS: usize = 1 << 13;
const MOST_BYTES: usize = 64 << 20;

/// A group of a thread's bulk copies: of which thread of the cluster, and the how-manieth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) thread: u32,
    pub(crate) number: u64,
}

/// An operation that failed, where it was started.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) seen: Seen,
    pub(crate) kind: FaultKind,
}

/// What is in flight in a cluster.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    operations: VecDeque<Operation>,
    /// What they write together.
    bytes: usize,
    /// The open group of each thread that has closed one.
    open: HashMap<u32, u64>,
    now: u64,
    random: u64,
    failure: Option<Failure>,
    pub(crate) waiting: waiting::Waiting,
}

/// What an operation reaches when it happens.
pub(crate) struct Reach<'a, 's> {
    pub(crate) shape: &'a Shape<'s>,
    pub(crate) shared: &'a mut dyn SharedBlocks,
    pub(crate) unwritten: &'a mut Unwritten,
    pub(crate) race: Option<&'a mut Race>,
}

impl Flight {
    /// Nothing in flight in a cluster that starts, whose first block has that place.
    pub(crate) fn new(seed: u64, block: [u32; 3]) -> Self {
        let [x, y, z] = block.map(u64::from);
        let random = if seed == 0 {
            0
        } else {
            seed ^ x << 1 ^ y << 33 ^ z << 49
        };
        Self {
            random,
            ..Self::default()
        }
    }

    /// A number of a simple well-mixed sequence; 0 with seed 0.
    fn draw(&mut self) -> u64 {
        if self.random == 0 {
            return 0;
        }
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15).max(1);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 8
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Whether there is nothing to do.
    pub(crate) fn is_idle(&self) -> bool {
        self.operations.is_empty() && self.failure.is_none()
    }

    /// The group that a thread's next operations belong to.
    pub(crate) fn open_group(&self, thread: u32) -> Group {
        let number = self.open.get(&thread).copied().unwrap_or(0);
        Group { thread, number }
    }

    /// A thread closes its open group.
    pub(crate) fn commit(&mut self, thread: u32) {
        *self.open.entry(thread).or_default() += 1;
    }

    /// Starts an operation.
    pub(crate) fn start(&mut self, mut operation: Operation, reach: &mut Reach<'_, '_>) {
        let chance = self.draw();
        let after = if self.random == 0 {
            LATEST
        } else if chance & 3 == 0 {
            0
        } else {
            1 + (chance >> 4) % LATEST
        };
        operation.due = self.now + after;
        // What it reads, it may read early or late.
        if chance >> 16 & 1 == 1 {
            self.take(&mut operation, reach);
        }
        if after == 0 {
            self.perform(operation, reach);
        } else {
            self.make_room(operation.size, reach);
            self.bytes += operation.size;
            self.operations.push_back(operation);
        }
    }

    /// Whoever starts more than there is room for sees the older half happen.
    fn make_room(&mut self, size: usize, reach: &mut Reach<'_, '_>) {
        if self.operations.len() < MOST_OPERATIONS && self.bytes + size <= MOST_BYTES {
            return;
        }
        let mut half = self.operations.len().div_ceil(2);
        self.perform_if(
            |_| {
                let chosen = half > 0;
                half = half.saturating_sub(1);
                chosen
            },
            reach,
        );
    }

    fn take(&mut self, operation: &mut Operation, reach: &mut Reach<'_, '_>) {
        if let Err(kind) = operation.take(reach) {
            let seen = operation.seen;
            self.failure.get_or_insert(Failure { seen, kind });
        }
    }

    fn perform(&mut self, mut operation: Operation, reach: &mut Reach<'_, '_>) {
        if let Err(kind) = operation.perform(reach) {
            let seen = operation.seen;
            self.failure.get_or_insert(Failure { seen, kind });
        }
    }

    /// A turn has passed: what is due happens.
    pub(crate) fn tick(&mut self, reach: &mut Reach<'_, '_>) {
        self.now += 1;
        let now = self.now;
        self.perform_if(|it| it.due <= now, reach);
    }

    /// Nobody can go on without it: the next operation happens.
    pub(crate) fn hurry(&mut self, reach: &mut Reach<'_, '_>) {
        let next = self.operations.iter().map(|it| it.due).min();
        if let Some(next) = next {
            self.perform_if(|it| it.due <= next, reach);
        }
    }

    /// The cluster has ended: everything happens.
    pub(crate) fn finish(&mut self, reach: &mut Reach<'_, '_>) {
        self.perform_if(|_| true, reach);
    }

    fn perform_if(
        &mut self,
        mut chosen: impl FnMut(&Operation) -> bool,
        reach: &mut Reach<'_, '_>,
    ) {
        let mut index = 0;
        while let Some(operation) = self.operations.get(index) {
            if !chosen(operation) {
                index += 1;
            } else if let Some(operation) = self.operations.remove(index) {
                self.bytes -= operation.size;
                self.perform(operation, reach);
            }
        }
    }

    /// A thread waits until all but its last `pending` groups have been read, or have happened.
    pub(crate) fn wait(
        &mut self,
        thread: u32,
        pending: u64,
        only_reads: bool,
        reach: &mut Reach<'_, '_>,
    ) {
        let open = self.open_group(thread).number;
        let Some(last) = open.checked_sub(pending).and_then(|it| it.checked_sub(1)) else {
            return;
        };
        let waited = |it: &Operation| {
            it.group
                .is_some_and(|group| group.thread == thread && group.number <= last)
        };
        if only_reads {
            let mut operations = std::mem::take(&mut self.operations);
            for operation in operations.iter_mut().filter(|it| waited(it)) {
                self.take(operation, reach);
                // It may happen well after it was waited for.
                operation.due = operation.due.max(self.now + 1);
            }
            self.operations = operations;
        } else {
            self.perform_if(waited, reach);
        }
        if let Some(race) = &mut reach.race {
            race.wait_for_groups(thread, last, only_reads);
        }
    }

    pub(crate) fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }
}
