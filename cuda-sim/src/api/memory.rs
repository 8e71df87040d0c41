//! Device memory: allocation, release, and stream-ordered memory.

use cuda_sys::{CUdeviceptr, CUmemoryPool, CUstream};

use super::prelude::*;
use crate::state::schedule;
use crate::state::space::{Block, Origin};
use crate::submit::target;

built! {
    cuMemGetInfo_v2 => info, (free: Out<usize>, total: Out<usize>);
    cuMemAlloc_v2 => allocate, (address: Out<CUdeviceptr>, size: usize);
    cuMemAllocPitch_v2 => allocate_pitch, (
        address: Out<CUdeviceptr>, pitch: Out<usize>, width: usize, height: usize, element: c_uint
    );
    cuMemFree_v2 => free, (address: CUdeviceptr);
    cuMemGetAddressRange_v2 => address_range, (base: Out<CUdeviceptr>, size: Out<usize>, address: CUdeviceptr);
    cuMemAllocAsync [cuMemAllocAsync_ptsz] => allocate_async, (address: Out<CUdeviceptr>, size: usize, stream: CUstream);
    cuMemAllocFromPoolAsync [cuMemAllocFromPoolAsync_ptsz] => allocate_from_pool, (
        address: Out<CUdeviceptr>, size: usize, pool: CUmemoryPool, stream: CUstream
    );
    cuMemFreeAsync [cuMemFreeAsync_ptsz] => free_async, (address: CUdeviceptr, stream: CUstream);
}

fn info(call: &Call<'_>, free: Out<usize>, total: Out<usize>) -> Answer {
    let (free, total) = (free.check()?, total.check()?);
    let state = call.state();
    let context = state.current(call.thread)?;
    let device = state
        .devices
        .get(state.device_of(context))
        .ok_or(code::INVALID_CONTEXT)?;
    let memory = device.config.total_memory as usize;
    free.set(memory.saturating_sub(device.used));
    total.set(memory);
    Ok(())
}

fn allocate(call: &Call<'_>, address: Out<CUdeviceptr>, size: usize) -> Answer {
    let mut state = call.state();
    let context = state.current(call.thread)?;
    let address = address.check()?;
    if size == 0 {
        return Err(code::INVALID_VALUE);
    }
    state.check_captures(call.thread)?;
    address.set(state.allocate_device(context, size, Origin::Allocated, call.number)?);
    Ok(())
}

/// What the rows of pitched memory are aligned to.
const PITCH: usize = 512;

fn allocate_pitch(
    call: &Call<'_>,
    address: Out<CUdeviceptr>,
    pitch: Out<usize>,
    width: usize,
    height: usize,
    element: c_uint,
) -> Answer {
    let (address, pitch) = (address.check()?, pitch.check()?);
    if width == 0 || height == 0 || !matches!(element, 4 | 8 | 16) {
        return Err(code::INVALID_VALUE);
    }
    let row = width.checked_next_multiple_of(PITCH);
    let size = row.and_then(|row| row.checked_mul(height));
    allocate(call, address, size.ok_or(code::INVALID_VALUE)?)?;
    pitch.set(row.unwrap_or(0));
    Ok(())
}

fn free(call: &Call<'_>, address: CUdeviceptr) -> Answer {
    let mut state = call.state();
    if address == 0 {
        return Ok(());
    }
    // No context is needed, but one that is no more, or lost, is an error.
    if state.current_handle(call.thread) != 0 {
        state.current(call.thread)?;
    }
    state.check_captures(call.thread)?;
    let Some(block) = state.space.at(address) else {
        return Err(state.refuse_release(address, call.number));
    };
    let (device, managed) = (block.device, block.is_managed());
    let freed_here = matches!(
        block.origin,
        Origin::Allocated | Origin::Managed | Origin::Pool(_)
    );
    if block.allocation.is_none() || !freed_here {
        return Err(state.refuse_release(address, call.number));
    }
    state.healthy_device(device)?;
    // The real call waits for the device, although nothing promises it; all devices may be at work on managed memory.
    let others = if managed {
        0..state.devices.len()
    } else {
        0..0
    };
    for device in others.chain([device]) {
        schedule::run_device(call.instance, &mut state, device)?;
    }
    state.healthy_device(device)?;
    state.note_release(address, call.number);
    state.release_block(address, call.number);
    Ok(())
}

fn address_range(
    call: &Call<'_>,
    base: Out<CUdeviceptr>,
    size: Out<usize>,
    address: CUdeviceptr,
) -> Answer {
    let state = call.state();
    state.current(call.thread)?;
    let (block, allocation) = state.space.allocation(address).ok_or(code::NOT_FOUND)?;
    base.set(block.address);
    size.set(allocation.size);
    Ok(())
}

fn allocate_async(
    call: &Call<'_>,
    address: Out<CUdeviceptr>,
    size: usize,
    stream: CUstream,
) -> Answer {
    let address = address.check()?;
    allocate_in_order(call, address, size, None, stream)
}

fn allocate_from_pool(
    call: &Call<'_>,
    address: Out<CUdeviceptr>,
    size: usize,
    pool: CUmemoryPool,
    stream: CUstream,
) -> Answer {
    let address = address.check()?;
    allocate_in_order(call, address, size, Some(number(pool)), stream)
}

/// Allocates from a pool, by default the current one of the stream's device.
fn allocate_in_order(
    call: &Call<'_>,
    address: Out<CUdeviceptr>,
    size: usize,
    pool: Option<u64>,
    stream: CUstream,
) -> Answer {
    let mut state = call.state();
    let target = target(call, &mut state, call.stream(stream))?;
    if size == 0 {
        address.set(0);
        return Ok(());
    }
    let context = target.stream.context;
    if target.captured {
        // A graph would own the memory, which nothing but the graph can use.
        address.set(state.reserve_for_graph(context, size, call.number)?);
        state.note_captured(&target.stream);
        return Ok(());
    }
    state.check_captures(call.thread)?;
    let pool = match pool {
        Some(pool) => pool,
        None => {
            state
                .devices
                .get(state.device_of(context))
                .ok_or(code::INVALID_CONTEXT)?
                .current_pool
        }
    };
    if state
        .pools
        .get(pool)
        .map_err(|_| code::INVALID_VALUE)?
        .closing
    {
        return Err(code::INVALID_VALUE);
    }
    let allocated = state.allocate_from_pool(pool, context, target.stream.id, size, call.number)?;
    if !state.options.deferred {
        let last = state.last_operation(target.stream.id);
        schedule::advance(call.instance, &mut state, last.as_slice());
    }
    address.set(allocated);
    Ok(())
}

fn free_async(call: &Call<'_>, address: CUdeviceptr, stream: CUstream) -> Answer {
    let mut state = call.state();
    let target = target(call, &mut state, call.stream(stream))?;
    if address == 0 {
        return Ok(());
    }
    if state.space.at(address).is_some_and(Block::is_managed) {
        return Err(code::NOT_SUPPORTED);
    }
    if target.captured {
        // Only what a graph allocated can be freed in one.
        state.release_from_graph(address, call.number)?;
        state.note_captured(&target.stream);
        return Ok(());
    }
    state.check_captures(call.thread)?;
    state.free_in_order(address, target.stream.id, call.number)?;
    if !state.options.deferred {
        let last = state.last_operation(target.stream.id);
        schedule::advance(call.instance, &mut state, last.as_slice());
    }
    Ok(())
}
