//! Stream capture as other calls feel it: what is refused, and what kills a capture.

mod support;

use std::ptr;

use cuda_sys::{CUstream, CUstreamCaptureMode, CUstreamCaptureStatus};
use support::{Rig, call, fails, ok};

const GLOBAL: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
const THREAD_LOCAL: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
const RELAXED: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;

fn status(rig: &Rig, stream: CUstream) -> u32 {
    let mut status = CUstreamCaptureStatus(9);
    ok!(rig.cuda, cuStreamIsCapturing(stream, &raw mut status));
    status.0
}

fn end(rig: &Rig, stream: CUstream) -> u32 {
    let mut graph = ptr::null_mut();
    let result = call!(rig.cuda, cuStreamEndCapture(stream, &raw mut graph)).0;
    if result == 0 {
        ok!(rig.cuda, cuGraphDestroy(graph));
    }
    result
}

/// A call with its name.
type Named<'a> = (&'a str, &'a dyn Fn(&Rig) -> u32);

/// Makes a call on another thread and returns its code.
fn elsewhere(rig: &Rig, call: impl FnOnce(&Rig) -> u32) -> u32 {
    struct Shared<'a, F>(&'a Rig, F);
    // SAFETY: handles may be used on any thread, and the closures of this file capture nothing else.
    unsafe impl<F> Send for Shared<'_, F> {}
    let shared = Shared(rig, call);
    std::thread::scope(|scope| {
        let run = move || {
            let shared = shared;
            ok!(shared.0.cuda, cuCtxSetCurrent(shared.0.context));
            (shared.1)(shared.0)
        };
        scope.spawn(run).join().expect("no panic")
    })
}

#[test]
fn what_is_captured_is_not_executed() {
    let rig = Rig::new();
    let stream = rig.stream(0);
    let memory = rig.upload(&[0]);
    assert_eq!(end(&rig, stream), 401);
    fails!(
        900,
        rig.cuda,
        cuStreamBeginCapture_v2(ptr::null_mut(), THREAD_LOCAL)
    );
    fails!(
        1,
        rig.cuda,
        cuStreamBeginCapture_v2(stream, CUstreamCaptureMode(9))
    );
    ok!(rig.cuda, cuStreamBeginCapture_v2(stream, THREAD_LOCAL));
    fails!(401, rig.cuda, cuStreamBeginCapture_v2(stream, THREAD_LOCAL));
    assert_eq!(status(&rig, stream), 1);
    ok!(rig.cuda, cuMemsetD32Async(memory, 1, 1, stream));
    assert_eq!(
        elsewhere(&rig, |rig| call!(
            rig.cuda,
            cuMemsetD32Async(memory, 1, 1, stream)
        )
        .0),
        0
    );
    assert_eq!(end(&rig, stream), 0);
    assert_eq!(status(&rig, stream), 0);
    assert_eq!(rig.download(memory, 1), [0]);
}

#[test]
fn another_threads_global_capture_dies_of_unsafe_calls_only() {
    let rig = Rig::new();
    let (stream, other, event) = (rig.stream(1), rig.stream(1), rig.event(2));
    let (memory, pinned) = (rig.memory(64), rig.pinned(64));
    let module = rig.load(support::KERNELS);
    let killed = |call: &dyn Fn(&Rig) -> u32| {
        ok!(rig.cuda, cuStreamBeginCapture_v2(stream, GLOBAL));
        let result = elsewhere(&rig, call);
        (result, end(&rig, stream))
    };
    let mut address = 0u64;
    let place: *mut u64 = &raw mut address;
    let unsafe_calls: [Named<'_>; 10] = [
        ("EventQuery", &|rig| call!(rig.cuda, cuEventQuery(event)).0),
        ("StreamQuery", &|rig| {
            call!(rig.cuda, cuStreamQuery(other)).0
        }),
        ("StreamSynchronize", &|rig| {
            call!(rig.cuda, cuStreamSynchronize(other)).0
        }),
        ("EventSynchronize", &|rig| {
            call!(rig.cuda, cuEventSynchronize(event)).0
        }),
        ("MemAllocAsync", &|rig| {
            call!(rig.cuda, cuMemAllocAsync(place, 4, other)).0
        }),
        ("MemFreeAsync", &|rig| {
            call!(rig.cuda, cuMemFreeAsync(memory, other)).0
        }),
        ("MemAlloc", &|rig| {
            call!(rig.cuda, cuMemAlloc_v2(place, 4)).0
        }),
        ("MemFree", &|rig| call!(rig.cuda, cuMemFree_v2(memory)).0),
        ("MemFreeHost", &|rig| {
            call!(rig.cuda, cuMemFreeHost(pinned)).0
        }),
        ("ModuleUnload", &|rig| {
            call!(rig.cuda, cuModuleUnload(module)).0
        }),
    ];
    for (name, call) in unsafe_calls {
        assert_eq!(killed(call), (900, 901), "{name}");
    }
    let harmless: [Named<'_>; 5] = [
        ("EventRecord", &|rig| {
            call!(rig.cuda, cuEventRecord(event, other)).0
        }),
        ("StreamWaitEvent", &|rig| {
            call!(rig.cuda, cuStreamWaitEvent(other, event, 0)).0
        }),
        ("MemsetD8Async", &|rig| {
            call!(rig.cuda, cuMemsetD8Async(memory, 1, 4, other)).0
        }),
        ("StreamCreate", &|rig| {
            let stream = rig.stream(0);
            call!(rig.cuda, cuStreamDestroy_v2(stream)).0
        }),
        ("relaxed MemAlloc", &|rig| {
            let mut mode = RELAXED;
            ok!(rig.cuda, cuThreadExchangeStreamCaptureMode(&raw mut mode));
            assert_eq!(mode, GLOBAL);
            let result = call!(rig.cuda, cuMemAlloc_v2(place, 4)).0;
            ok!(rig.cuda, cuThreadExchangeStreamCaptureMode(&raw mut mode));
            assert_eq!(mode, RELAXED);
            result
        }),
    ];
    for (name, call) in harmless {
        assert_eq!(killed(call), (0, 0), "{name}");
    }
    // A capture in another mode does not mind.
    ok!(rig.cuda, cuStreamBeginCapture_v2(stream, THREAD_LOCAL));
    assert_eq!(
        elsewhere(&rig, |rig| call!(rig.cuda, cuEventQuery(event)).0 % 600),
        0
    );
    assert_eq!(end(&rig, stream), 0);
}

#[test]
fn the_capturing_thread_itself_must_not_wait() {
    let rig = Rig::new();
    let (stream, free) = (rig.stream(0), rig.stream(1));
    let (event, idle) = (rig.event(2), rig.event(2));
    let memory = rig.memory(4);
    let mut address = 0;
    let begin = |mode| ok!(rig.cuda, cuStreamBeginCapture_v2(stream, mode));
    begin(THREAD_LOCAL);
    fails!(900, rig.cuda, cuStreamQuery(stream));
    fails!(901, rig.cuda, cuMemsetD8Async(memory, 1, 4, stream));
    assert_eq!((status(&rig, stream), end(&rig, stream)), (2, 901));
    begin(THREAD_LOCAL);
    fails!(900, rig.cuda, cuEventQuery(idle));
    assert_eq!(end(&rig, stream), 901);
    begin(THREAD_LOCAL);
    ok!(rig.cuda, cuEventRecord(event, stream));
    fails!(907, rig.cuda, cuEventSynchronize(event));
    assert_eq!(end(&rig, stream), 901);
    fails!(1, rig.cuda, cuEventQuery(event));
    begin(RELAXED);
    ok!(rig.cuda, cuMemAlloc_v2(&raw mut address, 4));
    ok!(rig.cuda, cuStreamQuery(free));
    // The legacy default stream would have to wait for the captured one.
    fails!(
        906,
        rig.cuda,
        cuMemcpyHtoD_v2(memory, (&raw const address).cast(), 4)
    );
    assert_eq!(end(&rig, stream), 901);
    begin(THREAD_LOCAL);
    let mut found = CUstreamCaptureStatus(9);
    fails!(
        906,
        rig.cuda,
        cuStreamIsCapturing(ptr::null_mut(), &raw mut found)
    );
    assert_eq!(end(&rig, stream), 0, "asking does no harm");
    begin(RELAXED);
    fails!(900, rig.cuda, cuCtxSynchronize());
    assert_eq!(end(&rig, stream), 901);
}

#[test]
fn memory_and_events_in_a_capture() {
    let rig = Rig::new();
    let (stream, other, event) = (rig.stream(0), rig.stream(0), rig.event(2));
    let mut plain = 0;
    ok!(rig.cuda, cuMemAllocAsync(&raw mut plain, 4, other));
    ok!(rig.cuda, cuCtxSynchronize());
    ok!(rig.cuda, cuStreamBeginCapture_v2(stream, THREAD_LOCAL));
    fails!(1, rig.cuda, cuMemFreeAsync(plain, stream));
    let mut owned = 0;
    ok!(rig.cuda, cuMemAllocAsync(&raw mut owned, 64, stream));
    // An event of the capture draws another stream into it.
    ok!(rig.cuda, cuEventRecord(event, stream));
    ok!(rig.cuda, cuStreamWaitEvent(other, event, 0));
    assert_eq!(status(&rig, other), 1);
    assert_eq!(end(&rig, other), 903);
    assert_eq!(end(&rig, stream), 0);
    assert_eq!(status(&rig, other), 0);
    // Nothing but the graph can use what the graph owns.
    ok!(rig.cuda, cuMemsetD8Async(owned, 1, 64, other));
    fails!(700, rig.cuda, cuStreamSynchronize(other));
}

#[test]
fn a_capture_ends_on_its_own_thread() {
    let rig = Rig::new();
    let stream = rig.stream(0);
    ok!(rig.cuda, cuStreamBeginCapture_v2(stream, GLOBAL));
    assert_eq!(elsewhere(&rig, |rig| end(rig, stream)), 908);
    assert_eq!((status(&rig, stream), end(&rig, stream)), (0, 401));
    ok!(rig.cuda, cuStreamBeginCapture_v2(stream, GLOBAL));
    ok!(rig.cuda, cuStreamDestroy_v2(stream));
    let mut address = 0;
    ok!(rig.cuda, cuMemAlloc_v2(&raw mut address, 4));
}

#[test]
fn what_forks_off_must_be_joined() {
    let rig = Rig::new();
    let (stream, other, third) = (rig.stream(1), rig.stream(1), rig.stream(1));
    let (fork, join, memory) = (rig.event(2), rig.event(2), rig.memory(4));
    let begin = || {
        ok!(rig.cuda, cuStreamBeginCapture_v2(stream, GLOBAL));
        ok!(rig.cuda, cuMemsetD8Async(memory, 1, 4, stream));
        ok!(rig.cuda, cuEventRecord(fork, stream));
        ok!(rig.cuda, cuStreamWaitEvent(other, fork, 0));
    };
    let work = |stream| ok!(rig.cuda, cuMemsetD8Async(memory, 1, 4, stream));
    let wait = |from, to| {
        ok!(rig.cuda, cuEventRecord(join, from));
        ok!(rig.cuda, cuStreamWaitEvent(to, join, 0));
    };
    begin();
    work(other);
    let mut graph = ptr::dangling_mut();
    fails!(904, rig.cuda, cuStreamEndCapture(stream, &raw mut graph));
    assert!(graph.is_null());
    assert_eq!((status(&rig, stream), status(&rig, other)), (0, 0));
    begin();
    work(other);
    wait(other, stream);
    assert_eq!(end(&rig, stream), 0);
    begin();
    work(other);
    wait(other, stream);
    work(other);
    assert_eq!(end(&rig, stream), 904, "what came after the join");
    begin();
    assert_eq!(end(&rig, stream), 0, "nothing forked off");
    // By way of a third stream.
    begin();
    work(other);
    wait(other, third);
    wait(third, stream);
    assert_eq!(end(&rig, stream), 0);
    begin();
    work(other);
    wait(other, third);
    work(third);
    wait(other, stream);
    assert_eq!(end(&rig, stream), 904);
}

#[test]
fn two_captures_do_not_become_one() {
    let rig = Rig::new();
    let (stream, other, idle, event) = (rig.stream(1), rig.stream(1), rig.stream(1), rig.event(2));
    ok!(rig.cuda, cuStreamBeginCapture_v2(stream, RELAXED));
    ok!(rig.cuda, cuStreamBeginCapture_v2(other, RELAXED));
    ok!(rig.cuda, cuEventRecord(event, stream));
    fails!(902, rig.cuda, cuStreamWaitEvent(other, event, 0));
    // A dead capture draws nobody in.
    fails!(1, rig.cuda, cuStreamWaitEvent(idle, event, 0));
    assert_eq!((end(&rig, stream), end(&rig, other)), (901, 901));
    assert_eq!(status(&rig, idle), 0);
}
