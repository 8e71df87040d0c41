//! Which accesses to shared memory nothing orders.
//!
//! Time is counted in events that order threads: barriers, `.sync` instructions, strong accesses. Each thread knows, of each other thread,
//! the time before which everything that one did happened before. An access by a thread is ordered after an earlier one if it knows of
//! that one's time.

use std::collections::HashMap;
use std::sync::Arc;

use crate::WARP_SIZE;
use crate::check::FindingKind;
use crate::code::{Instr, Touch, TouchKind};
use crate::exec::env::Shape;
use crate::exec::findings::{Seen, Site};
use crate::exec::scope::Scope;
use crate::exec::spaces::{Space, resolve};
use crate::ops::memory::addresses;

/// For each thread, the time before which all that it did is known.
type Known = Arc<Vec<u32>>;

/// An access that was executed; none at time 0.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    time: u32,
    thread: u32,
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
    offset: usize,
    /// What was there, where that matters.
    before: Option<u8>,
}

/// What is known about the threads of a block.
#[derive(Debug)]
pub(crate) struct Race {
    now: u32,
    instances: u32,
    known: Vec<Known>,
    bytes: Vec<Byte>,
    sites: Vec<Site>,
    site_numbers: HashMap<Site, u32>,
    /// What those knew who accessed an address strongly.
    places: HashMap<u64, Known>,
    /// Threads at each barrier, and whether they wait there.
    arrived: [Vec<(u32, bool)>; 16],
}

impl Race {
    pub(crate) fn new(shape: &Shape<'_>) -> Self {
        let threads = shape.launch.block.iter().product::<u32>() as usize;
        let nothing = Arc::new(vec![0; threads]);
        Self {
            now: 1,
            instances: 0,
            known: vec![nothing; threads],
            bytes: vec![Byte::default(); shape.shared_bytes as usize],
            sites: Vec::new(),
            site_numbers: HashMap::new(),
            places: HashMap::new(),
            arrived: Default::default(),
        }
    }

    /// Lanes come to a barrier.
    pub(crate) fn arrive(&mut self, barrier: usize, warp: u32, lanes: u32, waits: bool) {
        let threads = threads_of(warp, lanes).map(|thread| (thread, waits));
        self.arrived[barrier].extend(threads);
    }

    /// A barrier opens: who waited knows what all did who came.
    pub(crate) fn complete(&mut self, barrier: usize) {
        let arrived = std::mem::take(&mut self.arrived[barrier]);
        let all: Vec<u32> = arrived.iter().map(|(thread, _)| *thread).collect();
        let waited = arrived.iter().filter(|(_, waits)| *waits);
        let waited: Vec<u32> = waited.map(|(thread, _)| *thread).collect();
        self.event(&all, &waited);
    }

    /// Lanes of a warp have gone through a `.sync` instruction.
    pub(crate) fn warp_sync(&mut self, warp: u32, lanes: u32) {
        let threads: Vec<u32> = threads_of(warp, lanes).collect();
        self.event(&threads, &threads);
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
        if let Some(there) = self.places.get(&address) {
            let own = &mut self.known[thread as usize];
            if !Arc::ptr_eq(own, there) {
                join(own, there);
            }
        }
        self.event(&[thread], &[thread]);
        let known = Arc::clone(&self.known[thread as usize]);
        self.places.insert(address, known);
    }

    fn is_ordered(&self, thread: u32, record: &Record) -> bool {
        record.time == 0
            || record.thread == thread
            || record.time < self.known[thread as usize][record.thread as usize]
    }

    fn site(&mut self, site: Site) -> u32 {
        let sites = &mut self.sites;
        *self.site_numbers.entry(site).or_insert_with(|| {
            sites.push(site);
            sites.len() as u32 - 1
        })
    }

    /// Notes an access before it is executed; gives what it races with.
    pub(crate) fn observe(
        &mut self,
        i: &Instr,
        touch: Touch,
        scope: &Scope,
        shared: &[u8],
        warp: u32,
        mask: u32,
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
            let thread = warp * WARP_SIZE as u32 + lane as u32;
            let (space, address) = resolve(Space::from_code(i.src[2]), addresses[lane]);
            let is_shared = space == Space::Shared;
            if touch.strong && (is_shared || space == Space::Global) {
                // Global addresses are above all offsets in shared memory.
                self.strong(thread, address);
            }
            let start = usize::try_from(address).unwrap_or(usize::MAX);
            let end = start.saturating_add(touch.size as usize);
            if !is_shared || end > self.bytes.len() {
                continue;
            }
            let record = Record {
                time: self.now,
                thread,
                site,
                instance: self.instances,
                strong: touch.strong,
            };
            let first = (start..end).find_map(|offset| {
                let found = self.access(record, touch.kind, offset)?;
                Some((found, offset))
            });
            if let Some(((kind, first), offset)) = first {
                let waw = kind == FindingKind::WriteAfterWrite;
                suspects.push(Suspect {
                    kind,
                    first: Seen {
                        site: self.sites[first.site as usize],
                        thread: first.thread,
                    },
                    second: Seen { site: at, thread },
                    offset,
                    before: waw.then(|| shared[offset]),
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
            TouchKind::Read => {
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
            TouchKind::Read => byte.reads[usize::from(!replaces_first)] = record,
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
    pub(crate) fn confirm(
        suspects: Vec<Suspect>,
        shape: &Shape<'_>,
        shared: &[u8],
        block: [u32; 3],
    ) {
        for suspect in suspects {
            let now = shared.get(suspect.offset).copied();
            // Two writes of the same value are a habit, and harmless.
            let same = suspect.before.is_some() && suspect.before == now;
            if let (Some(findings), false) = (&shape.findings, same) {
                let pair = [suspect.first, suspect.second];
                findings.add(
                    shape,
                    block,
                    suspect.kind,
                    pair,
                    Some(suspect.offset as u64),
                );
            }
        }
    }
}

fn threads_of(warp: u32, lanes: u32) -> impl Iterator<Item = u32> {
    (0..WARP_SIZE as u32)
        .filter(move |lane| lanes >> lane & 1 == 1)
        .map(move |lane| warp * WARP_SIZE as u32 + lane)
}

fn join(into: &mut Known, other: &Known) {
    for (into, other) in Arc::make_mut(into).iter_mut().zip(other.iter()) {
        *into = (*into).max(*other);
    }
}
