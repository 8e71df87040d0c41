//! Virtual memory management.

mod support;

use std::ptr;

use cuda_sim::LeakKind;
use cuda_sys::{
    CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationGranularity_flags,
    CUmemAllocationProp, CUmemAllocationType, CUmemGenericAllocationHandle, CUmemLocation,
    CUmemLocationType, CUresult,
};
use support::{Rig, call, fails, ok};

const UNIT: usize = 2 << 20;
const STEP: u64 = UNIT as u64;

fn properties() -> CUmemAllocationProp {
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: on_device(0),
        ..CUmemAllocationProp::default()
    }
}

fn on_device(id: i32) -> CUmemLocation {
    let mut location = CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        ..CUmemLocation::default()
    };
    location.anonymous.id = id;
    location
}

fn memory(rig: &Rig, size: usize) -> CUmemGenericAllocationHandle {
    let (mut handle, wanted) = (0, properties());
    ok!(
        rig.cuda,
        cuMemCreate(&raw mut handle, size, &raw const wanted, 0)
    );
    handle
}

fn addresses(rig: &Rig, size: usize) -> CUdeviceptr {
    let mut address = 0;
    ok!(
        rig.cuda,
        cuMemAddressReserve(&raw mut address, size, 0, 0, 0)
    );
    address
}

fn access(rig: &Rig, address: CUdeviceptr, size: usize, flags: u32) -> u32 {
    let wanted = CUmemAccessDesc {
        location: on_device(0),
        flags: CUmemAccess_flags(flags),
    };
    call!(
        rig.cuda,
        cuMemSetAccess(address, size, &raw const wanted, 1)
    )
    .0
}

#[test]
fn mapped_memory_is_used_like_other_memory() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let (first, second) = (memory(&rig, UNIT), memory(&rig, UNIT));
    let range = addresses(&rig, 4 * UNIT);
    assert_eq!(range % STEP, 0);
    ok!(cuda, cuMemMap(range, UNIT, 0, first, 0));
    ok!(cuda, cuMemMap(range + STEP, UNIT, 0, second, 0));
    let host = [7u32; 16];
    let from = host.as_ptr().cast();
    fails!(1, cuda, cuMemcpyHtoD_v2(range, from, 64));
    assert_eq!(access(&rig, range, 2 * UNIT, 3), 0);
    // Over the border between two mappings.
    let border = range + STEP - 32;
    ok!(cuda, cuMemcpyHtoD_v2(border, from, 64));
    ok!(cuda, cuMemsetD32_v2(border + 8, 9, 12));
    let mut wanted = vec![9; 16];
    wanted[..2].fill(7);
    wanted[14..].fill(7);
    assert_eq!(rig.download(border, 16), wanted);
    fails!(1, cuda, cuMemcpyHtoD_v2(range + 2 * STEP - 32, from, 64));
    let (mut base, mut size) = (0, 0);
    ok!(
        cuda,
        cuMemGetAddressRange_v2(&raw mut base, &raw mut size, range + 8)
    );
    assert_eq!((base, size), (range, UNIT));
    // The same memory at a second place.
    ok!(cuda, cuMemMap(range + 3 * STEP, UNIT, 0, first, 0));
    assert_eq!(access(&rig, range + 3 * STEP, UNIT, 3), 0);
    assert_eq!(rig.download(border + 3 * STEP, 8), wanted[..8]);
    let increment = rig.kernel("increment");
    let arguments = [range + STEP, border];
    assert_eq!(
        rig.launch(increment, 1, 1, ptr::null_mut(), &arguments),
        support::SUCCESS
    );
    assert_eq!(rig.download(range + STEP, 1), [8]);
    // Mapped memory outlives its handles.
    ok!(cuda, cuMemRelease(first));
    assert_eq!(rig.download(border, 1), [7]);
    ok!(cuda, cuMemUnmap(range, 4 * UNIT));
    fails!(1, cuda, cuMemcpyHtoD_v2(range, from, 64));
    ok!(cuda, cuMemRelease(second));
    ok!(cuda, cuMemAddressFree(range, 4 * UNIT));
    let (mut free, mut total) = (0, 0);
    ok!(cuda, cuMemGetInfo_v2(&raw mut free, &raw mut total));
    assert!(total - free < UNIT, "all of it is free again");
    assert_eq!(rig.simulator.reports(), []);
}

#[test]
fn kernels_need_access() {
    let rig = Rig::new();
    let (handle, range) = (memory(&rig, UNIT), addresses(&rig, UNIT));
    ok!(rig.cuda, cuMemMap(range, UNIT, 0, handle, 0));
    let increment = rig.kernel("increment");
    let near = rig.upload(&[1]);
    let run = |to, from| -> CUresult {
        rig.launch(increment, 1, 1, ptr::null_mut(), &[to, from]);
        call!(rig.cuda, cuCtxSynchronize())
    };
    assert_eq!(access(&rig, range, UNIT, 3), 0);
    assert_eq!(run(range, near), support::SUCCESS);
    assert_eq!(access(&rig, range, UNIT, 1), 0);
    assert_eq!(run(near, range), support::SUCCESS);
    assert_eq!(run(range, near), CUresult(700), "it may read only");
}

#[test]
fn arguments_are_checked() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let create = |size, flags, change: &dyn Fn(&mut CUmemAllocationProp)| {
        let (mut handle, mut wanted) = (0, properties());
        change(&mut wanted);
        call!(
            cuda,
            cuMemCreate(&raw mut handle, size, &raw const wanted, flags)
        )
        .0
    };
    assert_eq!(create(100, 0, &|_| ()), 1);
    assert_eq!(create(0, 0, &|_| ()), 1);
    assert_eq!(create(UNIT, 1, &|_| ()), 1);
    assert_eq!(create(1 << 45, 0, &|_| ()), 2);
    assert_eq!(create(UNIT, 0, &|it| it.location = on_device(77)), 101);
    assert_eq!(create(UNIT, 0, &|it| it.type_ = CUmemAllocationType(0)), 1);
    let (mut size, wanted) = (0, properties());
    for (option, code) in [(0, 0), (1, 0), (2, 1)] {
        let option = CUmemAllocationGranularity_flags(option);
        let result = call!(
            cuda,
            cuMemGetAllocationGranularity(&raw mut size, &raw const wanted, option)
        );
        assert_eq!(result, CUresult(code));
    }
    assert_eq!(size, UNIT);

    let mut address = 0;
    for (size, alignment, flags) in [(100, 0, 0), (0, 0, 0), (UNIT, 3, 0), (UNIT, 0, 1)] {
        fails!(
            1,
            cuda,
            cuMemAddressReserve(&raw mut address, size, alignment, 0, flags)
        );
    }
    let (handle, range) = (memory(&rig, UNIT), addresses(&rig, 4 * UNIT));
    fails!(801, cuda, cuMemMap(range, UNIT, UNIT, handle, 0));
    fails!(801, cuda, cuMemMap(range, 2 * UNIT, 0, handle, 0));
    fails!(1, cuda, cuMemMap(range + 4 * STEP, UNIT, 0, handle, 0));
    fails!(1, cuda, cuMemMap(range, UNIT, 0, handle, 1));
    fails!(1, cuda, cuMemMap(range, UNIT, 0, 0, 0));
    ok!(cuda, cuMemMap(range, UNIT, 0, handle, 0));
    fails!(1, cuda, cuMemMap(range, UNIT, 0, handle, 0));

    let found = |address| {
        let (mut flags, location) = (9, on_device(0));
        let result = call!(
            cuda,
            cuMemGetAccess(&raw mut flags, &raw const location, address)
        );
        (result.0, flags)
    };
    assert_eq!(found(range), (0, 0));
    assert_eq!(access(&rig, range, UNIT, 3), 0);
    assert_eq!(found(range + 8), (0, 3));
    assert_eq!(found(range + STEP).0, 1);
    assert_eq!(access(&rig, range, 4 * UNIT, 3), 1);
    assert_eq!(access(&rig, range, 100, 3), 1);
    assert_eq!(access(&rig, range + STEP, UNIT, 3), 1);
    assert_eq!(access(&rig, range, UNIT, 2), 1);
    fails!(1, cuda, cuMemSetAccess(range, UNIT, ptr::null(), 0));

    let mut retained = 0;
    let inside = ptr::without_provenance_mut(range as usize + 8);
    ok!(cuda, cuMemRetainAllocationHandle(&raw mut retained, inside));
    assert_eq!(retained, handle);
    let outside = ptr::without_provenance_mut(range as usize + UNIT);
    fails!(
        1,
        cuda,
        cuMemRetainAllocationHandle(&raw mut retained, outside)
    );
    let mut told = CUmemAllocationProp::default();
    ok!(
        cuda,
        cuMemGetAllocationPropertiesFromHandle(&raw mut told, handle)
    );
    assert_eq!(
        told.type_,
        CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED
    );

    fails!(1, cuda, cuMemAddressFree(range, 4 * UNIT));
    fails!(1, cuda, cuMemFree_v2(range));
    fails!(1, cuda, cuMemUnmap(range, UNIT / 2));
    ok!(cuda, cuMemUnmap(range, 4 * UNIT));
    ok!(cuda, cuMemUnmap(range, UNIT));
    fails!(1, cuda, cuMemAddressFree(range, UNIT));
    let kinds = |kind| {
        rig.simulator
            .leaks()
            .iter()
            .filter(|it| it.kind == kind)
            .count()
    };
    assert_eq!(kinds(LeakKind::AddressReservation), 1);
    assert_eq!(kinds(LeakKind::PhysicalMemory), 1);
    ok!(cuda, cuMemAddressFree(range, 4 * UNIT));
    fails!(1, cuda, cuMemAddressFree(range, 4 * UNIT));
    ok!(cuda, cuMemRelease(handle));
    ok!(cuda, cuMemRelease(handle));
    fails!(1, cuda, cuMemRelease(handle));
    assert_eq!(
        kinds(LeakKind::AddressReservation) + kinds(LeakKind::PhysicalMemory),
        0
    );
}
