//! Pinned and registered host memory.

use cuda_sys::CUdeviceptr;

use super::prelude::*;
use crate::args::host_address;
use crate::state::host::HostMemory;
use crate::state::schedule;
use crate::state::space::{Block, Origin};

built! {
    cuMemHostAlloc => allocate, (pointer: Out<*mut c_void>, size: usize, flags: c_uint);
    cuMemAllocHost_v2 => allocate_plain, (pointer: Out<*mut c_void>, size: usize);
    cuMemFreeHost => free, (pointer: *mut c_void);
    cuMemHostGetDevicePointer_v2 => device_pointer, (address: Out<CUdeviceptr>, pointer: *mut c_void, flags: c_uint);
    cuMemHostGetFlags => flags, (flags: Out<c_uint>, pointer: *mut c_void);
    cuMemHostRegister [cuMemHostRegister_v2] => register, (pointer: *mut c_void, size: usize, flags: c_uint);
    cuMemHostUnregister => unregister, (pointer: *mut c_void);
}

/// `CU_MEMHOSTALLOC_DEVICEMAP`: under unified addressing all pinned memory is mapped.
const MAPPED: u32 = 2;
const PORTABLE: u32 = 1;
const WRITE_COMBINED: u32 = 4;

fn allocate(call: &Call<'_>, pointer: Out<*mut c_void>, size: usize, flags: c_uint) -> Answer {
    let pointer = pointer.check()?;
    let mut state = call.state();
    let context = state.current(call.thread)?;
    if flags > 7 {
        return Err(code::INVALID_VALUE);
    }
    if size == 0 {
        pointer.set(std::ptr::null_mut());
        return Ok(());
    }
    state.check_captures(call.thread)?;
    let memory = HostMemory::allocate(size).ok_or(code::OUT_OF_MEMORY)?;
    // What a real driver remembers: write-combined memory is portable too, other memory is never called so.
    let kept = match flags & WRITE_COMBINED {
        0 => MAPPED,
        _ => WRITE_COMBINED | MAPPED | PORTABLE,
    };
    let address = state.add_host(memory, context, Origin::Host(kept), call.number);
    pointer.set(std::ptr::with_exposed_provenance_mut(address));
    Ok(())
}

fn allocate_plain(call: &Call<'_>, pointer: Out<*mut c_void>, size: usize) -> Answer {
    allocate(call, pointer, size, 0)
}

/// Waits for everything that may use the block at an address, and removes it.
fn release(
    call: &Call<'_>,
    address: u64,
    wanted: fn(&Origin) -> bool,
    unknown: CUresult,
) -> Answer {
    let mut state = call.state();
    // No context is needed, but one that is no more, or lost, is an error.
    if state.current_handle(call.thread) != 0 {
        state.current(call.thread)?;
    }
    state.check_captures(call.thread)?;
    let block = state.space.covering(address).ok_or(unknown)?;
    if block.address != address || !wanted(&block.origin) {
        return Err(state.refuse_release(address, call.number));
    }
    let context = block.allocation.as_ref().ok_or(unknown)?.context;
    state.healthy(context)?;
    let device = state.device_of(context);
    // The real call waits for the device, although nothing promises it.
    schedule::run_device(call.instance, &mut state, device)?;
    state.healthy(context)?;
    // Another device's work is not waited for by the real call, which is a race; it must not find the memory gone.
    let capacity = state.space.at(address).map_or(0, |block| block.capacity);
    let users = state.users_of(address..address + capacity as u64);
    schedule::run(call.instance, &mut state, &users)?;
    state.note_release(address, call.number);
    state.release_block(address, call.number);
    Ok(())
}

fn free(call: &Call<'_>, pointer: *mut c_void) -> Answer {
    if pointer.is_null() {
        return Ok(());
    }
    release(
        call,
        number(pointer),
        |origin| matches!(origin, Origin::Host(_)),
        code::INVALID_VALUE,
    )
}

fn unregister(call: &Call<'_>, pointer: *mut c_void) -> Answer {
    if pointer.is_null() {
        return Err(code::INVALID_VALUE);
    }
    let registered = |origin: &Origin| matches!(origin, Origin::Registered(_));
    release(
        call,
        number(pointer),
        registered,
        code::HOST_MEMORY_NOT_REGISTERED,
    )
}

fn device_pointer(
    call: &Call<'_>,
    address: Out<CUdeviceptr>,
    pointer: *mut c_void,
    flags: c_uint,
) -> Answer {
    let address = address.check()?;
    let state = call.state();
    state.current(call.thread)?;
    let host = state
        .space
        .allocation(number(pointer))
        .filter(|(block, _)| block.is_host() && !block.is_managed());
    if flags != 0 || host.is_none() {
        return Err(code::INVALID_VALUE);
    }
    address.set(number(pointer));
    Ok(())
}

fn flags(call: &Call<'_>, flags: Out<c_uint>, pointer: *mut c_void) -> Answer {
    let flags = flags.check()?;
    let state = call.state();
    state.current(call.thread)?;
    let (block, _) = state
        .space
        .allocation(number(pointer))
        .ok_or(code::INVALID_VALUE)?;
    match block.origin {
        Origin::Host(known) | Origin::Registered(known) => {
            flags.set(known);
            Ok(())
        }
        Origin::Managed | Origin::ManagedModule(_) => {
            flags.set(MAPPED);
            Ok(())
        }
        _ => Err(code::INVALID_VALUE),
    }
}

fn register(call: &Call<'_>, pointer: *mut c_void, size: usize, flags: c_uint) -> Answer {
    let mut state = call.state();
    let context = state.current(call.thread)?;
    // Memory of devices on the bus: no host memory here is such.
    const IO_MEMORY: u32 = 4;
    if pointer.is_null()
        || size == 0
        || flags > 15
        || flags & IO_MEMORY != 0
        || number(pointer).checked_add(size as u64).is_none()
    {
        return Err(code::INVALID_VALUE);
    }
    let (start, end) = (number(pointer), number(pointer) + size as u64);
    let overlaps =
        |block: &&Block| block.address < end && start < block.address + block.capacity as u64;
    if let Some(block) = state.space.blocks().find(overlaps) {
        let registered = matches!(block.origin, Origin::Registered(_));
        return Err(if registered {
            code::HOST_MEMORY_ALREADY_REGISTERED
        } else {
            code::INVALID_VALUE
        });
    }
    let memory = HostMemory::register(host_address(pointer), size).ok_or(code::INVALID_VALUE)?;
    let kept = MAPPED | flags & PORTABLE;
    state.add_host(memory, context, Origin::Registered(kept), call.number);
    Ok(())
}
