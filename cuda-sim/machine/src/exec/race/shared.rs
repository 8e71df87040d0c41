//! Which accesses to the shared memory of a cluster nothing orders; without clusters, each block is one.

use super::asynchronous::IN_FLIGHT;
use super::{Race, Watched};
use crate::check::FindingKind;
use crate::code::{Touch, TouchKind};
use crate::exec::cluster::{RANK_SHIFT, SharedView};
use crate::exec::env::Shape;
use crate::exec::findings::Seen;

/// An access that was executed; none at time 0.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Record {
    pub(super) time: u32,
    /// Who made it, or started the operation that made it.
    pub(super) thread: u32,
    /// Whose time it is: the thread's, or that of a barrier which counted the operation.
    pub(super) agent: u32,
    /// Index into [`Race::sites`].
    pub(super) site: u32,
    /// Number of the warp's instruction: its lanes do not race with each other.
    pub(super) instance: u32,
    pub(super) strong: bool,
}

/// The last accesses to a byte. Of the reads, one that is unordered with others is enough.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Byte {
    pub(super) write: Record,
    pub(super) reads: [Record; 2],
}

/// A pair that races unless the second wrote what was there already.
#[derive(Debug)]
pub(super) struct Suspect {
    kind: FindingKind,
    first: Seen,
    second: Seen,
    /// The block of the cluster and the offset of the byte.
    rank: u32,
    offset: usize,
    /// What was there, where that matters.
    before: Option<u8>,
}

impl Race {
    pub(super) fn is_ordered(&self, thread: u32, record: &Record) -> bool {
        record.time == 0
            || record.agent == thread && record.time != IN_FLIGHT
            || record.time < self.threads.known(thread, record.agent)
    }

    /// Notes a lane's access; gives what it races with.
    pub(super) fn access_shared(
        &mut self,
        (thread, seen, site): (u32, Seen, u32),
        touch: Touch,
        address: u64,
        watched: &Watched<'_>,
        shared: &SharedView<'_>,
    ) -> Option<Suspect> {
        let (rank, start) = shared.locate(address, touch.size as usize)?;
        let record = Record {
            time: self.threads.now,
            thread,
            agent: thread,
            site,
            instance: self.instances,
            strong: touch.strong.is_some(),
        };
        if rank != thread / self.threads.in_block {
            self.remote.insert((rank, thread), record);
        }
        let ((kind, first), offset) = (start..start + touch.size as usize).find_map(|offset| {
            let index = rank as usize * self.block_bytes + offset;
            let found = self.access(record, touch.kind, index)?;
            Some((found, offset))
        })?;
        let kind = self.kind_with(kind, &first);
        let waw = kind == FindingKind::WriteAfterWrite;
        let site = self.sites[first.site as usize];
        Some(Suspect {
            kind,
            first: self.seen(site, first.thread, watched.shape, watched.block),
            second: seen,
            rank,
            offset,
            before: shared.byte(rank, offset).filter(|_| waw),
        })
    }

    /// Notes one byte of an access; gives an earlier one that it races with.
    pub(super) fn access(
        &mut self,
        record: Record,
        kind: TouchKind,
        offset: usize,
    ) -> Option<(FindingKind, Record)> {
        let byte = *self.bytes.get(offset)?;
        let thread = record.thread;
        let races = |other: &Record| {
            !self.is_ordered(thread, other)
                && other.instance != record.instance
                && !(other.strong && record.strong)
        };
        let found = match kind {
            TouchKind::Read | TouchKind::Await => {
                races(&byte.write).then_some((FindingKind::ReadAfterWrite, byte.write))
            }
            TouchKind::Write | TouchKind::Update => {
                let read = byte.reads.into_iter().find(races);
                let read = read.map(|it| (FindingKind::WriteAfterRead, it));
                let write = || (FindingKind::WriteAfterWrite, byte.write);
                read.or_else(|| races(&byte.write).then(write))
            }
        };
        let replaces_first = self.is_ordered(thread, &byte.reads[0]);
        let byte = self.bytes.get_mut(offset)?;
        match kind {
            TouchKind::Read | TouchKind::Await => {
                byte.reads[usize::from(!replaces_first)] = record;
            }
            TouchKind::Write | TouchKind::Update => {
                *byte = Byte {
                    write: record,
                    ..Byte::default()
                }
            }
        }
        found
    }

    /// A block has ended: whoever used its memory must have been waited for.
    pub(crate) fn end_block(&mut self, rank: u32, block: [u32; 3], shape: &Shape<'_>) {
        let own = rank * self.threads.in_block..(rank + 1) * self.threads.in_block;
        let remote = self.remote.range((rank, 0)..=(rank, u32::MAX));
        for (&(_, thread), record) in remote {
            let waited = |own: u32| record.time < self.threads.known(own, thread);
            if !own.clone().any(waited)
                && let Some(findings) = &shape.findings
            {
                let seen = self.seen(self.sites[record.site as usize], thread, shape, block);
                findings.add(shape, FindingKind::OutlivesBlock, [seen, seen], None);
            }
        }
    }
}

impl Suspect {
    /// Reports the pair once the access has been executed.
    pub(super) fn confirm(self, shape: &Shape<'_>, shared: &SharedView<'_>) {
        let now = shared.byte(self.rank, self.offset);
        // Two writes of the same value are a habit, and harmless.
        let same = self.before.is_some() && self.before == now;
        if let (Some(findings), false) = (&shape.findings, same) {
            let pair = [self.first, self.second];
            let address = u64::from(self.rank) << RANK_SHIFT | self.offset as u64;
            findings.add(shape, self.kind, pair, Some(address));
        }
    }
}
