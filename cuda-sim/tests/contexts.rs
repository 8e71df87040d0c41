//! Contexts: the stack of each thread, primary contexts, and what is left of a context that is gone.

mod support;

use std::ptr;

use cuda_sim::{DeviceConfig, Simulator};
use support::{Rig, fails, ok};

#[test]
fn nothing_works_before_init() {
    let simulator = Simulator::new();
    let cuda = simulator.library();
    let (mut count, mut address) = (0, 0);
    fails!(3, cuda, cuDeviceGetCount(&raw mut count));
    fails!(3, cuda, cuMemAlloc_v2(&raw mut address, 4));
    let mut current = ptr::null_mut();
    fails!(3, cuda, cuCtxGetCurrent(&raw mut current));
    ok!(cuda, cuDriverGetVersion(&raw mut count));
    assert_eq!(count, 13_000);
    fails!(1, cuda, cuInit(1));
    ok!(cuda, cuInit(0));
    ok!(cuda, cuDeviceGetCount(&raw mut count));
    assert_eq!(count, 1);
}

#[test]
fn without_devices_init_says_so() {
    let simulator = Simulator::builder()
        .devices(Vec::new())
        .build()
        .expect("a free slot");
    fails!(100, simulator.library(), cuInit(0));
}

#[test]
fn calls_without_a_handle_need_a_current_context() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let stream = rig.stream(0);
    let event = rig.event(0);
    ok!(cuda, cuCtxSetCurrent(ptr::null_mut()));
    let (mut address, mut pointer) = (0, ptr::null_mut());
    let (mut made, mut other) = (ptr::null_mut(), ptr::null_mut());
    fails!(201, cuda, cuMemAlloc_v2(&raw mut address, 4));
    fails!(201, cuda, cuMemHostAlloc(&raw mut pointer, 4, 0));
    fails!(201, cuda, cuStreamCreate(&raw mut made, 0));
    fails!(201, cuda, cuEventCreate(&raw mut other, 0));
    fails!(201, cuda, cuCtxSynchronize());
    fails!(201, cuda, cuStreamQuery(ptr::null_mut()));
    fails!(201, cuda, cuStreamQuery(cuda_sys::CU_STREAM_LEGACY));
    fails!(201, cuda, cuMemcpyHtoD_v2(0, ptr::null(), 0));
    fails!(201, cuda, cuCtxPopCurrent_v2((&raw mut made).cast()));
    // Those that carry a handle need none.
    ok!(cuda, cuMemAllocAsync(&raw mut address, 64, stream));
    ok!(cuda, cuMemsetD8Async(address, 1, 64, stream));
    ok!(cuda, cuEventRecord(event, stream));
    ok!(cuda, cuEventSynchronize(event));
    ok!(cuda, cuMemFreeAsync(address, stream));
    ok!(cuda, cuStreamSynchronize(stream));
    ok!(cuda, cuEventDestroy_v2(event));
    ok!(cuda, cuStreamDestroy_v2(stream));
    ok!(cuda, cuMemFree_v2(0));
}

#[test]
fn an_old_driver_wants_a_context_for_everything() {
    let simulator = Simulator::builder()
        .old_driver(true)
        .build()
        .expect("a free slot");
    let rig = Rig::with(simulator);
    let stream = rig.stream(0);
    ok!(rig.cuda, cuStreamSynchronize(stream));
    ok!(rig.cuda, cuCtxSetCurrent(ptr::null_mut()));
    fails!(201, rig.cuda, cuStreamSynchronize(stream));
    ok!(rig.cuda, cuCtxPushCurrent_v2(rig.context));
    ok!(rig.cuda, cuStreamSynchronize(stream));
}

#[test]
fn the_stack_belongs_to_the_thread() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let mut created = ptr::null_mut();
    ok!(cuda, cuCtxCreate_v2(&raw mut created, 0, rig.device));
    assert_ne!(created, rig.context);
    let current = || {
        let mut context = ptr::null_mut();
        ok!(cuda, cuCtxGetCurrent(&raw mut context));
        context.addr()
    };
    assert_eq!(current(), created.addr());
    std::thread::scope(|scope| {
        let other = scope.spawn(current).join().expect("no panic");
        assert_eq!(other, 0);
    });
    let mut popped = ptr::null_mut();
    ok!(cuda, cuCtxPopCurrent_v2(&raw mut popped));
    assert_eq!((popped, current()), (created, rig.context.addr()));
    ok!(cuda, cuCtxPushCurrent_v2(created));
    // Destroying the current context takes it off the stack once.
    ok!(cuda, cuCtxPushCurrent_v2(created));
    ok!(cuda, cuCtxDestroy_v2(created));
    assert_eq!(current(), created.addr());
    fails!(709, cuda, cuCtxSynchronize());
    let mut device = -1;
    ok!(cuda, cuCtxGetDevice(&raw mut device));
    ok!(cuda, cuCtxPopCurrent_v2(ptr::null_mut()));
    assert_eq!(current(), rig.context.addr());
    fails!(1, cuda, cuCtxDestroy_v2(ptr::null_mut()));
    fails!(1, cuda, cuCtxPushCurrent_v2(ptr::null_mut()));
    fails!(201, cuda, cuCtxDestroy_v2(rig.context));
}

#[test]
fn a_context_ends_when_it_was_detached_from_as_often_as_it_was_attached_to() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let (mut context, mut attached) = (ptr::null_mut(), ptr::null_mut());
    ok!(cuda, cuCtxCreate_v2(&raw mut context, 0, rig.device));
    fails!(1, cuda, cuCtxAttach(&raw mut attached, 1));
    ok!(cuda, cuCtxAttach(&raw mut attached, 0));
    assert_eq!(attached, context);
    fails!(201, cuda, cuCtxDetach(rig.context));
    ok!(cuda, cuCtxDetach(context));
    ok!(cuda, cuCtxGetCurrent(&raw mut attached));
    assert_eq!(attached, context);
    ok!(cuda, cuCtxDetach(context));
    ok!(cuda, cuCtxGetCurrent(&raw mut attached));
    assert_eq!(attached, rig.context, "the one below");
    fails!(709, cuda, cuCtxSynchronize_v2(context));
}

#[test]
fn a_primary_context_lives_while_it_is_retained() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let (mut flags, mut active) = (9, 9);
    let mut again = ptr::null_mut();
    ok!(cuda, cuDevicePrimaryCtxRetain(&raw mut again, rig.device));
    assert_eq!(again, rig.context);
    ok!(cuda, cuDevicePrimaryCtxRelease_v2(rig.device));
    let mut address = 0;
    ok!(cuda, cuMemAlloc_v2(&raw mut address, 4));
    ok!(cuda, cuDevicePrimaryCtxRelease_v2(rig.device));
    fails!(201, cuda, cuDevicePrimaryCtxRelease_v2(rig.device));
    ok!(
        cuda,
        cuDevicePrimaryCtxGetState(rig.device, &raw mut flags, &raw mut active)
    );
    assert_eq!(active, 0);
    fails!(709, cuda, cuMemAlloc_v2(&raw mut address, 4));
    // The handle comes back to life.
    ok!(cuda, cuDevicePrimaryCtxRetain(&raw mut again, rig.device));
    assert_eq!(again, rig.context);
    ok!(cuda, cuMemAlloc_v2(&raw mut address, 4));
    fails!(1, cuda, cuDevicePrimaryCtxSetFlags_v2(rig.device, 3));
    ok!(cuda, cuDevicePrimaryCtxSetFlags_v2(rig.device, 4));
}

#[test]
fn after_a_reset_everything_is_destroyed() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let (stream, event, memory, pinned) =
        (rig.stream(0), rig.event(0), rig.memory(64), rig.pinned(64));
    let mut pooled = 0;
    ok!(cuda, cuMemAllocAsync(&raw mut pooled, 64, stream));
    let module = rig.load(support::KERNELS);
    ok!(cuda, cuDevicePrimaryCtxReset_v2(rig.device));
    fails!(709, cuda, cuMemFree_v2(memory));
    fails!(709, cuda, cuMemFreeAsync(pooled, stream));
    fails!(709, cuda, cuMemFreeHost(pinned));
    fails!(709, cuda, cuStreamQuery(stream));
    fails!(709, cuda, cuEventQuery(event));
    fails!(709, cuda, cuEventDestroy_v2(event));
    fails!(709, cuda, cuStreamDestroy_v2(stream));
    fails!(400, cuda, cuModuleUnload(module));
    fails!(709, cuda, cuCtxSynchronize());
    ok!(cuda, cuCtxSetCurrent(rig.context));
    // A pool belongs to its device.
    let mut kind = 0u32;
    let attribute = cuda_sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    ok!(
        cuda,
        cuPointerGetAttribute((&raw mut kind).cast(), attribute, pooled)
    );
}

#[test]
fn limits_are_rounded_and_refused_as_on_the_device() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let limit = |limit: u32| {
        let mut value = 0;
        let result = support::call!(
            cuda,
            cuCtxGetLimit(&raw mut value, cuda_sys::CUlimit(limit))
        );
        (result.0, value)
    };
    assert_eq!(
        [0, 2, 4, 5].map(limit),
        [(0, 1024), (0, 8 << 20), (0, 2048), (0, 64)]
    );
    assert_eq!(
        [3, 9, 10, 99].map(|number| limit(number).0),
        [215, 215, 1, 1]
    );
    ok!(cuda, cuCtxSetLimit(cuda_sys::CUlimit(0), 2000));
    ok!(cuda, cuCtxSetLimit(cuda_sys::CUlimit(1), 5000));
    ok!(cuda, cuCtxSetLimit(cuda_sys::CUlimit(6), 1 << 20));
    assert_eq!(
        [0, 1, 6].map(limit),
        [(0, 2000), (0, 524_288), (0, 3_932_160)]
    );
    fails!(1, cuda, cuCtxSetLimit(cuda_sys::CUlimit(0), 1 << 30));
    fails!(1, cuda, cuCtxSetLimit(cuda_sys::CUlimit(5), 200));
    let (mut least, mut greatest) = (9, 9);
    ok!(
        cuda,
        cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest)
    );
    assert_eq!((least, greatest), (0, -5));
}

#[test]
fn peers_are_other_devices() {
    let devices = vec![DeviceConfig::h200(), DeviceConfig::h200()];
    let rig = Rig::with(
        Simulator::builder()
            .devices(devices)
            .build()
            .expect("a free slot"),
    );
    let cuda = &rig.cuda;
    let (mut other, mut answer) = (-1, -1);
    ok!(cuda, cuDeviceGet(&raw mut other, 1));
    ok!(
        cuda,
        cuDeviceCanAccessPeer(&raw mut answer, rig.device, other)
    );
    assert_eq!(answer, 1);
    ok!(cuda, cuDeviceCanAccessPeer(&raw mut answer, other, other));
    assert_eq!(answer, 0);
    let mut there = ptr::null_mut();
    ok!(cuda, cuDevicePrimaryCtxRetain(&raw mut there, other));
    ok!(cuda, cuCtxPushCurrent_v2(there));
    let memory = rig.memory(64);
    ok!(cuda, cuMemsetD8_v2(memory, 3, 64));
    ok!(cuda, cuCtxSynchronize());
    ok!(cuda, cuCtxPopCurrent_v2(ptr::null_mut()));
    // A fill of another device's memory is refused, a copy is not, and a wait for its event is not.
    fails!(1, cuda, cuMemsetD8_v2(memory, 1, 4));
    let here = rig.memory(64);
    ok!(cuda, cuMemcpyDtoD_v2(here, memory, 64));
    assert_eq!(rig.download(here, 1), [0x0303_0303]);
    // A kernel reaches it once access is enabled.
    fails!(217, cuda, cuCtxEnablePeerAccess(rig.context, 0));
    fails!(705, cuda, cuCtxDisablePeerAccess(there));
    ok!(cuda, cuCtxEnablePeerAccess(there, 0));
    fails!(704, cuda, cuCtxEnablePeerAccess(there, 0));
    let increment = rig.kernel("increment");
    assert_eq!(
        rig.launch(increment, 1, 1, ptr::null_mut(), &[here, memory]),
        support::SUCCESS
    );
    assert_eq!(rig.download(here, 1), [0x0303_0304]);
    ok!(cuda, cuCtxDisablePeerAccess(there));
    assert_eq!(
        rig.launch(increment, 1, 1, ptr::null_mut(), &[here, memory]),
        support::SUCCESS
    );
    fails!(700, cuda, cuCtxSynchronize());
    assert!(
        rig.simulator.reports()[0].message.contains("peer access"),
        "{:?}",
        rig.simulator.reports()
    );
}
