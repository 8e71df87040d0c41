//! Clusters whose blocks may influence those of others: on one thread, side by side as soon as one does not end within its share.

use crate::exec::cluster::Cluster;
use crate::exec::grid::{Grid, TURN};
use crate::exec::order::Order;
use crate::exec::unwritten::Unwritten;
use crate::exec::warp::Meter;
use crate::{Fault, Statistics};

/// Blocks that run side by side at most, when they wait for each other.
const MOST_RESIDENT: usize = 8192;
/// Instructions that a warp executes in one turn, where several blocks run: most of them wait for one.
const SHORT_TURN: u64 = 500;

/// Runs all blocks; says too what they read that nothing had written.
pub(super) fn run(grid: &Grid<'_>) -> (Result<Statistics, Fault>, Unwritten) {
    let mut unwritten = Unwritten::default();
    let outcome = run_all(grid, &mut unwritten);
    (outcome, unwritten)
}

fn run_all(grid: &Grid<'_>, unwritten: &mut Unwritten) -> Result<Statistics, Fault> {
    let mut order = Order::new(grid.shape.launch);
    let (mut resident, mut spare) = (Vec::<Cluster>::new(), Vec::<Cluster>::new());
    let mut statistics = Statistics::default();
    let mut meter = Meter {
        fuel: grid.shape.launch.limits.instructions,
        ..Meter::default()
    };
    let most = MOST_RESIDENT / grid.shape.cluster_blocks().max(1) as usize;
    // The blocks of a cooperative launch are all there from the start.
    let mut wanted = if grid.shape.launch.workspace == 0 {
        1
    } else {
        most
    };
    loop {
        while resident.len() < wanted {
            let Some(start) = order.next() else {
                break;
            };
            let mut cluster = spare.pop().unwrap_or_else(|| grid.new_cluster());
            grid.start(&mut cluster, start);
            resident.push(cluster);
        }
        if resident.is_empty() {
            statistics.instructions = meter.instructions;
            statistics.lane_instructions = meter.lane_instructions;
            return Ok(statistics);
        }
        let mut ended = 0;
        let mut next = 0;
        let turn = if resident.len() > 1 { SHORT_TURN } else { TURN };
        while let Some(cluster) = resident.get_mut(next) {
            if visit(grid, cluster, turn, &mut meter, unwritten)? {
                ended += cluster.len();
                spare.push(resident.remove(next));
            } else {
                next += 1;
            }
        }
        statistics.blocks += ended;
        if meter.fuel == 0 && !(resident.is_empty() && order.remaining() == 0) {
            let at = resident.iter().find_map(|it| grid.current(it));
            return Err(grid.timeout(at));
        }
        if order.remaining() > 0
            && let Some(last) = spare.last()
        {
            grid.check_age(last, meter.instructions)?;
        }
        if ended == 0 {
            wanted = (wanted * 2).min(most);
        }
    }
}

/// Runs a cluster until it ends or has had its share; says whether it has ended. It runs on while its warps wait for each other only; what
/// it waits for longer may be another cluster.
fn visit(
    grid: &Grid<'_>,
    cluster: &mut Cluster,
    turn: u64,
    meter: &mut Meter,
    unwritten: &mut Unwritten,
) -> Result<bool, Fault> {
    let share = meter.instructions.saturating_add(turn * 10);
    loop {
        let ended = grid.advance(cluster, turn, meter, unwritten)?;
        if !ended {
            grid.check_age(cluster, meter.instructions)?;
        }
        if ended || meter.fuel == 0 || meter.instructions > share {
            return Ok(ended);
        }
    }
}
