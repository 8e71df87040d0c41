//! Compares what operations touch, and reports those that nothing orders.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use cuda_sys::CUresult;

use crate::code;
use crate::report::{AccessKind, Race, RaceSide, Report, ReportKind};
use crate::state::State;
use crate::state::order::byte_set::ByteSet;
use crate::state::order::clock::Clock;
use crate::state::order::history::{Access, Actor, What};
use crate::state::queue::{OperationId, Work};

/// Bytes of a block, as offsets.
#[derive(Debug)]
pub(crate) struct Touch {
    /// The block's address.
    pub(crate) block: u64,
    pub(crate) kind: AccessKind,
    pub(crate) bytes: ByteSet,
}

impl State {
    /// Notes what an operation touched, and reports each operation that it races with.
    pub(crate) fn note_accesses(&mut self, actor: &Arc<Actor>, touches: Vec<Touch>) {
        let mut told = BTreeSet::new();
        for touch in touches {
            let access = Access {
                actor: Arc::clone(actor),
                kind: touch.kind,
                bytes: Arc::new(touch.bytes),
            };
            for (other, bytes) in self.races(touch.block, &access) {
                let first = (other.actor.moment.mark.stream, other.actor.call);
                if told.insert(first) {
                    self.report_race(&other, &access, bytes);
                }
            }
            let order = &self.order;
            let before =
                |earlier: &Access| order.is_before(earlier.actor.moment.mark, &actor.moment);
            self.space.histories.add(touch.block, access, before);
        }
    }

    /// The earlier accesses to a block with which one races, each with the bytes, as addresses.
    fn races(&self, block: u64, access: &Access) -> Vec<(Access, Range<u64>)> {
        let moment = &access.actor.moment;
        let Some(history) = self.space.histories.of(block) else {
            return Vec::new();
        };
        history
            .iter()
            .filter(|other| access.conflicts(other))
            .filter(|other| !self.order.is_before(other.actor.moment.mark, moment))
            .filter_map(|other| {
                let common = other.bytes.first_common(&access.bytes)?;
                Some((other.clone(), block + common.start..block + common.end))
            })
            .collect()
    }

    /// The known memory among ascending ranges of addresses; nothing where the check is off.
    pub(crate) fn touches(
        &self,
        kind: AccessKind,
        ranges: impl Iterator<Item = Range<u64>>,
    ) -> Vec<Touch> {
        let mut blocks: Vec<(u64, Vec<Range<u64>>)> = Vec::new();
        for range in ranges.filter(|_| self.order.is_on()) {
            let Some(block) = self.space.covering(range.start).map(|it| it.address) else {
                continue;
            };
            let offsets = range.start - block..range.end - block;
            match blocks.last_mut() {
                Some((last, runs)) if *last == block => runs.push(offsets),
                _ => blocks.push((block, vec![offsets])),
            }
        }
        let touch = |(block, runs)| Touch {
            block,
            kind,
            bytes: ByteSet::from_runs(runs),
        };
        blocks.into_iter().map(touch).collect()
    }

    /// All bytes of the block that starts at an address, changed.
    pub(crate) fn touch_all(&self, address: u64) -> Vec<Touch> {
        let block = self.space.at(address);
        let range = block.map(|block| address..address + block.capacity as u64);
        self.touches(AccessKind::Write, range.into_iter())
    }

    /// Notes that a call releases the block at an address, having waited for what it waits for.
    pub(crate) fn note_release(&mut self, address: u64, call: u64) {
        let touches = self.touch_all(address);
        let actor = Actor {
            what: What::Name("release by the host"),
            moment: self.order.now(),
            call,
        };
        self.note_accesses(&Arc::new(actor), touches);
    }

    /// Reports a release of what cannot be released so, and gives the code for it.
    pub(crate) fn refuse_release(&mut self, address: u64, call: u64) -> CUresult {
        let why = match self.space.covering(address) {
            Some(block) if block.allocation.is_none() => "it is released already",
            Some(block) if block.address == address => {
                "it was made by a function whose memory this one does not release"
            }
            Some(_) => "it is not the start of its allocation",
            None if self.space.former(address).is_some() => "it is released already",
            None => "no allocation was ever there",
        };
        let message = format!("the memory at {address:#x} cannot be released: {why}");
        let mut report = Report::new(ReportKind::InvalidFree, message, call);
        report.address = Some(address);
        self.add_report(report);
        code::INVALID_VALUE
    }

    /// The operations in wait that copy from or to memory of the host, so that it must not go before they are executed.
    pub(crate) fn users_of(&self, memory: Range<u64>) -> Vec<OperationId> {
        let overlaps = |range: Range<u64>| range.start < memory.end && memory.start < range.end;
        let uses = |work: &Work| match work {
            Work::Copy(copy) => copy.reads().any(overlaps) || copy.writes().any(overlaps),
            Work::Fill(fill) => fill.writes().any(overlaps),
            _ => false,
        };
        let users = self.operations.iter();
        users
            .filter(|(_, operation)| uses(&operation.work))
            .map(|(id, _)| *id)
            .collect()
    }

    fn report_race(&mut self, first: &Access, second: &Access, bytes: Range<u64>) {
        let len = bytes.end - bytes.start;
        let (first, second) = (self.side(first), self.side(second));
        let message = format!(
            "{} and {} touch the same {len} bytes at {:#x}, and nothing orders them",
            first.operation, second.operation, bytes.start
        );
        let mut report = Report::new(ReportKind::Race, message, second.call);
        report.address = Some(bytes.start);
        report.size = usize::try_from(len).ok();
        report.race = Some(Box::new(Race {
            first,
            second,
            bytes,
        }));
        self.add_report(report);
    }

    fn side(&self, access: &Access) -> RaceSide {
        let actor = &access.actor;
        RaceSide {
            operation: actor.what.text(),
            access: access.kind,
            stream: actor.moment.mark.stream.0,
            call: actor.call,
            site: self.sites.of(actor.call),
        }
    }

    /// Notes that the host has waited for everything in `seen`, and forgets what thereby cannot race any more.
    pub(crate) fn host_learns(&mut self, seen: &Clock) {
        if !self.order.is_on() {
            return;
        }
        self.order.host_learns(seen);
        let oldest: Option<&OperationId> = self.operations.keys().next();
        let known = match oldest.and_then(|id| self.operations.get(id)) {
            Some(operation) => Arc::clone(&operation.moment.host),
            None => Arc::clone(&self.order.host),
        };
        let idle = self.operations.is_empty();
        if self.space.histories.purge(&known) && idle {
            let queues = &self.queues;
            let remembered = self.space.histories.streams();
            self.order
                .shrink(|stream| queues.contains_key(&stream), &remembered);
        }
    }
}
