//! Host functions: their order, and what they may call.

mod support;

use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;

use cuda_sys::{CUdeviceptr, CUevent, CUresult, CUstream, Library};
use support::{Rig, call, ok};

/// What a host function finds out.
struct Visit<'a> {
    cuda: &'a Library,
    stream: CUstream,
    event: CUevent,
    memory: CUdeviceptr,
    pinned: *mut u32,
    seen: Mutex<Vec<(&'static str, u32)>>,
}

unsafe extern "system" fn visit(data: *mut c_void) {
    // SAFETY: the test passes a visit that outlives the stream's work.
    let visit = unsafe { &*data.cast::<Visit<'_>>() };
    let (cuda, stream) = (visit.cuda, visit.stream);
    let (mut context, mut value, mut address) = (ptr::null_mut(), 0, 0);
    // SAFETY: the copy before this function has written the word.
    let word = unsafe { visit.pinned.read_volatile() };
    let seen = vec![
        ("word", word),
        ("cuStreamQuery", call!(cuda, cuStreamQuery(stream)).0),
        (
            "cuStreamSynchronize",
            call!(cuda, cuStreamSynchronize(stream)).0,
        ),
        ("cuEventQuery", call!(cuda, cuEventQuery(visit.event)).0),
        (
            "cuEventRecord",
            call!(cuda, cuEventRecord(visit.event, stream)).0,
        ),
        (
            "cuCtxGetCurrent",
            call!(cuda, cuCtxGetCurrent(&raw mut context)).0,
        ),
        (
            "cuDeviceGetCount",
            call!(cuda, cuDeviceGetCount(&raw mut value)).0,
        ),
        (
            "cuMemAlloc",
            call!(cuda, cuMemAlloc_v2(&raw mut address, 4)).0,
        ),
        ("cuMemFree", call!(cuda, cuMemFree_v2(visit.memory)).0),
        (
            "cuMemFreeAsync",
            call!(cuda, cuMemFreeAsync(visit.memory, stream)).0,
        ),
        (
            "cuMemsetD8Async",
            call!(cuda, cuMemsetD8Async(visit.memory, 9, 1, stream)).0,
        ),
        (
            "cuDriverGetVersion",
            call!(cuda, cuDriverGetVersion(&raw mut value)).0,
        ),
    ];
    *visit.seen.lock().expect("no panic") = seen;
}

#[test]
fn a_host_function_comes_in_order_and_may_call_little() {
    for seed in 0..10 {
        let rig = Rig::seeded(seed);
        let (stream, event, memory) = (rig.stream(1), rig.event(2), rig.upload(&[5]));
        ok!(rig.cuda, cuCtxSynchronize());
        let pinned = rig.pinned(4).cast();
        let seen = Mutex::new(Vec::new());
        let visit_data = Visit {
            cuda: &rig.cuda,
            stream,
            event,
            memory,
            pinned,
            seen,
        };
        ok!(
            rig.cuda,
            cuMemcpyDtoHAsync_v2(pinned.cast(), memory, 4, stream)
        );
        ok!(
            rig.cuda,
            cuLaunchHostFunc(
                stream,
                Some(visit),
                (&raw const visit_data).cast_mut().cast()
            )
        );
        ok!(rig.cuda, cuStreamSynchronize(stream));
        let expected = [
            ("word", 5),
            ("cuStreamQuery", 600),
            ("cuStreamSynchronize", 800),
            ("cuEventQuery", 0),
            ("cuEventRecord", 0),
            ("cuCtxGetCurrent", 800),
            ("cuDeviceGetCount", 800),
            ("cuMemAlloc", 800),
            ("cuMemFree", 800),
            ("cuMemFreeAsync", 800),
            ("cuMemsetD8Async", 0),
            ("cuDriverGetVersion", 0),
        ];
        assert_eq!(
            *visit_data.seen.lock().expect("no panic"),
            expected,
            "seed {seed}"
        );
        let kinds: Vec<_> = rig
            .simulator
            .reports()
            .iter()
            .map(|report| report.kind)
            .collect();
        assert_eq!(
            kinds,
            [cuda_sim::ReportKind::HostFunction],
            "the wait that would never end"
        );
        ok!(rig.cuda, cuCtxSynchronize());
        assert_eq!(
            rig.download(memory, 1)[0] & 0xff,
            9,
            "what the host function enqueued was executed"
        );
    }
}

unsafe extern "system" fn note(stream: CUstream, status: CUresult, data: *mut c_void) {
    // SAFETY: the test passes a list that outlives the stream's work.
    let list = unsafe { &*data.cast::<Mutex<Vec<(usize, u32)>>>() };
    list.lock()
        .expect("no panic")
        .push((stream.addr(), status.0));
}

#[test]
fn a_callback_learns_the_stream_and_the_error() {
    let rig = Rig::new();
    let (stream, other) = (rig.stream(1), rig.stream(1));
    let list: Mutex<Vec<(usize, u32)>> = Mutex::new(Vec::new());
    let data = (&raw const list).cast_mut().cast();
    ok!(rig.cuda, cuStreamAddCallback(stream, Some(note), data, 0));
    ok!(rig.cuda, cuStreamSynchronize(stream));
    let memory = rig.memory(4);
    assert_eq!(
        rig.launch(rig.kernel("increment"), 1, 1, other, &[0xdead_0000, memory])
            .0,
        0
    );
    ok!(rig.cuda, cuStreamAddCallback(other, Some(note), data, 0));
    support::fails!(700, rig.cuda, cuStreamSynchronize(other));
    assert_eq!(
        *list.lock().expect("no panic"),
        [(stream.addr(), 0), (other.addr(), 700)]
    );
    support::fails!(1, rig.cuda, cuStreamAddCallback(stream, None, data, 0));
    support::fails!(1, rig.cuda, cuLaunchHostFunc(stream, None, data));
}

#[test]
fn other_streams_go_on_while_a_host_function_runs() {
    unsafe extern "system" fn wait(data: *mut c_void) {
        // SAFETY: the test passes a barrier that outlives the stream's work.
        unsafe { &*data.cast::<std::sync::Barrier>() }.wait();
    }
    let rig = Rig::new();
    let (stream, other) = (rig.stream(1), rig.stream(1));
    let memory = rig.memory(4);
    let barrier = std::sync::Barrier::new(2);
    ok!(
        rig.cuda,
        cuLaunchHostFunc(stream, Some(wait), (&raw const barrier).cast_mut().cast())
    );
    while rig.simulator.pending_operations() > 0 {
        // Asking starts the host function sooner or later; it waits for us.
        assert_eq!(call!(rig.cuda, cuStreamQuery(stream)).0, 600);
        ok!(rig.cuda, cuMemsetD32Async(memory, 1, 1, other));
        ok!(rig.cuda, cuStreamSynchronize(other));
        if rig.simulator.pending_operations() == 1 {
            break;
        }
    }
    barrier.wait();
    ok!(rig.cuda, cuCtxSynchronize());
}

#[test]
fn a_host_function_runs_although_nobody_waits() {
    unsafe extern "system" fn tell(data: *mut c_void) {
        // SAFETY: the test passes a boxed sender and gives it up.
        let sender = unsafe { Box::from_raw(data.cast::<std::sync::mpsc::Sender<u32>>()) };
        sender.send(7).expect("the test listens");
    }
    let rig = Rig::new();
    let stream = rig.stream(1);
    let (sender, receiver) = std::sync::mpsc::channel();
    let data = Box::into_raw(Box::new(sender)).cast();
    ok!(rig.cuda, cuLaunchHostFunc(stream, Some(tell), data));
    assert_eq!(
        receiver.recv_timeout(std::time::Duration::from_secs(60)),
        Ok(7)
    );
}
