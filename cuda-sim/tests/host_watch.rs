//! Host memory that asynchronous copies have borrowed: what a program must not do there is seen, what it may do is not disturbed.

mod support;

use std::ffi::c_void;

use cuda_sim::{Report, ReportKind, Simulator};
use cuda_sys::{CUDA_MEMCPY2D, CUmemorytype};
use support::{Rig, ok};

/// Reads a word of pinned memory.
fn get(pinned: *mut c_void, index: usize) -> u32 {
    // SAFETY: the tests ask for words inside of what they allocated; the driver runs on this thread only.
    unsafe { pinned.cast::<u32>().wrapping_add(index).read() }
}

/// Writes a word of pinned memory.
fn put(pinned: *mut c_void, index: usize, value: u32) {
    // SAFETY: as for `get`.
    unsafe { pinned.cast::<u32>().wrapping_add(index).write(value) };
}

fn reports(rig: &Rig) -> Vec<ReportKind> {
    rig.simulator.reports().iter().map(|it| it.kind).collect()
}

fn only_report(rig: &Rig) -> Report {
    let reports = rig.simulator.reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    reports[0].clone()
}

#[test]
fn who_reads_a_destination_too_early_sees_nonsense() {
    let rig = Rig::new();
    let (stream, memory, pinned) = (rig.stream(0), rig.upload(&[1, 2]), rig.pinned(12));
    put(pinned, 2, 7);
    ok!(rig.cuda, cuMemcpyDtoHAsync_v2(pinned, memory, 8, stream));
    assert_eq!(
        [get(pinned, 0), get(pinned, 1)],
        [0xfbfb_fbfb; 2],
        "not the old contents, which may look right"
    );
    assert_eq!(get(pinned, 2), 7, "the copy ends before");
    ok!(rig.cuda, cuStreamSynchronize(stream));
    assert_eq!([get(pinned, 0), get(pinned, 1), get(pinned, 2)], [1, 2, 7]);
    assert_eq!(reports(&rig), []);
}

#[test]
fn who_writes_a_destination_too_early_is_reported() {
    let rig = Rig::new();
    let (stream, memory, pinned) = (rig.stream(0), rig.upload(&[1, 2, 3, 4]), rig.pinned(16));
    rig.simulator.set_trace(true);
    ok!(rig.cuda, cuMemcpyDtoHAsync_v2(pinned, memory, 16, stream));
    let call = rig.simulator.trace().last().map(|entry| entry.number);
    put(pinned, 1, 0);
    put(pinned, 2, 0xfbfb_fb00);
    ok!(rig.cuda, cuStreamSynchronize(stream));
    assert_eq!(get(pinned, 1), 2, "the copy comes last");
    let report = only_report(&rig);
    assert_eq!(report.kind, ReportKind::HostBufferChanged);
    assert_eq!(Some(report.call), call, "the call of the copy");
    assert_eq!(report.address, Some(pinned.addr() as u64 + 4));
    assert_eq!(report.size, Some(5), "up to the last byte that differs");
    assert!(report.message.contains("destination"), "{report}");
}

#[test]
fn who_changes_a_source_too_early_is_reported() {
    for registered in [false, true] {
        let rig = Rig::new();
        let (stream, memory) = (rig.stream(0), rig.memory(16));
        let mut own = [0u64; 2];
        let source = if registered {
            let own: *mut c_void = (&raw mut own).cast();
            ok!(rig.cuda, cuMemHostRegister_v2(own, 16, 0));
            own
        } else {
            rig.pinned(16)
        };
        ok!(rig.cuda, cuMemcpyHtoDAsync_v2(memory, source, 16, stream));
        ok!(rig.cuda, cuStreamSynchronize(stream));
        put(source, 3, 9);
        ok!(rig.cuda, cuMemcpyHtoDAsync_v2(memory, source, 16, stream));
        assert_eq!(reports(&rig), [], "between two copies it may change");
        put(source, 3, 10);
        ok!(rig.cuda, cuStreamSynchronize(stream));
        let report = only_report(&rig);
        assert_eq!(report.kind, ReportKind::HostBufferChanged);
        assert_eq!(report.address, Some(source.addr() as u64 + 12));
        assert_eq!(report.size, Some(1));
        assert!(report.message.contains("source"), "{report}");
        if registered {
            ok!(rig.cuda, cuMemHostUnregister(source));
        }
    }
}

#[test]
fn memory_that_is_not_pinned_is_copied_by_the_call() {
    let rig = Rig::new();
    let (stream, memory) = (rig.stream(0), rig.memory(4));
    let mut value = 5u32;
    let place: *mut c_void = (&raw mut value).cast();
    ok!(rig.cuda, cuMemcpyHtoDAsync_v2(memory, place, 4, stream));
    put(place, 0, 6);
    ok!(rig.cuda, cuMemcpyDtoHAsync_v2(place, memory, 4, stream));
    assert_eq!(get(place, 0), 5);
    assert_eq!(reports(&rig), []);
}

#[test]
fn copies_through_one_buffer_do_not_see_the_pattern() {
    for seed in 0..20 {
        let rig = Rig::seeded(seed);
        let (stream, other, event) = (rig.stream(0), rig.stream(0), rig.event(2));
        let (a, b, c) = (rig.upload(&[1, 2]), rig.upload(&[8, 9]), rig.memory(8));
        let pinned = rig.pinned(8);
        put(pinned, 0, 3);
        put(pinned, 1, 4);
        // Up and down again, as programs with one staging buffer do.
        ok!(rig.cuda, cuMemcpyHtoDAsync_v2(c, pinned, 8, stream));
        ok!(rig.cuda, cuMemcpyDtoHAsync_v2(pinned, a, 8, stream));
        ok!(rig.cuda, cuEventRecord(event, stream));
        ok!(rig.cuda, cuStreamWaitEvent(other, event, 0));
        ok!(rig.cuda, cuMemcpyHtoDAsync_v2(b, pinned, 8, other));
        ok!(
            rig.cuda,
            cuMemsetD32Async(pinned.addr() as u64, 5, 1, other)
        );
        ok!(rig.cuda, cuMemcpyHtoDAsync_v2(a, pinned, 8, other));
        ok!(rig.cuda, cuMemcpyDtoHAsync_v2(pinned, c, 4, other));
        ok!(rig.cuda, cuCtxSynchronize());
        assert_eq!(rig.download(b, 2), [1, 2], "seed {seed}");
        assert_eq!(rig.download(a, 2), [5, 2], "seed {seed}");
        assert_eq!([get(pinned, 0), get(pinned, 1)], [3, 2], "seed {seed}");
        assert_eq!(reports(&rig), [], "seed {seed}");
    }
}

#[test]
fn kernels_do_not_see_the_pattern() {
    for seed in 0..20 {
        let rig = Rig::seeded(seed);
        let (stream, memory, pinned) = (rig.stream(0), rig.upload(&[9]), rig.pinned(8));
        let address = pinned.addr() as u64;
        put(pinned, 0, 1);
        let increment = rig.kernel("increment");
        assert_eq!(
            rig.launch(increment, 1, 1, stream, &[address, address]).0,
            0
        );
        ok!(rig.cuda, cuMemcpyHtoDAsync_v2(memory, pinned, 4, stream));
        ok!(rig.cuda, cuMemcpyDtoHAsync_v2(pinned, memory, 4, stream));
        ok!(rig.cuda, cuMemcpyDtoHAsync_v2(pinned, memory, 4, stream));
        ok!(rig.cuda, cuStreamSynchronize(stream));
        assert_eq!(get(pinned, 0), 2, "seed {seed}");
        assert_eq!(rig.download(memory, 1), [2], "seed {seed}");
        assert_eq!(reports(&rig), [], "seed {seed}");
    }
}

unsafe extern "system" fn fill(data: *mut c_void) {
    put(data, 0, 77);
}

#[test]
fn the_host_may_take_part_in_stream_order() {
    for seed in 0..10 {
        let rig = Rig::seeded(seed);
        let (stream, memory, pinned) = (rig.stream(0), rig.upload(&[1]), rig.pinned(8));
        // A host function fills the source of the copy behind it.
        ok!(rig.cuda, cuLaunchHostFunc(stream, Some(fill), pinned));
        ok!(rig.cuda, cuMemcpyHtoDAsync_v2(memory, pinned, 4, stream));
        ok!(rig.cuda, cuStreamSynchronize(stream));
        assert_eq!(rig.download(memory, 1), [77]);
        // The host fills it and then lets the stream go on.
        let flag = pinned.addr() as u64 + 4;
        ok!(rig.cuda, cuStreamWaitValue32_v2(stream, flag, 1, 1));
        ok!(rig.cuda, cuMemcpyHtoDAsync_v2(memory, pinned, 4, stream));
        put(pinned, 0, 78);
        put(pinned, 1, 1);
        ok!(rig.cuda, cuStreamSynchronize(stream));
        assert_eq!(rig.download(memory, 1), [78]);
        assert_eq!(reports(&rig), [], "seed {seed}");
    }
}

#[test]
fn a_wait_for_a_word_does_not_end_with_the_pattern() {
    for seed in 0..10 {
        let rig = Rig::seeded(seed);
        let (stream, other) = (rig.stream(0), rig.stream(0));
        let (one, memory, pinned) = (rig.upload(&[1]), rig.upload(&[0]), rig.pinned(4));
        ok!(rig.cuda, cuMemsetD32Async(memory, 6, 1, stream));
        ok!(rig.cuda, cuMemcpyDtoHAsync_v2(pinned, one, 4, stream));
        // At least 1: the pattern, too, would do.
        let flag = pinned.addr() as u64;
        ok!(rig.cuda, cuStreamWaitValue32_v2(other, flag, 1, 0));
        ok!(
            rig.cuda,
            cuMemcpyDtoHAsync_v2(rig.pinned(4), memory, 4, other)
        );
        ok!(rig.cuda, cuStreamSynchronize(other));
        assert_eq!(reports(&rig), [], "seed {seed}");
    }
}

#[test]
fn work_that_is_given_up_leaves_the_destination() {
    let rig = Rig::new();
    let (stream, memory, pinned) = (rig.stream(0), rig.upload(&[1]), rig.pinned(4));
    put(pinned, 0, 5);
    let increment = rig.kernel("increment");
    assert_eq!(
        rig.launch(increment, 1, 1, stream, &[0xdead_0000, memory])
            .0,
        0
    );
    ok!(rig.cuda, cuMemcpyDtoHAsync_v2(pinned, memory, 4, stream));
    assert_eq!(get(pinned, 0), 0xfbfb_fbfb);
    support::fails!(700, rig.cuda, cuStreamSynchronize(stream));
    assert_eq!(get(pinned, 0), 5);
}

#[test]
fn only_the_rows_of_a_copy_are_watched() {
    let rig = Rig::new();
    let (stream, memory, pinned) = (rig.stream(0), rig.upload(&[1, 2, 3, 4]), rig.pinned(16));
    let copy = CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: memory,
        srcPitch: 8,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: pinned,
        dstPitch: 8,
        WidthInBytes: 4,
        Height: 2,
        ..CUDA_MEMCPY2D::default()
    };
    ok!(rig.cuda, cuMemcpy2DAsync_v2(&raw const copy, stream));
    let words = || [0, 1, 2, 3].map(|index| get(pinned, index));
    assert_eq!(words(), [0xfbfb_fbfb, 0, 0xfbfb_fbfb, 0]);
    put(pinned, 1, 6);
    put(pinned, 3, 8);
    ok!(rig.cuda, cuStreamSynchronize(stream));
    assert_eq!(words(), [1, 6, 3, 8]);
    assert_eq!(reports(&rig), []);
}

#[test]
fn the_watch_can_be_switched_off() {
    let builders = [
        Simulator::builder().watch_host(false),
        Simulator::builder().deferred(false),
    ];
    for builder in builders {
        let rig = Rig::with(builder.build().expect("a free slot"));
        let (stream, memory, pinned) = (rig.stream(0), rig.upload(&[3]), rig.pinned(4));
        ok!(rig.cuda, cuMemcpyDtoHAsync_v2(pinned, memory, 4, stream));
        assert_ne!(get(pinned, 0), 0xfbfb_fbfb);
        put(pinned, 0, 1);
        ok!(rig.cuda, cuStreamSynchronize(stream));
        assert_eq!(reports(&rig), []);
    }
}

#[test]
fn two_thousand_copies_are_all_right() {
    let rig = Rig::new();
    let (stream, memory, pinned) = (rig.stream(0), rig.upload(&[3]), rig.pinned(8_000));
    for index in 0..2_000 {
        let target = pinned.wrapping_byte_add(index * 4);
        ok!(rig.cuda, cuMemcpyDtoHAsync_v2(target, memory, 4, stream));
    }
    ok!(rig.cuda, cuStreamSynchronize(stream));
    assert!((0..2_000).all(|index| get(pinned, index) == 3));
    assert_eq!(reports(&rig), []);
    ok!(rig.cuda, cuMemFreeHost(pinned));
}
