//! Failures on demand that need more than a symbol and a count, and limits that change.

mod support;

use cuda_sim::{FailureMode, LeakKind, Mistake, Simulator, Sweep, sweep};
use cuda_sys::{CUresult, CUstream};
use support::{Rig, SUCCESS, call, fails, ok};

const UNKNOWN: CUresult = CUresult::CUDA_ERROR_UNKNOWN;

#[test]
fn a_call_fails_by_stream_and_size() {
    let rig = Rig::new();
    let (one, other) = (rig.stream(1), rig.stream(1));
    let memory = rig.memory(4000);
    let wanted = other.addr() as u64;
    rig.simulator.fail_when(move |call| {
        let there = call.stream() == Some(wanted) && call.size() > Some(10);
        there.then_some((FailureMode::Refused, UNKNOWN))
    });
    let fill =
        |words, stream: CUstream| call!(rig.cuda, cuMemsetD32Async(memory, 1, words, stream)).0;
    assert_eq!(
        [fill(20, one), fill(5, other), fill(20, other)],
        [0, 0, 999]
    );
    assert_eq!(rig.simulator.clear_failures(), 0);
    assert_eq!(fill(20, one), 0);
}

#[test]
fn a_kernel_faults_when_it_is_executed() {
    let rig = Rig::new();
    let stream = rig.stream(1);
    let memory = rig.upload(&[0; 4]);
    let (add, nothing) = (rig.kernel("add_atomically"), rig.kernel("nothing"));
    rig.simulator
        .fault_kernel("add_atomically", 2, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_eq!(rig.launch(add, 1, 1, stream, &[memory]), SUCCESS);
    assert_eq!(rig.launch(nothing, 1, 1, stream, &[]), SUCCESS);
    ok!(rig.cuda, cuStreamSynchronize(stream));
    assert_eq!(rig.launch(add, 1, 1, stream, &[memory]), SUCCESS);
    fails!(700, rig.cuda, cuStreamSynchronize(stream));
    fails!(700, rig.cuda, cuCtxSynchronize());
}

#[test]
fn a_lost_device_stays_lost() {
    let rig = Rig::new();
    rig.memory(4);
    rig.simulator
        .lose_device("cuMemAlloc_v2", 2, CUresult::CUDA_ERROR_LAUNCH_FAILED);
    rig.memory(4);
    let mut address = 0;
    fails!(719, rig.cuda, cuMemAlloc_v2(&raw mut address, 4));
    fails!(719, rig.cuda, cuCtxSynchronize());
    ok!(rig.cuda, cuInit(0));
    rig.simulator.clear_failures();
    ok!(rig.cuda, cuCtxSynchronize());
}

#[test]
fn memory_can_run_out_later() {
    let rig = Rig::new();
    let mut address = 0;
    rig.memory(1 << 20);
    rig.simulator.set_memory_limit(0, 1 << 20);
    fails!(2, rig.cuda, cuMemAlloc_v2(&raw mut address, 4));
    rig.simulator.set_memory_limit(0, 2 << 20);
    ok!(rig.cuda, cuMemAlloc_v2(&raw mut address, 4));
}

#[test]
fn a_full_queue_makes_room_by_executing_what_is_oldest() {
    let builder = Simulator::builder().launch_queue(10);
    let rig = Rig::with(builder.build().expect("a slot"));
    let (stream, other) = (rig.stream(1), rig.stream(1));
    let memory = rig.upload(&[0]);
    let add = rig.kernel("add_atomically");
    ok!(rig.cuda, cuCtxSynchronize());
    for launches in 1..=30 {
        assert_eq!(rig.launch(add, 1, 1, stream, &[memory]), SUCCESS);
        assert!(rig.simulator.pending_operations() <= launches.min(10));
    }
    // Each stream has room of its own.
    assert_eq!(rig.launch(add, 1, 1, other, &[memory]), SUCCESS);
    ok!(rig.cuda, cuCtxSynchronize());
    assert_eq!(rig.download(memory, 1), [31]);
}

/// What a program gives that passes errors on.
fn check(result: CUresult) -> Result<(), String> {
    match result {
        SUCCESS => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

/// Uploads and downloads; where `careless`, an error on the way leaves the memory, and the last one is passed over.
fn program(rig: &Rig, careless: bool) -> Result<(), String> {
    let cuda = &rig.cuda;
    let (mut address, mut back) = (0, 0_u32);
    check(call!(cuda, cuMemAlloc_v2(&raw mut address, 4)))?;
    let result = check(call!(cuda, cuMemsetD32_v2(address, 7, 1)));
    if careless {
        result.clone()?;
    }
    let copied = result.and_then(|()| {
        let back = (&raw mut back).cast();
        check(call!(cuda, cuMemcpyDtoH_v2(back, address, 4)))
    });
    let freed = check(call!(cuda, cuMemFree_v2(address)));
    if !careless {
        copied?;
    }
    assert_eq!(back, 7);
    freed
}

#[test]
fn a_sweep_finds_nothing_wrong_with_a_careful_program() {
    let report = Sweep::new().run_with(setup, |_, rig| program(rig, false));
    report.assert_clean();
    assert_eq!((report.calls, report.runs), (4, 12));
}

fn setup(simulator: &Simulator) -> Released {
    Released(Rig::with(simulator.clone()))
}

/// A rig that releases its context.
struct Released(Rig);

impl std::ops::Deref for Released {
    type Target = Rig;

    fn deref(&self) -> &Rig {
        &self.0
    }
}

impl Drop for Released {
    fn drop(&mut self) {
        ok!(self.cuda, cuDevicePrimaryCtxRelease_v2(self.device));
    }
}

#[test]
fn a_sweep_finds_leaks_and_successes_that_are_none() {
    let refused = [(FailureMode::Refused, UNKNOWN)];
    let report = Sweep::new()
        .ways(&refused)
        .run_with(setup, |_, rig| program(rig, true));
    let found: Vec<(u64, &str)> = report
        .findings
        .iter()
        .map(|finding| {
            let kind = match &finding.mistake {
                Mistake::Leaks(leaks) => {
                    assert_eq!(leaks[0].kind, LeakKind::Memory);
                    let site = leaks[0].site.as_ref().expect("sites are noted");
                    assert!(site.function.ends_with("program"), "{site}");
                    "leak"
                }
                Mistake::Panic(text) => {
                    assert!(text.contains("left == right"), "{text}");
                    "panic"
                }
                other => panic!("{other}"),
            };
            (finding.failure.expect("a call failed").nth, kind)
        })
        .collect();
    assert_eq!(found, [(2, "leak"), (3, "panic")], "{report}");
}

#[test]
fn a_sweep_starts_with_a_run_without_failures() {
    let report = sweep(|_| Err::<(), _>("it never works"));
    assert_eq!(report.findings.len(), 1);
    assert!(report.to_string().contains("it never works"));
    let report = sweep(|simulator| {
        let rig = Rig::with(simulator.clone());
        let memory = rig.memory(4);
        ok!(rig.cuda, cuMemFree_v2(memory));
        rig.download(memory, 1);
        Ok::<(), String>(())
    });
    assert!(report.to_string().contains("panics"), "{report}");
}

#[test]
fn success_is_no_failure() {
    let rig = Rig::new();
    let mut address = 7;
    for after in [
        Simulator::fail as fn(&Simulator, &str, u64, CUresult),
        Simulator::lose_device,
        |simulator, _, _, code| {
            simulator.fail_when(move |_| Some((FailureMode::Refused, code)));
        },
    ] {
        after(&rig.simulator, "cuMemAlloc_v2", 1, SUCCESS);
        fails!(999, rig.cuda, cuMemAlloc_v2(&raw mut address, 4));
        assert_eq!(address, 7);
        rig.simulator.clear_failures();
    }
    // What was executed was not refused.
    rig.simulator
        .fail_after_executing("cuMemAlloc_v2", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    fails!(999, rig.cuda, cuMemAlloc_v2(&raw mut address, 4));
    assert_ne!(address, 7);
    rig.simulator.fault_kernel("nothing", 1, SUCCESS);
    assert_eq!(
        rig.launch(rig.kernel("nothing"), 1, 1, rig.stream(1), &[]),
        SUCCESS
    );
    fails!(999, rig.cuda, cuCtxSynchronize());
}

#[test]
fn panics_of_a_chooser_and_of_a_listener_do_not_unwind_into_c() {
    let simulator = Simulator::builder().on_report(|report| panic!("{report}"));
    let rig = Rig::with(simulator.build().expect("a free slot"));
    rig.simulator.fail_when(|call| panic!("{}", call.symbol));
    rig.memory(4);
    rig.simulator.clear_failures();
    let stream = rig.stream(1);
    let load = rig.kernel("add_atomically");
    assert_eq!(rig.launch(load, 1, 1, stream, &[12]), SUCCESS);
    fails!(700, rig.cuda, cuStreamSynchronize(stream));
    assert_eq!(rig.simulator.reports().len(), 1);
}

#[test]
fn settings_without_bounds() {
    let simulator = Simulator::builder()
        .patience(std::time::Duration::MAX)
        .wait_patience(std::time::Duration::MAX)
        .threads(usize::MAX / 4 + 1)
        .launch_queue(usize::MAX);
    let rig = Rig::with(simulator.build().expect("a free slot"));
    let sum = rig.upload(&[0; 4]);
    let stream = rig.stream(0);
    let add = rig.kernel("add_atomically");
    assert_eq!(rig.launch(add, 100_000, 32, stream, &[sum]), SUCCESS);
    ok!(rig.cuda, cuStreamSynchronize(stream));
    assert_eq!(rig.simulator.reports(), []);
}
