//! What goes wrong with matrix instructions, and what the checks find.

use std::sync::Mutex;

use cuda_sim_machine::{
    Checks, Fault, FaultKind, Finding, FindingKind, Launch, Output, Services, Window, run,
};

use crate::support::{Arena, Params, program};

#[derive(Debug, Default)]
struct Recorder(Mutex<Vec<Finding>>);

impl Services for Recorder {
    fn print(&self, _: Output, _: &[u8]) {}

    fn allocate(&self, _: u64) -> u64 {
        0
    }

    fn free(&self, _: u64) -> Result<(), String> {
        Ok(())
    }

    fn found(&self, finding: Finding) {
        self.0.lock().unwrap().push(finding);
    }
}

fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .b64 %out, %x; .reg .b32 %r<20>, %lane, %t; .reg .f32 %f<8>; .reg .pred %p; .shared .align 128 .b8 room[512];\n\
         ld.param.u64 %out, [out]; mov.u32 %lane, %laneid; mov.u32 %t, %tid.x; mov.u64 %x, room; cvt.u32.u64 %r8, %x;\n\
         mad.lo.u32 %r9, %lane, 16, %r8; setp.lt.u32 %p, %lane, 16;\n{body}\nret;\n}}\n"
    )
}

fn launch(body: &str, threads: u32, checks: Checks) -> (Result<(), Fault>, Vec<Finding>, u64) {
    let program = program(&kernel(body));
    let arena = Arena::new();
    let out = arena.place(&[0; 512]);
    let params = Params::default().u64(out).0;
    let recorder = Recorder::default();
    let launch = Launch {
        services: &recorder,
        checks,
        ..Launch::new([1, 1, 1], [threads, 1, 1], &params)
    };
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None);
    let result = run(kernel, &program, &launch, &arena).map(|_| ());
    (result, recorder.0.into_inner().unwrap(), out)
}

fn fault(body: &str, threads: u32) -> (FaultKind, u32) {
    let fault = launch(body, threads, Checks::default()).0.unwrap_err();
    let thread = fault.place.map_or(u32::MAX, |place| place.thread[0]);
    (fault.kind, thread)
}

const PRODUCT: &str = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2}, {%f0, %f1, %f2, %f3};";

#[test]
fn lanes_that_do_not_take_part() {
    let missing = |missing| FaultKind::MissingLanes { missing };
    // The block has no threads for them, they have ended, or they pass by.
    assert_eq!(fault(PRODUCT, 16).0, missing(0xffff_0000));
    assert_eq!(
        fault(&format!("@%p ret; {PRODUCT}"), 32),
        (missing(0xffff), 16)
    );
    assert_eq!(
        fault(&format!("@%p {PRODUCT}"), 32),
        (missing(0xffff_0000), 0)
    );
    for instruction in [
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r9];",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9], {%r0};",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;",
        "wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3}, [%out];",
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%out], {%r0, %r1, %r2, %r3};",
    ] {
        assert_eq!(
            fault(&format!("@%p {instruction}"), 32).0,
            missing(0xffff_0000),
            "{instruction}"
        );
    }
}

#[test]
fn lanes_that_wait_elsewhere_are_a_deadlock() {
    let body = format!("@%p bra LOW; {PRODUCT} bra.uni END; LOW: bar.sync 1, 64; END: bar.sync 0;");
    let (kind, _) = fault(&body, 64);
    assert!(matches!(kind, FaultKind::Deadlock { .. }), "{kind}");
}

#[test]
fn addresses_of_rows() {
    let misaligned = "setp.eq.u32 %p, %lane, 5; @%p add.u32 %r9, %r9, 8; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r9];";
    let (kind, thread) = fault(misaligned, 32);
    assert_eq!(
        (kind, thread),
        (
            FaultKind::Misaligned {
                address: 88,
                size: 16
            },
            5
        )
    );
    let outside = "setp.eq.u32 %p, %lane, 13; @%p mov.u32 %r9, 4096; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%r9];";
    let (kind, thread) = fault(outside, 32);
    let out_of_range = |address, limit| FaultKind::OutOfRange {
        window: Window::Shared,
        address,
        size: 16,
        limit,
    };
    assert_eq!((kind, thread), (out_of_range(4096, 512), 13));
    // The addresses of other lanes are not looked at.
    let unused = "setp.eq.u32 %p, %lane, 13; @%p mov.u32 %r9, 4095; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r9];";
    assert_eq!(launch(unused, 32, Checks::default()).0, Ok(()));
    // Rows lie in shared memory.
    let (result, _, out) = launch(
        "ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%out];",
        32,
        Checks::default(),
    );
    assert_eq!(result.unwrap_err().kind, out_of_range(out, 512));
}

#[test]
fn fragments_outside_their_allocation() {
    // 16 lines of 32 bytes are all there is; with a larger stride the last ones are outside.
    let body =
        "wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3}, [%out], 24;";
    let (kind, thread) = fault(body, 32);
    assert!(matches!(kind, FaultKind::Memory(_)), "{kind}");
    // Row 11 is the first that lies outside.
    assert_eq!(thread, 12);
    let body = "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%out+2], {%r0, %r1, %r2, %r3};";
    assert!(matches!(fault(body, 32).0, FaultKind::Misaligned { .. }));
}

/// The kinds of findings, and the threads of each.
fn races(body: &str) -> Vec<(FindingKind, u32, u32)> {
    let checks = Checks {
        race: true,
        ..Checks::default()
    };
    let (result, findings, _) = launch(body, 64, checks);
    assert_eq!(result, Ok(()));
    let found = findings
        .into_iter()
        .map(|it| (it.kind, it.first.thread[0], it.second.thread[0]));
    found.collect()
}

#[test]
fn races_of_matrix_accesses() {
    // The second warp stores rows that the first one loads.
    let conflict = "setp.lt.u32 %p, %t, 32; @%p bra LOAD; stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r9], {%t, %t}; bra.uni END;
        LOAD: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r9]; END:";
    let found = races(conflict);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(matches!(
        found[0].0,
        FindingKind::ReadAfterWrite | FindingKind::WriteAfterRead
    ));
    assert_eq!(found[0].1.abs_diff(found[0].2), 32);
    let ordered = "setp.lt.u32 %p, %t, 32; @%p bra LOAD; stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r9], {%t, %t}; bar.sync 0; bra.uni END;
        LOAD: bar.sync 0; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r9]; END:";
    assert_eq!(races(ordered), []);
    let fragments = "mov.u32 %r0, %t; mov.u32 %r1, %t; mov.u32 %r2, %t; mov.u32 %r3, %t;
        wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%x], {%r0, %r1, %r2, %r3};";
    assert!(
        races(fragments)
            .iter()
            .any(|it| it.0 == FindingKind::WriteAfterWrite)
    );
    // Within one warp, a `.sync` instruction orders what comes before and after it.
    let one_warp = "setp.ge.u32 %p, %t, 32; @%p ret; stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r9], {%t, %t, %t, %t};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r0, %r1, %r2, %r3}, [%r9];";
    assert_eq!(races(one_warp), []);
}
