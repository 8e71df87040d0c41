//! Device memory: allocation, release, and stream-ordered memory.

use cuda_sys::{CUdeviceptr, CUmemoryPool, CUstream};

use super::prelude::*;
use crate::state::schedule;
use crate::state::space::Origin;
use crate::submit::target;

built! {
    cuMemGetInfo_v2 => info, (free: Out<usize>, total: Out<usize>);
    cuMemAlloc_v2 => allocate, (address: Out<CUdeviceptr>, size: usize);
    cuMemFree_v2 => free, (address: CUdeviceptr);
    cuMemAllocManaged => allocate_managed, (address: Out<CUdeviceptr>, size: usize, flags: c_uint);
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
    let address = address.check()?;
    call.outside_host_function()?;
    let mut state = call.state();
    let context = state.current(call.thread)?;
    if size == 0 {
        return Err(code::INVALID_VALUE);
    }
    state.check_captures(call.thread)?;
    address.set(state.allocate_device(context, size, Origin::Allocated, call.number)?);
    Ok(())
}

fn allocate_managed(call: &Call<'_>, address: Out<CUdeviceptr>, _: usize, _: c_uint) -> Answer {
    let _ = address.check()?;
    call.state().current(call.thread)?;
    // The device attribute says so as well.
    Err(code::NOT_SUPPORTED)
}

fn free(call: &Call<'_>, address: CUdeviceptr) -> Answer {
    call.outside_host_function()?;
    let mut state = call.state();
    if address == 0 {
        return Ok(());
    }
    state.check_captures(call.thread)?;
    let block = state.space.at(address).ok_or(code::INVALID_VALUE)?;
    let device = block.device;
    let context = block
        .allocation
        .as_ref()
        .ok_or(code::INVALID_VALUE)?
        .context;
    if !matches!(block.origin, Origin::Allocated | Origin::Pool(_)) {
        return Err(code::INVALID_VALUE);
    }
    state.healthy(context)?;
    // The real call waits for the device, although nothing promises it.
    schedule::run_device(call.instance, &mut state, device)?;
    state.healthy(context)?;
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
    let (block, allocation) = state.space.allocation(address).ok_or(code::NOT_FOUND)?;
    if block.is_host() && !matches!(block.origin, Origin::Host(_)) {
        return Err(code::NOT_FOUND);
    }
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
    call.outside_host_function()?;
    let mut state = call.state();
    let target = target(call, &mut state, call.stream(stream))?;
    if size == 0 {
        return Err(code::INVALID_VALUE);
    }
    if target.captured {
        // A graph would own the memory.
        return Err(code::NOT_SUPPORTED);
    }
    state.check_captures(call.thread)?;
    let context = target.stream.context;
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
        schedule::run_stream(call.instance, &mut state, target.stream.id)?;
    }
    address.set(allocated);
    Ok(())
}

fn free_async(call: &Call<'_>, address: CUdeviceptr, stream: CUstream) -> Answer {
    call.outside_host_function()?;
    let mut state = call.state();
    let target = target(call, &mut state, call.stream(stream))?;
    if target.captured {
        return Err(code::INVALID_VALUE);
    }
    state.check_captures(call.thread)?;
    if address == 0 {
        return Err(code::INVALID_VALUE);
    }
    state.free_in_order(address, target.stream.id, call.number)?;
    if !state.options.deferred {
        schedule::run_stream(call.instance, &mut state, target.stream.id)?;
    }
    Ok(())
}
