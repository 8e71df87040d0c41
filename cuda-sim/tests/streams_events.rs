//! Streams and events: what orders work, what does not, and that a missing edge shows.

mod support;

use std::ptr;

use cuda_sys::CUresult;
use support::{Rig, SUCCESS, call, fails, ok};

const SEEDS: u64 = 40;

/// One stream writes, another reads; returns what arrived.
fn hand_over(seed: u64, wait: bool) -> u32 {
    let rig = Rig::seeded(seed);
    let cuda = &rig.cuda;
    let (writer, reader, event) = (rig.stream(1), rig.stream(1), rig.event(2));
    let (memory, copy) = (rig.upload(&[0; 64]), rig.upload(&[0; 64]));
    ok!(cuda, cuCtxSynchronize());
    ok!(cuda, cuMemsetD32Async(memory, 42, 64, writer));
    ok!(cuda, cuEventRecord(event, writer));
    if wait {
        ok!(cuda, cuStreamWaitEvent(reader, event, 0));
    }
    ok!(cuda, cuMemcpyDtoDAsync_v2(copy, memory, 256, reader));
    ok!(cuda, cuCtxSynchronize());
    rig.download(copy, 1)[0]
}

#[test]
fn a_missing_wait_shows_for_some_seed_and_never_with_the_wait() {
    let wrong = (0..SEEDS)
        .filter(|seed| hand_over(*seed, false) != 42)
        .count();
    assert!(
        wrong > 0 && wrong < SEEDS as usize,
        "{wrong} of {SEEDS} seeds showed the missing wait"
    );
    for seed in 0..SEEDS {
        assert_eq!(hand_over(seed, true), 42, "seed {seed}");
    }
}

#[test]
fn equal_seeds_give_equal_orders() {
    for seed in 0..8 {
        assert_eq!(
            hand_over(seed, false),
            hand_over(seed, false),
            "seed {seed}"
        );
    }
}

/// The legacy default stream writes, another stream reads.
fn default_stream_hand_over(seed: u64, flags: u32) -> u32 {
    let rig = Rig::seeded(seed);
    let cuda = &rig.cuda;
    let reader = rig.stream(flags);
    let (memory, copy) = (rig.upload(&[0; 64]), rig.upload(&[0; 64]));
    ok!(cuda, cuCtxSynchronize());
    ok!(cuda, cuMemsetD32Async(memory, 42, 64, ptr::null_mut()));
    ok!(cuda, cuMemcpyDtoDAsync_v2(copy, memory, 256, reader));
    // Asking only about the reader leaves the rest to the order of the streams.
    ok!(cuda, cuStreamSynchronize(reader));
    let mut out = vec![0u32; 64];
    ok!(
        cuda,
        cuMemcpyDtoHAsync_v2(out.as_mut_ptr().cast(), copy, 256, reader)
    );
    out[0]
}

#[test]
fn blocking_streams_follow_the_default_stream_and_others_do_not() {
    for seed in 0..SEEDS {
        assert_eq!(default_stream_hand_over(seed, 0), 42, "seed {seed}");
    }
    assert!((0..SEEDS).any(|seed| default_stream_hand_over(seed, 1) != 42));
}

#[test]
fn a_synchronous_upload_is_not_ordered_with_a_stream_that_does_not_block() {
    let arrives = |seed: u64, flags: u32| {
        let rig = Rig::seeded(seed);
        let stream = rig.stream(flags);
        let (memory, copy) = (rig.upload(&[0]), rig.upload(&[0]));
        ok!(rig.cuda, cuCtxSynchronize());
        ok!(rig.cuda, cuMemcpyHtoD_v2(memory, [5u32].as_ptr().cast(), 4));
        ok!(rig.cuda, cuMemcpyDtoDAsync_v2(copy, memory, 4, stream));
        ok!(rig.cuda, cuStreamSynchronize(stream));
        rig.download(copy, 1)[0] == 5
    };
    assert!((0..SEEDS).all(|seed| arrives(seed, 0)));
    assert!((0..SEEDS).any(|seed| !arrives(seed, 1)));
}

#[test]
fn a_wait_takes_the_record_of_that_moment() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let (a, b, event) = (rig.stream(1), rig.stream(1), rig.event(0));
    // Never recorded: nothing to wait for.
    ok!(cuda, cuStreamWaitEvent(b, event, 0));
    ok!(cuda, cuEventQuery(event));
    ok!(cuda, cuEventSynchronize(event));
    let memory = rig.upload(&[0]);
    ok!(cuda, cuCtxSynchronize());
    ok!(cuda, cuMemsetD32Async(memory, 1, 1, a));
    ok!(cuda, cuEventRecord(event, a));
    ok!(cuda, cuStreamWaitEvent(b, event, 0));
    // A later record of the same event does not move the wait.
    ok!(cuda, cuStreamWaitEvent(a, event, 0));
    ok!(cuda, cuEventRecord(event, b));
    ok!(cuda, cuEventDestroy_v2(event));
    ok!(cuda, cuStreamSynchronize(b));
    let mut out = [0u32];
    ok!(
        cuda,
        cuMemcpyDtoHAsync_v2(out.as_mut_ptr().cast(), memory, 4, b)
    );
    assert_eq!(out, [1]);
}

#[test]
fn destroyed_streams_finish_and_their_handles_come_back() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let memory = rig.upload(&[0]);
    ok!(cuda, cuCtxSynchronize());
    let stream = rig.stream(1);
    ok!(cuda, cuMemsetD32Async(memory, 7, 1, stream));
    ok!(cuda, cuStreamDestroy_v2(stream));
    let next = rig.stream(1);
    assert_eq!(next, stream, "handles are reused at once");
    // The new stream has nothing to do with the old one's work.
    ok!(cuda, cuStreamQuery(next));
    ok!(cuda, cuCtxSynchronize());
    assert_eq!(rig.download(memory, 1), [7]);
    ok!(cuda, cuStreamDestroy_v2(next));
    fails!(400, cuda, cuStreamDestroy_v2(next));
    assert_eq!(
        rig.simulator.reports()[0].kind,
        cuda_sim::ReportKind::DestroyedHandle
    );
}

#[test]
fn queries_say_not_ready_and_then_ready() {
    let mut seen = [false; 2];
    for seed in 0..SEEDS {
        let rig = Rig::seeded(seed);
        let stream = rig.stream(1);
        let memory = rig.memory(4);
        for _ in 0..4 {
            ok!(rig.cuda, cuMemsetD32Async(memory, 1, 1, stream));
        }
        for question in 0.. {
            match call!(rig.cuda, cuStreamQuery(stream)) {
                SUCCESS => break,
                CUresult::CUDA_ERROR_NOT_READY => seen[0] = true,
                other => panic!("{other:?}"),
            }
            assert!(question < 1000, "asking alone makes progress");
        }
        seen[1] = true;
    }
    assert_eq!(seen, [true; 2]);
}

#[test]
fn elapsed_time_needs_two_reached_events_with_timing() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let (stream, start, end, untimed) = (rig.stream(0), rig.event(0), rig.event(0), rig.event(2));
    let mut ms = -1.0;
    fails!(400, cuda, cuEventElapsedTime(&raw mut ms, start, end));
    ok!(cuda, cuEventRecord(start, stream));
    let memory = rig.memory(1 << 20);
    ok!(cuda, cuMemsetD8Async(memory, 0, 1 << 20, stream));
    ok!(cuda, cuEventRecord(end, stream));
    ok!(cuda, cuEventRecord(untimed, stream));
    fails!(600, cuda, cuEventElapsedTime(&raw mut ms, start, end));
    ok!(cuda, cuEventSynchronize(end));
    ok!(cuda, cuEventElapsedTime(&raw mut ms, start, end));
    assert!(ms > 0.0 && ms < 1.0, "{ms} ms for a fill of 1 MiB");
    fails!(400, cuda, cuEventElapsedTime(&raw mut ms, start, untimed));
}

#[test]
fn arguments_are_checked_as_by_the_driver() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let (mut stream, mut event) = (ptr::null_mut(), ptr::null_mut());
    fails!(1, cuda, cuStreamCreate(ptr::null_mut(), 0));
    fails!(1, cuda, cuStreamCreate(&raw mut stream, 99));
    for flags in [4, 8, 64] {
        fails!(1, cuda, cuEventCreate(&raw mut event, flags));
    }
    ok!(cuda, cuStreamCreateWithPriority(&raw mut stream, 1, -100));
    let (mut priority, mut flags) = (9, 9);
    ok!(cuda, cuStreamGetPriority(stream, &raw mut priority));
    ok!(cuda, cuStreamGetFlags(stream, &raw mut flags));
    assert_eq!((priority, flags), (-5, 1));
    event = rig.event(0);
    fails!(1, cuda, cuStreamWaitEvent(stream, event, 5));
    fails!(400, cuda, cuStreamWaitEvent(stream, ptr::null_mut(), 0));
    fails!(400, cuda, cuEventRecord(ptr::null_mut(), stream));
    for handle in [0, 1, 2] {
        fails!(
            400,
            cuda,
            cuStreamDestroy_v2(ptr::without_provenance_mut(handle))
        );
    }
    // Neither a host pointer nor a handle of another kind is followed.
    fails!(400, cuda, cuStreamQuery((&raw mut priority).cast()));
    fails!(400, cuda, cuStreamQuery(event.cast()));
    let mut other = ptr::null_mut();
    ok!(cuda, cuCtxCreate_v2(&raw mut other, 0, rig.device));
    let foreign = rig.stream(0);
    fails!(400, cuda, cuEventRecord(event, foreign));
    ok!(cuda, cuStreamWaitEvent(foreign, event, 0));
    ok!(cuda, cuStreamGetCtx(foreign, &raw mut other));
    ok!(cuda, cuCtxDestroy_v2(other));
}

#[test]
fn each_thread_has_its_own_default_stream_behind_handle_2() {
    let rig = Rig::new();
    let id = |stream| {
        let mut id = 0;
        ok!(rig.cuda, cuCtxSetCurrent(rig.context));
        ok!(rig.cuda, cuStreamGetId(stream, &raw mut id));
        id
    };
    let mine = id(cuda_sys::CU_STREAM_PER_THREAD);
    assert_eq!(mine, id(cuda_sys::CU_STREAM_PER_THREAD));
    assert_eq!(id(ptr::null_mut()), id(cuda_sys::CU_STREAM_LEGACY));
    struct Shared<'a>(&'a Rig);
    // SAFETY: handles may be used on any thread, and the rig's other parts are Sync.
    unsafe impl Sync for Shared<'_> {}
    let shared = Shared(&rig);
    let theirs = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let rig = &shared;
            let mut id = 0;
            ok!(rig.0.cuda, cuCtxSetCurrent(rig.0.context));
            ok!(
                rig.0.cuda,
                cuStreamGetId(cuda_sys::CU_STREAM_PER_THREAD, &raw mut id)
            );
            id
        });
        thread.join().expect("no panic")
    });
    assert_ne!(mine, theirs);
}
