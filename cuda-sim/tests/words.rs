//! Words that streams write and wait for.

mod support;

use std::ptr;
use std::time::{Duration, Instant};

use cuda_sim::{ReportKind, Simulator};
use cuda_sys::{CUstreamBatchMemOpParams, CUstreamBatchMemOpType};
use support::{Rig, call, fails, ok};

const AT_LEAST: u32 = 0;
const EQUAL: u32 = 1;
const AND: u32 = 2;
const NOR: u32 = 3;

#[test]
fn a_stream_waits_for_another_ones_write() {
    for seed in 0..20 {
        let rig = Rig::seeded(seed);
        let cuda = &rig.cuda;
        let (flag, data, copy) = (rig.upload(&[0, 0]), rig.upload(&[1]), rig.upload(&[0]));
        ok!(cuda, cuCtxSynchronize());
        let (writer, reader) = (rig.stream(1), rig.stream(1));
        ok!(cuda, cuStreamWaitValue32_v2(reader, flag, 1, AT_LEAST));
        ok!(cuda, cuMemcpyDtoDAsync_v2(copy, data, 4, reader));
        ok!(cuda, cuMemsetD32Async(data, 42, 1, writer));
        ok!(cuda, cuStreamWriteValue32_v2(writer, flag, 1, 0));
        ok!(cuda, cuStreamSynchronize(reader));
        assert_eq!(rig.download(copy, 1), [42], "seed {seed}");
        // The wait orders what it has waited for: no race.
        assert_eq!(rig.simulator.reports(), []);
    }
}

#[test]
fn each_condition_holds_up_its_stream() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let flag = rig.upload(&[0, 0]);
    ok!(cuda, cuCtxSynchronize());
    let (reader, writer) = (rig.stream(1), rig.stream(1));
    let set = |value| {
        ok!(cuda, cuStreamWriteValue64_v2(writer, flag, value, 0));
        ok!(cuda, cuStreamSynchronize(writer));
    };
    for (condition, value, not_yet, then) in [
        (AT_LEAST, 5, 4, 6),
        (EQUAL, 5, 6, 5),
        (AND, 6, 9, 2),
        (NOR, 0xffff_ffff_0000_0000, 0xffff_ffff, 0),
    ] {
        set(not_yet);
        ok!(cuda, cuStreamWaitValue64_v2(reader, flag, value, condition));
        for _ in 0..50 {
            fails!(600, cuda, cuStreamQuery(reader));
        }
        set(then);
        ok!(cuda, cuStreamSynchronize(reader));
    }
}

#[test]
fn the_host_ends_a_wait_by_writing() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let pinned = rig.pinned(8);
    let (address, answer) = (pinned.addr() as u64, pinned.addr() as u64 + 4);
    let stream = rig.stream(1);
    ok!(cuda, cuStreamWaitValue32_v2(stream, address, 7, EQUAL));
    ok!(cuda, cuStreamWriteValue32_v2(stream, answer, 9, 0));
    fails!(600, cuda, cuStreamQuery(stream));
    let words: *mut u32 = pinned.cast();
    // SAFETY: the memory is alive; the software driver reads the word from its own thread, as a device would.
    unsafe { words.write_volatile(7) };
    // The host asks the driver for nothing, and still sees the answer.
    let start = Instant::now();
    let answered = || {
        let second = words.wrapping_add(1);
        // SAFETY: as above.
        unsafe { second.read_volatile() == 9 }
    };
    while !answered() {
        assert!(start.elapsed() < Duration::from_secs(20), "no answer came");
        std::thread::sleep(Duration::from_millis(1));
    }
    ok!(cuda, cuStreamSynchronize(stream));
}

#[test]
fn a_wait_that_nothing_ends_is_given_up() {
    let builder = Simulator::builder().wait_patience(Duration::from_millis(30));
    let rig = Rig::with(builder.build().expect("a free slot"));
    let cuda = &rig.cuda;
    let flag = rig.upload(&[3]);
    ok!(cuda, cuCtxSynchronize());
    let stream = rig.stream(1);
    ok!(cuda, cuStreamWaitValue32_v2(stream, flag, 4, EQUAL));
    fails!(702, cuda, cuStreamSynchronize(stream));
    fails!(702, cuda, cuMemsetD8_v2(flag, 0, 4));
    let reports = rig.simulator.reports();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].kind, ReportKind::Deadlock);
    assert!(reports[0].message.contains("holds 0x3"), "{}", reports[0]);
}

#[test]
fn without_deferring_a_wait_still_returns_at_once() {
    let builder = Simulator::builder().deferred(false);
    let rig = Rig::with(builder.build().expect("a free slot"));
    let cuda = &rig.cuda;
    let flag = rig.upload(&[0]);
    let (reader, writer) = (rig.stream(1), rig.stream(1));
    ok!(cuda, cuStreamWaitValue32_v2(reader, flag, 1, EQUAL));
    ok!(cuda, cuMemsetD32Async(flag, 5, 1, reader));
    fails!(600, cuda, cuStreamQuery(reader));
    ok!(cuda, cuStreamWriteValue32_v2(writer, flag, 1, 0));
    ok!(cuda, cuStreamSynchronize(reader));
    assert_eq!(rig.download(flag, 1), [5]);
}

#[test]
fn arguments_are_checked() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let memory = rig.upload(&[0; 4]);
    let pinned = rig.pinned(64).addr() as u64;
    let mut managed = 0;
    ok!(cuda, cuMemAllocManaged(&raw mut managed, 64, 1));
    let stream = rig.stream(1);
    let here = [0u64];
    for address in [
        managed,
        here.as_ptr().addr() as u64,
        0,
        memory + 2,
        memory + 16,
    ] {
        fails!(1, cuda, cuStreamWriteValue32_v2(stream, address, 1, 0));
        fails!(1, cuda, cuStreamWaitValue32_v2(stream, address, 1, 0));
    }
    fails!(1, cuda, cuStreamWriteValue64_v2(stream, pinned + 4, 1, 0));
    ok!(cuda, cuStreamWriteValue32_v2(stream, pinned + 4, 1, 0));
    for flags in [1, 2] {
        fails!(1, cuda, cuStreamWriteValue32_v2(stream, memory, 1, flags));
    }
    for flags in [4, 5, 8] {
        fails!(1, cuda, cuStreamWaitValue32_v2(stream, memory, 1, flags));
    }
    fails!(
        801,
        cuda,
        cuStreamWaitValue32_v2(stream, memory, 1, 1 << 30)
    );
    // The older functions need a driver that was told to have them.
    fails!(801, cuda, cuStreamWriteValue32(stream, memory, 1, 0));
    let attribute = |number| {
        let (mut value, attribute) = (9, cuda_sys::CUdevice_attribute(number));
        ok!(
            cuda,
            cuDeviceGetAttribute(&raw mut value, attribute, rig.device)
        );
        value
    };
    assert_eq!(
        [92, 93, 94, 98, 122, 123].map(attribute),
        [0, 0, 0, 0, 1, 1]
    );
}

fn operation(kind: u32, address: u64, value: u32, flags: u32) -> CUstreamBatchMemOpParams {
    let mut operation = CUstreamBatchMemOpParams { pad: [0; 6] };
    let mut params = cuda_sys::CUstreamMemOpWaitValueParams {
        operation: CUstreamBatchMemOpType(kind),
        address,
        flags,
        ..Default::default()
    };
    params.anonymous.value = value;
    operation.waitValue = params;
    operation
}

#[test]
fn batches_run_in_order_or_not_at_all() {
    const WAIT: u32 = 1;
    const WRITE: u32 = 2;
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let memory = rig.upload(&[0; 300]);
    ok!(cuda, cuCtxSynchronize());
    let stream = rig.stream(1);
    let run = |operations: &[CUstreamBatchMemOpParams], flags| {
        let mut operations = operations.to_vec();
        let count = operations.len() as u32;
        let first = operations.as_mut_ptr();
        call!(cuda, cuStreamBatchMemOp_v2(stream, count, first, flags)).0
    };
    let write = operation(WRITE, memory, 3, 0);
    let wait = operation(WAIT, memory, 3, EQUAL);
    let barrier = |kind| {
        let mut operation = operation(6, 0, 0, 0);
        operation.memoryBarrier = cuda_sys::CUstreamMemOpMemoryBarrierParams {
            operation: CUstreamBatchMemOpType(6),
            flags: kind,
        };
        operation
    };
    let second = operation(WRITE, memory + 4, 4, 0);
    assert_eq!(run(&[write, barrier(0), wait, barrier(1), second], 0), 0);
    ok!(cuda, cuStreamSynchronize(stream));
    assert_eq!(rig.download(memory, 2), [3, 4]);
    assert_eq!(
        run(&[operation(WRITE, memory, 9, 0), operation(99, 0, 0, 0)], 0),
        1
    );
    ok!(cuda, cuStreamSynchronize(stream));
    assert_eq!(rig.download(memory, 1), [3]);
    assert_eq!(run(&[], 0), 0);
    assert_eq!(run(&[write], 1), 1);
    assert_eq!(run(&[barrier(2)], 0), 1);
    assert_eq!(run(&[operation(3, 0, 0, 0)], 0), 801);
    assert_eq!(run(&vec![write; 255], 0), 0);
    assert_eq!(run(&vec![write; 256], 0), 1);
    fails!(
        1,
        cuda,
        cuStreamBatchMemOp_v2(stream, 1, ptr::null_mut(), 0)
    );
}
