//! Where an access of a warp goes: the checks that all have in common, and the memories that belong to the machine.

use crate::exec::Scope;
use crate::exec::env::{Env, LaneError};
use crate::exec::spaces::{CALL_PARAMS, Space, resolve};
use crate::{FaultKind, LaneFault, Lanes, Window};

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
    let mut low = 0;
    for (lane, address) in lanes.addresses.iter().enumerate() {
        low |= address & u64::from(lanes.mask >> lane & 1).wrapping_neg();
    }
    if low & (lanes.size as u64 - 1) == 0 {
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
    let mut high = 0;
    for (lane, address) in lanes.addresses.iter().enumerate() {
        high |= address & u64::from(lanes.mask >> lane & 1).wrapping_neg();
    }
    high >> 48 != 0
}

impl Env<'_> {
    /// Reads for each lane of the mask.
    #[inline(always)]
    pub(crate) fn read(
        &mut self,
        space: Space,
        lanes: &Lanes<'_>,
        into: &mut [u8],
        scope: &Scope,
    ) -> Result<(), LaneError> {
        check_alignment(lanes)?;
        match space {
            Space::Global => self
                .shape
                .memory
                .load_lanes(lanes, into)
                .map_err(memory_fault),
            Space::Generic if !touches_windows(lanes) => self
                .shape
                .memory
                .load_lanes(lanes, into)
                .map_err(memory_fault),
            _ => self.read_windows(space, lanes, into, scope),
        }
    }

    fn read_windows(
        &mut self,
        space: Space,
        lanes: &Lanes<'_>,
        into: &mut [u8],
        scope: &Scope,
    ) -> Result<(), LaneError> {
        let size = lanes.size;
        if space == Space::Shared
            && let Some(range) = shared_run(lanes, self.shared.len())
        {
            let first = lanes.mask.trailing_zeros() as usize * size;
            into[first..first + range.len()].copy_from_slice(&self.shared[range]);
            return Ok(());
        }
        if space == Space::Shared && gather(self.shared, lanes, into) {
            return Ok(());
        }
        for (lane, into) in into
            .chunks_exact_mut(size)
            .enumerate()
            .filter(|(lane, _)| lanes.mask >> lane & 1 == 1)
        {
            let (space, offset) = resolve(space, lanes.addresses[lane]);
            match space {
                Space::Global | Space::Generic => {
                    let loaded = self.shape.memory.load(offset, into);
                    loaded.map_err(|fault| memory_fault(LaneFault { lane, fault }))?;
                }
                Space::Shared => {
                    let at = piece(lane, 0, self.shared.len(), offset, size, Window::Shared)?;
                    into.copy_from_slice(&self.shared[at..at + size]);
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
        check_alignment(lanes)?;
        match space {
            Space::Global => self
                .shape
                .memory
                .store_lanes(lanes, bytes)
                .map_err(memory_fault),
            Space::Generic if !touches_windows(lanes) => self
                .shape
                .memory
                .store_lanes(lanes, bytes)
                .map_err(memory_fault),
            _ => self.write_windows(space, lanes, bytes, scope),
        }
    }

    fn write_windows(
        &mut self,
        space: Space,
        lanes: &Lanes<'_>,
        bytes: &[u8],
        scope: &mut Scope,
    ) -> Result<(), LaneError> {
        let size = lanes.size;
        if space == Space::Shared
            && let Some(range) = shared_run(lanes, self.shared.len())
        {
            let first = lanes.mask.trailing_zeros() as usize * size;
            self.shared[range.clone()].copy_from_slice(&bytes[first..first + range.len()]);
            return Ok(());
        }
        for (lane, bytes) in bytes
            .chunks_exact(size)
            .enumerate()
            .filter(|(lane, _)| lanes.mask >> lane & 1 == 1)
        {
            let (space, offset) = resolve(space, lanes.addresses[lane]);
            match space {
                Space::Global | Space::Generic => {
                    let stored = self.shape.memory.store(offset, bytes);
                    stored.map_err(|fault| memory_fault(LaneFault { lane, fault }))?;
                }
                Space::Shared => {
                    let at = piece(lane, 0, self.shared.len(), offset, size, Window::Shared)?;
                    self.shared[at..at + size].copy_from_slice(bytes);
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
            (Space::Shared, offset) => {
                let at = piece(lane, 0, self.shared.len(), offset, size, Window::Shared)?;
                Ok(update_bytes(&mut self.shared[at..at + size], update))
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
                let old = self.shape.memory.atomic(address, size, update);
                old.map_err(|fault| memory_fault(LaneFault { lane, fault }))
            }
        }
    }
}

/// Reads scattered lanes, when all of them lie inside; says whether that is so.
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

fn gather_sized<const SIZE: usize>(memory: &[u8], lanes: &Lanes<'_>, into: &mut [u8]) -> bool {
    // The alignment has been checked, so elements of the memory are what the lanes read.
    let (elements, _) = memory.as_chunks::<SIZE>();
    let (into, _) = into.as_chunks_mut::<SIZE>();
    for (lane, (into, address)) in into.iter_mut().zip(lanes.addresses).enumerate() {
        if lanes.mask >> lane & 1 == 1 {
            let element = usize::try_from(*address)
                .ok()
                .and_then(|address| elements.get(address / SIZE));
            let Some(element) = element else { return false };
            *into = *element;
        }
    }
    true
}

fn update_bytes(bytes: &mut [u8], update: &mut dyn FnMut(u64) -> u64) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let old = u64::from_le_bytes(word);
    bytes.copy_from_slice(&update(old).to_le_bytes()[..bytes.len()]);
    old
}

/// The bytes of shared memory that the lanes touch, where these lie side by side in one run and inside.
#[inline(always)]
fn shared_run(lanes: &Lanes<'_>, limit: usize) -> Option<std::ops::Range<usize>> {
    let base = lanes.contiguous_base()?;
    let first = lanes.mask.trailing_zeros();
    let count = (lanes.mask >> first).trailing_ones();
    if lanes.mask.count_ones() != count {
        return None;
    }
    let start = usize::try_from(base.wrapping_add(u64::from(first) * lanes.size as u64)).ok()?;
    let end = start.checked_add(count as usize * lanes.size)?;
    (end <= limit).then_some(start..end)
}
