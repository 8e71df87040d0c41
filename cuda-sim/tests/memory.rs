//! Memory: allocation, stream-ordered memory, copies, fills, and when host memory is read and written.

mod support;

use std::ptr;

use cuda_sim::{DeviceConfig, ReportKind, Simulator};
use support::{Rig, fails, ok};

#[test]
fn copies_of_every_kind_arrive() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let values: Vec<u32> = (0..100_000).collect();
    let (a, b) = (rig.upload(&values), rig.memory(400_000));
    ok!(cuda, cuMemcpyDtoD_v2(b, a, 400_000));
    assert_eq!(rig.download(b, 100_000), values);
    let pinned = rig.pinned(400_000);
    ok!(cuda, cuMemcpy(pinned.addr() as u64, b, 400_000));
    ok!(cuda, cuMemsetD8_v2(b, 0, 400_000));
    ok!(
        cuda,
        cuMemcpyAsync(b, pinned.addr() as u64, 400_000, ptr::null_mut())
    );
    assert_eq!(rig.download(b, 100_000), values);
    ok!(cuda, cuMemcpyPeer(a, rig.context, b + 4, rig.context, 8));
    assert_eq!(rig.download(a, 3), [1, 2, 2]);
    ok!(cuda, cuMemsetD16_v2(a, 0x1234, 2));
    ok!(cuda, cuMemsetD32_v2(a + 4, 0x89ab_cdef, 1));
    ok!(cuda, cuMemsetD8_v2(a + 8, 0xff, 1));
    assert_eq!(rig.download(a, 3), [0x1234_1234, 0x89ab_cdef, 0xff]);
    assert_eq!(rig.simulator.reports(), []);
}

#[test]
fn large_memory_starts_on_pages() {
    const PAGE: u64 = 2 << 20;
    let rig = Rig::new();
    let small = rig.memory(1000);
    let large = [rig.memory(2 << 20), rig.memory((2 << 20) + 1)];
    assert_eq!(large.map(|address| address % PAGE), [0, 0]);
    assert!(small < large[0] && large[0] + PAGE < large[1]);
}

#[test]
fn arguments_are_checked_as_by_the_driver() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let mut host = [0u32; 64];
    let (from, to) = (host.as_ptr().cast(), host.as_mut_ptr().cast());
    let mut address = 0;
    fails!(1, cuda, cuMemAlloc_v2(&raw mut address, 0));
    fails!(1, cuda, cuMemAlloc_v2(ptr::null_mut(), 4));
    fails!(2, cuda, cuMemAlloc_v2(&raw mut address, 1 << 60));
    let memory = rig.memory(1000);
    assert_eq!(memory % 256, 0);
    ok!(cuda, cuMemcpyHtoD_v2(memory, ptr::null(), 0));
    ok!(cuda, cuMemcpyHtoD_v2(0, from, 0));
    fails!(1, cuda, cuMemcpyHtoD_v2(memory, ptr::null(), 4));
    fails!(1, cuda, cuMemcpyHtoD_v2(0, from, 4));
    fails!(1, cuda, cuMemcpyHtoD_v2(0xdead000, from, 4));
    fails!(1, cuda, cuMemcpyHtoD_v2(memory, from, 1001));
    fails!(1, cuda, cuMemcpyHtoD_v2(memory + 8, from, usize::MAX));
    fails!(1, cuda, cuMemsetD8_v2(memory + 8, 1, usize::MAX));
    fails!(2, cuda, cuMemAlloc_v2(&raw mut address, usize::MAX));
    fails!(
        2,
        cuda,
        cuMemAllocAsync(&raw mut address, usize::MAX, ptr::null_mut())
    );
    let mut pointer = ptr::null_mut();
    fails!(2, cuda, cuMemHostAlloc(&raw mut pointer, usize::MAX, 0));
    fails!(
        1,
        cuda,
        cuMemHostRegister_v2(ptr::without_provenance_mut(4096), usize::MAX, 0)
    );
    fails!(1, cuda, cuMemcpyDtoH_v2(to, 0xdead000, 4));
    fails!(
        1,
        cuda,
        cuMemcpyDtoD_v2(memory, host.as_ptr().addr() as u64, 4)
    );
    ok!(cuda, cuMemsetD8_v2(0, 1, 0));
    fails!(1, cuda, cuMemsetD32_v2(memory + 1, 1, 1));
    fails!(1, cuda, cuMemsetD16_v2(memory + 1, 1, 1));
    fails!(1, cuda, cuMemsetD32_v2(memory, 1, 251));
    fails!(1, cuda, cuMemsetD32_v2(memory, 1, usize::MAX));
    let (mut base, mut size) = (0, 0);
    ok!(
        cuda,
        cuMemGetAddressRange_v2(&raw mut base, &raw mut size, memory + 10)
    );
    assert_eq!((base, size), (memory, 1000));
    fails!(
        500,
        cuda,
        cuMemGetAddressRange_v2(&raw mut base, &raw mut size, memory + 1000)
    );
    fails!(1, cuda, cuMemFree_v2(memory + 8));
    fails!(1, cuda, cuMemFree_v2(0xdead000));
    ok!(cuda, cuMemFree_v2(memory));
    fails!(1, cuda, cuMemFree_v2(memory));
    fails!(1, cuda, cuMemcpyHtoD_v2(memory, from, 4));
}

#[test]
fn pinned_memory_is_checked_as_by_the_driver() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let (mut pointer, mut flags, mut address) = (ptr::dangling_mut(), 0, 0);
    ok!(cuda, cuMemHostAlloc(&raw mut pointer, 0, 0));
    assert!(pointer.is_null());
    fails!(1, cuda, cuMemHostAlloc(&raw mut pointer, 64, 64));
    let pinned = rig.pinned(64);
    ok!(cuda, cuMemHostGetFlags(&raw mut flags, pinned));
    assert_eq!(flags, 2);
    ok!(
        cuda,
        cuMemHostGetDevicePointer_v2(&raw mut address, pinned.wrapping_byte_add(8), 0)
    );
    assert_eq!(address, pinned.addr() as u64 + 8);
    fails!(
        1,
        cuda,
        cuMemHostGetDevicePointer_v2(&raw mut address, pinned, 1)
    );
    fails!(1, cuda, cuMemFreeHost(pinned.wrapping_byte_add(8)));
    fails!(1, cuda, cuMemFree_v2(pinned.addr() as u64));
    fails!(1, cuda, cuMemHostUnregister(pinned));
    fails!(1, cuda, cuMemHostRegister_v2(pinned, 64, 0));
    let memory = rig.memory(128);
    fails!(
        1,
        cuda,
        cuMemcpyHtoDAsync_v2(memory, pinned, 128, ptr::null_mut())
    );
    ok!(cuda, cuMemFreeHost(pinned));
    fails!(1, cuda, cuMemFreeHost(pinned));
    ok!(cuda, cuMemFreeHost(ptr::null_mut()));

    let mut own = vec![0u8; 4096];
    let start = own.as_mut_ptr().cast();
    ok!(cuda, cuMemHostRegister_v2(start, 4096, 0));
    fails!(
        712,
        cuda,
        cuMemHostRegister_v2(start.wrapping_byte_add(100), 10, 0)
    );
    fails!(1, cuda, cuMemHostUnregister(start.wrapping_byte_add(8)));
    fails!(1, cuda, cuMemFreeHost(start));
    ok!(cuda, cuMemHostUnregister(start));
    fails!(713, cuda, cuMemHostUnregister(start));
    fails!(1, cuda, cuMemHostUnregister(ptr::null_mut()));
    fails!(1, cuda, cuMemHostRegister_v2(start, 0, 0));
}

#[test]
fn a_kernel_reads_and_writes_pinned_memory() {
    let rig = Rig::new();
    let pinned = rig.pinned(8);
    // SAFETY: the memory is 8 bytes long and nothing else uses it now.
    unsafe { pinned.cast::<[u32; 2]>().write([41, 0]) };
    let address = pinned.addr() as u64;
    let increment = rig.kernel("increment");
    assert_eq!(
        rig.launch(increment, 1, 1, ptr::null_mut(), &[address + 4, address]),
        support::SUCCESS
    );
    ok!(rig.cuda, cuCtxSynchronize());
    // SAFETY: the kernel has ended.
    assert_eq!(unsafe { pinned.cast::<[u32; 2]>().read() }, [41, 42]);
}

#[test]
fn pinned_sources_are_read_late_and_pageable_ones_at_once() {
    let late = |seed: u64, pinned: bool| {
        let rig = Rig::seeded(seed);
        let stream = rig.stream(1);
        let memory = rig.memory(4);
        let mut plain = Box::new(1u32);
        let source: *mut u32 = if pinned {
            rig.pinned(4).cast()
        } else {
            &raw mut *plain
        };
        // SAFETY: the source is valid and four bytes long; the copy is the device's business.
        unsafe { source.write_volatile(1) };
        ok!(
            rig.cuda,
            cuMemcpyHtoDAsync_v2(memory, source.cast(), 4, stream)
        );
        // SAFETY: as above.
        unsafe { source.write_volatile(2) };
        ok!(rig.cuda, cuStreamSynchronize(stream));
        rig.download(memory, 1)[0]
    };
    for seed in 0..10 {
        assert_eq!(late(seed, true), 2, "taken when the copy runs");
        assert_eq!(late(seed, false), 1, "taken before the call returned");
    }
}

#[test]
fn pinned_destinations_are_written_when_the_copy_runs() {
    let rig = Rig::new();
    let stream = rig.stream(1);
    let memory = rig.upload(&[9]);
    let pinned = rig.pinned(4).cast::<u32>();
    ok!(rig.cuda, cuCtxSynchronize());
    ok!(
        rig.cuda,
        cuMemcpyDtoHAsync_v2(pinned.cast(), memory, 4, stream)
    );
    // SAFETY: pinned memory is initialised, and nothing runs before a call waits or asks.
    assert_eq!(unsafe { pinned.read_volatile() }, 0xfbfb_fbfb);
    ok!(rig.cuda, cuStreamSynchronize(stream));
    // SAFETY: as above.
    assert_eq!(unsafe { pinned.read_volatile() }, 9);
}

#[test]
fn stream_ordered_memory_is_reused_at_once_and_forgotten() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let stream = rig.stream(0);
    let (mut a, mut b, mut c) = (0, 0, 0);
    ok!(cuda, cuMemAllocAsync(&raw mut a, 0, stream));
    assert_eq!(a, 0);
    ok!(cuda, cuMemAllocAsync(&raw mut a, 1000, stream));
    ok!(cuda, cuMemsetD8Async(a, 1, 1000, stream));
    fails!(1, cuda, cuMemFreeAsync(a + 8, stream));
    ok!(cuda, cuMemFreeAsync(a, stream));
    fails!(1, cuda, cuMemFreeAsync(a, stream));
    ok!(cuda, cuMemFreeAsync(0, stream));
    // The same stream gets it back before the free was executed, another stream only after.
    let other = rig.stream(1);
    ok!(cuda, cuMemAllocAsync(&raw mut c, 1000, other));
    assert_ne!(c, a);
    ok!(cuda, cuMemAllocAsync(&raw mut b, 1000, stream));
    assert_eq!(b, a);
    let mut bytes = [0u8; 4];
    ok!(
        cuda,
        cuMemcpyDtoHAsync_v2(bytes.as_mut_ptr().cast(), b, 4, stream)
    );
    assert_eq!(bytes, [0xcd; 4], "nothing is left of what the memory held");
    let kinds = rig
        .simulator
        .reports()
        .iter()
        .map(|it| it.kind)
        .collect::<Vec<_>>();
    let [
        ReportKind::InvalidFree,
        ReportKind::InvalidFree,
        ReportKind::UninitialisedRead,
    ] = kinds[..]
    else {
        panic!("{kinds:?}");
    };
    ok!(cuda, cuMemFree_v2(b));
    fails!(1, cuda, cuMemFree_v2(b));
    let plain = rig.memory(64);
    ok!(cuda, cuMemFreeAsync(plain, stream));
    ok!(cuda, cuMemFreeAsync(c, other));
    ok!(cuda, cuCtxSynchronize());
    assert_eq!(
        rig.simulator.leaks().len(),
        3,
        "the context and two streams: {:?}",
        rig.simulator.leaks()
    );
}

#[test]
fn use_in_the_wrong_stream_order_is_a_fault_for_some_seed() {
    let faults = |seed: u64, wait: bool| {
        let rig = Rig::seeded(seed);
        let (a, b, event) = (rig.stream(1), rig.stream(1), rig.event(2));
        let mut memory = 0;
        ok!(rig.cuda, cuMemAllocAsync(&raw mut memory, 64, a));
        ok!(rig.cuda, cuEventRecord(event, a));
        if wait {
            ok!(rig.cuda, cuStreamWaitEvent(b, event, 0));
        }
        ok!(rig.cuda, cuMemsetD8Async(memory, 1, 64, b));
        let result = support::call!(rig.cuda, cuStreamSynchronize(b));
        let kinds: Vec<ReportKind> = rig
            .simulator
            .reports()
            .iter()
            .map(|report| report.kind)
            .collect();
        assert_eq!(
            result.0 == 700,
            kinds == [ReportKind::UseBeforeAllocation],
            "{kinds:?}"
        );
        result.0 == 700
    };
    assert!((0..40).any(|seed| faults(seed, false)));
    assert!(!(0..40).any(|seed| faults(seed, true)));
}

#[test]
fn memory_ends_at_the_limit_and_comes_back() {
    let device = DeviceConfig {
        total_memory: 1 << 20,
        ..DeviceConfig::h200()
    };
    let rig = Rig::with(
        Simulator::builder()
            .devices(vec![device])
            .build()
            .expect("a free slot"),
    );
    let (mut free, mut total, mut more) = (0, 0, 0);
    let memory = rig.memory(1 << 19);
    ok!(rig.cuda, cuMemGetInfo_v2(&raw mut free, &raw mut total));
    assert_eq!((free, total), (1 << 19, 1 << 20));
    fails!(2, rig.cuda, cuMemAlloc_v2(&raw mut more, (1 << 19) + 1));
    fails!(
        2,
        rig.cuda,
        cuMemAllocAsync(&raw mut more, 1 << 20, ptr::null_mut())
    );
    ok!(rig.cuda, cuMemFree_v2(memory));
    // What a pool keeps is given up for an allocation that needs it.
    ok!(
        rig.cuda,
        cuMemAllocAsync(&raw mut more, 1 << 19, ptr::null_mut())
    );
    ok!(rig.cuda, cuMemFreeAsync(more, ptr::null_mut()));
    ok!(rig.cuda, cuCtxSynchronize());
    let whole = rig.memory(1 << 20);
    ok!(rig.cuda, cuMemFree_v2(whole));
}

#[test]
fn pools_count_what_they_hold() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let (mut pool, mut address) = (ptr::null_mut(), 0);
    ok!(cuda, cuDeviceGetDefaultMemPool(&raw mut pool, rig.device));
    let attribute = |number: u32| {
        let mut value = 0u64;
        ok!(
            cuda,
            cuMemPoolGetAttribute(
                pool,
                cuda_sys::CUmemPool_attribute(number),
                (&raw mut value).cast()
            )
        );
        value
    };
    assert_eq!([1, 4, 5, 7].map(attribute), [1, 0, 0, 0]);
    ok!(
        cuda,
        cuMemAllocAsync(&raw mut address, 1000, ptr::null_mut())
    );
    assert_eq!([5, 7].map(attribute), [32 << 20, 1000]);
    ok!(cuda, cuMemFreeAsync(address, ptr::null_mut()));
    ok!(cuda, cuStreamSynchronize(ptr::null_mut()));
    assert_eq!([5, 6, 7, 8].map(attribute), [0, 32 << 20, 0, 1000]);
    fails!(1, cuda, cuMemPoolDestroy(pool));
    fails!(1, cuda, cuMemPoolDestroy(ptr::null_mut()));
    let mut high = 5u64;
    let number = cuda_sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH;
    fails!(
        1,
        cuda,
        cuMemPoolSetAttribute(pool, number, (&raw mut high).cast())
    );
    high = 0;
    ok!(
        cuda,
        cuMemPoolSetAttribute(pool, number, (&raw mut high).cast())
    );
    assert_eq!(attribute(8), 0);
}
