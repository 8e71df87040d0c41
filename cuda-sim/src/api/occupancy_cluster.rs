//! Occupancy of clusters.

use cuda_sys::{CUfunction, CUlaunchConfig};

use super::launch::{Attributes, cluster, largest_cluster};
use super::occupancy::Budget;
use super::prelude::*;
use crate::state::kernel::volume;
use crate::state::module::Function;

built! {
    cuOccupancyMaxPotentialClusterSize => best_size, (size: Out<c_int>, function: CUfunction, config: In<CUlaunchConfig>);
    cuOccupancyMaxActiveClusters => active_clusters, (count: Out<c_int>, function: CUfunction, config: In<CUlaunchConfig>);
}

/// Blocks of clusters that one multiprocessor runs at the same time.
const BLOCKS: u32 = 8;
/// Multiprocessors that can run the blocks of one cluster.
const GROUP: u32 = 16;

/// Clusters of `size` blocks that a device runs at the same time, when each multiprocessor has room for `blocks` blocks.
///
/// Clusters of more than two blocks stay within a group of multiprocessors, and some multiprocessors belong to no whole group: about one of
/// sixteen, in fours. That gives what an H200 says for clusters of up to four blocks, and up to 7 % more for larger ones.
fn clusters(multiprocessors: u32, blocks: u32, size: u32) -> u32 {
    let blocks = blocks.min(BLOCKS);
    if size <= 2 || multiprocessors <= GROUP {
        return multiprocessors * blocks / size.max(1);
    }
    let grouped = (multiprocessors * 15 / 16 + 2) / 4 * 4;
    let (whole, rest) = (grouped / GROUP, grouped % GROUP);
    whole * (GROUP * blocks / size) + rest * blocks / size
}

/// Blocks in clusters of that shape that the device runs at the same time.
///
/// # Errors
/// As for what is known of a function.
pub(super) fn clustered_blocks_at_once(
    state: &State,
    function: &Function,
    cluster: [u32; 3],
    threads: u32,
    shared: u32,
) -> Result<u64, CUresult> {
    let budget = Budget::of(state, function)?;
    let size = volume(cluster);
    let count = clusters(budget.multiprocessors, budget.blocks(threads, shared), size);
    Ok(u64::from(count) * u64::from(size))
}

/// What a question about clusters is about.
struct Question {
    budget: Budget,
    /// Blocks that fit on one multiprocessor.
    blocks: u32,
    /// The largest cluster that the kernel may have.
    largest: u32,
    /// The cluster that the launch would have.
    cluster: Option<[u32; 3]>,
}

fn question(
    call: &Call<'_>,
    function: CUfunction,
    config: In<CUlaunchConfig>,
) -> Result<Question, CUresult> {
    let config = config.get()?;
    let attributes = Attributes::read(call, &config)?;
    let mut state = call.state();
    let current = state.current(call.thread)?;
    let function = state.function_in(number(function), Ok(current), call.number)?;
    let function = state.function(function)?;
    let budget = Budget::of(&state, function)?;
    let facts = state.facts(function)?;
    let grid = [config.gridDimX, config.gridDimY, config.gridDimZ];
    let threads = volume([config.blockDimX, config.blockDimY, config.blockDimZ]);
    Ok(Question {
        budget,
        blocks: budget.blocks(threads, config.sharedMemBytes),
        largest: largest_cluster(&facts),
        cluster: cluster(&facts, grid, &attributes)?,
    })
}

fn best_size(
    call: &Call<'_>,
    size: Out<c_int>,
    function: CUfunction,
    config: In<CUlaunchConfig>,
) -> Answer {
    let size = size.check()?;
    let asked = question(call, function, config)?;
    let multiprocessors = asked.budget.multiprocessors;
    let best = (1..=asked.largest)
        .rev()
        .filter(|size| size.is_power_of_two())
        .find(|size| clusters(multiprocessors, asked.blocks, *size) > 0);
    size.set(best.unwrap_or(0) as c_int);
    Ok(())
}

fn active_clusters(
    call: &Call<'_>,
    count: Out<c_int>,
    function: CUfunction,
    config: In<CUlaunchConfig>,
) -> Answer {
    let count = count.check()?;
    let asked = question(call, function, config)?;
    let found = asked.cluster.map_or(0, |shape| {
        clusters(asked.budget.multiprocessors, asked.blocks, volume(shape))
    });
    count.set(found as c_int);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_h200_runs_that_many_clusters() {
        let of = |blocks| [1, 2, 4].map(|size| clusters(132, blocks, size));
        assert_eq!(of(32), [1056, 528, 248]);
        assert_eq!(of(2), [264, 132, 62]);
        assert_eq!(clusters(132, 32, 8), 124);
        for (blocks, size, real) in [(2, 8, 30), (8, 16, 58), (2, 16, 14)] {
            let counted = clusters(132, blocks, size);
            assert!((real..=real * 108 / 100).contains(&counted), "{counted}");
        }
        assert_eq!((clusters(4, 2, 16), clusters(4, 8, 16)), (0, 2));
    }
}
