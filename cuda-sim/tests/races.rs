//! Operations that nothing orders, each kind against another, and what does order them.

mod support;

use std::ptr;

use cuda_sim::{AccessKind, Race, ReportKind, Simulator};
use cuda_sys::CUstream;
use support::{Rig, SUCCESS, ok};

/// `CU_STREAM_NON_BLOCKING`
const APART: u32 = 1;

/// Runs a program under several seeds, and gives the races that each found.
fn races_of(program: impl Fn(&Rig)) -> Vec<Vec<Race>> {
    (0..6)
        .map(|seed| {
            let builder = Simulator::builder().seed(seed).call_sites(true);
            let rig = Rig::with(builder.build().expect("a free slot"));
            program(&rig);
            ok!(rig.cuda, cuCtxSynchronize());
            let reports = rig.simulator.take_reports();
            let race = |report: cuda_sim::Report| {
                assert_eq!(report.kind, ReportKind::Race, "{report}");
                *report.race.expect("a race has two sides")
            };
            reports.into_iter().map(race).collect()
        })
        .collect()
}

fn fill(rig: &Rig, at: u64, words: usize, stream: CUstream) {
    ok!(rig.cuda, cuMemsetD32Async(at, 7, words, stream));
}

fn copy(rig: &Rig, to: u64, from: u64, words: usize, stream: CUstream) {
    ok!(rig.cuda, cuMemcpyDtoDAsync_v2(to, from, words * 4, stream));
}

#[test]
fn two_writes_race_and_both_are_named_with_their_places() {
    for races in races_of(|rig| {
        let memory = rig.memory(400);
        let (one, other) = (rig.stream(APART), rig.stream(APART));
        fill(rig, memory, 60, one);
        fill(rig, memory + 200, 50, other);
    }) {
        let [race] = races.as_slice() else {
            panic!("{races:?}")
        };
        assert_eq!(race.bytes.end - race.bytes.start, 40);
        for side in [&race.first, &race.second] {
            assert_eq!(
                (side.operation.as_str(), side.access),
                ("fill", AccessKind::Write)
            );
            let site = side.site.as_ref().expect("call sites are on");
            let file = site.file.as_ref().expect("tests have line tables");
            assert!(file.contains("/cuda-sim/tests/"), "{site}");
            assert!(site.function.ends_with("fill") && site.line.is_some());
        }
        assert_ne!(race.first.stream, race.second.stream);
    }
}

#[test]
fn reads_do_not_race_and_neither_do_neighbours() {
    for races in races_of(|rig| {
        let (memory, copies) = (rig.upload(&[1; 100]), rig.memory(400));
        let (one, other) = (rig.stream(APART), rig.stream(APART));
        ok!(rig.cuda, cuCtxSynchronize());
        copy(rig, copies, memory, 50, one);
        copy(rig, copies + 200, memory, 50, other);
    }) {
        assert_eq!(races, []);
    }
}

#[test]
fn a_kernel_is_held_to_what_it_really_touches() {
    for (len, expected) in [(10_u64, 0), (11, 1)] {
        for races in races_of(|rig| {
            let (a, sum) = (rig.upload(&[0; 100]), rig.upload(&[0; 100]));
            let (one, other) = (rig.stream(APART), rig.stream(APART));
            let add = rig.kernel("vector_add");
            ok!(rig.cuda, cuCtxSynchronize());
            // Whole blocks are launched; the kernel's own bound says how far they write.
            let launched = rig.launch(add, 1, 32, one, &[a, a, sum, len]);
            assert_eq!(launched, SUCCESS);
            fill(rig, sum + 40, 20, other);
        }) {
            assert_eq!(races.len(), expected, "{races:?}");
        }
    }
}

#[test]
fn atomics_race_with_all_but_atomics() {
    for (with_read, expected) in [(false, 0), (true, 2)] {
        for races in races_of(|rig| {
            let (counter, copied) = (rig.upload(&[0, 0]), rig.memory(8));
            let count = rig.kernel("add_atomically");
            let streams = [rig.stream(APART), rig.stream(APART), rig.stream(APART)];
            ok!(rig.cuda, cuCtxSynchronize());
            for stream in &streams[..2] {
                assert_eq!(rig.launch(count, 2, 64, *stream, &[counter]), SUCCESS);
            }
            if with_read {
                copy(rig, copied, counter, 1, streams[2]);
            }
        }) {
            assert_eq!(races.len(), expected, "{races:?}");
        }
    }
}

#[test]
fn events_streams_and_waits_order() {
    for races in races_of(|rig| {
        let cuda = &rig.cuda;
        let memory = rig.memory(40);
        let (one, other) = (rig.stream(APART), rig.stream(APART));
        fill(rig, memory, 10, one);
        let event = rig.event(2);
        ok!(cuda, cuEventRecord(event, one));
        ok!(cuda, cuStreamWaitEvent(other, event, 0));
        fill(rig, memory, 10, other);
        // The host waits for one stream and goes on with another; the stream that it waited for is gone.
        ok!(cuda, cuStreamSynchronize(other));
        ok!(cuda, cuStreamDestroy_v2(other));
        fill(rig, memory, 10, one);
        let third = rig.stream(APART);
        ok!(cuda, cuEventRecord(event, one));
        ok!(cuda, cuEventSynchronize(event));
        fill(rig, memory, 10, third);
    }) {
        assert_eq!(races, []);
    }
}

#[test]
fn an_event_orders_only_what_was_before_it() {
    for races in races_of(|rig| {
        let cuda = &rig.cuda;
        let memory = rig.memory(40);
        let (one, other) = (rig.stream(APART), rig.stream(APART));
        let event = rig.event(2);
        ok!(cuda, cuEventRecord(event, one));
        fill(rig, memory, 10, one);
        ok!(cuda, cuStreamWaitEvent(other, event, 0));
        fill(rig, memory, 10, other);
    }) {
        assert_eq!(races.len(), 1);
    }
}

#[test]
fn the_default_stream_orders_streams_that_block_even_when_they_are_gone() {
    for (flags, expected) in [(0, 0), (APART, 1)] {
        for races in races_of(|rig| {
            let memory = rig.memory(40);
            let stream = rig.stream(flags);
            fill(rig, memory, 10, stream);
            ok!(rig.cuda, cuStreamDestroy_v2(stream));
            fill(rig, memory, 10, ptr::null_mut());
            if flags == 0 {
                let next = rig.stream(flags);
                fill(rig, memory, 10, next);
            }
        }) {
            assert_eq!(races.len(), expected, "{races:?}");
        }
    }
}

#[test]
fn a_synchronous_copy_does_not_wait_for_streams_that_do_not_block() {
    for races in races_of(|rig| {
        let memory = rig.upload(&[1; 10]);
        ok!(rig.cuda, cuCtxSynchronize());
        fill(rig, memory, 10, rig.stream(APART));
        rig.download(memory, 10);
    }) {
        assert_eq!(races.len(), 1);
        assert_eq!(races[0].first.operation.as_str().len(), 4);
    }
}

#[test]
fn stream_ordered_memory_is_used_between_its_allocation_and_its_release() {
    for races in races_of(|rig| {
        let cuda = &rig.cuda;
        let (one, other) = (rig.stream(APART), rig.stream(APART));
        let mut memory = 0;
        ok!(cuda, cuMemAllocAsync(&raw mut memory, 400, one));
        fill(rig, memory, 100, one);
        let event = rig.event(2);
        ok!(cuda, cuEventRecord(event, one));
        ok!(cuda, cuStreamWaitEvent(other, event, 0));
        fill(rig, memory, 100, other);
        ok!(cuda, cuEventRecord(event, other));
        ok!(cuda, cuStreamWaitEvent(one, event, 0));
        ok!(cuda, cuMemFreeAsync(memory, one));
        // The same block again, for another stream, as soon as its release was executed.
        ok!(cuda, cuStreamSynchronize(one));
        let mut again = 0;
        ok!(cuda, cuMemAllocAsync(&raw mut again, 400, other));
        assert_eq!(again, memory);
        fill(rig, again, 100, other);
        ok!(cuda, cuMemFreeAsync(again, other));
    }) {
        assert_eq!(races, []);
    }
}

#[test]
fn a_release_races_with_a_use_that_it_does_not_wait_for() {
    let mut found = 0;
    for seed in 0..8 {
        let rig = Rig::seeded(seed);
        let cuda = &rig.cuda;
        let (one, other) = (rig.stream(APART), rig.stream(APART));
        let mut memory = 0;
        ok!(cuda, cuMemAllocAsync(&raw mut memory, 400, one));
        ok!(cuda, cuStreamSynchronize(one));
        fill(&rig, memory, 100, other);
        ok!(cuda, cuMemFreeAsync(memory, one));
        // Where the release comes first, the fill finds no memory: the device is lost.
        let _ = support::call!(cuda, cuCtxSynchronize());
        let reports = rig.simulator.take_reports();
        assert!(!reports.is_empty(), "seed {seed}");
        found += usize::from(reports.iter().any(|report| report.kind == ReportKind::Race));
    }
    assert_eq!(found, 8);
}

#[test]
fn what_a_host_function_waited_for_comes_before_what_follows_it() {
    use std::ffi::c_void;
    use std::sync::mpsc::{Receiver, Sender, channel};

    struct Channels(Sender<()>, Receiver<()>);
    unsafe extern "system" fn meet(data: *mut c_void) {
        // SAFETY: the test passes channels that live until the function has returned.
        let channels = unsafe { &*data.cast::<Channels>() };
        channels.0.send(()).expect("the test listens");
        channels.1.recv().expect("the test answers");
    }
    for races in races_of(|rig| {
        let cuda = &rig.cuda;
        let (memory, other_memory) = (rig.memory(40), rig.memory(40));
        let (one, other) = (rig.stream(APART), rig.stream(APART));
        let ((began, begins), (answer, answered)) = (channel(), channel());
        let channels = Channels(began, answered);
        fill(rig, memory, 10, one);
        let data = ptr::from_ref(&channels).cast_mut().cast();
        ok!(cuda, cuLaunchHostFunc(one, Some(meet), data));
        fill(rig, other_memory, 10, one);
        begins.recv().expect("the function runs");
        // The fill of `memory` is over; that of `other_memory` waits for this thread.
        fill(rig, memory, 10, other);
        fill(rig, other_memory, 10, other);
        ok!(cuda, cuStreamSynchronize(other));
        answer.send(()).expect("the function listens");
        ok!(cuda, cuStreamSynchronize(one));
    }) {
        assert_eq!(races, []);
    }
}

#[test]
fn the_check_can_be_switched_off() {
    let simulator = Simulator::builder().check_order(false).build();
    let rig = Rig::with(simulator.expect("a free slot"));
    let memory = rig.memory(40);
    fill(&rig, memory, 10, rig.stream(APART));
    fill(&rig, memory, 10, rig.stream(APART));
    ok!(rig.cuda, cuCtxSynchronize());
    assert_eq!(rig.simulator.reports(), []);
}

#[test]
fn a_release_of_what_is_none_says_why() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let (memory, stream) = (rig.memory(1000), rig.stream(APART));
    support::fails!(1, cuda, cuMemFree_v2(memory + 8));
    support::fails!(1, cuda, cuMemFreeAsync(memory + 8, stream));
    ok!(cuda, cuMemFree_v2(memory));
    support::fails!(1, cuda, cuMemFree_v2(memory));
    support::fails!(1, cuda, cuMemFreeAsync(memory + (1 << 30), stream));
    let pinned = rig.pinned(100);
    support::fails!(1, cuda, cuMemFree_v2(pinned.addr() as u64));
    let reports = rig.simulator.take_reports();
    let why = [
        "not the start",
        "not the start",
        "released already",
        "no allocation was ever",
        "does not release",
    ];
    assert_eq!(reports.len(), why.len());
    for (report, why) in reports.iter().zip(why) {
        assert_eq!(report.kind, ReportKind::InvalidFree);
        assert!(report.message.contains(why), "{report}");
    }
    let again = reports[2].allocation.as_ref().expect("it is remembered");
    assert!(again.made < again.freed.expect("it is gone"));
}

#[test]
fn host_memory_that_another_device_copies_from_must_not_go() {
    let two = vec![cuda_sim::DeviceConfig::h200(); 2];
    let rig = Rig::with(Simulator::builder().devices(two).build().expect("a slot"));
    let cuda = &rig.cuda;
    let pinned = rig.pinned(400);
    let (mut device, mut context) = (0, ptr::null_mut());
    ok!(cuda, cuDeviceGet(&raw mut device, 1));
    ok!(cuda, cuDevicePrimaryCtxRetain(&raw mut context, device));
    ok!(cuda, cuCtxPushCurrent_v2(context));
    let (away, memory) = (rig.stream(APART), rig.memory(400));
    ok!(cuda, cuMemcpyHtoDAsync_v2(memory, pinned, 400, away));
    ok!(cuda, cuMemFreeHost(pinned));
    ok!(cuda, cuStreamSynchronize(away));
    let reports = rig.simulator.take_reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    let race = reports[0].race.as_ref().expect("a race has two sides");
    assert_eq!(race.second.operation, "release by the host");
}
