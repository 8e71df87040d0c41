//! Bad accesses of kernels, kind by kind: each report names the kernel, the line of the PTX and of the source, the block, the thread, and
//! the allocation with the call that made it.

mod support;

use std::ptr;

use cuda_sim::{DeviceConfig, Report, ReportKind, Simulator};
use support::{Rig, SUCCESS, call, ok};

/// Each thread reads, or adds to, the word with its number; `beyond` leaves shared memory.
const PTX: &str = r#".version 7.2
.target sm_52
.address_size 64
.visible .entry read(.param .u64 at)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<3>;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r1, 4, %r2;
	mul.wide.u32 %rd1, %r3, 4;
	ld.param.u64 %rd2, [at];
	add.u64 %rd2, %rd2, %rd1;
	.loc	1 7 5
	ld.global.u32 %r4, [%rd2];
	.loc	1 8 1
	ret;
}
.visible .entry beyond(.param .u64 at)
{
	.reg .b32 %r<3>;
	.shared .align 4 .b8 s[8];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, s;
	mad.lo.u32 %r2, %r1, 4, %r2;
	.loc	1 17 5
	st.shared.u32 [%r2], %r1;
	ret;
}
.visible .entry add(.param .u64 at)
{
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [at];
	.loc	1 27 5
	red.global.add.u32 [%rd1], 1;
	ret;
}
	.file	1 "src/bad.cu"
"#;

struct Case {
    kernel: &'static str,
    instruction: &'static str,
    source_line: u32,
    kind: ReportKind,
    block: u32,
    thread: u32,
    /// Address of the access, from the start of the allocation.
    offset: u64,
    /// What is launched with, of the allocation of 64 bytes.
    argument: fn(&Rig, u64) -> u64,
}

fn written(rig: &Rig, address: u64, bytes: usize) -> u64 {
    ok!(rig.cuda, cuMemsetD8_v2(address, 1, bytes));
    address
}

const READ: Case = Case {
    kernel: "read",
    instruction: "ld.global.u32 %r4, [%rd2]",
    source_line: 7,
    kind: ReportKind::OutOfBounds,
    block: 1,
    thread: 0,
    offset: 64,
    argument: |rig, it| written(rig, it, 64) + 48,
};

/// Launches a case with so many threads of the host; the only report, and the address and call of the allocation.
fn report_of(case: &Case, threads: usize) -> (Report, u64) {
    let builder = Simulator::builder().devices(vec![DeviceConfig::h200(); 2]);
    let built = builder.threads(threads).call_sites(true).build();
    let rig = Rig::with(built.expect("a free slot"));
    let module = rig.load(PTX);
    let memory = rig.memory(64);
    let argument = (case.argument)(&rig, memory);
    let function = rig.function(module, case.kernel);
    let launched = rig.launch(function, 2, 4, ptr::null_mut(), &[argument]);
    assert_eq!(launched, SUCCESS);
    call!(rig.cuda, cuCtxSynchronize());
    let mut reports = rig.simulator.take_reports();
    assert_eq!(reports.len(), 1, "{reports:#?}");
    (reports.remove(0), memory)
}

#[test]
fn every_kind_names_its_place_and_the_allocation() {
    for case in [
        READ,
        Case {
            kind: ReportKind::Misaligned,
            block: 0,
            offset: 1,
            argument: |rig, it| written(rig, it, 64) + 1,
            ..READ
        },
        Case {
            kind: ReportKind::UseAfterFree,
            block: 0,
            offset: 0,
            argument: |rig, it| {
                ok!(rig.cuda, cuMemFree_v2(it));
                it
            },
            ..READ
        },
        Case {
            kind: ReportKind::UninitialisedRead,
            thread: 1,
            offset: 20,
            argument: |rig, it| written(rig, it, 20),
            ..READ
        },
        Case {
            kernel: "add",
            instruction: "red.global.add.u32 [%rd1], 1",
            source_line: 27,
            kind: ReportKind::UninitialisedRead,
            block: 0,
            offset: 8,
            argument: |_, it| it + 8,
            ..READ
        },
    ] {
        for threads in [1, 4] {
            let (report, memory) = report_of(&case, threads);
            check_place(&report, &case);
            assert_eq!(
                (report.address, report.size),
                (Some(memory + case.offset), Some(4))
            );
            let allocation = report.allocation.as_ref().expect("there is one near");
            assert_eq!((allocation.address, allocation.size), (memory, 64));
            assert!(allocation.made > 0 && allocation.made_at.is_some());
            assert_eq!(
                allocation.freed.is_some(),
                case.kind == ReportKind::UseAfterFree
            );
            assert!(report.site.is_some(), "{report}");
        }
    }
}

fn check_place(report: &Report, case: &Case) {
    assert_eq!(report.kind, case.kind, "{report}");
    assert_eq!(report.kernel.as_deref(), Some(case.kernel));
    assert_eq!(report.instruction.as_deref(), Some(case.instruction));
    let line = PTX.lines().position(|line| line.contains(case.instruction));
    assert_eq!(report.line, line.map(|at| at as u32 + 1), "{report}");
    let source = report.source.as_ref().expect("the PTX has lines");
    assert_eq!(
        (&*source.file, source.line),
        ("src/bad.cu", case.source_line)
    );
    assert_eq!(report.block, Some([case.block, 0, 0]), "{report}");
    assert_eq!(report.thread, Some([case.thread, 0, 0]), "{report}");
    assert_eq!(report.other, None);
    let text = report.to_string();
    assert!(
        text.contains(&format!("src/bad.cu:{}:5", case.source_line)),
        "{text}"
    );
}

#[test]
fn another_devices_memory_is_closed() {
    let case = Case {
        kind: ReportKind::NoAccess,
        block: 0,
        argument: |rig, _| {
            let (mut device, mut context, mut far) = (0, ptr::null_mut(), 0);
            ok!(rig.cuda, cuDeviceGet(&raw mut device, 1));
            ok!(rig.cuda, cuDevicePrimaryCtxRetain(&raw mut context, device));
            ok!(rig.cuda, cuCtxSetCurrent(context));
            ok!(rig.cuda, cuMemAlloc_v2(&raw mut far, 128));
            ok!(rig.cuda, cuCtxSetCurrent(rig.context));
            far
        },
        ..READ
    };
    let (report, near) = report_of(&case, 1);
    check_place(&report, &case);
    let allocation = report.allocation.expect("it is in one");
    assert_eq!(
        (Some(allocation.address), allocation.size),
        (report.address, 128)
    );
    assert_ne!(allocation.address, near);
}

#[test]
fn an_offset_in_shared_memory_is_near_no_allocation() {
    let case = Case {
        kernel: "beyond",
        instruction: "st.shared.u32 [%r2], %r1",
        source_line: 17,
        block: 0,
        thread: 2,
        ..READ
    };
    let (report, _) = report_of(&case, 1);
    check_place(&report, &case);
    assert_eq!((report.address, report.size), (Some(8), Some(4)));
    assert_eq!(report.allocation, None);
}
