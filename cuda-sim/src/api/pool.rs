//! Memory pools. Their memory is a device's; none can be shared with another process.

use cuda_sys::{
    CUdevice, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationHandleType, CUmemAllocationType,
    CUmemLocation, CUmemLocationType, CUmemPool_attribute, CUmemPoolProps, CUmemoryPool,
};

use super::prelude::*;
use crate::state::location::Location;
use crate::state::pool::Pool;

built! {
    cuMemPoolCreate => create, (pool: Out<CUmemoryPool>, properties: In<CUmemPoolProps>);
    cuMemPoolDestroy => destroy, (pool: CUmemoryPool);
    cuMemPoolSetAttribute => set_attribute, (pool: CUmemoryPool, attribute: CUmemPool_attribute, value: Out<c_void>);
    cuMemPoolGetAttribute => attribute, (pool: CUmemoryPool, attribute: CUmemPool_attribute, value: Out<c_void>);
    cuMemPoolSetAccess => set_access, (pool: CUmemoryPool, access: In<CUmemAccessDesc>, count: usize);
    cuMemPoolGetAccess => access, (flags: Out<CUmemAccess_flags>, pool: CUmemoryPool, location: In<CUmemLocation>);
    cuMemPoolTrimTo => trim, (pool: CUmemoryPool, keep: usize);
    cuDeviceGetDefaultMemPool => default_of, (pool: Out<CUmemoryPool>, device: CUdevice);
    cuDeviceGetMemPool => current_of, (pool: Out<CUmemoryPool>, device: CUdevice);
    cuDeviceSetMemPool => set_current, (device: CUdevice, pool: CUmemoryPool);
}

fn create(call: &Call<'_>, pool: Out<CUmemoryPool>, properties: In<CUmemPoolProps>) -> Answer {
    let pool = pool.check()?;
    let properties = properties.get()?;
    let mut state = call.state();
    const WIN32: CUmemAllocationHandleType = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_WIN32;
    let location = properties.location.type_;
    if location == CUmemLocationType::CU_MEM_LOCATION_TYPE_INVALID
        || properties.handleTypes == WIN32
        || properties.reserved != [0; 53]
    {
        return Err(code::INVALID_VALUE);
    }
    match properties.allocType {
        CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED => {}
        CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_MANAGED => return Err(code::NOT_SUPPORTED),
        _ => return Err(code::INVALID_VALUE),
    }
    let location = state.location(&properties.location);
    let Location::Device(device) = location.map_err(|_| code::INVALID_VALUE)? else {
        return Err(code::NOT_SUPPORTED);
    };
    if properties.handleTypes.0 != 0 {
        return Err(code::NOT_SUPPORTED);
    }
    let mut created = Pool::new(device, false, call.number);
    if properties.maxSize > 0 {
        created.max_size = properties.maxSize as u64;
    }
    pool.set(handle(state.pools.insert(created)));
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
    let flag = || Ok::<_, CUresult>(c_int::from(value.cast::<c_int>().read()? != 0));
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

/// `CU_MEM_ACCESS_FLAGS_PROT_NONE`
const NONE: u32 = 0;
/// `CU_MEM_ACCESS_FLAGS_PROT_READ`
const READ: u32 = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`
const READ_WRITE: u32 = 3;

fn set_access(
    call: &Call<'_>,
    pool: CUmemoryPool,
    access: In<CUmemAccessDesc>,
    count: usize,
) -> Answer {
    let mut state = call.state();
    let own = find(&mut state, pool)?.device;
    for index in 0..count {
        let wanted = access.at(index)?;
        let device = match state.location(&wanted.location)? {
            Location::Device(device) => device,
            Location::Host | Location::HostNuma(_) => return Err(code::NOT_SUPPORTED),
        };
        match wanted.flags.0 {
            READ_WRITE | NONE if device != own => {
                let peers = &mut find(&mut state, pool)?.peers;
                if wanted.flags.0 == READ_WRITE {
                    peers.insert(device);
                } else {
                    peers.remove(&device);
                }
            }
            READ_WRITE => {}
            // The pool's own device cannot be shut out.
            NONE => return Err(code::INVALID_DEVICE),
            READ => return Err(code::NOT_SUPPORTED),
            _ => return Err(code::INVALID_VALUE),
        }
    }
    Ok(())
}

fn access(
    call: &Call<'_>,
    flags: Out<CUmemAccess_flags>,
    pool: CUmemoryPool,
    location: In<CUmemLocation>,
) -> Answer {
    let flags = flags.check()?;
    let mut state = call.state();
    let location = state
        .location(&location.get()?)
        .map_err(|_| code::INVALID_VALUE)?;
    let pool = find(&mut state, pool)?;
    let open = match location {
        Location::Device(device) => device == pool.device || pool.peers.contains(&device),
        Location::Host | Location::HostNuma(_) => false,
    };
    flags.set(CUmemAccess_flags(if open { READ_WRITE } else { NONE }));
    Ok(())
}

fn trim(call: &Call<'_>, pool: CUmemoryPool, keep: usize) -> Answer {
    let mut state = call.state();
    find(&mut state, pool)?;
    state.trim_pool(number(pool), keep as u64, call.number);
    Ok(())
}

fn default_of(call: &Call<'_>, pool: Out<CUmemoryPool>, device: CUdevice) -> Answer {
    let pool = pool.check()?;
    let state = call.state();
    pool.set(handle(state.device(device)?.1.default_pool));
    Ok(())
}

fn current_of(call: &Call<'_>, pool: Out<CUmemoryPool>, device: CUdevice) -> Answer {
    let pool = pool.check()?;
    let state = call.state();
    let (_, device) = state.device(device).map_err(|_| code::INVALID_VALUE)?;
    pool.set(handle(device.current_pool));
    Ok(())
}

fn set_current(call: &Call<'_>, device: CUdevice, pool: CUmemoryPool) -> Answer {
    let mut state = call.state();
    let ordinal = state.ordinal(device)?;
    if find(&mut state, pool)?.device != ordinal {
        return Err(code::INVALID_VALUE);
    }
    if let Some(device) = state.devices.get_mut(ordinal) {
        device.current_pool = number(pool);
    }
    Ok(())
}
