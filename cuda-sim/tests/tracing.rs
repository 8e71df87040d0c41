//! The trace as lines of JSON: what it tells, and that equal programs give equal bytes.

mod support;

use cuda_sim::Simulator;
use support::{Rig, SUCCESS, fails, ok};

/// A program that uses handles, addresses, host memory and two devices.
fn program(rig: &Rig) {
    let cuda = &rig.cuda;
    let (stream, event) = (rig.stream(1), rig.event(2));
    let mut pooled = 0;
    ok!(cuda, cuMemAllocAsync(&raw mut pooled, 400, stream));
    let pinned = rig.pinned(400);
    ok!(cuda, cuMemcpyHtoDAsync_v2(pooled, pinned, 400, stream));
    let memory = rig.upload(&[1; 100]);
    let increment = rig.kernel("increment");
    let launched = rig.launch(increment, 1, 100, stream, &[pooled, memory]);
    assert_eq!(launched, SUCCESS);
    ok!(cuda, cuMemcpyDtoHAsync_v2(pinned, pooled + 16, 40, stream));
    ok!(cuda, cuEventRecord(event, stream));
    // Whether the work is done by now is up to the seed.
    let _ = support::call!(cuda, cuEventQuery(event));
    fails!(1, cuda, cuMemAlloc_v2(&raw mut pooled, 0));
    ok!(cuda, cuMemFreeAsync(pooled, stream));
    ok!(cuda, cuStreamSynchronize(stream));
    ok!(cuda, cuMemFree_v2(memory));
    ok!(cuda, cuMemFreeHost(pinned));
    ok!(cuda, cuStreamDestroy_v2(stream));
}

fn trace_of(seed: u64) -> String {
    let simulator = Simulator::builder().seed(seed).build().expect("a slot");
    simulator.set_trace(true);
    let rig = Rig::with(simulator);
    program(&rig);
    rig.simulator.trace_json()
}

#[test]
fn equal_programs_give_equal_bytes_in_every_slot() {
    for seed in 0..4 {
        let first = trace_of(seed);
        // Another slot, other addresses and other threads.
        let neighbours: Vec<_> = (0..3).map(|_| Simulator::new()).collect();
        let second = std::thread::spawn(move || trace_of(seed));
        assert_eq!(first, second.join().expect("no panic"));
        drop(neighbours);
        assert_eq!(first, trace_of(seed));
    }
}

#[test]
fn arguments_and_results_have_names() {
    let text = trace_of(1);
    let line = |symbol: &str| {
        let wanted = format!(r#""symbol":"{symbol}","#);
        let found = text.lines().find(|line| line.contains(&wanted));
        let line = found.expect("the call is listed");
        line.split_once(&wanted).expect("it has one").1.to_owned()
    };
    let expected = [
        (
            "cuDeviceGet",
            r#""arguments":{"device":"out","ordinal":0},"result":"CUDA_SUCCESS","stored":{"device":"device#0"}}"#,
        ),
        (
            "cuStreamCreate",
            r#""arguments":{"stream":"out","flags":1},"result":"CUDA_SUCCESS","stored":{"stream":"stream#1"}}"#,
        ),
        (
            "cuMemAllocAsync",
            r#""arguments":{"address":"out","size":400,"stream":"stream#1"},"result":"CUDA_SUCCESS","stored":{"address":"alloc#1"}}"#,
        ),
        (
            "cuMemcpyHtoDAsync_v2",
            r#""arguments":{"to":"alloc#1","from":"alloc#2","len":400,"stream":"stream#1"},"result":"CUDA_SUCCESS","stored":{}}"#,
        ),
        (
            "cuMemcpyHtoD_v2",
            r#""arguments":{"to":"alloc#3","from":"host","len":400},"result":"CUDA_SUCCESS","stored":{}}"#,
        ),
        (
            "cuMemcpyDtoHAsync_v2",
            r#""arguments":{"to":"alloc#2","from":"alloc#1+0x10","len":40,"stream":"stream#1"},"result":"CUDA_SUCCESS","stored":{}}"#,
        ),
        (
            "cuMemFree_v2",
            r#""arguments":{"address":"alloc#3"},"result":"CUDA_SUCCESS","stored":{}}"#,
        ),
        (
            "cuEventRecord",
            r#""arguments":{"event":"event#1","stream":"stream#1"},"result":"CUDA_SUCCESS","stored":{}}"#,
        ),
    ];
    for (symbol, rest) in expected {
        assert_eq!(line(symbol), rest, "{symbol}");
    }
    assert!(text.contains(r#""size":0},"result":"CUDA_ERROR_INVALID_VALUE","stored":{}}"#));
    assert!(
        text.lines()
            .all(|line| line.contains(r#""thread":"thread#1""#))
    );
}
