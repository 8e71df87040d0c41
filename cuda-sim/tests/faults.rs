//! Faults of kernels: what they report, and what is left of the context.

mod support;

use std::ptr;

use cuda_sim::{ReportKind, Simulator};
use support::{Rig, SUCCESS, fails, ok};

#[test]
fn out_of_bounds_names_kernel_line_thread_and_allocation() {
    let rig = Rig::new();
    let (from, to) = (rig.upload(&[0; 40]), rig.memory(128));
    let increment = rig.kernel("increment");
    assert_eq!(
        rig.launch(increment, 2, 20, ptr::null_mut(), &[to, from]),
        SUCCESS,
        "the launch itself succeeds"
    );
    fails!(700, rig.cuda, cuCtxSynchronize());
    let report = &rig.simulator.reports()[0];
    assert_eq!(report.kind, ReportKind::OutOfBounds);
    assert_eq!(report.kernel.as_deref(), Some("increment"));
    let line = support::KERNELS
        .lines()
        .position(|line| line.contains("st.global.u32 [%rd2], %r4"))
        .map(|at| at as u32 + 1);
    assert_eq!(report.line, line);
    assert_eq!(
        (report.block, report.thread),
        (Some([1, 0, 0]), Some([12, 0, 0]))
    );
    assert_eq!((report.address, report.size), (Some(to + 128), Some(4)));
    assert!(report.message.contains(&format!("{to:#x}")), "{report}");
    assert!(rig.simulator.last_kernel_fault().is_some());
}

#[test]
fn a_null_pointer_is_near_no_allocation() {
    let rig = Rig::new();
    let from = rig.upload(&[0; 4]);
    assert_eq!(
        rig.launch(rig.kernel("increment"), 1, 1, ptr::null_mut(), &[0, from]),
        SUCCESS
    );
    fails!(700, rig.cuda, cuCtxSynchronize());
    let report = &rig.simulator.reports()[0];
    assert_eq!((report.address, &report.allocation), (Some(0), &None));
}

#[test]
fn a_freed_address_says_who_freed_it() {
    let rig = Rig::new();
    let (from, to) = (rig.memory(4), rig.memory(4));
    ok!(rig.cuda, cuMemFree_v2(from));
    assert_eq!(
        rig.launch(rig.kernel("increment"), 1, 1, ptr::null_mut(), &[to, from]),
        SUCCESS
    );
    fails!(700, rig.cuda, cuCtxSynchronize());
    let report = &rig.simulator.reports()[0];
    assert_eq!(report.kind, ReportKind::UseAfterFree, "{report}");
    assert!(report.message.contains("freed by call"), "{report}");
}

#[test]
fn unwritten_memory_is_reported_and_does_not_stop_the_kernel() {
    let rig = Rig::new();
    let (from, to) = (rig.memory(4), rig.memory(4));
    assert_eq!(
        rig.launch(rig.kernel("increment"), 1, 1, ptr::null_mut(), &[to, from]),
        SUCCESS
    );
    ok!(rig.cuda, cuCtxSynchronize());
    let reports = rig.simulator.take_reports();
    assert_eq!(reports.len(), 1);
    assert_eq!(
        (reports[0].kind, reports[0].address),
        (ReportKind::UninitialisedRead, Some(from))
    );
    assert_eq!(rig.simulator.reports(), []);
    assert_eq!(rig.download(to, 1), [0xcdcd_cdce]);
}

#[test]
fn misalignment_and_trap_have_codes_of_their_own() {
    let rig = Rig::new();
    let memory = rig.memory(64);
    assert_eq!(
        rig.launch(
            rig.kernel("increment"),
            1,
            1,
            ptr::null_mut(),
            &[memory + 1, memory]
        ),
        SUCCESS
    );
    fails!(716, rig.cuda, cuCtxSynchronize());
    let rig = Rig::new();
    assert_eq!(
        rig.launch(rig.kernel("stop"), 1, 1, ptr::null_mut(), &[]),
        SUCCESS
    );
    fails!(719, rig.cuda, cuCtxSynchronize());
    assert_eq!(rig.simulator.reports()[0].kind, ReportKind::Trap);
}

#[test]
fn a_kernel_that_never_ends_is_given_up() {
    let rig = Rig::with(
        Simulator::builder()
            .instruction_limit(10_000)
            .build()
            .expect("a free slot"),
    );
    let module = rig.load(
        ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() {\nL: bra L;\n}\n",
    );
    assert_eq!(
        rig.launch(rig.function(module, "k"), 1, 1, ptr::null_mut(), &[]),
        SUCCESS
    );
    fails!(702, rig.cuda, cuCtxSynchronize());
    let report = &rig.simulator.reports()[0];
    assert_eq!((report.kind, report.line), (ReportKind::Timeout, Some(5)));
    assert_eq!(report.instruction.as_deref(), Some("bra L"));
    let text =
        "the limit of 10000 executed instructions is reached; `Builder::instruction_limit` sets it";
    assert!(report.message.ends_with(text), "{report}");
}

#[test]
fn a_kernel_that_takes_too_long_is_given_up() {
    let limit = std::time::Duration::from_millis(50);
    let simulator = Simulator::builder().time_limit(limit).build();
    let rig = Rig::with(simulator.expect("a free slot"));
    let module = rig.load(
        ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() {\nL: bra L;\n}\n",
    );
    assert_eq!(
        rig.launch(rig.function(module, "k"), 1, 1, ptr::null_mut(), &[]),
        SUCCESS
    );
    fails!(702, rig.cuda, cuCtxSynchronize());
    let report = &rig.simulator.reports()[0];
    assert_eq!((report.kind, report.line), (ReportKind::Timeout, Some(5)));
    assert!(
        report.message.contains("the limit of 50ms is over, after ")
            && report.message.ends_with("; `Builder::time_limit` sets it"),
        "{report}"
    );
}

#[test]
fn the_error_stays_as_on_a_real_device() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let mut other = ptr::null_mut();
    ok!(cuda, cuCtxCreate_v2(&raw mut other, 0, rig.device));
    let elsewhere = rig.stream(0);
    ok!(cuda, cuCtxSetCurrent(rig.context));
    let (stream, event, memory, pinned) =
        (rig.stream(0), rig.event(0), rig.memory(64), rig.pinned(64));
    let module = rig.load(support::KERNELS);
    let increment = rig.function(module, "increment");
    assert_eq!(
        rig.launch(increment, 1, 1, stream, &[0xdead_0000, memory]),
        SUCCESS
    );
    ok!(cuda, cuEventRecord(event, stream));
    fails!(700, cuda, cuStreamSynchronize(stream));
    let (mut address, mut made, mut size, mut flags) = (0, ptr::null_mut(), 0, 0);
    fails!(700, cuda, cuEventQuery(event));
    fails!(700, cuda, cuStreamQuery(stream));
    fails!(700, cuda, cuCtxSynchronize());
    fails!(700, cuda, cuMemAlloc_v2(&raw mut address, 4));
    fails!(700, cuda, cuMemFree_v2(memory));
    fails!(700, cuda, cuMemFreeHost(pinned));
    fails!(700, cuda, cuStreamGetFlags(stream, &raw mut flags));
    fails!(700, cuda, cuStreamCreate(&raw mut made, 0));
    fails!(
        700,
        cuda,
        cuModuleGetFunction((&raw mut made).cast(), module, c"count".as_ptr())
    );
    fails!(
        700,
        cuda,
        cuCtxGetLimit(&raw mut size, cuda_sys::CUlimit(0))
    );
    fails!(700, cuda, cuEventDestroy_v2(event));
    fails!(700, cuda, cuStreamDestroy_v2(stream));
    fails!(700, cuda, cuModuleUnload(module));
    // All contexts of the device are lost, and new ones too; what asks about nothing on the device still answers.
    fails!(700, cuda, cuStreamSynchronize(elsewhere));
    fails!(
        700,
        cuda,
        cuCtxCreate_v2((&raw mut made).cast(), 0, rig.device)
    );
    ok!(cuda, cuCtxGetFlags(&raw mut flags));
    ok!(cuda, cuCtxGetCurrent((&raw mut made).cast()));
    ok!(cuda, cuCtxDestroy_v2(other));
    ok!(cuda, cuDevicePrimaryCtxReset_v2(rig.device));
    fails!(709, cuda, cuMemAlloc_v2(&raw mut address, 4));
    fails!(
        700,
        cuda,
        cuDevicePrimaryCtxRetain((&raw mut made).cast(), rig.device)
    );
}
