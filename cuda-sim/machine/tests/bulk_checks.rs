//! What asynchronous operations use before they are waited for, and copies of what they cannot see: found under every seed.

mod support;

use cuda_sim_machine::FindingKind;
use support::bulk::{INIT, Shape, correct, finding, wait};

/// Thread 0 copies 256 bytes to `cells`.
const COPY: &str = "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
     @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells], [%from], 256, [bar];";
const OWN: &str = "mov.u32 %r1, cells; mad.lo.u32 %r1, %t, 4, %r1;";
/// Thread 0 copies 128 bytes of `cells` to memory.
const STORE: &str = "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%from], [cells], 128; @%p0 cp.async.bulk.commit_group;";

#[test]
fn a_read_before_the_phase_is_over() {
    let body = format!("{INIT} {COPY} {OWN} ld.shared.u32 %r0, [%r1]; {}", wait(0));
    let found = finding(&body, Shape(1, 1, 64));
    assert_eq!(found.kind, FindingKind::ReadBeforeArrival);
    assert!(found.first.instruction.contains("cp.async.bulk"), "{found}");
    assert!(found.second.instruction.contains("ld.shared"), "{found}");
    assert_eq!((found.first.thread[0], found.second.thread[0]), (0, 0));
}

#[test]
fn a_read_by_threads_that_have_not_waited() {
    // Thread 0 waits, the others do not wait for it.
    let body = format!(
        "{INIT} {COPY} @!%p0 bra READ; {} READ: {OWN} ld.shared.u32 %r0, [%r1];",
        wait(0)
    );
    let found = finding(&body, Shape(1, 1, 64));
    assert_eq!(found.kind, FindingKind::ReadBeforeArrival);
    assert_ne!(found.second.thread[0], 0);
    let ordered = body.replace("READ:", "READ: bar.sync 0;");
    correct(&ordered, Shape(1, 1, 64));
}

#[test]
fn a_write_into_what_is_being_copied() {
    let body = format!(
        "{INIT} {COPY} mov.u32 %r0, 0; @%p0 st.shared.u32 [cells+128], 1; {}",
        wait(0)
    );
    let found = finding(&body, Shape(1, 1, 64));
    assert_eq!(found.kind, FindingKind::WriteBeforeArrival);
    assert_eq!(found.address, Some(256));
}

#[test]
fn a_copy_over_what_others_still_read() {
    // The second stage arrives where threads may still read the first.
    let again = COPY.replace("[%from]", "[%from+1024]");
    let body = |between: &str| {
        format!(
            "{INIT} {COPY} {} {OWN} ld.shared.u32 %r0, [%r1]; {between} {again} {} ld.shared.u32 %r0, [%r1];",
            wait(0),
            wait(1)
        )
    };
    let found = finding(&body(""), Shape(1, 1, 64));
    assert_eq!(found.kind, FindingKind::WriteAfterRead);
    assert!(
        found.second.instruction.contains("cp.async.bulk"),
        "{found}"
    );
    correct(&body("bar.sync 0;"), Shape(1, 1, 64));
}

#[test]
fn a_source_that_changes_before_it_is_read() {
    let body = |wait: &str| {
        format!(
            "{OWN} st.shared.u32 [%r1], %t; fence.proxy.async; bar.sync 0; {STORE} {wait}
             @%p0 st.shared.u32 [cells], 7; mov.u32 %r0, 0; @%p0 cp.async.bulk.wait_group 0;"
        )
    };
    let found = finding(&body(""), Shape(1, 1, 32));
    assert_eq!(found.kind, FindingKind::WriteBeforeArrival);
    // A wait for all but the last group is none.
    let found = finding(
        &body("@%p0 cp.async.bulk.wait_group.read 1;"),
        Shape(1, 1, 32),
    );
    assert_eq!(found.kind, FindingKind::WriteBeforeArrival);
    correct(
        &body("@%p0 cp.async.bulk.wait_group.read 0;"),
        Shape(1, 1, 32),
    );
}

#[test]
fn a_copy_that_does_not_see_what_was_written() {
    let body = |before: &str, behind: &str| {
        format!(
            "mov.u32 %r0, 0; {OWN} st.shared.u32 [%r1], %t; {before} bar.sync 0; {behind} {STORE} @%p0 cp.async.bulk.wait_group 0;"
        )
    };
    let found = finding(&body("", ""), Shape(1, 1, 32));
    assert_eq!(found.kind, FindingKind::MissingProxyFence);
    assert!(found.first.instruction.contains("st.shared"), "{found}");
    let found = finding(&body("fence.proxy.async.global;", ""), Shape(1, 1, 32));
    assert_eq!(found.kind, FindingKind::MissingProxyFence);
    // By each writer, or by the one who copies.
    correct(&body("fence.proxy.async;", ""), Shape(1, 1, 32));
    correct(&body("", "fence.proxy.async.shared::cta;"), Shape(1, 1, 32));
}

#[test]
fn a_block_that_ends_before_its_memory_has_been_read() {
    let body = format!(
        "mov.u32 %r0, 0; {OWN} st.shared.u32 [%r1], %t; fence.proxy.async; bar.sync 0; {STORE}"
    );
    let found = finding(&body, Shape(1, 1, 32));
    assert_eq!(found.kind, FindingKind::OperationOutlivesBlock);
}

#[test]
fn a_store_to_another_block_that_nobody_waits_for() {
    let body = |first: &str| {
        format!(
            "{INIT} xor.b32 %r3, %rank, 1; mov.u32 %r4, cells; mapa.shared::cluster.u32 %r5, %r4, %r3;
             mov.u32 %r4, bar; mapa.shared::cluster.u32 %r6, %r4, %r3; mad.lo.u32 %r5, %t, 4, %r5;
             @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;
             st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %g, [%r6];
             {first} {OWN} ld.shared.u32 %r0, [%r1]; {}",
            wait(0)
        )
    };
    let found = finding(
        &body("barrier.cluster.arrive; barrier.cluster.wait;"),
        Shape(2, 2, 32),
    );
    assert_eq!(found.kind, FindingKind::ReadBeforeArrival);
    assert!(found.first.instruction.contains("st.async"), "{found}");
    let (out, _) = correct(&body(&wait(0)), Shape(2, 2, 32));
    assert_eq!(out, (32..64).chain(0..32).collect::<Vec<_>>());
}
