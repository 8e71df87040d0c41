//! What all copies share: from what a caller names to an operation on a stream.
//!
//! What the host lends is read and written as on a real device: pinned memory when the copy is executed, other memory before the call
//! returns. Synchronous copies run on the legacy default stream (or the thread's own), so streams that do not block are not ordered with
//! them.

use cuda_sys::{CUarray, CUcontext, CUstream};

use super::prelude::*;
use crate::args::host_address;
use crate::state::host::HostRange;
use crate::state::queue::Work;
use crate::state::schedule;
use crate::state::transfer::{Copy, End, Extent, Place, Strides};
use crate::submit::{complete, enqueue, target};

/// Pageable sources up to this size are taken at the call; larger ones are copied before the call returns.
const STAGED: usize = 64 << 10;

/// When a copy or fill is made.
#[derive(Debug, Clone, std::marker::Copy)]
pub(super) enum When {
    /// On the default stream that the symbol says, and as complete on return as a synchronous call promises.
    Now,
    /// In the order of a stream.
    InOrder(CUstream),
}

impl When {
    pub(super) fn stream(self) -> CUstream {
        match self {
            Self::Now => std::ptr::null_mut(),
            Self::InOrder(stream) => stream,
        }
    }

    pub(super) fn is_now(self) -> bool {
        matches!(self, Self::Now)
    }
}

/// Memory as an argument names it.
#[derive(Debug, Clone, std::marker::Copy)]
pub(super) enum Memory {
    /// What a device reaches.
    Device(u64),
    /// A host pointer, pinned or not.
    Host(usize),
    /// Either, told apart by what the driver knows.
    Any(u64),
    /// A CUDA array.
    Array(u64),
}

/// One end of a copy as arguments name it: where in the memory the box starts, and how far apart rows and slices are.
#[derive(Debug, Clone, std::marker::Copy)]
pub(super) struct Side {
    pub(super) memory: Memory,
    /// Bytes, rows and slices before the box.
    pub(super) offset: [usize; 3],
    /// Bytes from row to row; 0 for rows without gaps.
    pub(super) pitch: usize,
    /// Rows from slice to slice; 0 for slices without gaps.
    pub(super) height: usize,
}

/// Linear memory without rows.
fn line(memory: Memory) -> Side {
    Side {
        memory,
        offset: [0; 3],
        pitch: 0,
        height: 0,
    }
}

pub(super) fn device(address: u64) -> Side {
    line(Memory::Device(address))
}

pub(super) fn host(pointer: *const c_void) -> Side {
    line(Memory::Host(host_address(pointer)))
}

pub(super) fn any(address: u64) -> Side {
    line(Memory::Any(address))
}

/// The bytes of an array's first row from `offset` on.
pub(super) fn array(array: CUarray, offset: usize) -> Side {
    Side {
        offset: [offset, 0, 0],
        ..line(Memory::Array(number(array)))
    }
}

/// An end of a copy, with whether it is host memory that the driver does not know.
struct Resolved {
    end: End,
    pageable: bool,
}

/// What a side is, if all of the box is inside of it.
fn resolve(state: &State, side: &Side, extent: Extent) -> Result<Resolved, CUresult> {
    let base = match side.memory {
        Memory::Device(address) | Memory::Any(address) => address,
        Memory::Host(address) => address as u64,
        Memory::Array(0) => return Err(code::INVALID_VALUE),
        Memory::Array(array) => {
            let end = state.array(array)?.end(side.offset, extent)?;
            return Ok(Resolved {
                end,
                pageable: false,
            });
        }
    };
    let (start, strides) = locate(base, side, extent).ok_or(code::INVALID_VALUE)?;
    let span = strides.span(extent).ok_or(code::INVALID_VALUE)?;
    let resolved = |place, pageable| {
        let end = End { place, strides };
        Ok(Resolved { end, pageable })
    };
    let to_device = matches!(side.memory, Memory::Device(_));
    match state.space.reachable(start) {
        Some((_, len)) if span > len => Err(code::INVALID_VALUE),
        Some((block, _)) if to_device || !block.is_host() => resolved(Place::Device(start), false),
        Some(_) => resolved(Place::Host(HostRange::new(start as usize, span)), false),
        // What lies among the device addresses and is no allocation is not the host's either.
        None if to_device || base == 0 || state.space.is_device_address(start) => {
            Err(code::INVALID_VALUE)
        }
        None => resolved(Place::Host(HostRange::new(start as usize, span)), true),
    }
}

/// Where a box starts, and its strides; nothing where the pitches make no sense.
fn locate(base: u64, side: &Side, extent: Extent) -> Option<(u64, Strides)> {
    let [x, y, z] = side.offset;
    let (row, slice) = (x.checked_add(extent.width)?, y.checked_add(extent.height)?);
    let pitch = if side.pitch == 0 { row } else { side.pitch };
    let height = if side.height == 0 { slice } else { side.height };
    let one_slice = extent.depth == 1 && z == 0;
    let one_row = one_slice && extent.height == 1 && y == 0;
    if !one_row && pitch < row || !one_slice && height < slice {
        return None;
    }
    let strides = Strides {
        row: pitch,
        slice: pitch.checked_mul(height)?,
    };
    let rows = y.checked_mul(strides.row)?;
    let before = z
        .checked_mul(strides.slice)?
        .checked_add(rows)?
        .checked_add(x)?;
    let start = base.checked_add(before as u64)?;
    // Nothing reaches past the end of the address space.
    start.checked_add(strides.span(extent)? as u64)?;
    Some((start, strides))
}

/// Refuses contexts that are no more; null stands for any.
pub(super) fn check_peers(call: &Call<'_>, contexts: [CUcontext; 2]) -> Answer {
    let state = call.state();
    for context in contexts.into_iter().filter(|context| !context.is_null()) {
        state.living(number(context))?;
    }
    Ok(())
}

/// Copies a line of bytes.
pub(super) fn copy(call: &Call<'_>, when: When, to: Side, from: Side, len: usize) -> Answer {
    copy_box(call, when, to, from, Extent::line(len))
}

/// Copies a box of bytes.
pub(super) fn copy_box(
    call: &Call<'_>,
    when: When,
    to: Side,
    from: Side,
    extent: Extent,
) -> Answer {
    let mut state = call.state();
    if when.is_now() {
        state.current(call.thread)?;
    }
    let target = target(call, &mut state, call.stream(when.stream()))?;
    if extent.is_empty() {
        return Ok(());
    }
    let (to, mut from) = (
        resolve(&state, &to, extent)?,
        resolve(&state, &from, extent)?,
    );
    if when.is_now() {
        state.check_captures(call.thread)?;
        // A copy between pinned and device memory, or out of the device, is complete when it returns; one that the driver stages is
        // complete for the host only; one within the device is not waited for at all.
        if from.pageable && !to.pageable {
            schedule::run_stream(call.instance, &mut state, target.stream.id)?;
        }
    }
    if target.captured {
        state.note_captured(&target.stream);
        return Ok(());
    }
    let small = extent.bytes().is_some_and(|bytes| bytes <= STAGED);
    let staged = from.pageable && small && !to.pageable;
    if staged {
        from.end = take(&from.end, extent);
    }
    let on_device = |end: &End| matches!(end.place, Place::Device(_));
    let within_device = on_device(&to.end) && on_device(&from.end);
    let waits = match when {
        When::Now => !staged && !within_device,
        When::InOrder(_) => to.pageable || from.pageable && !staged,
    };
    let work = Work::Copy(Box::new(Copy {
        to: to.end,
        from: from.end,
        extent,
    }));
    let operation = enqueue(call, &mut state, &target, work)?;
    if !waits && let (When::InOrder(_), Some(operation)) = (when, operation) {
        state.watch_copy(operation);
    }
    if waits {
        complete(call, &mut state, &target.stream, operation)
    } else {
        Ok(())
    }
}

/// What stands in host memory now, without gaps.
fn take(end: &End, extent: Extent) -> End {
    let mut bytes = Vec::with_capacity(extent.bytes().unwrap_or(0));
    for range in end.ranges(extent) {
        let len = (range.end - range.start) as usize;
        let mut part = vec![0; len];
        HostRange::new(range.start as usize, len).read(&mut part);
        bytes.append(&mut part);
    }
    End {
        place: Place::Bytes(bytes),
        strides: Strides::dense(extent),
    }
}
