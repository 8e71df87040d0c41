//! Reads of shared and local memory that nothing had written.

mod support;

use cuda_sim_machine::{Checks, Finding, FindingKind, Launch, run};
use support::recorder::Recorder;
use support::{Arena, program, thread_kernel};

const OTHERS: &str = ".shared .align 16 .b8 before[64]; .shared .align 16 .b8 tile[1024]; .extern .shared .align 16 .b8 more[];
    .visible .entry other() { .shared .align 16 .b8 elsewhere[512]; .reg .u32 %x; ld.shared.u32 %x, [elsewhere]; ret; }";

/// What is found in two blocks of 64 threads.
fn findings(body: &str) -> Vec<Finding> {
    let program = program(&thread_kernel(
        OTHERS,
        &format!(".local .align 8 .b8 stack[64]; mov.u32 %r0, 0;\n{body}"),
    ));
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None);
    let arena = Arena::new();
    let params = arena.u32s(&[0; 128]).to_le_bytes();
    let recorder = Recorder::default();
    let launch = Launch {
        services: &recorder,
        dynamic_shared: 256,
        checks: Checks {
            unwritten: true,
            ..Checks::default()
        },
        ..Launch::new([2, 1, 1], [64, 1, 1], &params)
    };
    run(kernel, &program, &launch, &arena).unwrap();
    recorder.0.into_inner().unwrap()
}

#[track_caller]
fn silent(body: &str) {
    assert_eq!(findings(body), [], "{body}");
}

/// What is said about the only read.
#[track_caller]
fn found(body: &str) -> (FindingKind, [u32; 3], Option<String>, String) {
    let mut found = findings(body);
    assert_eq!(found.len(), 1, "{body}: {found:?}");
    let finding = found.remove(0);
    let text = finding.to_string();
    (finding.kind, finding.first.thread, finding.variable, text)
}

const OWN: &str = "mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 4, %r1; mov.u32 %r3, before; ";

#[test]
fn shared_memory_is_read_after_it_was_written() {
    silent(&format!(
        "{OWN} st.shared.u32 [%r1], %t; ld.shared.u32 %r0, [%r1];"
    ));
    silent(&format!(
        "{OWN} cvta.shared.u64 %d3, tile; st.u32 [%d3], 1; ld.shared.v2.u16 {{%h1, %h2}}, [tile];"
    ));
    let (kind, thread, variable, text) = found(&format!(
        "{OWN} setp.ne.u32 %p1, %t, 40; @%p1 st.shared.u32 [%r1], %t; bar.sync 0; ld.shared.u32 %r0, [%r1];"
    ));
    assert_eq!(kind, FindingKind::UninitialisedShared { size: 4 });
    assert_eq!((thread, variable.as_deref()), ([40, 0, 0], Some("tile")));
    assert!(
        text.contains("reads what nothing had written, byte 0xa0 of shared memory, in `tile`"),
        "{text}"
    );
    // A counter that nobody has set to zero.
    let (kind, ..) = found("atom.shared.add.u32 %r0, [tile+8], 1;");
    assert_eq!(kind, FindingKind::UninitialisedShared { size: 4 });
    let (_, _, variable, _) = found(
        "mov.u32 %r1, more; mov.u32 %r3, tile; mov.u32 %r4, before; ld.shared.u32 %r0, [%r1];",
    );
    assert_eq!(variable, None, "dynamic memory has no variable");
}

#[test]
fn each_block_begins_anew() {
    // Only block 0 writes.
    let (_, thread, ..) = found(
        "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [tile], 1; ld.shared.u32 %r0, [tile];",
    );
    assert_eq!(thread, [0; 3]);
}

#[test]
fn padding_may_be_copied() {
    silent("st.shared.u8 [tile], 1; st.shared.u32 [tile+4], 2; ld.shared.u64 %d3, [tile];");
    silent("st.shared.u32 [tile+12], 2; ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [tile];");
}

#[test]
fn local_memory_belongs_to_threads() {
    let set = "mov.u64 %d3, stack; st.local.u32 [stack+4], 1;";
    silent(&format!("{set} ld.local.u32 %r0, [%d3+4];"));
    silent(&format!(
        "{set} cvta.local.u64 %d3, %d3; st.u64 [%d3+8], 1; ld.local.u64 %d4, [stack+8];"
    ));
    let (kind, thread, variable, text) = found(&format!(
        "{set} setp.lt.u32 %p1, %t, 33; @%p1 st.local.u16 [stack+20], 1; ld.local.u16 %r0, [stack+20];"
    ));
    assert_eq!(kind, FindingKind::UninitialisedLocal { size: 2 });
    assert_eq!((thread, variable), ([33, 0, 0], None));
    assert!(
        text.ends_with(": 2 bytes at 0x14 of its local memory"),
        "{text}"
    );
}

#[test]
fn what_writes_in_other_ways_ends_the_check() {
    let copy = "cvta.shared.u64 %d3, tile; ld.param.u64 %d4, [out]; cvta.to.global.u64 %d4, %d4; mov.u32 %r1, tile;
        cp.async.ca.shared.global [%r1], [%d4], 16; cp.async.wait_all; bar.sync 0; ld.shared.u32 %r0, [tile+4];";
    silent(copy);
    // But synchronisation does not.
    for harmless in [
        "bar.sync 0;",
        "membar.gl;",
        "bar.warp.sync -1;",
        "shfl.sync.down.b32 %r2, %t, 1, 31, -1;",
        "mov.u64 %d5, %clock64;",
    ] {
        assert_eq!(
            findings(&format!("{harmless} ld.shared.u32 %r0, [tile+4];")).len(),
            1,
            "{harmless}"
        );
    }
}
