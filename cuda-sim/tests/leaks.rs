//! What is left, with who made it.

mod support;

use cuda_sim::LeakKind;
use support::{KERNELS, Rig, ok};

#[test]
fn everything_unreleased_is_listed_with_its_call() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let before = rig.simulator.leaks();
    assert_eq!(
        before
            .iter()
            .map(|leak| (leak.kind, leak.size))
            .collect::<Vec<_>>(),
        [(LeakKind::PrimaryContext, 1)]
    );
    let stream = rig.stream(0);
    let event = rig.event(0);
    let memory = rig.memory(100);
    let mut pooled = 0;
    ok!(cuda, cuMemAllocAsync(&raw mut pooled, 50, stream));
    let pinned = rig.pinned(30);
    let module = rig.load(KERNELS);
    let leaks = rig.simulator.leaks();
    let kinds: Vec<(LeakKind, u64)> = leaks
        .iter()
        .skip(1)
        .map(|leak| (leak.kind, leak.size))
        .collect();
    let expected = [
        (LeakKind::Stream, 0),
        (LeakKind::Event, 0),
        (LeakKind::Memory, 100),
        (LeakKind::StreamOrderedMemory, 50),
        (LeakKind::PinnedMemory, 30),
        (LeakKind::Module, 0),
    ];
    assert_eq!(kinds, expected, "in the order in which they were made");
    assert!(leaks.windows(2).all(|pair| pair[0].call < pair[1].call));
    ok!(cuda, cuModuleUnload(module));
    ok!(cuda, cuMemFreeHost(pinned));
    ok!(cuda, cuMemFreeAsync(pooled, stream));
    ok!(cuda, cuMemFree_v2(memory));
    ok!(cuda, cuEventDestroy_v2(event));
    ok!(cuda, cuStreamDestroy_v2(stream));
    assert_eq!(rig.simulator.leaks(), before);
    ok!(cuda, cuDevicePrimaryCtxRelease_v2(rig.device));
    assert_eq!(rig.simulator.leaks(), []);
}

#[test]
fn what_went_with_its_context_is_no_leak() {
    let rig = Rig::new();
    let mut created = std::ptr::null_mut();
    ok!(rig.cuda, cuCtxCreate_v2(&raw mut created, 0, rig.device));
    rig.stream(0);
    rig.memory(10);
    rig.load(KERNELS);
    assert_eq!(rig.simulator.leaks().len(), 5);
    ok!(rig.cuda, cuCtxDestroy_v2(created));
    assert_eq!(rig.simulator.leaks().len(), 1);
}
