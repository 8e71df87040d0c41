//! Programmatic dependent launch: a kernel that may begin before the one before it has ended, as it does on an H200.

mod support;

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::ptr;

use cuda_sim::{Race, ReportKind, Simulator};
use cuda_sys::{CUlaunchAttribute, CUlaunchAttributeID, CUlaunchConfig, CUstream};
use support::{Rig, ok};

/// `put(to, value)` writes a word; `take(to, from)` and its variants copy one, after waiting or without.
const KERNELS: &str = ".version 8.0
.target sm_90
.address_size 64
.visible .entry put(.param .u64 to, .param .u64 value) {
  .reg .b64 %d<5>; .reg .b32 %r<5>; griddepcontrol.launch_dependents;
  ld.param.u64 %d1, [to]; ld.param.u32 %r1, [value]; st.global.u32 [%d1], %r1; ret; }
.visible .entry waits(.param .u64 to, .param .u64 from) {
  .reg .b64 %d<5>; .reg .b32 %r<5>; griddepcontrol.wait;
  ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; ld.global.u32 %r1, [%d2]; st.global.u32 [%d1], %r1; ret; }
.visible .entry hastens(.param .u64 to, .param .u64 from) {
  .reg .b64 %d<5>; .reg .b32 %r<5>;
  ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; ld.global.u32 %r1, [%d2]; st.global.u32 [%d1], %r1; ret; }
.visible .entry too_late(.param .u64 to, .param .u64 from) {
  .reg .b64 %d<5>; .reg .b32 %r<5>;
  ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; ld.global.u32 %r1, [%d2]; griddepcontrol.wait; st.global.u32 [%d1], %r1; ret; }
.visible .entry traps(.param .u64 to, .param .u64 from) { trap; ret; }
";

fn launch(rig: &Rig, name: &str, stream: CUstream, mut values: [u64; 2], dependent: bool) -> u32 {
    let module = rig.load(KERNELS);
    let function = rig.function(module, name);
    let mut attribute = CUlaunchAttribute {
        id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        ..Default::default()
    };
    attribute.value.programmaticStreamSerializationAllowed = i32::from(dependent);
    let mut config = CUlaunchConfig::default();
    (config.gridDimX, config.gridDimY, config.gridDimZ) = (1, 1, 1);
    (config.blockDimX, config.blockDimY, config.blockDimZ) = (1, 1, 1);
    config.hStream = stream;
    (config.attrs, config.numAttrs) = (&raw mut attribute, 1);
    let mut params = values
        .each_mut()
        .map(|it| ptr::from_mut(it).cast::<c_void>());
    support::call!(
        rig.cuda,
        cuLaunchKernelEx(
            &raw const config,
            function,
            params.as_mut_ptr(),
            ptr::null_mut()
        )
    )
    .0
}

/// What `name` finds that is launched behind a kernel which writes 42, and the races, for each of several seeds.
fn pairs(name: &str, between: impl Fn(&Rig, CUstream), dependent: bool) -> Vec<(u32, Vec<Race>)> {
    (0..12)
        .map(|seed| {
            let simulator = Simulator::builder()
                .seed(seed)
                .build()
                .expect("a free slot");
            let rig = Rig::with(simulator);
            let words = rig.upload(&[0, 0]);
            let stream = rig.stream(1);
            ok!(rig.cuda, cuCtxSynchronize());
            assert_eq!(launch(&rig, "put", stream, [words, 42], false), 0);
            between(&rig, stream);
            assert_eq!(launch(&rig, name, stream, [words + 4, words], dependent), 0);
            ok!(rig.cuda, cuStreamSynchronize(stream));
            let races = rig.simulator.take_reports().into_iter().map(|report| {
                assert_eq!(report.kind, ReportKind::Race, "{report}");
                *report.race.expect("a race has two sides")
            });
            let races = races.collect();
            (rig.download(words + 4, 1)[0], races)
        })
        .collect()
}

#[test]
fn a_kernel_that_waits_finds_everything() {
    for (found, races) in pairs("waits", |_, _| {}, true) {
        assert_eq!((found, races), (42, vec![]));
    }
}

#[test]
fn a_kernel_that_does_not_wait_may_find_nothing_and_is_told_so() {
    for name in ["hastens", "too_late"] {
        let all = pairs(name, |_, _| {}, true);
        let found: BTreeSet<u32> = all.iter().map(|it| it.0).collect();
        assert_eq!(found, BTreeSet::from([0, 42]), "{name}");
        for (_, races) in all {
            let [race] = races.as_slice() else {
                panic!("{name}: {races:?}");
            };
            let early = format!("kernel `{name}`, before it executes griddepcontrol.wait,");
            let sides = [&race.first.operation, &race.second.operation];
            assert!(sides.contains(&&early), "{sides:?}");
            assert!(sides.contains(&&String::from("kernel `put`")), "{sides:?}");
        }
    }
}

#[test]
fn without_the_attribute_or_behind_anything_else_it_begins_at_the_end() {
    for (found, races) in pairs("hastens", |_, _| {}, false) {
        assert_eq!((found, races), (42, vec![]));
    }
    let fill = |rig: &Rig, stream| {
        let other = rig.memory(4);
        ok!(rig.cuda, cuMemsetD32Async(other, 7, 1, stream));
    };
    for (found, races) in pairs("hastens", fill, true) {
        assert_eq!((found, races), (42, vec![]));
    }
    let wait = |rig: &Rig, stream| ok!(rig.cuda, cuStreamSynchronize(stream));
    for (found, races) in pairs("hastens", wait, true) {
        assert_eq!((found, races), (42, vec![]));
    }
}

#[test]
fn what_comes_after_it_comes_after_both() {
    for seed in 0..8 {
        let rig = Rig::seeded(seed);
        let words = rig.upload(&[0, 0]);
        let (stream, other) = (rig.stream(1), rig.stream(1));
        ok!(rig.cuda, cuCtxSynchronize());
        assert_eq!(launch(&rig, "put", stream, [words, 42], false), 0);
        assert_eq!(launch(&rig, "put", stream, [words + 4, 43], true), 0);
        let event = rig.event(2);
        ok!(rig.cuda, cuEventRecord(event, stream));
        ok!(rig.cuda, cuStreamWaitEvent(other, event, 0));
        ok!(rig.cuda, cuMemsetD32Async(words, 5, 2, other));
        ok!(rig.cuda, cuStreamSynchronize(other));
        assert_eq!(rig.download(words, 2), [5, 5]);
        assert_eq!(rig.simulator.take_reports(), vec![]);
    }
}

#[test]
fn in_a_chain_each_may_overlap_all_that_did_not_end() {
    // The third begins when the second has, and nothing says that the second had waited by then.
    for seed in 0..8 {
        let rig = Rig::seeded(seed);
        let (words, apart) = (rig.upload(&[0, 0]), rig.upload(&[0, 0]));
        let stream = rig.stream(1);
        ok!(rig.cuda, cuCtxSynchronize());
        assert_eq!(launch(&rig, "put", stream, [words, 42], false), 0);
        assert_eq!(launch(&rig, "waits", stream, [apart, apart + 4], true), 0);
        assert_eq!(launch(&rig, "hastens", stream, [words + 4, words], true), 0);
        ok!(rig.cuda, cuStreamSynchronize(stream));
        let reports = rig.simulator.take_reports();
        assert_eq!(reports.len(), 1, "{reports:?}");
    }
}

#[test]
fn a_kernel_goes_with_the_one_that_it_waits_for() {
    for seed in 0..8 {
        let rig = Rig::seeded(seed);
        let words = rig.upload(&[0, 0]);
        let stream = rig.stream(1);
        ok!(rig.cuda, cuCtxSynchronize());
        assert_eq!(launch(&rig, "traps", stream, [words, 0], false), 0);
        assert_eq!(launch(&rig, "waits", stream, [words + 4, words], true), 0);
        support::fails!(719, rig.cuda, cuStreamSynchronize(stream));
        let kinds: Vec<ReportKind> = rig
            .simulator
            .take_reports()
            .iter()
            .map(|it| it.kind)
            .collect();
        assert_eq!(kinds, [ReportKind::Trap], "seed {seed}");
    }
}
