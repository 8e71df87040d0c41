//! Where an access of a warp goes: the checks that all have in common, and the memories that belong to the machine.

mod scattered;

use crate::exec::Scope;
use crate::exec::env::{Env, LaneError};
use crate::exec::findings::Site;
use crate::exec::spaces::{CALL_PARAMS, Space, resolve};
use crate::exec::unwritten::UnwrittenRead;
use crate::{Contents, FaultKind, LaneFault, Lanes, WARP_SIZE, Window};

/// `size` bytes at `offset` of a memory of which each lane has `stride` bytes, or all share one piece where `stride` is 0.
fn piece(
    lane: usize,
    stride: usize,
    limit: usize,
    offset: u64,
    size: usize,
    window: Window,
) -> Result<usize, LaneError> {
    let start = usize::try_from(offset)
        .ok()
        .filter(|&start| start.checked_add(size).is_some_and(|end| end <= limit));
    match start {
        Some(start) => Ok(lane * stride + start),
        None => Err(LaneError {
            lane,
            kind: FaultKind::OutOfRange {
                window,
                address: offset,
                size,
                limit: limit as u64,
            },
        }),
    }
}

fn memory_fault(fault: LaneFault) -> LaneError {
    LaneError {
        lane: fault.lane,
        kind: FaultKind::Memory(fault.fault),
    }
}

/// Every active address must be a multiple of the access size.
#[inline(always)]
fn check_alignment(lanes: &Lanes<'_>) -> Result<(), LaneError> {
    if lanes.any(lanes.addresses) & (lanes.size as u64 - 1) == 0 {
        Ok(())
    } else {
        Err(misaligned(lanes))
    }
}

#[cold]
fn misaligned(lanes: &Lanes<'_>) -> LaneError {
    let size = lanes.size;
    let lane = lanes
        .active()
        .find(|&lane| lanes.addresses[lane] & (size as u64 - 1) != 0)
        .unwrap_or(0);
    LaneError {
        lane,
        kind: FaultKind::Misaligned {
            address: lanes.addresses[lane],
            size,
        },
    }
}

/// Whether some active address lies in a window.
#[inline(always)]
fn touches_windows(lanes: &Lanes<'_>) -> bool {
    lanes.any(lanes.addresses) >> 48 != 0
}

/// Lanes that follow each other in the warp and in memory: the address of the first, and the bytes that they have in the warp's buffer.
#[inline(always)]
fn single_piece(lanes: &Lanes<'_>) -> Option<(u64, std::ops::Range<usize>)> {
    let base = lanes.contiguous_base()?;
    if !base.is_multiple_of(lanes.size as u64) {
        return None;
    }
    let first = lanes.mask.trailing_zeros() as usize;
    let count = lanes.mask.checked_shr(first as u32)?.trailing_ones() as usize;
    if lanes.mask.count_ones() as usize != count {
        return None;
    }
    let range = first * lanes.size..(first + count) * lanes.size;
    Some((base.wrapping_add(range.start as u64), range))
}

/// Where `len` bytes at `address` lie in a memory that has so many.
#[inline(always)]
fn within(address: u64, len: usize, limit: usize) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(address).ok()?;
    let end = start.checked_add(len)?;
    (end <= limit).then_some(start..end)
}

impl Env<'_> {
    /// Reads for each lane of the mask; `site` is the instruction that does.
    #[inline(always)]
    pub(crate) fn read(
        &mut self,
        site: Site,
        space: Space,
        lanes: &Lanes<'_>,
        into: &mut [u8],
        scope: &Scope,
    ) -> Result<(), LaneError> {
        if let Some((address, range)) = single_piece(lanes) {
            let start = range.start;
            let piece = &mut into[range];
            let is_global = space == Space::Global || space == Space::Generic && address >> 48 == 0;
            if is_global && let Ok(contents) = self.memory(lanes.mask).load(address, piece) {
                if let Contents::Unwritten { first } = contents {
                    self.note_unwritten(site, lanes, start + first);
                }
                return Ok(());
            }
            if space == Space::Shared
                && let Some(range) = within(address, piece.len(), self.shared.len())
            {
                piece.copy_from_slice(&self.shared[range]);
                return Ok(());
            }
        }
        check_alignment(lanes)?;
        match space {
            Space::Shared if self.gather_shared(lanes, into) => Ok(()),
            Space::Global => self.load_lanes(site, lanes, into),
            Space::Generic if !touches_windows(lanes) => self.load_lanes(site, lanes, into),
            _ => self.read_windows(site, space, lanes, into, scope),
        }
    }

    #[inline(never)]
    fn load_lanes(
        &mut self,
        site: Site,
        lanes: &Lanes<'_>,
        into: &mut [u8],
    ) -> Result<(), LaneError> {
        let loaded = self.memory(lanes.mask).load_lanes(lanes, into);
        if let Contents::Unwritten { first } = loaded.map_err(memory_fault)? {
            self.note_unwritten(site, lanes, first);
        }
        Ok(())
    }

    /// Byte `index` of what the lanes have read was never written.
    #[cold]
    fn note_unwritten(&mut self, site: Site, lanes: &Lanes<'_>, index: usize) {
        let (lane, first) = (index / lanes.size, index % lanes.size);
        self.note_lane(site, lane, lanes.addresses[lane], lanes.size, first);
    }

    /// Byte `first` of what a lane has read was never written.
    #[cold]
    fn note_lane(&mut self, site: Site, lane: usize, address: u64, size: usize, first: usize) {
        self.unwritten.add(UnwrittenRead {
            site,
            block: self.block,
            thread: self.warp * WARP_SIZE as u32 + lane as u32,
            address,
            size,
            first,
            clock: self.clock,
        });
    }

    #[inline(never)]
    fn store_lanes(&self, lanes: &Lanes<'_>, bytes: &[u8]) -> Result<(), LaneError> {
        let stored = self.memory(lanes.mask).store_lanes(lanes, bytes);
        stored.map_err(memory_fault)
    }

    #[inline(never)]
    fn read_windows(
        &mut self,
        site: Site,
        space: Space,
        lanes: &Lanes<'_>,
        into: &mut [u8],
        scope: &Scope,
    ) -> Result<(), LaneError> {
        let size = lanes.size;
        for (lane, into) in into
            .chunks_exact_mut(size)
            .enumerate()
            .filter(|(lane, _)| lanes.mask >> lane & 1 == 1)
        {
            let (space, offset) = resolve(space, lanes.addresses[lane]);
            match space {
                Space::Global | Space::Generic => {
                    let loaded = self.memory(1 << lane).load(offset, into);
                    let contents =
                        loaded.map_err(|fault| memory_fault(LaneFault { lane, fault }))?;
                    if let Contents::Unwritten { first } = contents {
                        self.note_unwritten(site, lanes, lane * size + first);
                    }
                }
                Space::Shared | Space::Cluster => {
                    into.copy_from_slice(self.shared_at(lane, space, offset, size)?);
                }
                Space::Local => {
                    let at = piece(
                        lane,
                        self.local.stride,
                        self.local.stride,
                        offset,
                        size,
                        Window::Local,
                    )?;
                    into.copy_from_slice(&self.local.bytes[at..at + size]);
                }
                Space::Param => match offset.checked_sub(CALL_PARAMS) {
                    None => {
                        let params = self.shape.launch.params;
                        let at = piece(lane, 0, params.len(), offset, size, Window::Param)?;
                        into.copy_from_slice(&params[at..at + size]);
                    }
                    Some(offset) => {
                        let at = piece(
                            lane,
                            scope.params_stride,
                            scope.params_stride,
                            offset,
                            size,
                            Window::Param,
                        )?;
                        into.copy_from_slice(&scope.params[at..at + size]);
                    }
                },
            }
        }
        Ok(())
    }

    /// Writes for each lane of the mask.
    #[inline(always)]
    pub(crate) fn write(
        &mut self,
        space: Space,
        lanes: &Lanes<'_>,
        bytes: &[u8],
        scope: &mut Scope,
    ) -> Result<(), LaneError> {
        if let Some((address, range)) = single_piece(lanes) {
            let piece = &bytes[range];
            let is_global = space == Space::Global || space == Space::Generic && address >> 48 == 0;
            if is_global && self.memory(lanes.mask).store(address, piece).is_ok() {
                return Ok(());
            }
            if space == Space::Shared
                && let Some(range) = within(address, piece.len(), self.shared.len())
            {
                self.shared[range].copy_from_slice(piece);
                return Ok(());
            }
        }
        check_alignment(lanes)?;
        match space {
            Space::Shared if self.scatter_shared(lanes, bytes) => Ok(()),
            Space::Global => self.store_lanes(lanes, bytes),
            Space::Generic if !touches_windows(lanes) => self.store_lanes(lanes, bytes),
            _ => self.write_windows(space, lanes, bytes, scope),
        }
    }

    #[inline(never)]
    fn write_windows(
        &mut self,
        space: Space,
        lanes: &Lanes<'_>,
        bytes: &[u8],
        scope: &mut Scope,
    ) -> Result<(), LaneError> {
        let size = lanes.size;
        for (lane, bytes) in bytes
            .chunks_exact(size)
            .enumerate()
            .filter(|(lane, _)| lanes.mask >> lane & 1 == 1)
        {
            let (space, offset) = resolve(space, lanes.addresses[lane]);
            match space {
                Space::Global | Space::Generic => {
                    let stored = self.memory(1 << lane).store(offset, bytes);
                    stored.map_err(|fault| memory_fault(LaneFault { lane, fault }))?;
                }
                Space::Shared | Space::Cluster => {
                    let place = self.shared_at(lane, space, offset, size)?;
                    place.copy_from_slice(bytes);
                }
                Space::Local => {
                    let at = piece(
                        lane,
                        self.local.stride,
                        self.local.stride,
                        offset,
                        size,
                        Window::Local,
                    )?;
                    self.local.bytes[at..at + size].copy_from_slice(bytes);
                }
                Space::Param => {
                    // The kernel's own parameters cannot be written.
                    let limit = if offset < CALL_PARAMS {
                        0
                    } else {
                        scope.params_stride
                    };
                    let offset = offset.checked_sub(CALL_PARAMS).unwrap_or(offset);
                    let at = piece(
                        lane,
                        scope.params_stride,
                        limit,
                        offset,
                        size,
                        Window::Param,
                    )?;
                    scope.params[at..at + size].copy_from_slice(bytes);
                }
            }
        }
        Ok(())
    }

    /// Replaces a word of shared or global memory as one step; returns the old one.
    pub(crate) fn update(
        &mut self,
        site: Site,
        space: Space,
        lane: usize,
        address: u64,
        size: usize,
        update: &mut dyn FnMut(u64) -> u64,
    ) -> Result<u64, LaneError> {
        if address & (size as u64 - 1) != 0 {
            return Err(LaneError {
                lane,
                kind: FaultKind::Misaligned { address, size },
            });
        }
        match resolve(space, address) {
            (space @ (Space::Shared | Space::Cluster), offset) => {
                let place = self.shared_at(lane, space, offset, size)?;
                Ok(update_bytes(place, update))
            }
            (Space::Local, offset) => {
                let at = piece(
                    lane,
                    self.local.stride,
                    self.local.stride,
                    offset,
                    size,
                    Window::Local,
                )?;
                Ok(update_bytes(&mut self.local.bytes[at..at + size], update))
            }
            (Space::Param, offset) => Err(LaneError {
                lane,
                kind: FaultKind::OutOfRange {
                    window: Window::Param,
                    address: offset,
                    size,
                    limit: 0,
                },
            }),
            (Space::Global | Space::Generic, address) => {
                let updated = self.memory(1 << lane).atomic(address, size, update);
                let (old, contents) =
                    updated.map_err(|fault| memory_fault(LaneFault { lane, fault }))?;
                if let Contents::Unwritten { first } = contents {
                    self.note_lane(site, lane, address, size, first);
                }
                Ok(old)
            }
        }
    }
}

fn update_bytes(bytes: &mut [u8], update: &mut dyn FnMut(u64) -> u64) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let old = u64::from_le_bytes(word);
    bytes.copy_from_slice(&update(old).to_le_bytes()[..bytes.len()]);
    old
}
