//! What the driver says of an address.

mod support;

use std::ffi::c_void;
use std::ptr;

use cuda_sys::{CUpointer_attribute, CUresult};
use support::{Rig, call, fails, ok};

const CONTEXT: u32 = 1;
const MEMORY_TYPE: u32 = 2;
const DEVICE_POINTER: u32 = 3;
const HOST_POINTER: u32 = 4;
const BUFFER_ID: u32 = 7;
const DEVICE_ORDINAL: u32 = 9;
const RANGE_START: u32 = 11;
const RANGE_SIZE: u32 = 12;
const MEMPOOL: u32 = 17;

/// An attribute asked for alone: the result and the first eight bytes, which are all ones where nothing was written.
fn one(rig: &Rig, number: u32, address: u64) -> (u32, u64) {
    let mut value = u64::MAX;
    let result = call!(
        rig.cuda,
        cuPointerGetAttribute(
            (&raw mut value).cast(),
            CUpointer_attribute(number),
            address
        )
    );
    (result.0, value)
}

/// The same attribute asked for in a list.
fn listed(rig: &Rig, number: u32, address: u64) -> (u32, u64) {
    let mut value = u64::MAX;
    let mut attribute = CUpointer_attribute(number);
    let mut place: *mut c_void = (&raw mut value).cast();
    let result = call!(
        rig.cuda,
        cuPointerGetAttributes(1, &raw mut attribute, &raw mut place, address)
    );
    (result.0, value)
}

#[test]
fn allocations_are_known_at_every_byte() {
    let rig = Rig::new();
    let memory = rig.memory(1000);
    let context = rig.context.addr() as u64;
    for offset in [0, 16, 999] {
        let address = memory + offset;
        for ask in [one, listed] {
            assert_eq!(ask(&rig, CONTEXT, address), (0, context));
            assert_eq!(ask(&rig, MEMORY_TYPE, address).1 as u32, 2);
            assert_eq!(ask(&rig, DEVICE_POINTER, address), (0, address));
            assert_eq!(ask(&rig, RANGE_START, address), (0, memory));
            assert_eq!(ask(&rig, RANGE_SIZE, address), (0, 1000));
            assert_eq!(ask(&rig, DEVICE_ORDINAL, address).1 as i32, rig.device);
            assert_eq!(ask(&rig, MEMPOOL, address), (0, 0));
        }
        assert_eq!(one(&rig, HOST_POINTER, address).0, 1);
        assert_eq!(listed(&rig, HOST_POINTER, address), (0, 0));
    }
    assert_eq!(one(&rig, MEMORY_TYPE, memory + 1000).0, 1);
}

#[test]
fn pinned_memory_is_the_hosts_with_a_device_address() {
    let rig = Rig::new();
    let pinned = rig.pinned(64).addr() as u64;
    assert_eq!(one(&rig, MEMORY_TYPE, pinned).1 as u32, 1);
    assert_eq!(one(&rig, HOST_POINTER, pinned + 8), (0, pinned + 8));
    assert_eq!(one(&rig, DEVICE_POINTER, pinned + 8), (0, pinned + 8));
    let mut own = vec![0u8; 64];
    ok!(
        rig.cuda,
        cuMemHostRegister_v2(own.as_mut_ptr().cast(), 64, 0)
    );
    assert_eq!(
        one(&rig, RANGE_SIZE, own.as_ptr().addr() as u64 + 1),
        (0, 64)
    );
}

#[test]
fn stream_ordered_memory_names_its_pool_and_no_context() {
    let rig = Rig::new();
    let (mut address, mut pool) = (0, ptr::null_mut());
    ok!(
        rig.cuda,
        cuMemAllocAsync(&raw mut address, 64, ptr::null_mut())
    );
    ok!(
        rig.cuda,
        cuDeviceGetDefaultMemPool(&raw mut pool, rig.device)
    );
    assert_eq!(one(&rig, CONTEXT, address), (0, 0));
    assert_eq!(one(&rig, MEMPOOL, address), (0, pool.addr() as u64));
    ok!(rig.cuda, cuMemFreeAsync(address, ptr::null_mut()));
    assert_eq!(
        one(&rig, MEMORY_TYPE, address).0,
        1,
        "freed for the host, although nothing was executed"
    );
}

#[test]
fn unknown_addresses_fail_alone_and_are_zero_in_a_list() {
    let rig = Rig::new();
    let freed = rig.memory(64);
    ok!(rig.cuda, cuMemFree_v2(freed));
    let local = 0u32;
    for address in [freed, (&raw const local).addr() as u64, 0] {
        assert_eq!(one(&rig, MEMORY_TYPE, address), (1, u64::MAX));
        assert_eq!(listed(&rig, MEMORY_TYPE, address).1 as u32, 0);
        assert_eq!(listed(&rig, CONTEXT, address), (0, 0));
        assert_eq!(listed(&rig, HOST_POINTER, address), (0, address));
        assert_eq!(listed(&rig, DEVICE_ORDINAL, address).1 as i32, -2);
        assert_eq!(
            listed(&rig, RANGE_SIZE, address),
            (0, u64::MAX),
            "left as it was"
        );
    }
    for number in [0, 5, 22, 99] {
        assert_eq!(listed(&rig, number, 0).0, 1, "attribute {number}");
    }
    fails!(
        1,
        rig.cuda,
        cuPointerGetAttributes(0, ptr::null_mut(), ptr::null_mut(), 0)
    );
}

#[test]
fn an_allocation_keeps_its_number_and_no_other_gets_it() {
    let rig = Rig::new();
    let (mut a, mut b) = (0, 0);
    ok!(rig.cuda, cuMemAllocAsync(&raw mut a, 64, ptr::null_mut()));
    let first = one(&rig, BUFFER_ID, a);
    assert_eq!(one(&rig, BUFFER_ID, a + 4), first);
    ok!(rig.cuda, cuMemFreeAsync(a, ptr::null_mut()));
    ok!(rig.cuda, cuMemAllocAsync(&raw mut b, 64, ptr::null_mut()));
    assert_eq!(a, b);
    assert_ne!(one(&rig, BUFFER_ID, b), first);
    let yes = 1u32;
    let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    ok!(
        rig.cuda,
        cuPointerSetAttribute((&raw const yes).cast(), attribute, b)
    );
    let other = CUpointer_attribute(MEMORY_TYPE);
    assert_eq!(
        call!(
            rig.cuda,
            cuPointerSetAttribute((&raw const yes).cast(), other, b)
        ),
        CUresult::CUDA_ERROR_INVALID_VALUE
    );
}
