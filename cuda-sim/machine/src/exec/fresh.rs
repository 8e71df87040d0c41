//! Reads of shared and local memory that nothing had written.

use crate::check::FindingKind;
use crate::code::{Touch, TouchKind};
use crate::exec::cluster::SharedView;
use crate::exec::env::{Env, Shape};
use crate::exec::findings::{Seen, Site};
use crate::exec::spaces::{Space, resolve};
use crate::{Lanes, WARP_SIZE};

/// A bit for each byte that was written.
#[derive(Debug, Clone, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn set(&mut self, start: usize, size: usize) {
        let words = (start + size).div_ceil(64);
        if self.0.len() < words {
            self.0.resize(words, 0);
        }
        for byte in start..start + size {
            self.0[byte / 64] |= 1 << (byte % 64);
        }
    }

    /// Whether none of the bytes was written.
    fn none(&self, start: usize, size: usize) -> bool {
        (start..start + size).all(|byte| {
            let word = self.0.get(byte / 64);
            word.is_none_or(|word| word >> (byte % 64) & 1 == 0)
        })
    }
}

/// What the threads of a cluster have written to the memory that belongs to them.
#[derive(Debug)]
pub(crate) struct Fresh {
    /// Threads of one block.
    in_block: u32,
    /// Shared memory by block, and local memory by thread.
    shared: Vec<Bits>,
    local: Vec<Bits>,
    /// Something was executed that may have written anywhere.
    is_over: bool,
}

impl Fresh {
    /// For a cluster that starts, if such reads are looked for.
    pub(crate) fn new(shape: &Shape<'_>) -> Option<Box<Self>> {
        let blocks = shape.cluster_blocks() as usize;
        let in_block = shape.launch.block.iter().product::<u32>();
        shape.launch.checks.unwritten.then(|| {
            Box::new(Self {
                in_block,
                shared: vec![Bits::default(); blocks],
                local: vec![Bits::default(); blocks * in_block as usize],
                is_over: false,
            })
        })
    }

    /// An instruction may write anywhere: nothing more can be said.
    pub(crate) fn give_up(&mut self) {
        self.is_over = true;
    }

    /// Notes one lane's access; says whether it reads what nothing had written.
    fn access(
        &mut self,
        touch: Touch,
        (thread, space, address): (u32, Space, u64),
        shared: &SharedView<'_>,
    ) -> Option<FindingKind> {
        let size = touch.size as usize;
        let (bits, start, kind) = match space {
            Space::Shared | Space::Cluster => {
                let (rank, start) = shared.locate(address, size)?;
                let bits = self.shared.get_mut(rank as usize)?;
                (bits, start, FindingKind::UninitialisedShared { size })
            }
            Space::Local => {
                let start = usize::try_from(address).ok().filter(|it| *it < 1 << 30)?;
                let bits = self.local.get_mut(thread as usize)?;
                (bits, start, FindingKind::UninitialisedLocal { size })
            }
            Space::Global | Space::Generic | Space::Param => return None,
        };
        // Of what is copied whole, padding included, a part may well be unwritten.
        let reads = matches!(touch.kind, TouchKind::Read | TouchKind::Update);
        let found = reads && bits.none(start, size);
        if touch.kind != TouchKind::Read {
            bits.set(start, size);
        }
        found.then_some(kind)
    }
}

/// Notes what the lanes are about to do, and reports what they read.
pub(super) fn observe(
    env: &mut Env<'_>,
    site: Site,
    space: Space,
    touch: Touch,
    lanes: &Lanes<'_>,
) {
    let Some(fresh) = env.common.fresh.as_mut().filter(|it| !it.is_over) else {
        return;
    };
    let shared = SharedView {
        own: env.shared,
        peers: &env.peers,
    };
    let mut found = None;
    for lane in lanes.active() {
        let in_block = env.warp * WARP_SIZE as u32 + lane as u32;
        let thread = env.peers.rank() * fresh.in_block + in_block;
        let (space, address) = resolve(space, lanes.addresses[lane]);
        let kind = fresh.access(touch, (thread, space, address), &shared);
        found = found.or(kind.map(|kind| (kind, in_block, address)));
    }
    if let (Some((kind, thread, address)), Some(findings)) = (found, &env.shape.findings) {
        let seen = Seen {
            site,
            block: env.block,
            thread,
        };
        findings.add(env.shape, kind, [seen, seen], Some(address));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_stand_for_bytes() {
        let mut bits = Bits::default();
        bits.set(62, 4);
        assert!(bits.none(0, 62) && bits.none(66, 1000));
        assert!(!bits.none(60, 3) && !bits.none(65, 8));
    }
}
