//! Fills of device memory.

use cuda_sys::{CUdeviceptr, CUstream};

use super::prelude::*;
use super::transfer::When;
use super::transfer::When::{InOrder, Now};
use crate::state::queue::Work;
use crate::state::transfer::{Extent, Fill, Strides};
use crate::submit::{complete, enqueue, target};
use crate::table::{expressed, shared_expression};

expressed! {
    cuMemsetD8_v2 [cuMemsetD8_v2_ptds] |call| (to: CUdeviceptr, value: c_uchar, count: usize) =
        fill(call, Now, line(to), &[value], count, 1);
    cuMemsetD16_v2 [cuMemsetD16_v2_ptds] |call| (to: CUdeviceptr, value: c_ushort, count: usize) =
        fill(call, Now, line(to), &value.to_le_bytes(), count, 1);
    cuMemsetD32_v2 [cuMemsetD32_v2_ptds] |call| (to: CUdeviceptr, value: c_uint, count: usize) =
        fill(call, Now, line(to), &value.to_le_bytes(), count, 1);
    cuMemsetD8Async [cuMemsetD8Async_ptsz] |call| (to: CUdeviceptr, value: c_uchar, count: usize, stream: CUstream) =
        fill(call, InOrder(stream), line(to), &[value], count, 1);
    cuMemsetD16Async [cuMemsetD16Async_ptsz] |call| (to: CUdeviceptr, value: c_ushort, count: usize, stream: CUstream) =
        fill(call, InOrder(stream), line(to), &value.to_le_bytes(), count, 1);
    cuMemsetD32Async [cuMemsetD32Async_ptsz] |call| (to: CUdeviceptr, value: c_uint, count: usize, stream: CUstream) =
        fill(call, InOrder(stream), line(to), &value.to_le_bytes(), count, 1);

    cuMemsetD2D8_v2 [cuMemsetD2D8_v2_ptds] |call| (
        to: CUdeviceptr, pitch: usize, value: c_uchar, width: usize, height: usize
    ) = fill(call, Now, Rows { to, pitch }, &[value], width, height);
    cuMemsetD2D16_v2 [cuMemsetD2D16_v2_ptds] |call| (
        to: CUdeviceptr, pitch: usize, value: c_ushort, width: usize, height: usize
    ) = fill(call, Now, Rows { to, pitch }, &value.to_le_bytes(), width, height);
    cuMemsetD2D32_v2 [cuMemsetD2D32_v2_ptds] |call| (
        to: CUdeviceptr, pitch: usize, value: c_uint, width: usize, height: usize
    ) = fill(call, Now, Rows { to, pitch }, &value.to_le_bytes(), width, height);
    cuMemsetD2D8Async [cuMemsetD2D8Async_ptsz] |call| (
        to: CUdeviceptr, pitch: usize, value: c_uchar, width: usize, height: usize, stream: CUstream
    ) = fill(call, InOrder(stream), Rows { to, pitch }, &[value], width, height);
    cuMemsetD2D16Async [cuMemsetD2D16Async_ptsz] |call| (
        to: CUdeviceptr, pitch: usize, value: c_ushort, width: usize, height: usize, stream: CUstream
    ) = fill(call, InOrder(stream), Rows { to, pitch }, &value.to_le_bytes(), width, height);
    cuMemsetD2D32Async [cuMemsetD2D32Async_ptsz] |call| (
        to: CUdeviceptr, pitch: usize, value: c_uint, width: usize, height: usize, stream: CUstream
    ) = fill(call, InOrder(stream), Rows { to, pitch }, &value.to_le_bytes(), width, height);
}

/// Where a fill goes, and how far its rows are apart.
#[derive(Clone, Copy)]
struct Rows {
    to: u64,
    pitch: usize,
}

/// One row.
fn line(to: u64) -> Rows {
    Rows { to, pitch: 0 }
}

fn fill(
    call: &Call<'_>,
    when: When,
    rows: Rows,
    pattern: &[u8],
    count: usize,
    height: usize,
) -> Answer {
    let mut state = call.state();
    if when.is_now() {
        state.current(call.thread)?;
    }
    let target = target(call, &mut state, call.stream(when.stream()))?;
    let (to, width) = (rows.to, pattern.len());
    let extent = Extent {
        width: count.checked_mul(width).ok_or(code::INVALID_VALUE)?,
        height,
        depth: 1,
    };
    let aligned = to.is_multiple_of(width as u64) && rows.pitch.is_multiple_of(width);
    if !aligned || height > 1 && rows.pitch < extent.width {
        return Err(code::INVALID_VALUE);
    }
    if extent.is_empty() {
        return Ok(());
    }
    let strides = Strides {
        row: rows.pitch,
        slice: 0,
    };
    let span = strides.span(extent).ok_or(code::INVALID_VALUE)?;
    let (block, len) = state.space.reachable(to).ok_or(code::INVALID_VALUE)?;
    let host = block.is_host();
    if !state.reach(target.stream.context).includes(block) || span > len {
        return Err(code::INVALID_VALUE);
    }
    if when.is_now() {
        state.check_captures(call.thread)?;
    }
    let mut bytes = [0; 8];
    for (byte, value) in bytes.iter_mut().zip(pattern) {
        *byte = *value;
    }
    let work = Work::Fill(Fill {
        address: to,
        strides,
        extent,
        pattern: bytes,
        width,
    });
    let operation = enqueue(call, &mut state, &target, work)?;
    // Only a fill of host memory is complete when the synchronous function returns.
    if when.is_now() && host {
        complete(call, &mut state, &target.stream, operation)
    } else {
        Ok(())
    }
}
