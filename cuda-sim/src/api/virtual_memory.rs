//! Virtual memory management: `CUDA_VA`. Physical memory is a device's, and no other process can have it.

use cuda_sys::{
    CUdeviceptr, CUmemAccessDesc, CUmemAllocationGranularity_flags, CUmemAllocationProp,
    CUmemAllocationType, CUmemGenericAllocationHandle, CUmemLocation, CUmemLocationType,
};

use super::prelude::*;
use crate::state::location::Location;
use crate::state::schedule;
use crate::state::virtual_memory::GRANULARITY;

built! {
    cuMemGetAllocationGranularity => granularity, (
        size: Out<usize>, properties: In<CUmemAllocationProp>, option: CUmemAllocationGranularity_flags
    );
    cuMemCreate => create, (
        memory: Out<CUmemGenericAllocationHandle>, size: usize, properties: In<CUmemAllocationProp>, flags: c_ulonglong
    );
    cuMemRelease => release, (memory: CUmemGenericAllocationHandle);
    cuMemRetainAllocationHandle => retain, (memory: Out<CUmemGenericAllocationHandle>, address: *mut c_void);
    cuMemGetAllocationPropertiesFromHandle => properties, (
        properties: Out<CUmemAllocationProp>, memory: CUmemGenericAllocationHandle
    );
    cuMemAddressReserve => reserve, (
        address: Out<CUdeviceptr>, size: usize, alignment: usize, wish: CUdeviceptr, flags: c_ulonglong
    );
    cuMemAddressFree => free, (address: CUdeviceptr, size: usize);
    cuMemMap => map, (
        address: CUdeviceptr, size: usize, offset: usize, memory: CUmemGenericAllocationHandle, flags: c_ulonglong
    );
    cuMemUnmap => unmap, (address: CUdeviceptr, size: usize);
    cuMemSetAccess => set_access, (address: CUdeviceptr, size: usize, access: In<CUmemAccessDesc>, count: usize);
    cuMemGetAccess => access, (flags: Out<c_ulonglong>, location: In<CUmemLocation>, address: CUdeviceptr);
}

/// The device whose memory is meant.
fn device_of(state: &State, properties: &CUmemAllocationProp) -> Result<usize, CUresult> {
    match properties.type_ {
        CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED => {}
        CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_MANAGED => return Err(code::NOT_SUPPORTED),
        _ => return Err(code::INVALID_VALUE),
    }
    match state.location(&properties.location)? {
        Location::Device(device) => Ok(device),
        Location::Host | Location::HostNuma(_) => Err(code::NOT_SUPPORTED),
    }
}

fn granularity(
    call: &Call<'_>,
    size: Out<usize>,
    properties: In<CUmemAllocationProp>,
    option: CUmemAllocationGranularity_flags,
) -> Answer {
    let size = size.check()?;
    device_of(&call.state(), &properties.get()?)?;
    if option.0 > 1 {
        return Err(code::INVALID_VALUE);
    }
    size.set(GRANULARITY);
    Ok(())
}

fn create(
    call: &Call<'_>,
    memory: Out<CUmemGenericAllocationHandle>,
    size: usize,
    properties: In<CUmemAllocationProp>,
    flags: c_ulonglong,
) -> Answer {
    let (memory, wanted) = (memory.check()?, properties.get()?);
    let mut state = call.state();
    let device = device_of(&state, &wanted)?;
    if size == 0 || !size.is_multiple_of(GRANULARITY) || flags != 0 {
        return Err(code::INVALID_VALUE);
    }
    if wanted.requestedHandleTypes.0 != 0 {
        return Err(code::NOT_SUPPORTED);
    }
    memory.set(state.create_physical(device, size, wanted.allocFlags, call.number)?);
    Ok(())
}

fn release(call: &Call<'_>, memory: CUmemGenericAllocationHandle) -> Answer {
    call.state().release_physical(memory)
}

fn retain(
    call: &Call<'_>,
    memory: Out<CUmemGenericAllocationHandle>,
    address: *mut c_void,
) -> Answer {
    let memory = memory.check()?;
    let mut state = call.state();
    let mapping = state.virtual_memory.covering(number(address));
    let handle = mapping.ok_or(code::INVALID_VALUE)?.1.handle;
    state.physical.get_mut(handle)?.references += 1;
    memory.set(handle);
    Ok(())
}

fn properties(
    call: &Call<'_>,
    properties: Out<CUmemAllocationProp>,
    memory: CUmemGenericAllocationHandle,
) -> Answer {
    let properties = properties.check()?;
    let mut state = call.state();
    let physical = state.physical_mut(memory)?;
    let (device, flags) = (physical.device, physical.flags);
    let mut found = CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        allocFlags: flags,
        ..CUmemAllocationProp::default()
    };
    found.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    found.location.anonymous.id = state.device_handle(device);
    properties.set(found);
    Ok(())
}

fn reserve(
    call: &Call<'_>,
    address: Out<CUdeviceptr>,
    size: usize,
    alignment: usize,
    _wish: CUdeviceptr,
    flags: c_ulonglong,
) -> Answer {
    let address = address.check()?;
    // All reservations start on multiples of the granularity; a greater alignment is not built.
    if flags != 0 || alignment != 0 && !alignment.is_power_of_two() {
        return Err(code::INVALID_VALUE);
    }
    if alignment > GRANULARITY {
        return Err(code::NOT_SUPPORTED);
    }
    address.set(call.state().reserve_addresses(size, call.number)?);
    Ok(())
}

fn free(call: &Call<'_>, address: CUdeviceptr, size: usize) -> Answer {
    call.state().free_addresses(address, size)
}

fn map(
    call: &Call<'_>,
    address: CUdeviceptr,
    size: usize,
    offset: usize,
    memory: CUmemGenericAllocationHandle,
    flags: c_ulonglong,
) -> Answer {
    let mut state = call.state();
    if flags != 0 {
        return Err(code::INVALID_VALUE);
    }
    if offset != 0 {
        return Err(code::NOT_SUPPORTED);
    }
    state.map(address, size, memory)
}

fn unmap(call: &Call<'_>, address: CUdeviceptr, size: usize) -> Answer {
    let mut state = call.state();
    // Nothing promises that the call waits for what uses the memory; here it does.
    for device in 0..state.devices.len() {
        schedule::run_device(call.instance, &mut state, device)?;
    }
    state.unmap(address, size, call.number)
}

fn set_access(
    call: &Call<'_>,
    address: CUdeviceptr,
    size: usize,
    access: In<CUmemAccessDesc>,
    count: usize,
) -> Answer {
    let mut state = call.state();
    if count == 0 {
        return Err(code::INVALID_VALUE);
    }
    for index in 0..count {
        let wanted = access.at(index)?;
        let Location::Device(device) = state.location(&wanted.location)? else {
            return Err(code::NOT_SUPPORTED);
        };
        // None, reading, reading and writing.
        if !matches!(wanted.flags.0, 0 | 1 | 3) {
            return Err(code::INVALID_VALUE);
        }
        state.set_mapped_access(address, size, device, wanted.flags.0, call.number)?;
    }
    Ok(())
}

fn access(
    call: &Call<'_>,
    flags: Out<c_ulonglong>,
    location: In<CUmemLocation>,
    address: CUdeviceptr,
) -> Answer {
    let (flags, location) = (flags.check()?, location.get()?);
    let state = call.state();
    let Location::Device(device) = state.location(&location)? else {
        return Err(code::INVALID_VALUE);
    };
    let mapping = state.virtual_memory.covering(address);
    let (_, mapping) = mapping.ok_or(code::INVALID_VALUE)?;
    let found = mapping.access.get(&device).copied().unwrap_or(0);
    flags.set(found.into());
    Ok(())
}
