//! Fills of device memory.

use cuda_sys::{CUdeviceptr, CUstream};

use super::prelude::*;
use crate::state::queue::Work;
use crate::submit::{complete, enqueue, target};

built! {
    cuMemsetD8_v2 [cuMemsetD8_v2_ptds] => d8, (to: CUdeviceptr, value: c_uchar, count: usize);
    cuMemsetD16_v2 [cuMemsetD16_v2_ptds] => d16, (to: CUdeviceptr, value: c_ushort, count: usize);
    cuMemsetD32_v2 [cuMemsetD32_v2_ptds] => d32, (to: CUdeviceptr, value: c_uint, count: usize);
    cuMemsetD8Async [cuMemsetD8Async_ptsz] => d8_async, (to: CUdeviceptr, value: c_uchar, count: usize, stream: CUstream);
    cuMemsetD16Async [cuMemsetD16Async_ptsz] => d16_async, (to: CUdeviceptr, value: c_ushort, count: usize, stream: CUstream);
    cuMemsetD32Async [cuMemsetD32Async_ptsz] => d32_async, (to: CUdeviceptr, value: c_uint, count: usize, stream: CUstream);
}

fn fill(
    call: &Call<'_>,
    to: CUdeviceptr,
    pattern: &[u8],
    count: usize,
    stream: Option<CUstream>,
) -> Answer {
    let mut state = call.state();
    if stream.is_none() {
        state.current(call.thread)?;
    }
    let target = target(
        call,
        &mut state,
        call.stream(stream.unwrap_or(std::ptr::null_mut())),
    )?;
    let width = pattern.len();
    let len = count.checked_mul(width).ok_or(code::INVALID_VALUE)?;
    if !to.is_multiple_of(width as u64) {
        return Err(code::INVALID_VALUE);
    }
    if len == 0 {
        return Ok(());
    }
    let (block, allocation) = state.space.allocation(to).ok_or(code::INVALID_VALUE)?;
    let host = block.is_host();
    let foreign = !host && block.device != state.device_of(target.stream.context);
    if foreign || len as u64 > allocation.size as u64 - (to - block.address) {
        return Err(code::INVALID_VALUE);
    }
    if stream.is_none() {
        state.check_captures(call.thread)?;
    }
    let mut bytes = [0; 4];
    for (byte, value) in bytes.iter_mut().zip(pattern) {
        *byte = *value;
    }
    let operation = enqueue(
        call,
        &mut state,
        &target,
        Work::Fill {
            address: to,
            pattern: bytes,
            width,
            count,
        },
    )?;
    // Only a fill of host memory is complete when the synchronous function returns.
    if stream.is_none() && host {
        complete(call, &mut state, &target.stream, operation)
    } else {
        Ok(())
    }
}

fn d8(call: &Call<'_>, to: CUdeviceptr, value: c_uchar, count: usize) -> Answer {
    fill(call, to, &[value], count, None)
}

fn d16(call: &Call<'_>, to: CUdeviceptr, value: c_ushort, count: usize) -> Answer {
    fill(call, to, &value.to_le_bytes(), count, None)
}

fn d32(call: &Call<'_>, to: CUdeviceptr, value: c_uint, count: usize) -> Answer {
    fill(call, to, &value.to_le_bytes(), count, None)
}

fn d8_async(
    call: &Call<'_>,
    to: CUdeviceptr,
    value: c_uchar,
    count: usize,
    stream: CUstream,
) -> Answer {
    fill(call, to, &[value], count, Some(stream))
}

fn d16_async(
    call: &Call<'_>,
    to: CUdeviceptr,
    value: c_ushort,
    count: usize,
    stream: CUstream,
) -> Answer {
    fill(call, to, &value.to_le_bytes(), count, Some(stream))
}

fn d32_async(
    call: &Call<'_>,
    to: CUdeviceptr,
    value: c_uint,
    count: usize,
    stream: CUstream,
) -> Answer {
    fill(call, to, &value.to_le_bytes(), count, Some(stream))
}
