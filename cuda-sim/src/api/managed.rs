//! Managed memory: allocation, prefetches, advice. Nothing moves, and everything stays accessible from everywhere.

use cuda_sys::{
    CUdevice, CUdeviceptr, CUmem_advise, CUmem_range_attribute, CUmemLocation, CUstream,
};

use super::prelude::*;
use crate::state::location::Location;
use crate::state::managed::Advice;
use crate::state::queue::Work;
use crate::state::space::Origin;
use crate::submit::{enqueue, target};

built! {
    cuMemAllocManaged => allocate, (address: Out<CUdeviceptr>, size: usize, flags: c_uint);
    cuMemPrefetchAsync [cuMemPrefetchAsync_ptsz] => prefetch_to_device, (
        address: CUdeviceptr, len: usize, device: CUdevice, stream: CUstream
    );
    cuMemPrefetchAsync_v2 [cuMemPrefetchAsync_v2_ptsz] => prefetch, (
        address: CUdeviceptr, len: usize, location: CUmemLocation, flags: c_uint, stream: CUstream
    );
    cuMemAdvise => advise_of_device, (address: CUdeviceptr, len: usize, advice: CUmem_advise, device: CUdevice);
    cuMemAdvise_v2 => advise, (address: CUdeviceptr, len: usize, advice: CUmem_advise, location: CUmemLocation);
    cuMemRangeGetAttribute => attribute, (
        value: Out<c_void>, size: usize, attribute: CUmem_range_attribute, address: CUdeviceptr, len: usize
    );
    cuMemRangeGetAttributes => attributes, (
        values: In<*mut c_void>, sizes: In<usize>, attributes: In<CUmem_range_attribute>, count: usize, address: CUdeviceptr, len: usize
    );
    cuStreamAttachMemAsync [cuStreamAttachMemAsync_ptsz] => attach, (
        stream: CUstream, address: CUdeviceptr, len: usize, flags: c_uint
    );
}

const GLOBAL: u32 = 1;
const HOST: u32 = 2;
const SINGLE: u32 = 4;

fn allocate(call: &Call<'_>, address: Out<CUdeviceptr>, size: usize, flags: c_uint) -> Answer {
    let mut state = call.state();
    let context = state.current(call.thread)?;
    let address = address.check()?;
    if size == 0 || !matches!(flags, GLOBAL | HOST) {
        return Err(code::INVALID_VALUE);
    }
    state.check_captures(call.thread)?;
    let origin = Origin::Managed;
    address.set(state.allocate_managed(context, size, origin, call.number)?);
    Ok(())
}

fn prefetch_to_device(
    call: &Call<'_>,
    address: CUdeviceptr,
    len: usize,
    device: CUdevice,
    stream: CUstream,
) -> Answer {
    let location = call.state().old_location(device)?;
    prefetch_to(call, address, len, location, stream)
}

fn prefetch(
    call: &Call<'_>,
    address: CUdeviceptr,
    len: usize,
    location: CUmemLocation,
    flags: c_uint,
    stream: CUstream,
) -> Answer {
    if flags != 0 {
        return Err(code::INVALID_VALUE);
    }
    let location = call.state().location(&location)?;
    prefetch_to(call, address, len, location, stream)
}

fn prefetch_to(
    call: &Call<'_>,
    address: CUdeviceptr,
    len: usize,
    location: Location,
    stream: CUstream,
) -> Answer {
    let mut state = call.state();
    let target = target(call, &mut state, call.stream(stream))?;
    let (advice, start, end) = state.managed_range(address, len)?;
    advice.change(start, end, |advice| advice.last_prefetch = Some(location));
    enqueue(call, &mut state, &target, Work::Wait).map(|_| ())
}

fn advise_of_device(
    call: &Call<'_>,
    address: CUdeviceptr,
    len: usize,
    advice: CUmem_advise,
    device: CUdevice,
) -> Answer {
    let location = call.state().old_location(device);
    advise_of(call, address, len, advice, location)
}

fn advise(
    call: &Call<'_>,
    address: CUdeviceptr,
    len: usize,
    advice: CUmem_advise,
    location: CUmemLocation,
) -> Answer {
    let location = call.state().location(&location);
    advise_of(call, address, len, advice, location)
}

/// Changes the advice; where a location cannot be understood, that is always an invalid value.
fn advise_of(
    call: &Call<'_>,
    address: CUdeviceptr,
    len: usize,
    advice: CUmem_advise,
    location: Result<Location, CUresult>,
) -> Answer {
    let mut state = call.state();
    state.current(call.thread)?;
    let (map, start, end) = state.managed_range(address, len)?;
    match advice {
        CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY => {
            map.change(start, end, |advice| advice.read_mostly = true);
        }
        CUmem_advise::CU_MEM_ADVISE_UNSET_READ_MOSTLY => {
            map.change(start, end, |advice| advice.read_mostly = false);
        }
        CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION => {
            let location = location.map_err(|_| code::INVALID_VALUE)?;
            map.change(start, end, |advice| advice.preferred = Some(location));
        }
        CUmem_advise::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION => {
            map.change(start, end, |advice| advice.preferred = None);
        }
        CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY => {
            let location = location.map_err(|_| code::INVALID_VALUE)?;
            map.change(start, end, |advice| {
                advice.accessed_by.insert(location);
            });
        }
        CUmem_advise::CU_MEM_ADVISE_UNSET_ACCESSED_BY => {
            let location = location.map_err(|_| code::INVALID_VALUE)?;
            map.change(start, end, |advice| {
                advice.accessed_by.remove(&location);
            });
        }
        _ => return Err(code::INVALID_VALUE),
    }
    Ok(())
}

/// What all parts have in common; nothing where they differ.
fn common<T: PartialEq>(mut parts: impl Iterator<Item = T>) -> Option<T> {
    let first = parts.next()?;
    parts.all(|part| part == first).then_some(first)
}

fn attribute(
    call: &Call<'_>,
    value: Out<c_void>,
    size: usize,
    attribute: CUmem_range_attribute,
    address: CUdeviceptr,
    len: usize,
) -> Answer {
    let value = value.check()?;
    let mut state = call.state();
    state.current(call.thread)?;
    let (map, start, end) = state.managed_range(address, len)?;
    let parts: Vec<Advice> = map.of(start, end).cloned().collect();
    let preferred = common(parts.iter().map(|part| part.preferred)).flatten();
    let prefetched = common(parts.iter().map(|part| part.last_prefetch)).flatten();
    if attribute == CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY {
        return accessed_by(&state, &parts, value, size);
    }
    let number = match attribute {
        CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY => {
            c_int::from(parts.iter().all(|part| part.read_mostly))
        }
        CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION => {
            state.describe_old_location(preferred)
        }
        CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION => {
            state.describe_old_location(prefetched)
        }
        CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE => {
            state.describe_location(preferred).0.cast_signed()
        }
        CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID => {
            state.describe_location(preferred).1
        }
        CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE => {
            state.describe_location(prefetched).0.cast_signed()
        }
        CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID => {
            state.describe_location(prefetched).1
        }
        _ => return Err(code::INVALID_VALUE),
    };
    if size != size_of::<c_int>() {
        return Err(code::INVALID_VALUE);
    }
    value.cast().set(number);
    Ok(())
}

/// Writes who accesses all parts, as many as there is room for; the rest is filled with "nobody".
fn accessed_by(state: &State, parts: &[Advice], value: Out<c_void>, size: usize) -> Answer {
    let room = size / size_of::<c_int>();
    if room == 0 || !size.is_multiple_of(size_of::<c_int>()) {
        return Err(code::INVALID_VALUE);
    }
    let everywhere = parts.first().into_iter().flat_map(|first| {
        first
            .accessed_by
            .iter()
            .filter(|it| parts.iter().all(|part| part.accessed_by.contains(it)))
    });
    let mut numbers: Vec<i32> = everywhere
        .map(|location| state.describe_old_location(Some(*location)))
        .collect();
    numbers.resize(room, state.describe_old_location(None));
    for (index, number) in numbers.into_iter().enumerate() {
        value.cast().set_at(index, number);
    }
    Ok(())
}

fn attributes(
    call: &Call<'_>,
    values: In<*mut c_void>,
    sizes: In<usize>,
    attributes: In<CUmem_range_attribute>,
    count: usize,
    address: CUdeviceptr,
    len: usize,
) -> Answer {
    if count == 0 {
        return Err(code::INVALID_VALUE);
    }
    for index in 0..count {
        let value = Out::from_pointer(values.at(index)?);
        attribute(
            call,
            value,
            sizes.at(index)?,
            attributes.at(index)?,
            address,
            len,
        )?;
    }
    Ok(())
}

fn attach(
    call: &Call<'_>,
    stream: CUstream,
    address: CUdeviceptr,
    len: usize,
    flags: c_uint,
) -> Answer {
    let mut state = call.state();
    let target = target(call, &mut state, call.stream(stream))?;
    if !matches!(flags, GLOBAL | HOST | SINGLE) || flags == SINGLE && target.stream.handle <= 2 {
        return Err(code::INVALID_VALUE);
    }
    let block = state.space.at(address).filter(|block| block.is_managed());
    let size = block
        .and_then(|block| block.allocation.as_ref())
        .ok_or(code::INVALID_VALUE)?
        .size;
    if len != 0 && len != size {
        return Err(code::INVALID_VALUE);
    }
    // Where all access is concurrent, attaching changes nothing.
    enqueue(call, &mut state, &target, Work::Wait).map(|_| ())
}
