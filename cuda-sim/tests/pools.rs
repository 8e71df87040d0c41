//! Memory pools: what they hold, how much, and who may access it.

mod support;

use std::ptr;

use cuda_sim::{DeviceConfig, Simulator};
use cuda_sys::{
    CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationHandleType, CUmemAllocationType,
    CUmemLocation, CUmemLocationType, CUmemPool_attribute, CUmemPoolProps, CUmemoryPool,
};
use support::{Rig, call, fails, ok};

const CHUNK: u64 = 32 << 20;

fn on_device(id: i32) -> CUmemLocation {
    let mut location = CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        ..CUmemLocation::default()
    };
    location.anonymous.id = id;
    location
}

fn properties() -> CUmemPoolProps {
    CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: on_device(0),
        ..CUmemPoolProps::default()
    }
}

fn pool(rig: &Rig, properties: CUmemPoolProps) -> CUmemoryPool {
    let mut pool = ptr::null_mut();
    ok!(
        rig.cuda,
        cuMemPoolCreate(&raw mut pool, &raw const properties)
    );
    pool
}

/// Reserved now and at most, used now and at most.
fn sizes(rig: &Rig, pool: CUmemoryPool) -> [u64; 4] {
    [5, 6, 7, 8].map(|attribute| {
        let (mut value, attribute) = (0u64, CUmemPool_attribute(attribute));
        ok!(
            rig.cuda,
            cuMemPoolGetAttribute(pool, attribute, (&raw mut value).cast())
        );
        value
    })
}

#[test]
fn what_pools_hold_is_counted_as_by_a_real_driver() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let pool = pool(&rig, properties());
    let stream = rig.stream(1);
    let (mut a, mut b) = (0, 0);
    assert_eq!(sizes(&rig, pool), [0; 4]);
    ok!(
        cuda,
        cuMemAllocFromPoolAsync(&raw mut a, 1000, pool, stream)
    );
    assert_eq!(sizes(&rig, pool), [CHUNK, CHUNK, 1000, 1000]);
    let large = 40 << 20;
    ok!(
        cuda,
        cuMemAllocFromPoolAsync(&raw mut b, large, pool, stream)
    );
    let most = large as u64 + 1000;
    assert_eq!(sizes(&rig, pool), [2 * CHUNK, 2 * CHUNK, most, most]);
    ok!(cuda, cuMemFreeAsync(a, stream));
    ok!(cuda, cuMemFreeAsync(b, stream));
    assert_eq!(sizes(&rig, pool), [2 * CHUNK, 2 * CHUNK, 0, most]);
    ok!(cuda, cuStreamSynchronize(stream));
    assert_eq!(sizes(&rig, pool), [0, 2 * CHUNK, 0, most]);
    let mut zero = 0u64;
    for high in [6, 8] {
        let high = CUmemPool_attribute(high);
        ok!(
            cuda,
            cuMemPoolSetAttribute(pool, high, (&raw mut zero).cast())
        );
    }
    assert_eq!(sizes(&rig, pool), [0; 4]);
    fails!(1, cuda, cuMemFreeAsync(a, stream));
    ok!(cuda, cuMemPoolDestroy(pool));
    fails!(1, cuda, cuMemPoolDestroy(pool));
}

/// Bytes of the device that are free.
fn free(rig: &Rig) -> usize {
    let (mut free, mut total) = (0, 0);
    ok!(rig.cuda, cuMemGetInfo_v2(&raw mut free, &raw mut total));
    free
}

#[test]
fn a_wait_gives_the_device_what_exceeds_the_release_threshold() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let stream = rig.stream(1);
    let mut default = ptr::null_mut();
    ok!(
        cuda,
        cuDeviceGetDefaultMemPool(&raw mut default, rig.device)
    );
    let size = 1 << 20;
    let at_first = free(&rig);
    let mut addresses = Vec::new();
    // The second time, the address is used again.
    for _ in 0..2 {
        let mut address = 0;
        ok!(cuda, cuMemAllocAsync(&raw mut address, size, stream));
        addresses.push(address);
        assert_eq!(free(&rig), at_first - size);
        ok!(cuda, cuMemFreeAsync(address, stream));
        assert_eq!(free(&rig), at_first - size, "before the wait");
        ok!(cuda, cuCtxSynchronize());
        assert_eq!(free(&rig), at_first);
    }
    assert_eq!(addresses[0], addresses[1]);
    // A pool that may keep it does; trimming gives it back once.
    let mut threshold = u64::MAX;
    ok!(
        cuda,
        cuMemPoolSetAttribute(default, CUmemPool_attribute(4), (&raw mut threshold).cast())
    );
    let mut address = 0;
    ok!(cuda, cuMemAllocAsync(&raw mut address, size, stream));
    ok!(cuda, cuMemFreeAsync(address, stream));
    ok!(cuda, cuStreamSynchronize(stream));
    assert_eq!(free(&rig), at_first - size);
    ok!(cuda, cuMemPoolTrimTo(default, 0));
    assert_eq!(free(&rig), at_first);
    ok!(cuda, cuMemPoolTrimTo(default, 0));
    assert_eq!(free(&rig), at_first);
}

#[test]
fn memory_that_a_pool_gave_back_can_be_given_out_by_the_device() {
    let device = DeviceConfig {
        total_memory: 64 << 20,
        ..DeviceConfig::h200()
    };
    let simulator = Simulator::builder().devices(vec![device]).build();
    let rig = Rig::with(simulator.expect("a free slot"));
    let cuda = &rig.cuda;
    let stream = rig.stream(1);
    let size = 40 << 20;
    let (mut pooled, mut plain) = (0, 0);
    ok!(cuda, cuMemAllocAsync(&raw mut pooled, size, stream));
    ok!(cuda, cuMemFreeAsync(pooled, stream));
    ok!(cuda, cuStreamSynchronize(stream));
    ok!(cuda, cuMemAlloc_v2(&raw mut plain, size));
    fails!(2, cuda, cuMemAllocAsync(&raw mut pooled, size, stream));
    ok!(cuda, cuMemFree_v2(plain));
    ok!(cuda, cuMemAllocAsync(&raw mut pooled, size, stream));
    fails!(2, cuda, cuMemAlloc_v2(&raw mut plain, size));
}

#[test]
fn attributes_are_checked() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let pool = pool(&rig, properties());
    let set = |attribute, value: u64| {
        let mut value = value;
        let attribute = CUmemPool_attribute(attribute);
        call!(
            cuda,
            cuMemPoolSetAttribute(pool, attribute, (&raw mut value).cast())
        )
        .0
    };
    let get = |attribute| {
        let mut value = 0u32;
        let attribute = CUmemPool_attribute(attribute);
        ok!(
            cuda,
            cuMemPoolGetAttribute(pool, attribute, (&raw mut value).cast())
        );
        value
    };
    for reuse in [1, 2, 3] {
        assert_eq!(get(reuse), 1);
        assert_eq!(set(reuse, 0), 0);
        assert_eq!(get(reuse), 0);
        assert_eq!(set(reuse, 2), 0);
        assert_eq!(get(reuse), 1, "a truth value");
    }
    assert_eq!(set(4, 77), 0);
    assert_eq!(get(4), 77);
    // Present sizes cannot be set, high marks only be reset.
    assert_eq!([5, 7].map(|current| set(current, 0)), [1; 2]);
    assert_eq!([6, 8].map(|high| set(high, 1)), [1; 2]);
    assert_eq!([0, 20].map(|unknown| set(unknown, 0)), [1; 2]);
    let attribute = CUmemPool_attribute(1);
    fails!(
        1,
        cuda,
        cuMemPoolGetAttribute(pool, attribute, ptr::null_mut())
    );
    let mut value = 0u64;
    let value = (&raw mut value).cast();
    fails!(
        1,
        cuda,
        cuMemPoolGetAttribute(ptr::null_mut(), attribute, value)
    );
    fails!(1, cuda, cuMemPoolTrimTo(ptr::null_mut(), 0));
    ok!(cuda, cuMemPoolTrimTo(pool, 0));
}

#[test]
fn creation_is_checked() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let create = |change: &dyn Fn(&mut CUmemPoolProps)| {
        let mut wanted = properties();
        change(&mut wanted);
        let mut pool = ptr::null_mut();
        call!(cuda, cuMemPoolCreate(&raw mut pool, &raw const wanted)).0
    };
    let located = |kind| move |it: &mut CUmemPoolProps| it.location.type_ = CUmemLocationType(kind);
    assert_eq!(create(&|_| ()), 0);
    assert_eq!(create(&|it| it.usage = 1), 0);
    assert_eq!(create(&|it| it.allocType = CUmemAllocationType(0)), 1);
    assert_eq!(create(&|it| it.reserved[3] = 1), 1);
    assert_eq!(create(&|it| it.location = on_device(77)), 1);
    assert_eq!(create(&|it| it.location = on_device(-1)), 1);
    assert_eq!(create(&located(0)), 1);
    let handles =
        |kind| move |it: &mut CUmemPoolProps| it.handleTypes = CUmemAllocationHandleType(kind);
    assert_eq!(create(&handles(2)), 1);
    // What a real driver has, and this one not: memory of the host, managed memory, memory for other processes.
    assert_eq!(create(&located(2)), 801);
    let managed = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_MANAGED;
    assert_eq!(create(&|it| it.allocType = managed), 801);
    assert_eq!(create(&handles(1)), 801);
    let wanted = properties();
    fails!(1, cuda, cuMemPoolCreate(ptr::null_mut(), &raw const wanted));
    let mut pool = ptr::null_mut();
    fails!(1, cuda, cuMemPoolCreate(&raw mut pool, ptr::null()));
}

#[test]
fn a_pool_ends_at_its_size() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let mut wanted = properties();
    wanted.maxSize = 64 << 20;
    let pool = pool(&rig, wanted);
    let stream = rig.stream(1);
    let mut address = 0;
    let mut allocate = |size| {
        call!(
            cuda,
            cuMemAllocFromPoolAsync(&raw mut address, size, pool, stream)
        )
        .0
    };
    assert_eq!(allocate(32 << 20), 0);
    assert_eq!(allocate(64 << 20), 2);
    assert_eq!(allocate(1 << 20), 0);
    assert_eq!(allocate(0), 0);
    assert_eq!(address, 0);
    let mut free = 0;
    let (total, too_much) = (&raw mut free, 150_109_880_320 + (1 << 20));
    let mut left = 0;
    ok!(cuda, cuMemGetInfo_v2(&raw mut left, total));
    fails!(2, cuda, cuMemAllocAsync(&raw mut address, too_much, stream));
    fails!(2, cuda, cuMemAllocAsync(&raw mut address, 1 << 60, stream));
    fails!(1, cuda, cuMemAllocAsync(ptr::null_mut(), 64, stream));
    fails!(
        1,
        cuda,
        cuMemAllocFromPoolAsync(&raw mut address, 64, ptr::null_mut(), stream)
    );
}

#[test]
fn a_destroyed_pool_lives_until_its_last_allocation() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let pool = pool(&rig, properties());
    let stream = rig.stream(1);
    let (mut address, mut other) = (0, 0);
    ok!(
        cuda,
        cuMemAllocFromPoolAsync(&raw mut address, 64, pool, stream)
    );
    ok!(cuda, cuMemPoolDestroy(pool));
    fails!(
        1,
        cuda,
        cuMemAllocFromPoolAsync(&raw mut other, 64, pool, stream)
    );
    fails!(1, cuda, cuMemPoolDestroy(pool));
    ok!(cuda, cuMemsetD8Async(address, 1, 64, stream));
    ok!(cuda, cuMemFreeAsync(address, stream));
    ok!(cuda, cuStreamSynchronize(stream));
    let (mut default, mut current) = (ptr::null_mut(), ptr::null_mut());
    ok!(
        cuda,
        cuDeviceGetDefaultMemPool(&raw mut default, rig.device)
    );
    ok!(cuda, cuDeviceGetMemPool(&raw mut current, rig.device));
    assert_eq!(default, current);
    fails!(1, cuda, cuMemPoolDestroy(default));
    fails!(1, cuda, cuDeviceSetMemPool(rig.device, ptr::null_mut()));
    fails!(1, cuda, cuDeviceGetMemPool(&raw mut current, 77));
    fails!(1, cuda, cuDeviceGetMemPool(ptr::null_mut(), rig.device));
    assert_eq!(rig.simulator.reports(), []);
}

#[test]
fn access_is_checked() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let pool = pool(&rig, properties());
    let set = |location, flags| {
        let access = CUmemAccessDesc {
            location,
            flags: CUmemAccess_flags(flags),
        };
        call!(cuda, cuMemPoolSetAccess(pool, &raw const access, 1)).0
    };
    let host = CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST,
        ..CUmemLocation::default()
    };
    assert_eq!(
        [3, 1, 0, 2].map(|flags| set(on_device(0), flags)),
        [0, 801, 101, 1]
    );
    assert_eq!(set(host, 3), 801);
    assert_eq!(set(on_device(77), 3), 101);
    ok!(cuda, cuMemPoolSetAccess(pool, ptr::null(), 0));
    fails!(1, cuda, cuMemPoolSetAccess(pool, ptr::null(), 1));
    let get = |location: CUmemLocation| {
        let (mut location, mut flags) = (location, CUmemAccess_flags(9));
        let result = call!(
            cuda,
            cuMemPoolGetAccess(&raw mut flags, pool, &raw mut location)
        );
        (result.0, flags.0)
    };
    assert_eq!(get(on_device(0)), (0, 3));
    assert_eq!(get(host), (0, 0));
    assert_eq!(get(on_device(77)).0, 1);
}
