//! The shared memory of a cluster's blocks, as each of them sees it.
//!
//! An address carries the block's number above its offset, also that of the block's own variables, so that it means the same to all of the
//! cluster.

use super::Peers;
use crate::exec::env::{Env, LaneError};
use crate::exec::spaces::Space;
use crate::{FaultKind, Lanes, WARP_SIZE, Window};

/// Where the number of the block starts in an address of shared memory.
pub(crate) const RANK_SHIFT: u32 = 24;

/// The block that an address names, and the offset there.
fn split(address: u64) -> (u64, u64) {
    (address >> RANK_SHIFT, address & ((1 << RANK_SHIFT) - 1))
}

/// The same accesses at offsets in the block's own shared memory. What lies in that of another block is far beyond it.
pub(crate) fn own_offsets<'o>(
    rank: u32,
    lanes: &Lanes<'_>,
    offsets: &'o mut [u64; WARP_SIZE],
) -> Lanes<'o> {
    let start = u64::from(rank) << RANK_SHIFT;
    *offsets = lanes.addresses.map(|address| address.wrapping_sub(start));
    Lanes {
        mask: lanes.mask,
        size: lanes.size,
        addresses: offsets,
    }
}

/// Shared memory to be looked at.
pub(crate) struct SharedView<'a> {
    pub(crate) own: &'a [u8],
    pub(crate) peers: &'a Peers<'a>,
}

impl SharedView<'_> {
    /// The block that has `size` bytes at an address, and where they start there.
    pub(crate) fn locate(&self, address: u64, size: usize) -> Option<(u32, usize)> {
        let (rank, offset) = split(address);
        let rank = u32::try_from(rank).ok()?;
        if rank >= self.peers.blocks() {
            return None;
        }
        let start = usize::try_from(offset).ok()?;
        (start.checked_add(size)? <= self.own.len()).then_some((rank, start))
    }

    /// What a byte holds.
    pub(crate) fn byte(&self, rank: u32, offset: usize) -> Option<u8> {
        if rank == self.peers.rank() {
            return self.own.get(offset).copied();
        }
        self.peers.get(rank)?.shared.get(offset).copied()
    }
}

impl Env<'_> {
    pub(crate) fn shared_view(&self) -> SharedView<'_> {
        SharedView {
            own: self.shared,
            peers: &self.peers,
        }
    }

    /// `size` bytes of shared memory at an address that an instruction of that space names.
    pub(crate) fn shared_at(
        &mut self,
        lane: usize,
        space: Space,
        address: u64,
        size: usize,
    ) -> Result<&mut [u8], LaneError> {
        let fault = |kind| LaneError { lane, kind };
        let limit = self.shared.len();
        let out_of_range = || {
            fault(FaultKind::OutOfRange {
                window: Window::Shared,
                address,
                size,
                limit: limit as u64,
            })
        };
        let (blocks, own) = (self.peers.blocks(), self.peers.rank());
        let (rank, offset) = split(address);
        // Without neighbours, an address that is too large is nothing else.
        let rank = u32::try_from(rank).map_err(|_| out_of_range())?;
        if blocks == 1 && rank != 0 {
            return Err(out_of_range());
        }
        let start = usize::try_from(offset).map_err(|_| out_of_range())?;
        let range = start..start.saturating_add(size);
        if rank == own {
            return self.shared.get_mut(range).ok_or_else(out_of_range);
        }
        let outside = |own_only, why| {
            fault(FaultKind::OutsideCluster {
                address,
                size,
                own_only,
                why,
            })
        };
        if rank >= blocks {
            return Err(outside(
                false,
                format!("it names block {rank} of a cluster of {blocks} blocks"),
            ));
        }
        if space == Space::Shared {
            return Err(outside(
                true,
                format!(
                    "it lies in block {rank} of the cluster, and the instruction reaches that of its own block only, which is block {own}"
                ),
            ));
        }
        let Some(block) = self.peers.get_mut(rank) else {
            return Err(out_of_range());
        };
        if block.has_ended() {
            return Err(fault(FaultKind::BlockEnded {
                block: rank,
                address,
                size,
            }));
        }
        block.shared.get_mut(range).ok_or_else(out_of_range)
    }
}
