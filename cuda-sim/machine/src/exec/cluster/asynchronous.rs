//! What happens between the turns of a cluster's warps: asynchronous operations, and the end of waiting in vain.

use super::{BlockFault, Cluster};
use crate::exec::block::Block;
use crate::exec::env::{Env, LaneError, Shape};
use crate::exec::findings::Seen;
use crate::exec::flight::{Poll, Reach, Round, SharedBlocks};
use crate::exec::unwritten::Unwritten;
use crate::exec::warp::WarpFault;
use crate::ops::mbarrier;
use crate::{FaultKind, WARP_SIZE};

/// All blocks, between turns.
struct AllBlocks<'a>(&'a mut [Block]);

impl SharedBlocks for AllBlocks<'_> {
    fn of(&mut self, rank: u32) -> Option<&mut [u8]> {
        let block = self.0.get_mut(rank as usize)?;
        Some(&mut block.shared)
    }
}

/// The block of a warp that runs, and the others.
struct OwnAndPeers<'a, 'e> {
    own: &'a mut [u8],
    peers: &'a mut super::Peers<'e>,
}

impl SharedBlocks for OwnAndPeers<'_, '_> {
    fn of(&mut self, rank: u32) -> Option<&mut [u8]> {
        if rank == self.peers.rank() {
            return Some(self.own);
        }
        let block = self.peers.get_mut(rank)?;
        Some(&mut block.shared)
    }
}

impl<'e> Env<'e> {
    /// Does something with what is in flight.
    pub(crate) fn with_flight<T>(
        &mut self,
        f: impl FnOnce(&mut crate::exec::flight::Flight, &mut Reach<'_, '_>) -> T,
    ) -> T {
        let mut shared = OwnAndPeers {
            own: self.shared,
            peers: &mut self.peers,
        };
        let mut reach = Reach {
            shape: self.shape,
            shared: &mut shared,
            unwritten: self.unwritten,
            race: self.common.race.as_deref_mut(),
        };
        f(&mut self.common.flight, &mut reach)
    }
}

/// A fault of a thread at an instruction that it has executed before.
fn fault_at(seen: Seen, kind: FaultKind, shape: &Shape<'_>) -> Box<BlockFault> {
    let Seen {
        site,
        block,
        thread,
    } = seen;
    let code = &shape.program.codes[site.function];
    let pc = code
        .instructions
        .iter()
        .position(|it| it.source == site.source);
    let (warp, lane) = (thread as usize / WARP_SIZE, thread as usize % WARP_SIZE);
    Box::new(BlockFault {
        block,
        warp,
        fault: WarpFault {
            function: site.function,
            pc: pc.unwrap_or(0) as u32,
            error: LaneError { lane, kind },
        },
    })
}

impl Cluster {
    fn with_flight(
        &mut self,
        shape: &Shape<'_>,
        unwritten: &mut Unwritten,
        f: impl FnOnce(&mut crate::exec::flight::Flight, &mut Reach<'_, '_>),
    ) -> Result<(), Box<BlockFault>> {
        let mut reach = Reach {
            shape,
            shared: &mut AllBlocks(&mut self.blocks),
            unwritten,
            race: self.common.race.as_deref_mut(),
        };
        let flight = &mut self.common.flight;
        f(flight, &mut reach);
        match flight.take_failure() {
            Some(failure) => Err(fault_at(failure.seen, failure.kind, shape)),
            None => Ok(()),
        }
    }

    /// A block has had its turn.
    pub(super) fn advance_flight(
        &mut self,
        shape: &Shape<'_>,
        unwritten: &mut Unwritten,
    ) -> Result<(), Box<BlockFault>> {
        if self.common.flight.is_idle() {
            return Ok(());
        }
        self.with_flight(shape, unwritten, |flight, reach| flight.tick(reach))
    }

    /// All blocks have had their turns, and `happened` says whether a block ended or a barrier opened.
    pub(super) fn end_round(
        &mut self,
        ended: bool,
        happened: bool,
        shape: &Shape<'_>,
        unwritten: &mut Unwritten,
    ) -> Result<(), Box<BlockFault>> {
        if ended {
            return self.with_flight(shape, unwritten, |flight, reach| flight.finish(reach));
        }
        let flight = &mut self.common.flight;
        match flight.waiting.round(happened) {
            Round::Busy => Ok(()),
            Round::Quiet | Round::Hopeless if !flight.is_empty() => {
                self.with_flight(shape, unwritten, |flight, reach| flight.hurry(reach))
            }
            Round::Quiet => Ok(()),
            Round::Hopeless => match flight.waiting.last {
                Some(poll) => Err(self.in_vain(poll, shape)),
                None => Ok(()),
            },
        }
    }

    #[cold]
    fn in_vain(&self, poll: Poll, shape: &Shape<'_>) -> Box<BlockFault> {
        let block = self.blocks.get(poll.at.rank as usize);
        let word = block.and_then(|block| block.shared.get(poll.at.range(8)));
        let word = word.and_then(|word| word.first_chunk());
        let word = word.map_or(0, |word| u64::from_le_bytes(*word));
        let waits_for = mbarrier::missing(word, poll.at);
        fault_at(poll.seen, FaultKind::Deadlock { waits_for }, shape)
    }
}
