//! Accesses of a warp to places of shared memory that do not follow each other.

use crate::exec::cluster::own_offsets;
use crate::exec::env::Env;
use crate::{Lanes, WARP_SIZE};

impl Env<'_> {
    /// Reads from the block's own shared memory, when all lanes lie there; says whether that is so. The alignment has been checked.
    #[inline(always)]
    pub(super) fn gather_shared(&self, lanes: &Lanes<'_>, into: &mut [u8]) -> bool {
        gather(self.shared, lanes, into)
            || self.peers.rank() > 0
                && gather(
                    self.shared,
                    &own_offsets(self.peers.rank(), lanes, &mut [0; WARP_SIZE]),
                    into,
                )
    }

    /// Writes in the same way.
    #[inline(always)]
    pub(super) fn scatter_shared(&mut self, lanes: &Lanes<'_>, bytes: &[u8]) -> bool {
        scatter(self.shared, lanes, bytes)
            || self.peers.rank() > 0
                && scatter(
                    self.shared,
                    &own_offsets(self.peers.rank(), lanes, &mut [0; WARP_SIZE]),
                    bytes,
                )
    }
}

/// Reads scattered lanes, when all of them lie inside; says whether that is so. The alignment has been checked.
#[inline(always)]
fn gather(memory: &[u8], lanes: &Lanes<'_>, into: &mut [u8]) -> bool {
    match lanes.size {
        1 => gather_sized::<1>(memory, lanes, into),
        2 => gather_sized::<2>(memory, lanes, into),
        4 => gather_sized::<4>(memory, lanes, into),
        8 => gather_sized::<8>(memory, lanes, into),
        16 => gather_sized::<16>(memory, lanes, into),
        _ => false,
    }
}

#[inline(always)]
fn gather_sized<const SIZE: usize>(memory: &[u8], lanes: &Lanes<'_>, into: &mut [u8]) -> bool {
    let (elements, _) = memory.as_chunks::<SIZE>();
    let (into, _) = into.as_chunks_mut::<SIZE>();
    for (lane, (into, address)) in into.iter_mut().zip(lanes.addresses).enumerate() {
        let index = usize::try_from(address / SIZE as u64).unwrap_or(usize::MAX);
        match elements.get(index) {
            Some(element) => *into = *element,
            None if lanes.mask >> lane & 1 == 1 => return false,
            None => {}
        }
    }
    true
}

/// Writes scattered lanes, when all of them lie inside; says whether that is so. The alignment has been checked.
#[inline(always)]
fn scatter(memory: &mut [u8], lanes: &Lanes<'_>, bytes: &[u8]) -> bool {
    match lanes.size {
        1 => scatter_sized::<1>(memory, lanes, bytes),
        2 => scatter_sized::<2>(memory, lanes, bytes),
        4 => scatter_sized::<4>(memory, lanes, bytes),
        8 => scatter_sized::<8>(memory, lanes, bytes),
        16 => scatter_sized::<16>(memory, lanes, bytes),
        _ => false,
    }
}

#[inline(always)]
fn scatter_sized<const SIZE: usize>(memory: &mut [u8], lanes: &Lanes<'_>, bytes: &[u8]) -> bool {
    let (elements, _) = memory.as_chunks_mut::<SIZE>();
    let (bytes, _) = bytes.as_chunks::<SIZE>();
    let mut inside = true;
    for (lane, address) in lanes.addresses.iter().enumerate() {
        inside &= lanes.mask >> lane & 1 == 0 || address / (SIZE as u64) < elements.len() as u64;
    }
    if !inside {
        return false;
    }
    for (lane, (bytes, address)) in bytes.iter().zip(lanes.addresses).enumerate() {
        if lanes.mask >> lane & 1 == 1
            && let Ok(index) = usize::try_from(address / SIZE as u64)
            && let Some(element) = elements.get_mut(index)
        {
            *element = *bytes;
        }
    }
    true
}
