//! Races in the shared memory of a cluster, and blocks that end too early: mistakes are found in every order, and correct kernels are silent.

mod support;

use cuda_sim_machine::{Checks, Finding, FindingKind, Launch, run};
use support::recorder::Recorder;
use support::{Arena, program, thread_kernel};

/// What the checks find in two clusters of four blocks, whatever the order.
fn findings(body: &str) -> Vec<Finding> {
    let text = thread_kernel(".shared .align 8 .b32 cells[64];", body);
    let program = program(&text);
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None);
    let mut last: Option<Vec<Finding>> = None;
    for seed in [0, 3, 12] {
        let arena = Arena::new();
        let params = arena.u32s(&[0; 8 * 48]).to_le_bytes();
        let recorder = Recorder::default();
        let launch = Launch {
            cluster: Some([4, 1, 1]),
            services: &recorder,
            checks: Checks {
                race: true,
                global_race: true,
                unwritten: false,
                sync: true,
            },
            seed,
            ..Launch::new([8, 1, 1], [48, 1, 1], &params)
        };
        run(kernel, &program, &launch, &arena).unwrap();
        let found = recorder.0.into_inner().unwrap();
        if let Some(before) = &last {
            assert_eq!(
                before.is_empty(),
                found.is_empty(),
                "seed {seed}: {found:?}"
            );
        }
        last = Some(found);
    }
    last.unwrap()
}

const MEET: &str = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";

/// Each thread writes to its own block and reads from the next, with these between, before and at the end.
fn exchange(between: &str, end: &str) -> String {
    format!(
        "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, cells; mad.lo.u32 %r2, %t, 4, %r2; st.shared.u32 [%r2], %g; {between}
         add.u32 %r3, %r1, 1; and.b32 %r3, %r3, 3; mapa.shared::cluster.u32 %r4, %r2, %r3; ld.shared::cluster.u32 %r0, [%r4]; {end}"
    )
}

#[test]
fn the_barrier_of_the_cluster_orders_its_blocks() {
    assert_eq!(findings(&exchange(MEET, MEET)), []);
    let split = "barrier.cluster.arrive; mov.u32 %r9, 0; barrier.cluster.wait;";
    assert_eq!(findings(&exchange(split, split)), []);
}

#[test]
fn a_barrier_of_the_block_does_not() {
    let found = findings(&exchange("bar.sync 0;", MEET));
    let race = found.iter().find(|it| {
        it.kind == FindingKind::ReadAfterWrite || it.kind == FindingKind::WriteAfterRead
    });
    let race = race.unwrap_or_else(|| panic!("{found:?}"));
    assert_ne!(race.first.block, race.second.block);
    assert_eq!(race.first.block[0] / 4, race.second.block[0] / 4);
}

#[test]
fn what_comes_after_arriving_is_not_ordered() {
    // The write stands between arriving and waiting.
    let late = "barrier.cluster.arrive; st.shared.u32 [%r2], %r1; barrier.cluster.wait;";
    let found = findings(&exchange(late, MEET));
    assert!(!found.is_empty());
    let relaxed = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;";
    assert!(!findings(&exchange(relaxed, MEET)).is_empty());
}

#[test]
fn a_block_must_wait_for_those_that_use_its_memory() {
    // Block 0 reads from block 1, which takes longer but waits for nothing.
    let body = format!(
        "mov.u32 %r1, %cluster_ctarank; st.shared.u32 [cells], 7; mov.u32 %r0, 0; {MEET}
         mov.u32 %r2, cells; mapa.shared::cluster.u32 %r4, %r2, 1; setp.ne.u32 %p1, %r1, 0; setp.ne.u32 %p2, %t, 0;
         @!%p1 ld.shared::cluster.u32 %r0, [%r4]; @!%p1 bra FINISH;
       SPIN: add.u32 %r0, %r0, 1; setp.lt.u32 %p3, %r0, 5000; @%p3 bra SPIN;"
    );
    let found = findings(&body);
    let kinds: Vec<FindingKind> = found.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [FindingKind::OutlivesBlock]);
    let text = found.first().unwrap().to_string();
    assert!(text.contains("may have ended"), "{text}");
}

#[test]
fn flags_in_remote_memory_order() {
    // Block r releases its value to block r + 1, which takes it over with acquire.
    let body = format!(
        "setp.ne.u32 %p1, %t, 0; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, cells;
         @!%p1 st.shared.u32 [cells], 0; {MEET}
         @%p1 bra END;
         add.u32 %r3, %r1, 1; and.b32 %r3, %r3, 3; mapa.shared::cluster.u32 %r4, %r2, %r3;
         st.shared::cluster.u32 [%r4+8], %g; st.release.cluster.shared::cluster.u32 [%r4], 1;
       SPIN: ld.acquire.cluster.shared::cta.u32 %r5, [cells]; setp.eq.u32 %p2, %r5, 0; @%p2 bra SPIN;
         ld.shared.u32 %r0, [cells+8];
       END: {MEET}"
    );
    assert_eq!(findings(&body), []);
}

#[test]
fn a_divided_warp_is_found_at_the_barrier_of_the_cluster() {
    let body = "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; mov.u32 %r0, 0; @%p1 bra EVEN;
         barrier.cluster.arrive.aligned; bra ON;
       EVEN: barrier.cluster.arrive.aligned;
       ON: barrier.cluster.wait.aligned;";
    let kinds: Vec<FindingKind> = findings(body).iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [FindingKind::DividedBarrier]);
}
