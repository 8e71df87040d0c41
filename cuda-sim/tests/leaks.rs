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

#[test]
fn what_a_fault_keeps_from_being_released_is_counted_in_one_line() {
    let rig = Rig::new();
    let (stream, memory) = (rig.stream(0), rig.upload(&[0; 16]));
    rig.pinned(30);
    let module = rig.load(KERNELS);
    let increment = rig.function(module, "increment");
    let before = rig.simulator.verdict();
    assert_eq!((before.lost, before.leaks.len()), (0, 5));
    let text = before.to_string();
    assert!(text.starts_with("5 leaks\n- PrimaryContext"), "{text}");
    let hint = "\ndrop what uses the simulator before `assert_clean`\n(`Builder::call_sites(true)` names the lines)";
    assert!(text.ends_with(hint), "{text}");
    let launched = rig.launch(increment, 1, 1, stream, &[0xdead_0000, memory]);
    assert_eq!(launched, support::SUCCESS);
    let verdict = rig.simulator.verdict();
    assert_eq!((verdict.lost, verdict.leaks.as_slice()), (5, [].as_slice()));
    let text = verdict.to_string();
    assert!(text.starts_with("1 report\n- OutOfBounds"), "{text}");
    let line = "\n5 objects were left because the context is lost\n(`Builder::call_sites(true)` names the lines)";
    assert!(text.ends_with(line), "{text}");
    assert!(rig.simulator.leaks().iter().all(|leak| leak.is_lost));
    let _expected = rig.simulator.take_reports();
    rig.simulator.assert_clean();
}

#[test]
fn another_device_in_error_hides_no_leak() {
    let device = cuda_sim::DeviceConfig::h200();
    let builder = cuda_sim::Simulator::builder().devices(vec![device.clone(), device]);
    let rig = Rig::with(builder.build().expect("a free slot"));
    let mut other = std::ptr::null_mut();
    ok!(rig.cuda, cuCtxCreate_v2(&raw mut other, 0, rig.device + 1));
    let event = rig.event(0);
    ok!(rig.cuda, cuCtxSetCurrent(rig.context));
    let function = rig.function(rig.load(KERNELS), "increment");
    let launched = rig.launch(function, 1, 1, std::ptr::null_mut(), &[0xdead_0000, 0]);
    assert_eq!(launched, support::SUCCESS);
    let verdict = rig.simulator.verdict();
    let kinds: Vec<LeakKind> = verdict.leaks.iter().map(|leak| leak.kind).collect();
    assert_eq!(kinds, [LeakKind::Context, LeakKind::Event]);
    assert_eq!(verdict.leaks[1].handle, event.addr() as u64);
    assert_eq!(verdict.lost, 2, "the primary context and the module");
}
