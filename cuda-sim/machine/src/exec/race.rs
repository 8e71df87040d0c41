//! Which accesses of a launch's threads nothing orders: to the shared memory of a cluster, and to global memory.
//!
//! It judges the accesses that were executed, whatever order they had this time: by what each thread knows of what the others did before.

mod asynchronous;
mod cells;
mod clock;
mod global;
mod known;
mod shared;
mod threads;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::code::{Instr, Touch, TouchKind};
use crate::exec::cluster::SharedView;
use crate::exec::env::{Env, LaneError, Shape};
use crate::exec::findings::{Seen, Site};
use crate::exec::scope::Scope;
use crate::exec::spaces::{Space, resolve};
use crate::registers::Doubles;
use crate::{Memory, WARP_SIZE};
use asynchronous::Asynchronous;
pub(crate) use global::GlobalRaces;
use global::Pending;
use shared::{Byte, Record, Suspect};
use threads::Threads;

/// What is to be judged when an access has been executed.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    suspects: Vec<Suspect>,
    pending: Option<Box<Pending>>,
}

/// The lanes that access memory, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes<'a> {
    pub(crate) block: [u32; 3],
    pub(crate) warp: u32,
    pub(crate) mask: u32,
    pub(crate) space: Space,
    pub(crate) addresses: &'a Doubles,
}

/// What is watched: a block of a launch.
struct Watched<'a> {
    shape: &'a Shape<'a>,
    /// Global memory as the lanes see it.
    memory: &'a dyn Memory,
    block: [u32; 3],
}

/// What is known about the threads of a cluster.
#[derive(Debug)]
pub(crate) struct Race {
    threads: Threads,
    /// Bytes of shared memory of one block, and what is known of those of all; none where they are not looked at.
    block_bytes: usize,
    bytes: Vec<Byte>,
    /// Instructions of warps and asynchronous operations that were noted.
    instances: u32,
    /// By block and thread: the last access to the shared memory of that block by a thread of another one.
    remote: BTreeMap<(u32, u32), Record>,
    asynchronous: Asynchronous,
    sites: Vec<Site>,
    site_numbers: HashMap<Site, u32>,
}

impl Shape<'_> {
    /// What is known of accesses to global memory, where they are looked at.
    pub(crate) fn global_races(&self) -> Option<MutexGuard<'_, GlobalRaces>> {
        let races = self.races.as_ref()?;
        Some(races.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What is known of the global memory of a launch that is asked to look at it.
pub(super) fn of_launch(wanted: bool) -> Option<Mutex<GlobalRaces>> {
    wanted.then(Mutex::default)
}

impl Race {
    /// For the cluster with that first block, if anything is looked for.
    pub(crate) fn new(shape: &Shape<'_>, first_block: [u32; 3]) -> Option<Box<Self>> {
        let checks = shape.launch.checks;
        if !checks.race && !checks.global_race {
            return None;
        }
        let in_block = shape.launch.block.iter().product::<u32>();
        let cluster = shape.global_races().map(|mut it| it.start(first_block));
        let blocks = shape.cluster_blocks() as usize;
        let block_bytes = if checks.race { shape.shared_bytes } else { 0 } as usize;
        Some(Box::new(Self {
            threads: Threads::new(in_block, blocks, cluster.unwrap_or(0)),
            block_bytes,
            bytes: vec![Byte::default(); block_bytes * blocks],
            instances: 0,
            remote: BTreeMap::new(),
            asynchronous: Asynchronous::default(),
            sites: Vec::new(),
            site_numbers: HashMap::new(),
        }))
    }

    /// Lanes come to a barrier of their block.
    pub(crate) fn arrive(&mut self, rank: u32, barrier: usize, warp: u32, lanes: u32, waits: bool) {
        self.threads.arrive(rank, barrier, warp, lanes, waits);
    }

    /// A barrier of a block opens: who waited knows what all did who came.
    pub(crate) fn complete(&mut self, rank: u32, barrier: usize) {
        self.threads.complete(rank, barrier);
    }

    /// Lanes of a warp have gone through a `.sync` instruction.
    pub(crate) fn warp_sync(&mut self, rank: u32, warp: u32, lanes: u32) {
        let threads: Vec<u32> = self.threads.of(rank, warp, lanes).collect();
        self.threads.event(&threads, &threads);
    }

    /// Lanes arrive at the cluster's barrier; what they do from now on, it does not order.
    pub(crate) fn arrive_in_cluster(&mut self, rank: u32, warp: u32, lanes: u32) {
        self.threads.arrive_in_cluster(rank, warp, lanes);
    }

    /// The cluster's barrier opens.
    pub(crate) fn complete_cluster(&mut self) {
        self.threads.complete_cluster();
    }

    /// Lanes go on from the cluster's barrier: they know what those did who arrived.
    pub(crate) fn wait_in_cluster(&mut self, rank: u32, warp: u32, lanes: u32) {
        self.threads.wait_in_cluster(rank, warp, lanes);
    }

    /// A thread of the cluster of a block, as a finding names it.
    fn seen(&self, site: Site, thread: u32, shape: &Shape<'_>, block: [u32; 3]) -> Seen {
        Seen {
            site,
            block: shape.block_of_rank(block, thread / self.threads.in_block),
            thread: thread % self.threads.in_block,
        }
    }

    fn site(&mut self, site: Site) -> u32 {
        let sites = &mut self.sites;
        *self.site_numbers.entry(site).or_insert_with(|| {
            sites.push(site);
            sites.len() as u32 - 1
        })
    }

    /// Notes an access before it is executed; gives what is to be judged afterwards.
    pub(crate) fn observe(
        &mut self,
        i: &Instr,
        touch: Touch,
        scope: &Scope,
        shape: &Shape<'_>,
        (shared, memory): (&SharedView<'_>, &dyn Memory),
        lanes: &Lanes<'_>,
    ) -> Observed {
        let &Lanes { block, warp, .. } = lanes;
        let at = scope.site(i);
        let site = self.site(at);
        let watched = Watched {
            shape,
            memory,
            block,
        };
        let first = shape.rank_of(block) * self.threads.in_block + warp * WARP_SIZE as u32;
        let mut observed = Observed::default();
        let mut pending = Pending::new(touch, at, first);
        self.instances += 1;
        for lane in (0..WARP_SIZE).filter(|lane| lanes.mask >> lane & 1 == 1) {
            let thread = first + lane as u32;
            let (space, address) = resolve(lanes.space, lanes.addresses[lane]);
            match space {
                Space::Shared | Space::Cluster => {
                    if touch.kind == TouchKind::Await {
                        self.threads.learn_at(thread, address);
                    } else if touch.strong.is_some() {
                        self.threads.strong(thread, address);
                    }
                    let seen = self.seen(at, thread, shape, block);
                    let who = (thread, seen, site);
                    let found = self.access_shared(who, touch, address, &watched, shared);
                    observed.suspects.extend(found);
                }
                Space::Global if shape.races.is_some() => pending.add(lane, address),
                // Global addresses are above all offsets in shared memory.
                Space::Global if touch.strong.is_some() => self.threads.strong(thread, address),
                Space::Global | Space::Generic | Space::Local | Space::Param => {}
            }
        }
        if !pending.is_empty() {
            pending.look(&watched);
            observed.pending = Some(Box::new(pending));
        }
        observed
    }

    /// Lanes have gone through a fence that orders beyond their cluster.
    fn device_fence(&mut self, rank: u32, warp: u32, lanes: u32) {
        for thread in self.threads.of(rank, warp, lanes) {
            self.threads.fence(thread);
        }
    }
}

impl Observed {
    /// Reports what is left of it once the access has been executed by the lanes.
    pub(crate) fn confirm(self, env: &mut Env<'_>, lanes: u32) {
        for suspect in self.suspects {
            suspect.confirm(env.shape, &env.shared_view());
        }
        let memory = env.memory(lanes);
        if let (Some(pending), Some(race)) = (self.pending, &mut env.common.race)
            && let Some(mut races) = env.shape.global_races()
        {
            let watched = Watched {
                shape: env.shape,
                memory,
                block: env.block,
            };
            races.confirm(&pending, &mut race.threads, &watched);
        }
    }
}

/// `fence` and `membar` beyond the cluster: accesses are executed in order anyway, and only the checks take notice.
pub(crate) fn fence(
    _: &Instr,
    _: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    if env.shape.races.is_some()
        && let Some(race) = &mut env.common.race
    {
        race.device_fence(env.peers.rank(), env.warp, mask);
    }
    Ok(())
}
