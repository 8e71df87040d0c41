//! Managed memory.

mod support;

use std::ptr;

use cuda_sim::{DeviceConfig, LeakKind, Simulator};
use cuda_sys::{
    CUdeviceptr, CUmem_advise, CUmem_range_attribute, CUmemLocation, CUmemLocationType,
    CUpointer_attribute,
};
use support::{Rig, call, fails, ok};

const GLOBAL: u32 = 1;

fn managed(rig: &Rig, bytes: usize) -> CUdeviceptr {
    let mut address = 0;
    ok!(rig.cuda, cuMemAllocManaged(&raw mut address, bytes, GLOBAL));
    address
}

/// The words at an address of the host.
fn words(address: CUdeviceptr, len: usize) -> *mut [u32] {
    let first: *mut u32 = ptr::with_exposed_provenance_mut(address as usize);
    ptr::slice_from_raw_parts_mut(first, len)
}

fn place(kind: CUmemLocationType, id: i32) -> CUmemLocation {
    let mut location = CUmemLocation {
        type_: kind,
        ..CUmemLocation::default()
    };
    location.anonymous.id = id;
    location
}

fn on_device(id: i32) -> CUmemLocation {
    place(CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id)
}

const HOST: CUmemLocationType = CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST;

#[test]
fn the_host_and_kernels_reach_the_same_bytes() {
    let rig = Rig::new();
    let memory = managed(&rig, 16);
    // SAFETY: the memory is alive, and no work is pending on it.
    unsafe { (*words(memory, 4)).copy_from_slice(&[10, 20, 30, 40]) };
    let increment = rig.kernel("increment");
    assert_eq!(
        rig.launch(increment, 1, 4, ptr::null_mut(), &[memory, memory]),
        support::SUCCESS
    );
    ok!(rig.cuda, cuCtxSynchronize());
    // SAFETY: as above.
    assert_eq!(unsafe { &*words(memory, 4) }, [11, 21, 31, 41]);
    // Copies and fills take it as memory of either side.
    let copy = rig.memory(16);
    ok!(rig.cuda, cuMemcpyDtoD_v2(copy, memory, 16));
    assert_eq!(rig.download(copy, 4), [11, 21, 31, 41]);
    ok!(rig.cuda, cuMemsetD32_v2(memory, 7, 2));
    // SAFETY: as above; a fill of managed memory is complete when it returns.
    assert_eq!(unsafe { &*words(memory, 4) }, [7, 7, 31, 41]);
    ok!(rig.cuda, cuMemFree_v2(memory));
    assert_eq!(rig.simulator.reports(), []);
}

#[test]
fn allocation_is_checked_and_counted() {
    let small = DeviceConfig {
        total_memory: 1 << 20,
        ..DeviceConfig::h200()
    };
    let builder = Simulator::builder().devices(vec![small]);
    let rig = Rig::with(builder.build().expect("a free slot"));
    let cuda = &rig.cuda;
    let mut address = 0;
    fails!(1, cuda, cuMemAllocManaged(&raw mut address, 0, GLOBAL));
    fails!(1, cuda, cuMemAllocManaged(&raw mut address, 64, 0));
    fails!(1, cuda, cuMemAllocManaged(&raw mut address, 64, 3));
    fails!(1, cuda, cuMemAllocManaged(ptr::null_mut(), 64, GLOBAL));
    // More than the device has, and no more than as much again.
    let memory = managed(&rig, 2 << 20);
    fails!(2, cuda, cuMemAllocManaged(&raw mut address, 1, GLOBAL));
    let leaks = rig.simulator.leaks();
    let leak = leaks.iter().find(|leak| leak.handle == memory);
    assert_eq!(leak.map(|leak| leak.kind), Some(LeakKind::ManagedMemory));
    fails!(1, cuda, cuMemFree_v2(memory + 8));
    ok!(cuda, cuMemFree_v2(memory));
    fails!(1, cuda, cuMemFree_v2(memory));
    ok!(cuda, cuMemFree_v2(managed(&rig, 2 << 20)));
}

#[test]
fn its_pointers_say_that_it_is_managed() {
    let rig = Rig::new();
    let memory = managed(&rig, 100);
    let (mut flag, mut size, mut address) = (0u32, 0usize, 0u64);
    let pointer = memory + 10;
    let ask = |value, attribute| {
        ok!(rig.cuda, cuPointerGetAttribute(value, attribute, pointer));
    };
    ask(
        (&raw mut flag).cast(),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED,
    );
    ask(
        (&raw mut size).cast(),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE,
    );
    ask(
        (&raw mut address).cast(),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_HOST_POINTER,
    );
    assert_eq!((flag, size, address), (1, 100, pointer));
    let attribute = |number| {
        let mut value = 0;
        let attribute = cuda_sys::CUdevice_attribute(number);
        ok!(
            rig.cuda,
            cuDeviceGetAttribute(&raw mut value, attribute, rig.device)
        );
        value
    };
    // Managed memory, concurrent access, pageable memory.
    assert_eq!([83, 89, 88].map(attribute), [1, 1, 0]);
}

#[test]
fn advice_is_remembered_by_range() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let memory = managed(&rig, 8192);
    let read = |attribute, address, len| {
        let mut value = 77i32;
        ok!(
            cuda,
            cuMemRangeGetAttribute((&raw mut value).cast(), 4, attribute, address, len)
        );
        value
    };
    let (read_mostly, preferred, prefetched) = (
        CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
        CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
        CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
    );
    assert_eq!(read(read_mostly, memory, 8192), 0);
    assert_eq!(read(preferred, memory, 8192), -2);
    assert_eq!(read(prefetched, memory, 8192), -2);
    let advise = |address, len, advice, location| {
        call!(cuda, cuMemAdvise_v2(address, len, advice, location)).0
    };
    let device = on_device(0);
    assert_eq!(
        advise(
            memory,
            4096,
            CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY,
            device
        ),
        0
    );
    assert_eq!(read(read_mostly, memory, 4096), 1);
    assert_eq!(read(read_mostly, memory, 8192), 0);
    let prefer = CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
    assert_eq!(advise(memory, 8192, prefer, place(HOST, 0)), 0);
    assert_eq!(read(preferred, memory, 8192), -1);
    assert_eq!(advise(memory, 4096, prefer, device), 0);
    assert_eq!(read(preferred, memory, 4096), rig.device);
    assert_eq!(read(preferred, memory, 8192), -2, "the parts differ");
    let kind = CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE;
    assert_eq!(
        (read(kind, memory, 1), read(kind, memory + 4096, 1)),
        (1, 2)
    );

    let by = CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY;
    assert_eq!(advise(memory, 8192, by, device), 0);
    let mut who = [7i32; 3];
    let accessed_by = CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    ok!(
        cuda,
        cuMemRangeGetAttribute(who.as_mut_ptr().cast(), 8, accessed_by, memory, 8192)
    );
    assert_eq!(who, [rig.device, -2, 7]);

    let stream = rig.stream(1);
    ok!(cuda, cuMemPrefetchAsync_v2(memory, 8192, device, 0, stream));
    ok!(cuda, cuStreamSynchronize(stream));
    assert_eq!(read(prefetched, memory, 8192), rig.device);
    ok!(cuda, cuMemPrefetchAsync(memory, 8192, -1, stream));
    assert_eq!(read(prefetched, memory, 8192), -1);

    let (mut first, mut second) = (0i32, 0i32);
    let mut values = [(&raw mut first).cast(), (&raw mut second).cast()];
    let mut sizes = [4usize, 4];
    let mut wanted = [read_mostly, prefetched];
    ok!(
        cuda,
        cuMemRangeGetAttributes(
            values.as_mut_ptr(),
            sizes.as_mut_ptr(),
            wanted.as_mut_ptr(),
            2,
            memory,
            4096
        )
    );
    assert_eq!((first, second), (1, -1));
    ok!(cuda, cuMemAdvise(memory, 8192, CUmem_advise(2), rig.device));
    assert_eq!(read(read_mostly, memory, 8192), 0);
}

#[test]
fn advice_and_prefetches_are_checked() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let (memory, other) = (managed(&rig, 8192), rig.memory(8192));
    let stream = rig.stream(1);
    let device = on_device(0);
    let advice = CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
    for (address, len) in [(memory, 8193), (memory, 0), (other, 64), (0, 64)] {
        fails!(1, cuda, cuMemAdvise_v2(address, len, advice, device));
        fails!(
            1,
            cuda,
            cuMemPrefetchAsync_v2(address, len, device, 0, stream)
        );
        let mut value = 0i32;
        let attribute = CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
        fails!(
            1,
            cuda,
            cuMemRangeGetAttribute((&raw mut value).cast(), 4, attribute, address, len)
        );
    }
    fails!(1, cuda, cuMemAdvise_v2(memory, 64, advice, on_device(77)));
    fails!(801, cuda, cuMemFreeAsync(memory, stream));
    fails!(
        101,
        cuda,
        cuMemPrefetchAsync_v2(memory, 64, on_device(77), 0, stream)
    );
    fails!(
        1,
        cuda,
        cuMemPrefetchAsync_v2(memory, 64, device, 1, stream)
    );
    fails!(
        1,
        cuda,
        cuMemPrefetchAsync_v2(memory, 64, CUmemLocation::default(), 0, stream)
    );
    fails!(1, cuda, cuMemAdvise_v2(memory, 64, CUmem_advise(9), device));
    ok!(cuda, cuStreamAttachMemAsync(stream, memory, 0, 4));
    ok!(cuda, cuStreamAttachMemAsync(stream, memory, 8192, 2));
    fails!(1, cuda, cuStreamAttachMemAsync(stream, memory, 0, 0));
    fails!(1, cuda, cuStreamAttachMemAsync(stream, memory, 64, 1));
    fails!(1, cuda, cuStreamAttachMemAsync(stream, memory + 8, 0, 1));
    fails!(1, cuda, cuStreamAttachMemAsync(stream, other, 0, 1));
    fails!(
        1,
        cuda,
        cuStreamAttachMemAsync(ptr::null_mut(), memory, 0, 4)
    );
}

#[test]
fn managed_variables_are_reached_by_their_address() {
    const PTX: &str = "
        .version 8.0
        .target sm_80
        .address_size 64
        .visible .global .attribute(.managed) .align 4 .u32 total = 5;
        .visible .entry add() {
            .reg .u32 %r<3>;
            ld.global.u32 %r1, [total];
            add.u32 %r2, %r1, 37;
            st.global.u32 [total], %r2;
            ret;
        }";
    let rig = Rig::new();
    let module = rig.load(PTX);
    let (mut address, mut size) = (0, 0);
    ok!(
        rig.cuda,
        cuModuleGetGlobal_v2(&raw mut address, &raw mut size, module, c"total".as_ptr())
    );
    assert_eq!(size, 4);
    // SAFETY: the module is loaded, and no work is pending.
    assert_eq!(unsafe { &*words(address, 1) }, [5]);
    let add = rig.function(module, "add");
    assert_eq!(
        rig.launch(add, 1, 1, ptr::null_mut(), &[]),
        support::SUCCESS
    );
    ok!(rig.cuda, cuCtxSynchronize());
    // SAFETY: as above.
    assert_eq!(unsafe { &*words(address, 1) }, [42]);
    fails!(1, rig.cuda, cuMemFree_v2(address));
    ok!(rig.cuda, cuModuleUnload(module));
}
