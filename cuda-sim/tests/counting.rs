//! Counting, tracing, and failures on demand.

mod support;

use std::ptr;

use cuda_sim::Simulator;
use cuda_sys::CUresult;
use support::{Rig, call, fails, ok};

#[test]
fn calls_are_counted_by_exact_symbol() {
    let rig = Rig::new();
    let stream = rig.stream(0);
    rig.simulator.reset_calls();
    ok!(rig.cuda, cuStreamQuery(stream));
    ok!(rig.cuda, cuStreamQuery_ptsz(stream));
    ok!(rig.cuda, cuStreamQuery(stream));
    fails!(
        400,
        rig.cuda,
        cuStreamQuery(ptr::without_provenance_mut(0x40))
    );
    let calls = rig.simulator.calls();
    assert_eq!(
        (
            calls.of("cuStreamQuery"),
            calls.of("cuStreamQuery_ptsz"),
            calls.total()
        ),
        (3, 1, 4)
    );
    assert_eq!(
        calls.to_string(),
        "3 × cuStreamQuery, 1 × cuStreamQuery_ptsz"
    );
    let before = rig.simulator.calls();
    ok!(rig.cuda, cuStreamDestroy_v2(stream));
    assert_eq!(
        rig.simulator.calls().since(&before).to_string(),
        "1 × cuStreamDestroy_v2"
    );
}

#[test]
fn the_trace_lists_calls_with_results() {
    let rig = Rig::new();
    rig.simulator.set_trace(true);
    rig.stream(0);
    fails!(
        400,
        rig.cuda,
        cuStreamQuery(ptr::without_provenance_mut(0x40))
    );
    let trace = rig.simulator.trace();
    let calls: Vec<(&str, u32)> = trace
        .iter()
        .map(|entry| (entry.symbol, entry.result.0))
        .collect();
    assert_eq!(calls, [("cuStreamCreate", 0), ("cuStreamQuery", 400)]);
    assert_eq!(trace[1].number, trace[0].number + 1);
    assert_eq!(trace[0].thread, trace[1].thread);
    rig.simulator.set_trace(false);
    rig.stream(0);
    assert_eq!(rig.simulator.trace(), []);
}

#[test]
fn the_nth_call_fails_and_does_nothing() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    rig.simulator
        .fail("cuMemAlloc_v2", 2, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let first = rig.memory(4);
    let mut address = 99;
    fails!(2, cuda, cuMemAlloc_v2(&raw mut address, 4));
    assert_eq!(address, 99);
    ok!(cuda, cuMemAlloc_v2(&raw mut address, 4));
    ok!(cuda, cuMemFree_v2(first));
    ok!(cuda, cuMemFree_v2(address));
    rig.simulator
        .fail("cuArrayDestroy", 1, CUresult::CUDA_ERROR_UNKNOWN);
    fails!(999, cuda, cuArrayDestroy(ptr::null_mut()));
    rig.simulator.fail("*", 3, CUresult::CUDA_ERROR_UNKNOWN);
    assert_eq!(rig.simulator.clear_failures(), 1);
}

#[test]
fn a_call_can_fail_after_it_was_executed() {
    let rig = Rig::new();
    let memory = rig.memory(4);
    rig.simulator
        .fail_after_executing("cuMemFree_v2", 1, CUresult::CUDA_ERROR_LAUNCH_FAILED);
    fails!(719, rig.cuda, cuMemFree_v2(memory));
    fails!(1, rig.cuda, cuMemFree_v2(memory));
}

#[test]
fn instances_are_apart() {
    let (one, other) = (Rig::new(), Rig::new());
    assert_ne!(one.device, other.device);
    let (stream, memory) = (one.stream(0), one.memory(4));
    let event = one.event(0);
    let mut value = 0;
    fails!(
        101,
        other.cuda,
        cuDeviceTotalMem_v2(&raw mut value, one.device)
    );
    fails!(400, other.cuda, cuStreamQuery(stream));
    fails!(400, other.cuda, cuEventQuery(event));
    fails!(1, other.cuda, cuMemFree_v2(memory));
    fails!(201, other.cuda, cuCtxSetCurrent(one.context));
    // The current context belongs to thread and instance.
    ok!(one.cuda, cuCtxSetCurrent(ptr::null_mut()));
    let mut current = ptr::null_mut();
    ok!(other.cuda, cuCtxGetCurrent(&raw mut current));
    assert_eq!(current, other.context);
    assert_eq!(other.simulator.call_count("cuStreamQuery"), 1);
    assert_eq!(one.simulator.call_count("cuStreamQuery"), 0);
}

#[test]
fn slots_come_back_and_a_library_keeps_its_instance() {
    for _ in 0..200 {
        let simulator = Simulator::new();
        let library = simulator.library();
        drop(simulator);
        ok!(library, cuInit(0));
    }
}

#[test]
fn many_threads_share_an_instance() {
    let simulator = Simulator::new();
    let cuda = simulator.library();
    ok!(cuda, cuInit(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut context = ptr::null_mut();
                let mut device = 0;
                ok!(cuda, cuDeviceGet(&raw mut device, 0));
                ok!(cuda, cuDevicePrimaryCtxRetain(&raw mut context, device));
                ok!(cuda, cuCtxSetCurrent(context));
                for _ in 0..50 {
                    let (mut stream, mut address) = (ptr::null_mut(), 0);
                    ok!(cuda, cuStreamCreate(&raw mut stream, 0));
                    ok!(cuda, cuMemAllocAsync(&raw mut address, 64, stream));
                    ok!(cuda, cuMemsetD8Async(address, 1, 64, stream));
                    ok!(cuda, cuMemFreeAsync(address, stream));
                    assert!(matches!(call!(cuda, cuStreamQuery(stream)).0, 0 | 600));
                    ok!(cuda, cuStreamDestroy_v2(stream));
                }
                ok!(cuda, cuDevicePrimaryCtxRelease_v2(device));
            });
        }
    });
    assert_eq!(simulator.leaks(), []);
    assert_eq!(simulator.reports(), []);
    assert_eq!(simulator.call_count("cuMemAllocAsync"), 400);
}
