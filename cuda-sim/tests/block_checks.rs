//! What the threads of a block do to each other, as reports.

mod support;

use cuda_sim::{ReportKind, Simulator};
use support::{Rig, SUCCESS, ok};

/// Each thread writes its own word and reads its neighbour's.
const NEIGHBOURS: &str = ".version 7.0\n.target sm_52\n.address_size 64
.visible .entry racy(.param .u64 out)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .align 4 .b8 s[256];
    mov.u32 %r1, %tid.x; mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 4, %r2;
    st.shared.u32 [%r2], %r1;
    xor.b32 %r2, %r2, 128;
    ld.shared.u32 %r3, [%r2];
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r3; ret;
}
.visible .entry divided(.param .u64 out)
{
    .reg .b32 %r<4>; .reg .pred %p<2>;
    mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 1; setp.eq.u32 %p1, %r1, 0;
    @%p1 bra EVEN;
    bar.sync 0;
    ret;
    EVEN:
    bar.sync 0;
    ret;
}
";

fn rig(race: bool, sync: bool) -> Rig {
    let builder = Simulator::builder().racecheck(race).synccheck(sync);
    Rig::with(builder.build().expect("a free slot"))
}

fn run(rig: &Rig, kernel: &str) {
    let module = rig.load(NEIGHBOURS);
    let out = rig.memory(256);
    let function = rig.function(module, kernel);
    for _ in 0..2 {
        let launched = rig.launch(function, 3, 64, std::ptr::null_mut(), &[out]);
        assert_eq!(launched, SUCCESS);
    }
    ok!(rig.cuda, cuCtxSynchronize());
}

#[test]
fn a_race_names_both_instructions_once_for_each_launch() {
    let rig = rig(true, false);
    run(&rig, "racy");
    let reports = rig.simulator.take_reports();
    let kinds: Vec<ReportKind> = reports.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [ReportKind::SharedRace; 2]);
    let report = &reports[0];
    assert_eq!(report.kernel.as_deref(), Some("racy"));
    let other = report.other.as_ref().expect("there are two");
    let mut lines = [report.line.expect("a line"), other.line];
    lines.sort_unstable();
    assert_eq!(lines, [8, 10]);
    assert_eq!(report.block, Some(other.block));
    assert_ne!(report.thread, Some(other.thread));
    assert!(report.address.is_some_and(|it| it < 256));
}

#[test]
fn a_divided_barrier_is_reported() {
    let rig = rig(false, true);
    run(&rig, "divided");
    let reports = rig.simulator.take_reports();
    assert_eq!(reports.len(), 2);
    assert_eq!(reports[0].kind, ReportKind::Synchronisation);
    assert!(
        reports[0].message.contains("bar.sync 0"),
        "{}",
        reports[0].message
    );
}

#[test]
fn neither_is_looked_for_by_itself() {
    let rig = rig(false, false);
    run(&rig, "racy");
    run(&rig, "divided");
    assert_eq!(rig.simulator.take_reports(), []);
}
