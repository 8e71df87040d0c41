//! Clusters: blocks that run at the same time, reach each other's shared memory and have a barrier in common.
//!
//! Every block belongs to one; in a launch without clusters it is alone there.

mod asynchronous;
mod barrier;
mod memory;

use crate::Launch;
use crate::exec::block::{Block, Progress};
use crate::exec::env::Shape;
use crate::exec::flight::Flight;
use crate::exec::fresh::Fresh;
use crate::exec::order::Start;
use crate::exec::race::Race;
use crate::exec::scope::Scope;
use crate::exec::templates::Templates;
use crate::exec::unwritten::Unwritten;
use crate::exec::warp::{Meter, WarpFault};
pub(crate) use barrier::ClusterBarrier;
pub(crate) use memory::{RANK_SHIFT, SharedView, own_offsets};

/// The most blocks of a cluster.
pub(crate) const MOST_BLOCKS: u32 = 16;
/// Instructions that a warp executes in one turn, where its block has others beside it: most of them wait for one.
const SHORT_TURN: u64 = 500;

impl Shape<'_> {
    /// Blocks of a cluster in x, y and z.
    pub(crate) fn cluster(&self) -> [u32; 3] {
        self.launch.cluster.unwrap_or([1; 3])
    }

    /// Blocks of a cluster.
    pub(crate) fn cluster_blocks(&self) -> u32 {
        self.cluster().iter().product()
    }

    /// The number of a block in its cluster.
    pub(crate) fn rank_of(&self, block: [u32; 3]) -> u32 {
        let [x, y, z] = self.cluster();
        block[0] % x + block[1] % y * x + block[2] % z * x * y
    }

    /// The block of that number in the cluster of another one.
    pub(crate) fn block_of_rank(&self, block: [u32; 3], rank: u32) -> [u32; 3] {
        let [x, y, z] = self.cluster();
        [
            block[0] - block[0] % x + rank % x,
            block[1] - block[1] % y + rank / x % y,
            block[2] - block[2] % z + rank / x / y,
        ]
    }
}

/// Why a launch cannot have its clusters.
pub(crate) fn check(launch: &Launch<'_>) -> Result<(), String> {
    let Some(cluster) = launch.cluster else {
        return Ok(());
    };
    let [x, y, z] = cluster;
    let blocks = cluster
        .iter()
        .try_fold(1u32, |product, &extent| product.checked_mul(extent))
        .unwrap_or(u32::MAX);
    if blocks == 0 || blocks > MOST_BLOCKS {
        return Err(format!(
            "a cluster of {x}×{y}×{z} blocks; a cluster has 1 to {MOST_BLOCKS}"
        ));
    }
    let mut extents = launch.grid.iter().zip(cluster);
    if extents.any(|(grid, cluster)| grid % cluster != 0) {
        let [gx, gy, gz] = launch.grid;
        return Err(format!(
            "clusters of {x}×{y}×{z} blocks do not divide the grid of {gx}×{gy}×{gz}"
        ));
    }
    Ok(())
}

/// What the blocks of a cluster have in common.
#[derive(Debug, Default)]
pub(crate) struct Common {
    pub(crate) barrier: ClusterBarrier,
    /// Accesses to shared memory, where races are looked for.
    pub(crate) race: Option<Box<Race>>,
    /// What was written to shared and local memory, where that is looked at.
    pub(crate) fresh: Option<Box<Fresh>>,
    /// Asynchronous operations.
    pub(crate) flight: Flight,
}

/// The other blocks of a cluster, as one of them sees them.
#[derive(Debug, Default)]
pub(crate) struct Peers<'a> {
    before: &'a mut [Block],
    after: &'a mut [Block],
}

impl Peers<'_> {
    /// The number of the block that sees them.
    pub(crate) fn rank(&self) -> u32 {
        self.before.len() as u32
    }

    /// Blocks of the cluster.
    pub(crate) fn blocks(&self) -> u32 {
        (self.before.len() + self.after.len()) as u32 + 1
    }

    pub(crate) fn reborrow(&mut self) -> Peers<'_> {
        Peers {
            before: self.before,
            after: self.after,
        }
    }

    fn get(&self, rank: u32) -> Option<&Block> {
        let (rank, own) = (rank as usize, self.before.len());
        if rank < own {
            self.before.get(rank)
        } else {
            self.after.get(rank.checked_sub(own + 1)?)
        }
    }

    fn get_mut(&mut self, rank: u32) -> Option<&mut Block> {
        let (rank, own) = (rank as usize, self.before.len());
        if rank < own {
            self.before.get_mut(rank)
        } else {
            self.after.get_mut(rank.checked_sub(own + 1)?)
        }
    }
}

/// A cluster that runs.
#[derive(Debug)]
pub(crate) struct Cluster {
    blocks: Vec<Block>,
    common: Common,
    /// Which block the next turn starts with.
    first: usize,
}

/// A fault of a warp, with the block and the number of the warp in it.
#[derive(Debug)]
pub(crate) struct BlockFault {
    pub(crate) block: [u32; 3],
    pub(crate) warp: usize,
    pub(crate) fault: WarpFault,
}

impl Cluster {
    /// A cluster that can be started.
    pub(crate) fn new(function: usize, shape: &Shape<'_>, templates: &Templates) -> Self {
        let block = |_| Block::new(function, shape, templates);
        Self {
            blocks: (0..shape.cluster_blocks()).map(block).collect(),
            common: Common::default(),
            first: 0,
        }
    }

    /// Blocks that it has.
    pub(crate) fn len(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// The first thread that can run, with its block and its innermost call.
    pub(crate) fn current(&self) -> Option<([u32; 3], u32, &Scope)> {
        self.blocks.iter().find_map(|it| {
            let (thread, scope) = it.current()?;
            Some((it.index, thread, scope))
        })
    }

    /// Puts all threads at the start of the kernel; whatever ran here before has ended.
    pub(crate) fn start(&mut self, start: Start, shape: &Shape<'_>, templates: &Templates) {
        let count = self.blocks.len();
        let threads = shape.launch.block.iter().product::<u32>() * count as u32;
        self.common.barrier = ClusterBarrier::new(threads);
        self.common.flight = Flight::new(shape.launch.seed, start.block);
        self.common.race = Race::new(shape, start.block);
        self.common.fresh = Fresh::new(shape);
        self.first = start.first_warp % count.max(1);
        for (rank, block) in (0..).zip(&mut self.blocks) {
            let index = shape.block_of_rank(start.block, rank);
            block.start(index, start.first_warp, shape, templates);
        }
    }

    /// Gives each warp a turn of that many instructions, or a shorter one where there are several blocks; says whether all have ended.
    pub(crate) fn run(
        &mut self,
        shape: &Shape<'_>,
        templates: &Templates,
        turn: u64,
        meter: &mut Meter,
        unwritten: &mut Unwritten,
    ) -> Result<bool, Box<BlockFault>> {
        let count = self.blocks.len();
        let turn = if count > 1 {
            turn.min(SHORT_TURN)
        } else {
            turn
        };
        let at = |block, warp, fault| Box::new(BlockFault { block, warp, fault });
        let (mut ended, mut stuck, mut happened) = (0, true, false);
        for step in 0..count {
            let index = (self.first + step) % count;
            let (before, rest) = self.blocks.split_at_mut(index);
            let Some((block, after)) = rest.split_first_mut() else {
                continue;
            };
            let peers = Peers { before, after };
            let common = &mut self.common;
            let running = !block.has_ended();
            let progress = block
                .run(shape, templates, peers, common, turn, meter, unwritten)
                .map_err(|(warp, fault)| at(block.index, warp, fault))?;
            match progress {
                Progress::Ended => {
                    ended += 1;
                    happened |= running;
                    if let Some(race) = common.race.as_mut().filter(|_| running) {
                        race.end_operations(index as u32, block.index, shape);
                        if count > 1 {
                            race.end_block(index as u32, block.index, shape);
                        }
                    }
                }
                Progress::Stuck => {}
                Progress::Ran => stuck = false,
            }
            if self.common.barrier.take_complete() {
                (stuck, happened) = (false, true);
                for (rank, block) in (0..).zip(&mut self.blocks) {
                    block.pass_cluster_barrier(rank, &mut self.common);
                }
            }
            self.advance_flight(shape, unwritten)?;
        }
        self.end_round(ended == count, happened, shape, unwritten)?;
        if ended < count && stuck {
            let waiting = self.blocks.iter().find(|block| !block.has_ended());
            if let Some(block) = waiting {
                let (warp, fault) = block.deadlock(&self.common);
                return Err(at(block.index, warp, fault));
            }
        }
        Ok(ended == count)
    }
}
