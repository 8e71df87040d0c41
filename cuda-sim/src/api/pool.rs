//! Memory pools.

use cuda_sys::{
    CUmemAllocationType, CUmemLocationType, CUmemPool_attribute, CUmemPoolProps, CUmemoryPool,
};

use super::prelude::*;
use crate::state::pool::Pool;

built! {
    cuMemPoolCreate => create, (pool: Out<CUmemoryPool>, properties: In<CUmemPoolProps>);
    cuMemPoolDestroy => destroy, (pool: CUmemoryPool);
    cuMemPoolSetAttribute => set_attribute, (pool: CUmemoryPool, attribute: CUmemPool_attribute, value: Out<c_void>);
    cuMemPoolGetAttribute => attribute, (pool: CUmemoryPool, attribute: CUmemPool_attribute, value: Out<c_void>);
    cuMemPoolTrimTo => trim, (pool: CUmemoryPool, keep: usize);
}

fn create(call: &Call<'_>, pool: Out<CUmemoryPool>, properties: In<CUmemPoolProps>) -> Answer {
    let pool = pool.check()?;
    let properties = properties.get()?;
    let mut state = call.state();
    let device_memory = properties.location.type_ == CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    if properties.allocType != CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED || !device_memory
    {
        return Err(code::INVALID_VALUE);
    }
    if properties.handleTypes.0 != 0 {
        return Err(code::NOT_SUPPORTED);
    }
    // SAFETY: every variant of the union starts with plain integers, for which any bytes are valid.
    let id = unsafe { properties.location.anonymous.id };
    // A location names a device by its ordinal, which on a real driver is the `CUdevice`.
    let ordinal = usize::try_from(id)
        .ok()
        .filter(|ordinal| *ordinal < state.devices.len());
    let device = ordinal
        .or(state.ordinal(id).ok())
        .ok_or(code::INVALID_VALUE)?;
    let created = state.pools.insert(Pool::new(device, false, call.number));
    pool.set(handle(created));
    Ok(())
}

/// A pool of a handle that a caller passed.
fn find(state: &mut State, pool: CUmemoryPool) -> Result<&mut Pool, CUresult> {
    state
        .pools
        .get_mut(number(pool))
        .ok()
        .filter(|pool| !pool.closing)
        .ok_or(code::INVALID_VALUE)
}

fn destroy(call: &Call<'_>, pool: CUmemoryPool) -> Answer {
    let mut state = call.state();
    let entry = find(&mut state, pool)?;
    if entry.default {
        return Err(code::INVALID_VALUE);
    }
    // It goes when its last allocation does.
    entry.closing = true;
    let pool = number(pool);
    for device in &mut state.devices {
        if device.current_pool == pool {
            device.current_pool = device.default_pool;
        }
    }
    state.drop_closing_pool(pool, call.number);
    Ok(())
}

fn set_attribute(
    call: &Call<'_>,
    pool: CUmemoryPool,
    attribute: CUmemPool_attribute,
    value: Out<c_void>,
) -> Answer {
    let value = value.check()?;
    let mut state = call.state();
    let pool = find(&mut state, pool)?;
    let flag = || value.cast::<c_int>().read();
    let size = || value.cast::<u64>().read();
    match attribute {
        CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => {
            pool.reuse_event_dependencies = flag()?
        }
        CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => {
            pool.reuse_opportunistic = flag()?
        }
        CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
            pool.reuse_internal_dependencies = flag()?
        }
        CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => pool.release_threshold = size()?,
        // The high marks can only be set back to the present.
        CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH if size()? == 0 => {
            pool.reserved_high = pool.reserved()
        }
        CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH if size()? == 0 => {
            pool.used_high = pool.used
        }
        _ => return Err(code::INVALID_VALUE),
    }
    Ok(())
}

fn attribute(
    call: &Call<'_>,
    pool: CUmemoryPool,
    attribute: CUmemPool_attribute,
    value: Out<c_void>,
) -> Answer {
    let value = value.check()?;
    let mut state = call.state();
    let pool = find(&mut state, pool)?;
    let flag = |number: c_int| value.cast().set(number);
    let size = |number: u64| value.cast().set(number);
    match attribute {
        CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => {
            flag(pool.reuse_event_dependencies)
        }
        CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => {
            flag(pool.reuse_opportunistic)
        }
        CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
            flag(pool.reuse_internal_dependencies)
        }
        CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => size(pool.release_threshold),
        CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT => size(pool.reserved()),
        CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH => size(pool.reserved_high),
        CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT => size(pool.used),
        CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH => size(pool.used_high),
        _ => return Err(code::INVALID_VALUE),
    }
    Ok(())
}

fn trim(call: &Call<'_>, pool: CUmemoryPool, keep: usize) -> Answer {
    let mut state = call.state();
    find(&mut state, pool)?;
    state.trim_pool(number(pool), keep as u64, call.number);
    Ok(())
}
