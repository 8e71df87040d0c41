//! Whether a launch is within the limits of device and kernel.

use super::super::prelude::*;
use super::{Attributes, Shape};
use crate::state::kernel::{Facts, volume};

/// The major compute capability from which on devices have clusters.
const FIRST_WITH_CLUSTERS: u32 = 9;
/// Blocks of a cluster on every device that has clusters, and on those for which a kernel may ask for more.
const PORTABLE_CLUSTER: u32 = 8;
const LARGEST_CLUSTER: u32 = 16;

/// Compares a launch with the limits of device and kernel.
///
/// # Errors
/// `INVALID_VALUE`, or `LAUNCH_OUT_OF_RESOURCES` where the registers of the threads are too many.
pub(super) fn shape(facts: &Facts<'_>, shape: &Shape) -> Answer {
    let within = |extents: &[u32; 3], first: u32| {
        extents
            .iter()
            .zip(first..)
            .all(|(extent, number)| *extent > 0 && *extent <= facts.limit(number))
    };
    let threads = volume(shape.block);
    let fits = within(&shape.block, 2) && within(&shape.grid, 5) && threads <= facts.limit(1);
    let too_much_shared = shape.shared > facts.max_dynamic_shared();
    let kernel = facts.kernel;
    let required = kernel.req_ntid().is_none_or(|only| only == shape.block);
    let declared = kernel.max_ntid().is_none_or(|most| threads <= volume(most));
    if fits && too_much_shared && shape.cooperative {
        // No block fits, and so too few at once.
        return Err(code::COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    if !fits || too_much_shared || !required || !declared {
        return Err(code::INVALID_VALUE);
    }
    if threads > facts.max_threads() {
        return Err(code::LAUNCH_OUT_OF_RESOURCES);
    }
    Ok(())
}

/// The most blocks of a cluster that a kernel may have now.
pub(in crate::api) fn largest_cluster(facts: &Facts<'_>) -> u32 {
    if facts.allows_large_clusters() {
        LARGEST_CLUSTER
    } else {
        PORTABLE_CLUSTER
    }
}

/// The cluster that a launch has, if any.
///
/// # Errors
/// `INVALID_CLUSTER_SIZE` where grid, kernel and attributes do not agree about it, `NOT_SUPPORTED` on a device without clusters.
pub(in crate::api) fn cluster(
    facts: &Facts<'_>,
    grid: [u32; 3],
    attributes: &Attributes,
) -> Result<Option<[u32; 3]>, CUresult> {
    let rules = facts.kernel.cluster();
    let Some(cluster) = attributes.cluster.or_else(|| facts.cluster()) else {
        return if rules.explicit {
            Err(code::INVALID_CLUSTER_SIZE)
        } else {
            Ok(None)
        };
    };
    let blocks = volume(cluster);
    if blocks > 1 && facts.device.compute_capability.0 < FIRST_WITH_CLUSTERS {
        return Err(code::NOT_SUPPORTED);
    }
    let divides = |parts: [u32; 3], whole: [u32; 3]| {
        parts
            .iter()
            .zip(whole)
            .all(|(part, whole)| *part > 0 && whole % part == 0)
    };
    let fits = divides(cluster, grid)
        && blocks <= largest_cluster(facts)
        && rules.max_blocks.is_none_or(|most| blocks <= most)
        && rules.required.is_none_or(|only| only == cluster);
    let preferred = attributes
        .preferred_cluster
        .is_none_or(|preferred| divides(cluster, preferred) && divides(preferred, grid));
    if fits && preferred {
        Ok(Some(cluster))
    } else {
        Err(code::INVALID_CLUSTER_SIZE)
    }
}
