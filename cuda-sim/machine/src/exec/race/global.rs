//! Which accesses to global memory nothing orders, of all threads of a launch.

use std::collections::HashMap;

use super::Watched;
use super::cells::{Act, Cells, Kind, Record, WORD};
use super::clock::{Rows, join_rows};
use super::threads::Threads;
use crate::check::{Access, Cause, FindingKind};
use crate::code::{Reach, Touch, TouchKind};
use crate::exec::findings::{Seen, Site};
use crate::{Contents, Lanes, WARP_SIZE};

/// Addresses of strong writes that are remembered. When there are more, all accesses are forgotten.
const MOST_PLACES: usize = 1 << 18;

/// What is known of a launch.
#[derive(Debug, Default)]
pub(crate) struct GlobalRaces {
    cells: Cells,
    /// What those told who wrote to an address strongly.
    places: HashMap<u64, Rows>,
    /// The first block of each cluster that has started.
    clusters: Vec<[u32; 3]>,
    sites: Vec<Site>,
    site_numbers: HashMap<Site, u32>,
}

/// Accesses of a warp to global memory that are being executed.
#[derive(Debug)]
pub(super) struct Pending {
    touch: Touch,
    site: Site,
    /// The first lane's number in the cluster.
    first: u32,
    mask: u32,
    addresses: [u64; WARP_SIZE],
    /// What was there, where it matters and all of it had been written.
    before: Option<Vec<u8>>,
}

impl Pending {
    pub(super) fn new(touch: Touch, site: Site, first: u32) -> Self {
        Self {
            touch,
            site,
            first,
            mask: 0,
            addresses: [0; WARP_SIZE],
            before: None,
        }
    }

    pub(super) fn add(&mut self, lane: usize, address: u64) {
        self.mask |= 1 << lane;
        self.addresses[lane] = address;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.mask == 0
    }

    /// Looks at what is there before it is written.
    pub(super) fn look(&mut self, watched: &Watched<'_>) {
        if self.touch.kind == TouchKind::Write && self.touch.strong.is_none() {
            self.before = self.contents(watched);
        }
    }

    fn contents(&self, watched: &Watched<'_>) -> Option<Vec<u8>> {
        let size = self.touch.size as usize;
        let mut bytes = vec![0; size * WARP_SIZE];
        let lanes = Lanes {
            mask: self.mask,
            size,
            addresses: &self.addresses,
        };
        let loaded = watched.memory.load_lanes(&lanes, &mut bytes);
        matches!(loaded, Ok(Contents::Written)).then_some(bytes)
    }

    /// The lanes whose bytes are others now than they were.
    fn changed(&self, watched: &Watched<'_>) -> u32 {
        let after = || self.contents(watched);
        let Some((before, after)) = self.before.as_ref().and_then(|it| Some((it, after()?))) else {
            return u32::MAX;
        };
        let size = self.touch.size as usize;
        let pairs = before.chunks_exact(size).zip(after.chunks_exact(size));
        pairs
            .enumerate()
            .filter(|(_, (before, after))| before != after)
            .fold(0, |mask, (lane, _)| mask | 1 << lane)
    }
}

/// A word that a lane accesses.
struct Word {
    number: u64,
    record: Record,
}

impl GlobalRaces {
    /// The number of a cluster that starts.
    pub(crate) fn start(&mut self, first_block: [u32; 3]) -> u32 {
        self.clusters.push(first_block);
        self.clusters.len() as u32 - 1
    }

    /// Forgets what was done to memory that is given out anew.
    pub(crate) fn forget(&mut self, address: u64, size: u64) {
        self.cells.forget(address, size);
    }

    fn site(&mut self, site: Site) -> u32 {
        let sites = &mut self.sites;
        *self.site_numbers.entry(site).or_insert_with(|| {
            sites.push(site);
            sites.len() as u32 - 1
        })
    }

    /// Notes accesses that were executed, and reports what they race with.
    pub(super) fn confirm(
        &mut self,
        pending: &Pending,
        threads: &mut Threads,
        watched: &Watched<'_>,
    ) {
        let changed = match pending.touch.kind {
            TouchKind::Write => pending.changed(watched),
            TouchKind::Read | TouchKind::Await | TouchKind::Update => u32::MAX,
        };
        let words = self.words(pending, changed, threads);
        // Lanes of one instruction do not race with each other.
        for word in &words {
            if let Some(other) = self.racing(word, threads) {
                self.report(word, other, pending, threads, watched);
            }
        }
        for word in &words {
            self.note(word, threads);
        }
        if pending.touch.strong.is_some() {
            for lane in (0..WARP_SIZE).filter(|lane| pending.mask >> lane & 1 == 1) {
                let thread = pending.first + lane as u32;
                self.strong(pending.touch, thread, pending.addresses[lane], threads);
            }
        }
    }

    fn words(&mut self, pending: &Pending, changed: u32, threads: &Threads) -> Vec<Word> {
        let site = self.site(pending.site);
        let mut words = Vec::new();
        for lane in (0..WARP_SIZE).filter(|lane| pending.mask >> lane & 1 == 1) {
            let start = pending.addresses[lane];
            let end = start.saturating_add(u64::from(pending.touch.size));
            for number in start / WORD..end.div_ceil(WORD) {
                let first = number * WORD;
                let (low, high) = (start.max(first) - first, end.min(first + WORD) - first);
                words.push(Word {
                    number,
                    record: Record {
                        cluster: threads.cluster,
                        time: threads.now,
                        site,
                        thread: (pending.first + lane as u32) as u16,
                        bytes: (1u8 << high).wrapping_sub(1) & !((1u8 << low) - 1),
                        act: Act {
                            kind: Kind::of(pending.touch.kind, changed >> lane & 1 == 1),
                            strong: pending.touch.strong,
                        },
                    },
                });
            }
        }
        words
    }

    /// An earlier access that nothing orders before one.
    fn racing(&mut self, word: &Word, threads: &Threads) -> Option<Record> {
        let cell = *self.cells.get(word.number);
        let new = &word.record;
        let races = |old: &Record| {
            old.time != 0
                && old.bytes & new.bytes != 0
                && !is_ordered(old, new, threads)
                && !are_morally_strong(old, new, threads.in_block)
        };
        match new.act.kind {
            Kind::Rewrite => None,
            Kind::Read => Some(cell.write).filter(races),
            Kind::Write | Kind::Update => {
                let other = cell.others.into_iter().find(races);
                other.or(Some(cell.write).filter(races))
            }
        }
    }

    fn note(&mut self, word: &Word, threads: &Threads) {
        let cell = self.cells.get(word.number);
        let new = word.record;
        if new.act.kind.changes() {
            cell.write = new;
            // What the write is ordered after need not be kept: whoever is ordered after the write is ordered after that, too.
            for other in &mut cell.others {
                if other.bytes & !new.bytes == 0 && is_ordered(other, &new, threads) {
                    *other = Record::default();
                }
            }
        } else {
            let kept = |old: &Record| {
                old.time != 0 && old.bytes & !new.bytes != 0 || !is_ordered(old, &new, threads)
            };
            let place = usize::from(kept(&cell.others[0]));
            cell.others[place] = new;
        }
    }

    /// What a strong access tells its thread, and what that tells others.
    fn strong(&mut self, touch: Touch, thread: u32, address: u64, threads: &mut Threads) {
        if touch.strong == Some(Reach::Device) {
            if touch.kind != TouchKind::Write
                && let Some(rows) = self.places.get(&address)
            {
                if touch.acquires {
                    threads.acquire(thread, rows);
                } else {
                    threads.hear(thread, rows);
                }
            }
            if !matches!(touch.kind, TouchKind::Read | TouchKind::Await) {
                let tells = if touch.releases {
                    Some(threads.release(thread))
                } else {
                    let beyond = threads.clocks[thread as usize].beyond.as_ref();
                    beyond.map(|it| it.fenced.clone())
                };
                if let Some(rows) = tells.filter(|rows| !rows.is_empty()) {
                    if self.places.len() >= MOST_PLACES {
                        // What they order is before this.
                        self.places.clear();
                        self.cells = Cells::default();
                    }
                    join_rows(self.places.entry(address).or_default(), &rows);
                }
            }
        }
        threads.strong(thread, address);
    }

    fn report(
        &self,
        word: &Word,
        other: Record,
        pending: &Pending,
        threads: &Threads,
        watched: &Watched<'_>,
    ) {
        let Some(findings) = &watched.shape.findings else {
            return;
        };
        let new = &word.record;
        let access = |act: Act| match act.kind {
            Kind::Read => Access::Read,
            Kind::Rewrite | Kind::Write => Access::Write,
            Kind::Update => Access::Update,
        };
        let kind = FindingKind::GlobalRace {
            first: access(other.act),
            second: access(new.act),
            size: pending.touch.size as usize,
            cause: cause(&other, new, threads),
        };
        let lane = u32::from(new.thread) - pending.first;
        let address = pending.addresses[lane as usize];
        let pair = [other, *new].map(|record| self.seen(&record, threads.in_block, watched));
        findings.add(watched.shape, kind, pair, Some(address));
    }

    fn seen(&self, record: &Record, in_block: u32, watched: &Watched<'_>) -> Seen {
        let first = self.clusters[record.cluster as usize];
        let thread = u32::from(record.thread);
        Seen {
            site: self.sites[record.site as usize],
            block: watched.shape.block_of_rank(first, thread / in_block),
            thread: thread % in_block,
        }
    }
}

/// Whether one is ordered before the other, which is executed now.
fn is_ordered(old: &Record, new: &Record, threads: &Threads) -> bool {
    let (thread, other) = (u32::from(new.thread), u32::from(old.thread));
    old.time == 0
        || if old.cluster == new.cluster {
            thread == other || old.time < threads.known(thread, other)
        } else {
            old.time < threads.known_beyond(thread, old.cluster, other)
        }
}

/// What is missing for an order.
fn cause(old: &Record, new: &Record, threads: &Threads) -> Cause {
    let beyond = threads.clocks[usize::from(new.thread)].beyond.as_ref();
    let told = beyond.and_then(|it| it.told.get(&old.cluster));
    let told = told.and_then(|row| row.get(usize::from(old.thread)));
    if old.act.strong.is_some() && new.act.strong.is_some() {
        Cause::Scope
    } else if told.is_some_and(|known| old.time < *known) {
        Cause::Fence
    } else {
        Cause::Order
    }
}

/// Whether both are strong, and each up to where the other is.
fn are_morally_strong(old: &Record, new: &Record, in_block: u32) -> bool {
    let block = |record: &Record| u32::from(record.thread) / in_block;
    let needed = if old.cluster != new.cluster {
        Reach::Device
    } else if block(old) != block(new) {
        Reach::Cluster
    } else {
        Reach::Block
    };
    old.act.strong >= Some(needed) && new.act.strong >= Some(needed)
}
