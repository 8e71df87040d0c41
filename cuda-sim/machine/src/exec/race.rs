//! Which accesses to the shared memory of a cluster nothing orders; without clusters, each block is one. A thread's number counts through the
//! blocks of its cluster.
//!
//! Time is counted in events that order threads: barriers, `.sync` instructions, strong accesses. Each thread knows, of each other thread,
//! the time before which everything that one did happened before. An access by a thread is ordered after an earlier one if it knows of
//! that one's time.

mod asynchronous;
mod known;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use asynchronous::{Asynchronous, IN_FLIGHT};
use known::{Known, includes, join};

use crate::WARP_SIZE;
use crate::check::FindingKind;
use crate::code::{Instr, Touch, TouchKind};
use crate::exec::cluster::{RANK_SHIFT, SharedView};
use crate::exec::env::Shape;
use crate::exec::findings::{Seen, Site};
use crate::exec::scope::Scope;
use crate::exec::spaces::{Space, resolve};
use crate::ops::memory::addresses;

/// An access that was executed; none at time 0.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    time: u32,
    /// Who made it, or started the operation that made it.
    thread: u32,
    /// Whose time it is: the thread's, or that of a barrier which counted the operation.
    agent: u32,
    /// Index into [`Race::sites`].
    site: u32,
    /// Number of the warp's instruction: its lanes do not race with each other.
    instance: u32,
    strong: bool,
}

/// The last accesses to a byte. Of the reads, one that is unordered with others is enough.
#[derive(Debug, Clone, Copy, Default)]
struct Byte {
    write: Record,
    reads: [Record; 2],
}

/// A pair that races unless the second wrote what was there already.
#[derive(Debug)]
pub(crate) struct Suspect {
    kind: FindingKind,
    first: Seen,
    second: Seen,
    /// The block of the cluster and the offset of the byte.
    rank: u32,
    offset: usize,
    /// What was there, where that matters.
    before: Option<u8>,
}

/// The lanes that access memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes {
    pub(crate) block: [u32; 3],
    pub(crate) warp: u32,
    pub(crate) mask: u32,
}

/// What is known about the threads of a cluster.
#[derive(Debug)]
pub(crate) struct Race {
    /// Threads and bytes of one block.
    threads: u32,
    block_bytes: usize,
    now: u32,
    instances: u32,
    known: Vec<Known>,
    bytes: Vec<Byte>,
    sites: Vec<Site>,
    site_numbers: HashMap<Site, u32>,
    /// What those knew who accessed an address strongly.
    places: HashMap<u64, Known>,
    /// Threads at each barrier of each block, and whether they wait there.
    arrived: Vec<[Vec<(u32, bool)>; 16]>,
    /// What those know who have arrived at the cluster's barrier, and what all knew when it opened last.
    gathered: Option<Known>,
    handed_on: Option<Known>,
    /// By block and thread: the last access to the memory of that block by a thread of another one.
    remote: BTreeMap<(u32, u32), Record>,
    asynchronous: Asynchronous,
}

impl Race {
    pub(crate) fn new(shape: &Shape<'_>) -> Self {
        let threads = shape.launch.block.iter().product::<u32>();
        let blocks = shape.cluster_blocks() as usize;
        let all = threads as usize * blocks;
        let nothing = Arc::new(vec![0; all]);
        let block_bytes = shape.shared_bytes as usize;
        Self {
            threads,
            block_bytes,
            now: 1,
            instances: 0,
            known: vec![nothing; all],
            bytes: vec![Byte::default(); block_bytes * blocks],
            sites: Vec::new(),
            site_numbers: HashMap::new(),
            places: HashMap::new(),
            arrived: (0..blocks).map(|_| Default::default()).collect(),
            gathered: None,
            handed_on: None,
            remote: BTreeMap::new(),
            asynchronous: Asynchronous::default(),
        }
    }

    /// The numbers of lanes in the cluster.
    fn threads_of(&self, rank: u32, warp: u32, lanes: u32) -> impl Iterator<Item = u32> + use<> {
        let first = rank * self.threads + warp * WARP_SIZE as u32;
        (0..WARP_SIZE as u32)
            .filter(move |lane| lanes >> lane & 1 == 1)
            .map(move |lane| first + lane)
    }

    /// Lanes come to a barrier of their block.
    pub(crate) fn arrive(&mut self, rank: u32, barrier: usize, warp: u32, lanes: u32, waits: bool) {
        let threads = self.threads_of(rank, warp, lanes);
        self.arrived[rank as usize][barrier].extend(threads.map(|thread| (thread, waits)));
    }

    /// A barrier of a block opens: who waited knows what all did who came.
    pub(crate) fn complete(&mut self, rank: u32, barrier: usize) {
        let arrived = std::mem::take(&mut self.arrived[rank as usize][barrier]);
        let all: Vec<u32> = arrived.iter().map(|(thread, _)| *thread).collect();
        let waited = arrived.iter().filter(|(_, waits)| *waits);
        let waited: Vec<u32> = waited.map(|(thread, _)| *thread).collect();
        self.event(&all, &waited);
    }

    /// Lanes of a warp have gone through a `.sync` instruction.
    pub(crate) fn warp_sync(&mut self, rank: u32, warp: u32, lanes: u32) {
        let threads: Vec<u32> = self.threads_of(rank, warp, lanes).collect();
        self.event(&threads, &threads);
    }

    /// Lanes arrive at the cluster's barrier; what they do from now on, it does not order.
    pub(crate) fn arrive_in_cluster(&mut self, rank: u32, warp: u32, lanes: u32) {
        self.now += 1;
        for thread in self.threads_of(rank, warp, lanes) {
            let own = &self.known[thread as usize];
            let gathered = self
                .gathered
                .get_or_insert_with(|| Arc::new(vec![0; own.len()]));
            if !includes(gathered, own) {
                join(gathered, own);
            }
            Arc::make_mut(gathered)[thread as usize] = self.now;
        }
    }

    /// The cluster's barrier opens.
    pub(crate) fn complete_cluster(&mut self) {
        self.handed_on = self.gathered.take();
    }

    /// Lanes go on from the cluster's barrier: they know what those did who arrived.
    pub(crate) fn wait_in_cluster(&mut self, rank: u32, warp: u32, lanes: u32) {
        let Some(known) = self.handed_on.clone() else {
            return;
        };
        let mut last: Option<Known> = None;
        for thread in self.threads_of(rank, warp, lanes) {
            let own = &mut self.known[thread as usize];
            if last.as_ref().is_some_and(|last| Arc::ptr_eq(last, own)) || includes(&known, own) {
                last = Some(std::mem::replace(own, Arc::clone(&known)));
            } else {
                join(own, &known);
            }
        }
    }

    /// From now on, `to` know what `from` did until now and knew.
    fn event(&mut self, from: &[u32], to: &[u32]) {
        self.now += 1;
        let mut joined: Option<Known> = None;
        let mut last: Option<Known> = None;
        for &thread in from {
            let known = &self.known[thread as usize];
            // Threads that were together before mostly know the same.
            if last.as_ref().is_some_and(|last| Arc::ptr_eq(last, known)) {
                continue;
            }
            last = Some(Arc::clone(known));
            match &mut joined {
                None => joined = Some(Arc::new(known.to_vec())),
                Some(joined) => join(joined, known),
            }
        }
        let Some(mut joined) = joined else { return };
        let row = Arc::make_mut(&mut joined);
        for &thread in from {
            row[thread as usize] = self.now;
        }
        for &thread in to {
            let own = &mut self.known[thread as usize];
            // Of those that came, everything is in the joint row already.
            if joined[thread as usize] == self.now {
                *own = Arc::clone(&joined);
            } else {
                join(own, &joined);
            }
        }
    }

    /// A strong access to an address: what was known there is known to the thread, and the other way round.
    fn strong(&mut self, thread: u32, address: u64) {
        self.learn_at(thread, address);
        self.event(&[thread], &[thread]);
        let known = Arc::clone(&self.known[thread as usize]);
        self.places.insert(address, known);
    }

    fn is_ordered(&self, thread: u32, record: &Record) -> bool {
        let known = || self.known[thread as usize].get(record.agent as usize);
        record.time == 0
            || record.agent == thread && record.time != IN_FLIGHT
            || known().is_some_and(|&time| record.time < time)
    }

    fn site(&mut self, site: Site) -> u32 {
        let sites = &mut self.sites;
        *self.site_numbers.entry(site).or_insert_with(|| {
            sites.push(site);
            sites.len() as u32 - 1
        })
    }

    /// A block has ended: whoever used its memory must have been waited for.
    pub(crate) fn end_block(&mut self, rank: u32, block: [u32; 3], shape: &Shape<'_>) {
        let own = rank * self.threads..(rank + 1) * self.threads;
        let remote = self.remote.range((rank, 0)..=(rank, u32::MAX));
        for (&(_, thread), record) in remote {
            let waited = |own: u32| record.time < self.known[own as usize][thread as usize];
            if !own.clone().any(waited)
                && let Some(findings) = &shape.findings
            {
                let seen = self.seen(self.sites[record.site as usize], thread, shape, block);
                findings.add(shape, FindingKind::OutlivesBlock, [seen, seen], None);
            }
        }
    }

    /// A thread of the cluster of a block, as a finding names it.
    fn seen(&self, site: Site, thread: u32, shape: &Shape<'_>, block: [u32; 3]) -> Seen {
        Seen {
            site,
            block: shape.block_of_rank(block, thread / self.threads),
            thread: thread % self.threads,
        }
    }

    /// Notes an access before it is executed; gives what it races with.
    pub(crate) fn observe(
        &mut self,
        i: &Instr,
        touch: Touch,
        scope: &Scope,
        shape: &Shape<'_>,
        shared: &SharedView<'_>,
        Lanes { block, warp, mask }: Lanes,
    ) -> Vec<Suspect> {
        let at = Site {
            function: scope.function,
            source: i.source,
        };
        let site = self.site(at);
        self.instances += 1;
        let addresses = addresses(i, scope);
        let mut suspects = Vec::new();
        for lane in (0..WARP_SIZE).filter(|lane| mask >> lane & 1 == 1) {
            let in_block = warp * WARP_SIZE as u32 + lane as u32;
            let thread = shape.rank_of(block) * self.threads + in_block;
            let (space, address) = resolve(Space::from_code(i.src[2]), addresses[lane]);
            let is_shared = matches!(space, Space::Shared | Space::Cluster);
            // Global addresses are above all offsets in shared memory.
            match touch.kind {
                TouchKind::Await => self.learn_at(thread, address),
                _ if touch.strong && (is_shared || space == Space::Global) => {
                    self.strong(thread, address);
                }
                _ => {}
            }
            let located = shared.locate(address, touch.size as usize);
            let Some((rank, start)) = located.filter(|_| is_shared) else {
                continue;
            };
            let end = start + touch.size as usize;
            let record = Record {
                time: self.now,
                thread,
                agent: thread,
                site,
                instance: self.instances,
                strong: touch.strong,
            };
            if rank != thread / self.threads {
                self.remote.insert((rank, thread), record);
            }
            let first = (start..end).find_map(|offset| {
                let index = rank as usize * self.block_bytes + offset;
                let found = self.access(record, touch.kind, index)?;
                Some((found, offset))
            });
            if let Some(((kind, first), offset)) = first {
                let kind = self.kind_with(kind, &first);
                let waw = kind == FindingKind::WriteAfterWrite;
                suspects.push(Suspect {
                    kind,
                    first: self.seen(self.sites[first.site as usize], first.thread, shape, block),
                    second: self.seen(at, thread, shape, block),
                    rank,
                    offset,
                    before: shared.byte(rank, offset).filter(|_| waw),
                });
            }
        }
        suspects
    }

    /// Notes one byte of an access; gives an earlier one that it races with.
    fn access(
        &mut self,
        record: Record,
        kind: TouchKind,
        offset: usize,
    ) -> Option<(FindingKind, Record)> {
        let byte = self.bytes[offset];
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
        let byte = &mut self.bytes[offset];
        match kind {
            TouchKind::Read | TouchKind::Await => byte.reads[usize::from(!replaces_first)] = record,
            TouchKind::Write | TouchKind::Update => {
                *byte = Byte {
                    write: record,
                    ..Byte::default()
                }
            }
        }
        found
    }

    /// Reports what is left of the suspects once the access has been executed.
    pub(crate) fn confirm(suspects: Vec<Suspect>, shape: &Shape<'_>, shared: &SharedView<'_>) {
        for suspect in suspects {
            let now = shared.byte(suspect.rank, suspect.offset);
            // Two writes of the same value are a habit, and harmless.
            let same = suspect.before.is_some() && suspect.before == now;
            if let (Some(findings), false) = (&shape.findings, same) {
                let pair = [suspect.first, suspect.second];
                let address = u64::from(suspect.rank) << RANK_SHIFT | suspect.offset as u64;
                findings.add(shape, suspect.kind, pair, Some(address));
            }
        }
    }
}
