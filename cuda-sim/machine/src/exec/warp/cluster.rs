//! The lanes of a warp at the cluster's barrier.

use super::{CLUSTER_BARRIER, Warp};
use crate::FaultKind;
use crate::code::Op;
use crate::exec::barriers::{Arrival, Barriers};
use crate::exec::cluster::Common;
use crate::exec::env::{LaneError, Shape};

/// Numbers under which it is remembered where a warp arrives and where it waits.
pub(crate) const ARRIVALS: usize = 16;
const WAITS: usize = 17;

/// What a warp knows of its lanes at the cluster's barrier.
pub(super) struct ClusterLanes<'a> {
    pub(super) arrived: &'a mut u32,
    pub(super) passed: &'a mut u32,
    pub(super) waited: &'a mut u32,
}

impl ClusterLanes<'_> {
    /// Lanes come to the barrier; returns those that have to wait.
    pub(super) fn come(
        self,
        arrival: &Arrival<'_>,
        shape: &Shape<'_>,
        barriers: &mut Barriers,
        common: &mut Common,
    ) -> Result<u32, LaneError> {
        let (i, lanes) = (arrival.instruction, arrival.lanes);
        let fault = |lanes: u32, why: &str| LaneError {
            lane: lanes.trailing_zeros() as usize,
            kind: FaultKind::Barrier(String::from(why)),
        };
        let arrives = matches!(i.op, Op::ClusterArrive);
        if i.is_aligned() && shape.launch.checks.sync {
            barriers.compare(if arrives { ARRIVALS } else { WAITS }, arrival, shape);
        }
        if arrives {
            let again = lanes & (*self.arrived | *self.passed);
            if again != 0 {
                return Err(fault(
                    again,
                    "the thread arrives at the cluster's barrier again before it has waited there",
                ));
            }
            *self.arrived |= lanes;
            if let Some(race) = common.race.as_mut().filter(|_| i.imm == 0) {
                race.arrive_in_cluster(arrival.rank, arrival.warp, lanes);
            }
            let waited = arrival.waited && i.imm == 0;
            if common.barrier.arrive(lanes.count_ones(), waited)
                && let Some(race) = &mut common.race
            {
                race.complete_cluster();
            }
            barriers.forget_warp(WAITS, arrival.warp);
            return Ok(0);
        }
        let never = lanes & !(*self.arrived | *self.passed);
        if never != 0 {
            return Err(fault(
                never,
                "the thread waits at the cluster's barrier without having arrived there",
            ));
        }
        let through = lanes & *self.passed;
        *self.passed &= !through;
        if common.barrier.last_waited() {
            *self.waited |= through;
        }
        if let Some(race) = &mut common.race {
            race.wait_in_cluster(arrival.rank, arrival.warp, through);
        }
        Ok(lanes & !through)
    }
}

impl Warp {
    /// Lanes have ended, wherever they were.
    pub(super) fn leave_cluster(&mut self, lanes: u32, common: &mut Common) {
        let arrived = self.arrived & lanes;
        self.arrived &= !lanes;
        self.passed &= !lanes;
        if common
            .barrier
            .leave(lanes.count_ones(), arrived.count_ones())
            && let Some(race) = &mut common.race
        {
            race.complete_cluster();
        }
    }

    /// All threads of the cluster have arrived.
    pub(crate) fn pass_cluster_barrier(&mut self, rank: u32, common: &mut Common) {
        let waits = self.parked[CLUSTER_BARRIER];
        if let Some(race) = &mut common.race {
            race.wait_in_cluster(rank, self.index, waits);
        }
        self.passed |= self.arrived & !waits;
        self.arrived = 0;
        self.release(CLUSTER_BARRIER, common.barrier.last_waited());
    }
}
