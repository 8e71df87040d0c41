//! Asynchronous operations, as they race: what they read and write is in use from their start until somebody has waited for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::known::learn;
use super::{Race, Record};
use crate::check::FindingKind;
use crate::code::TouchKind;
use crate::exec::cluster::RANK_SHIFT;
use crate::exec::env::Shape;
use crate::exec::findings::Site;
use crate::exec::flight::{Group, Operation, Origin, SharedAt, Target};

/// The time of an operation that nobody has waited for: later than any.
pub(super) const IN_FLIGHT: u32 = u32::MAX;

/// An operation that nobody has waited for.
#[derive(Debug)]
struct Started {
    site: Site,
    thread: u32,
    group: Option<Group>,
    /// What it reads and writes of shared memory.
    uses: [Option<(SharedAt, usize)>; 2],
}

/// The operations of a cluster.
#[derive(Debug, Default)]
pub(super) struct Asynchronous {
    /// By their instances.
    started: BTreeMap<u32, Started>,
    /// Barriers whose phases operations complete, each an agent.
    barriers: BTreeMap<u64, u32>,
}

fn address(at: SharedAt) -> u64 {
    u64::from(at.rank) << RANK_SHIFT | at.offset as u64
}

impl Race {
    fn all_threads(&self) -> u32 {
        self.threads.clocks.len() as u32
    }

    /// Whether an operation made the access, rather than a thread.
    pub(super) fn is_asynchronous(&self, record: &Record) -> bool {
        record.time == IN_FLIGHT || record.agent >= 2 * self.all_threads()
    }

    /// The same mistake, if it is one with an operation.
    pub(super) fn kind_with(&self, kind: FindingKind, other: &Record) -> FindingKind {
        match kind {
            FindingKind::ReadAfterWrite if self.is_asynchronous(other) => {
                FindingKind::ReadBeforeArrival
            }
            FindingKind::WriteAfterRead | FindingKind::WriteAfterWrite
                if self.is_asynchronous(other) =>
            {
                FindingKind::WriteBeforeArrival
            }
            kind => kind,
        }
    }

    /// Lanes make what is known to them visible to asynchronous copies.
    pub(crate) fn fence(&mut self, rank: u32, warp: u32, lanes: u32) {
        self.threads.now += 1;
        let all = self.threads.clocks.len();
        for thread in self.threads.of(rank, warp, lanes) {
            let known = Arc::make_mut(&mut self.threads.clocks[thread as usize].own);
            known.resize(known.len().max(2 * all), 0);
            let (own, visible) = known.split_at_mut(all);
            for (visible, own) in visible.iter_mut().zip(own) {
                *visible = (*visible).max(*own);
            }
            known[all + thread as usize] = self.threads.now;
        }
    }

    /// Whether what a thread wrote is visible to a copy that another starts.
    fn is_visible(&self, thread: u32, write: &Record) -> bool {
        let place = self.all_threads() + write.agent;
        write.time < self.threads.known(thread, place)
    }

    /// Notes an operation when it is started, and reports what it races with. `by_proxy`: it does not see what threads write without a
    /// fence.
    pub(crate) fn begin_operation(
        &mut self,
        operation: &mut Operation,
        by_proxy: bool,
        shape: &Shape<'_>,
    ) {
        self.instances += 1;
        operation.instance = self.instances;
        if self.bytes.is_empty() {
            return;
        }
        let seen = operation.seen;
        let thread = shape.rank_of(seen.block) * self.threads.in_block + seen.thread;
        let record = Record {
            time: IN_FLIGHT,
            thread,
            agent: thread,
            site: self.site(seen.site),
            instance: self.instances,
            strong: operation.combine.is_some(),
        };
        let reads = match operation.origin {
            Origin::Shared(at) => Some((at, operation.size)),
            Origin::Global(_) | Origin::Taken(_) => None,
        };
        let writes = match operation.target {
            Target::Shared(at) => Some((at, operation.size)),
            Target::Global(_) => None,
        };
        for (uses, kind) in [(reads, TouchKind::Read), (writes, TouchKind::Write)] {
            let Some((at, size)) = uses else { continue };
            let mut found = None;
            for offset in at.range(size) {
                let index = at.rank as usize * self.block_bytes + offset;
                let Some(write) = self.bytes.get(index).map(|byte| byte.write) else {
                    break;
                };
                let hidden = by_proxy
                    && kind == TouchKind::Read
                    && write.time != 0
                    && !self.is_asynchronous(&write)
                    && self.is_ordered(thread, &write)
                    && !self.is_visible(thread, &write);
                let race = self.access(record, kind, index);
                let race = race.map(|(kind, first)| (self.kind_with(kind, &first), first));
                let hidden = hidden.then_some((FindingKind::MissingProxyFence, write));
                found = found.or(race.or(hidden).map(|found| (found, offset)));
            }
            if let (Some(((kind, first), offset)), Some(findings)) = (found, &shape.findings) {
                let site = self.sites[first.site as usize];
                let first = self.seen(site, first.thread, shape, seen.block);
                let at = address(SharedAt { offset, ..at });
                findings.add(shape, kind, [first, seen], Some(at));
            }
        }
        let started = Started {
            site: seen.site,
            thread,
            group: operation.group,
            uses: [reads, writes],
        };
        self.asynchronous.started.insert(self.instances, started);
    }

    /// From now on, the accesses of an operation are those of an agent at this time.
    fn settle(&mut self, instance: u32, started: &Started, agent: u32) {
        for (at, size) in started.uses.into_iter().flatten() {
            let start = at.rank as usize * self.block_bytes + at.offset;
            let now = self.threads.now;
            for byte in self.bytes.iter_mut().skip(start).take(size) {
                let records = [&mut byte.write].into_iter().chain(&mut byte.reads);
                for record in records.filter(|it| it.instance == instance) {
                    (record.time, record.agent) = (now, agent);
                }
            }
        }
    }

    /// An operation has happened: a barrier that counts its bytes knows of it.
    pub(crate) fn complete_operation(&mut self, operation: &Operation) {
        let Some(barrier) = operation.barrier else {
            return;
        };
        let Some(started) = self.asynchronous.started.remove(&operation.instance) else {
            return;
        };
        let next = 2 * self.all_threads() + self.asynchronous.barriers.len() as u32;
        let agents = &mut self.asynchronous.barriers;
        let agent = *agents.entry(address(barrier)).or_insert(next);
        self.settle(operation.instance, &started, agent);
    }

    /// A phase of a barrier ends: whoever finds that out knows of the operations that it counted.
    pub(crate) fn end_phase(&mut self, at: SharedAt) {
        let address = address(at);
        if let Some(&agent) = self.asynchronous.barriers.get(&address) {
            self.threads.now += 1;
            let known = self.threads.places.entry(address).or_default();
            learn(&mut known.own, agent, self.threads.now);
        }
    }

    /// A thread has waited for its groups up to one: what they did is as if the thread had done it now.
    pub(crate) fn wait_for_groups(&mut self, thread: u32, last: u64, only_reads: bool) {
        let waited = |it: &Started| {
            it.group
                .is_some_and(|group| group.thread == thread && group.number <= last)
        };
        let started = &mut self.asynchronous.started;
        let all = started.iter().filter(|(_, it)| waited(it));
        let all: Vec<u32> = all.map(|(instance, _)| *instance).collect();
        for instance in all {
            let Some(mut started) = self.asynchronous.started.remove(&instance) else {
                continue;
            };
            self.settle(instance, &started, thread);
            let write = started.uses[1].filter(|_| only_reads);
            if write.is_some() {
                started.uses = [None, write];
                self.asynchronous.started.insert(instance, started);
            }
        }
    }

    /// A block has ended: operations that use its memory must have been waited for.
    pub(crate) fn end_operations(&mut self, rank: u32, block: [u32; 3], shape: &Shape<'_>) {
        for started in self.asynchronous.started.values() {
            let mut uses = started.uses.into_iter().flatten();
            if let Some((at, _)) = uses.find(|(at, _)| at.rank == rank)
                && let Some(findings) = &shape.findings
            {
                let seen = self.seen(started.site, started.thread, shape, block);
                let kind = FindingKind::OperationOutlivesBlock;
                findings.add(shape, kind, [seen, seen], Some(address(at)));
            }
        }
    }
}
