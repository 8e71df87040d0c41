//! What orders the threads of a cluster among themselves, and with those of other clusters.

use std::collections::HashMap;
use std::sync::Arc;

use super::clock::{Clock, Rows, join_row, join_rows};
use crate::WARP_SIZE;

/// Addresses of strong accesses that are remembered. When there are more, all threads count as ordered.
const MOST_PLACES: usize = 1 << 12;

/// What each thread of a cluster knows of the others. A thread's number counts through the blocks of its cluster.
#[derive(Debug)]
pub(super) struct Threads {
    /// Threads of one block.
    pub(super) in_block: u32,
    /// The number of the cluster in the launch.
    pub(super) cluster: u32,
    pub(super) now: u32,
    pub(super) clocks: Vec<Clock>,
    /// What those knew who accessed an address strongly.
    pub(super) places: HashMap<u64, Clock>,
    /// Threads at each barrier of each block, and whether they wait there.
    arrived: Vec<[Vec<(u32, bool)>; 16]>,
    /// What those know who have arrived at the cluster's barrier, and what all knew when it opened last.
    gathered: Option<Clock>,
    handed_on: Option<Clock>,
    /// What the last thread had been told that was told more, what that was, and both together.
    heard: Option<[Rows; 3]>,
}

impl Threads {
    pub(super) fn new(in_block: u32, blocks: usize, cluster: u32) -> Self {
        let all = in_block as usize * blocks;
        Self {
            in_block,
            cluster,
            now: 1,
            clocks: vec![Clock::new(all); all],
            places: HashMap::new(),
            arrived: (0..blocks).map(|_| Default::default()).collect(),
            gathered: None,
            handed_on: None,
            heard: None,
        }
    }

    /// The numbers of lanes in the cluster.
    pub(super) fn of(&self, rank: u32, warp: u32, lanes: u32) -> impl Iterator<Item = u32> + use<> {
        let first = rank * self.in_block + warp * WARP_SIZE as u32;
        (0..WARP_SIZE as u32)
            .filter(move |lane| lanes >> lane & 1 == 1)
            .map(move |lane| first + lane)
    }

    /// Lanes come to a barrier of their block.
    pub(super) fn arrive(&mut self, rank: u32, barrier: usize, warp: u32, lanes: u32, waits: bool) {
        let threads = self.of(rank, warp, lanes);
        self.arrived[rank as usize][barrier].extend(threads.map(|thread| (thread, waits)));
    }

    /// A barrier of a block opens: who waited knows what all did who came.
    pub(super) fn complete(&mut self, rank: u32, barrier: usize) {
        let arrived = std::mem::take(&mut self.arrived[rank as usize][barrier]);
        let all: Vec<u32> = arrived.iter().map(|(thread, _)| *thread).collect();
        let waited = arrived.iter().filter(|(_, waits)| *waits);
        let waited: Vec<u32> = waited.map(|(thread, _)| *thread).collect();
        self.event(&all, &waited);
    }

    /// Lanes arrive at the cluster's barrier; what they do from now on, it does not order.
    pub(super) fn arrive_in_cluster(&mut self, rank: u32, warp: u32, lanes: u32) {
        self.now += 1;
        for thread in self.of(rank, warp, lanes) {
            let own = &self.clocks[thread as usize];
            match &mut self.gathered {
                None => self.gathered = Some(own.clone()),
                Some(gathered) => gathered.join(own),
            }
            if let Some(gathered) = &mut self.gathered {
                Arc::make_mut(&mut gathered.own)[thread as usize] = self.now;
            }
        }
    }

    /// The cluster's barrier opens.
    pub(super) fn complete_cluster(&mut self) {
        self.handed_on = self.gathered.take();
    }

    /// Lanes go on from the cluster's barrier: they know what those did who arrived.
    pub(super) fn wait_in_cluster(&mut self, rank: u32, warp: u32, lanes: u32) {
        let Some(known) = self.handed_on.clone() else {
            return;
        };
        let mut last: Option<(Clock, Clock)> = None;
        for thread in self.of(rank, warp, lanes) {
            let own = &mut self.clocks[thread as usize];
            // Threads that were together before mostly know the same.
            if let Some((before, after)) = &last
                && before.is(own)
            {
                *own = after.clone();
                continue;
            }
            let before = own.clone();
            own.join(&known);
            last = Some((before, own.clone()));
        }
    }

    /// From now on, `to` know what `from` did until now and knew.
    pub(super) fn event(&mut self, from: &[u32], to: &[u32]) {
        self.now += 1;
        let mut joined: Option<Clock> = None;
        let mut last: Option<Clock> = None;
        for &thread in from {
            let known = &self.clocks[thread as usize];
            if last.as_ref().is_some_and(|last| last.is(known)) {
                continue;
            }
            last = Some(known.clone());
            match &mut joined {
                None => joined = Some(known.clone()),
                Some(joined) => joined.join(known),
            }
        }
        let Some(mut joined) = joined else { return };
        let row = Arc::make_mut(&mut joined.own);
        for &thread in from {
            row[thread as usize] = self.now;
        }
        for &thread in to {
            let own = &mut self.clocks[thread as usize];
            // Of those that came, everything is in the joint clock already.
            if joined.own[thread as usize] == self.now {
                *own = joined.clone();
            } else {
                own.join(&joined);
            }
        }
    }

    /// What was known at an address is known to a thread.
    pub(super) fn learn_at(&mut self, thread: u32, address: u64) {
        if let Some(there) = self.places.get(&address) {
            let own = &mut self.clocks[thread as usize];
            if !own.is(there) {
                own.join(there);
            }
        }
    }

    /// A strong access to an address: what was known there is known to the thread, and the other way round.
    pub(super) fn strong(&mut self, thread: u32, address: u64) {
        self.learn_at(thread, address);
        self.event(&[thread], &[thread]);
        if self.places.len() >= MOST_PLACES {
            self.places.clear();
            let all: Vec<u32> = (0..self.clocks.len() as u32).collect();
            self.event(&all, &all);
        }
        let known = self.clocks[thread as usize].clone();
        self.places.insert(address, known);
    }

    /// A fence beyond the cluster: what strong reads were told is known, and strong writes tell others all of it.
    pub(super) fn fence(&mut self, thread: u32) {
        if let Some(beyond) = &self.clocks[thread as usize].beyond {
            let told = Arc::clone(&beyond.told);
            self.acquire(thread, &told);
        }
        let known = self.release(thread);
        self.clocks[thread as usize].beyond_mut().fenced = known;
    }

    /// All that the thread knows now, to be told to others.
    pub(super) fn release(&mut self, thread: u32) -> Rows {
        self.event(&[thread], &[thread]);
        let clock = &self.clocks[thread as usize];
        let beyond = clock.beyond.as_ref();
        let mut rows = beyond.map_or_else(Rows::default, |it| Arc::clone(&it.others));
        // What it was told of its own cluster is known there already.
        Arc::make_mut(&mut rows).insert(self.cluster, Arc::clone(&clock.own));
        rows
    }

    /// The thread knows that, too.
    pub(super) fn acquire(&mut self, thread: u32, rows: &Rows) {
        if rows.is_empty() {
            return;
        }
        let clock = &mut self.clocks[thread as usize];
        if let Some(row) = rows.get(&self.cluster) {
            join_row(&mut clock.own, row);
        }
        join_rows(&mut clock.beyond_mut().others, rows);
    }

    /// The thread will know that after a fence.
    pub(super) fn hear(&mut self, thread: u32, rows: &Rows) {
        let clock = &mut self.clocks[thread as usize];
        let known = clock.beyond.as_ref().map(|it| Arc::ptr_eq(&it.told, rows));
        if rows.is_empty() || known == Some(true) {
            return;
        }
        let told = &mut clock.beyond_mut().told;
        // The lanes of a warp that read the same have mostly been told the same before.
        if let Some([before, with, after]) = &self.heard
            && Arc::ptr_eq(before, told)
            && Arc::ptr_eq(with, rows)
        {
            *told = Arc::clone(after);
            return;
        }
        let before = Arc::clone(told);
        join_rows(told, rows);
        self.heard = Some([before, Arc::clone(rows), Arc::clone(told)]);
    }

    /// The time before which a thread knows what another one of its cluster, or another agent, did.
    pub(super) fn known(&self, thread: u32, agent: u32) -> u32 {
        let own = &self.clocks[thread as usize].own;
        own.get(agent as usize).copied().unwrap_or(0)
    }

    /// The same of a thread of another cluster.
    pub(super) fn known_beyond(&self, thread: u32, cluster: u32, other: u32) -> u32 {
        let beyond = self.clocks[thread as usize].beyond.as_ref();
        let row = beyond.and_then(|it| it.others.get(&cluster));
        row.and_then(|row| row.get(other as usize).copied())
            .unwrap_or(0)
    }
}
