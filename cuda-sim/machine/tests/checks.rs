//! Races in shared memory, and barriers that a warp reaches divided: the classical mistakes are found, and correct kernels are silent.

mod support;

use cuda_sim_machine::{Checks, Finding, FindingKind, Launch, run};
use support::recorder::Recorder;
use support::{Arena, program, thread_kernel};

const BOTH: Checks = Checks {
    race: true,
    global_race: true,
    unwritten: false,
    sync: true,
};

/// What the checks find in a kernel of two blocks, in all of several orders.
fn findings(declared: &str, body: &str, threads: u32) -> Vec<Finding> {
    let shared = ".shared .align 16 .b8 s[1024]; .shared .align 4 .u32 flag;";
    let program = program(&thread_kernel(&format!("{shared}{declared}"), body));
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None);
    let mut all: Option<Vec<FindingKind>> = None;
    let mut last = Vec::new();
    for seed in [0, 1, 7] {
        let arena = Arena::new();
        let out = arena.u32s(&vec![0; 2 * threads as usize]);
        let params = out.to_le_bytes();
        let globals: Vec<u64> = program
            .globals()
            .iter()
            .map(|it| arena.place(&it.bytes))
            .collect();
        let recorder = Recorder::default();
        let launch = Launch {
            globals: &globals,
            services: &recorder,
            checks: BOTH,
            seed,
            ..Launch::new([2, 1, 1], [threads, 1, 1], &params)
        };
        run(kernel, &program, &launch, &arena).unwrap();
        last = recorder.0.into_inner().unwrap();
        let found = !last.is_empty();
        let kinds = last.iter().map(|it| it.kind).collect::<Vec<_>>();
        // Which of the two accesses comes first may depend on the order, but not whether they race.
        assert_eq!(found, !all.get_or_insert(kinds).is_empty(), "seed {seed}");
    }
    last
}

fn kinds(declared: &str, body: &str, threads: u32) -> Vec<FindingKind> {
    findings(declared, body, threads)
        .iter()
        .map(|it| it.kind)
        .collect()
}

const OWN: &str = "mov.u32 %r1, s; mad.lo.u32 %r1, %t, 4, %r1;";

/// The sum of a block by halves; with the barrier of each step, or without.
fn reduction(barrier: &str) -> String {
    format!(
        "{OWN} st.shared.u32 [%r1], %t; shr.u32 %r2, %n, 1;
        STEP: {barrier} setp.ge.u32 %p1, %t, %r2; @%p1 bra SKIP;
        mad.lo.u32 %r3, %r2, 4, %r1; ld.shared.u32 %r4, [%r3]; ld.shared.u32 %r5, [%r1]; add.u32 %r5, %r5, %r4; st.shared.u32 [%r1], %r5;
        SKIP: shr.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra STEP; mov.u32 %r0, 0;"
    )
}

#[test]
fn a_reduction_without_its_barrier_races() {
    assert_eq!(findings("", &reduction("bar.sync 0;"), 256), []);
    let found = findings("", &reduction(""), 256);
    let between =
        |it: &Finding| it.first.thread != it.second.thread && it.first.block == it.second.block;
    assert!(!found.is_empty() && found.iter().all(between), "{found:?}");
    let pair = |it: &Finding| {
        let texts = [
            it.first.instruction.as_str(),
            it.second.instruction.as_str(),
        ];
        texts.contains(&"ld.shared.u32 %r4, [%r3]")
            && texts.iter().any(|it| it.starts_with("st.shared"))
    };
    assert!(found.iter().any(pair), "{found:?}");
    let text = found[0].to_string();
    assert!(
        text.contains("kernel `k`, PTX line ")
            && text.contains(
                "of shared memory, in `s`, without a barrier between; the other: PTX line "
            ),
        "{text}"
    );
}

/// Tiles of shared memory that are filled, read by others, and filled again.
fn tiles(after_fill: &str, after_use: &str) -> String {
    format!(
        "{OWN} mov.u32 %r2, 0; mov.u32 %r0, 0;
        TILE: add.u32 %r3, %t, %r2; st.shared.u32 [%r1], %r3; {after_fill}
        mov.u32 %r4, s; xor.b32 %r5, %t, 37; mad.lo.u32 %r4, %r5, 4, %r4; ld.shared.u32 %r6, [%r4]; add.u32 %r0, %r0, %r6; {after_use}
        add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 4; @%p1 bra TILE;"
    )
}

#[test]
fn each_of_the_two_barriers_of_a_tile_matters() {
    assert_eq!(kinds("", &tiles("bar.sync 0;", "bar.sync 0;"), 64), []);
    assert!(!kinds("", &tiles("", "bar.sync 0;"), 64).is_empty());
    let found = kinds("", &tiles("bar.sync 0;", ""), 64);
    assert!(
        !found.is_empty() && !found.contains(&FindingKind::WriteAfterWrite),
        "{found:?}"
    );
}

#[test]
fn inside_a_warp_only_sync_instructions_order() {
    let body = |between: &str| {
        format!(
            "{OWN} st.shared.u32 [%r1], %t; {between} xor.b32 %r2, %r1, 4; ld.shared.u32 %r0, [%r2];"
        )
    };
    assert_eq!(kinds("", &body(""), 32), [FindingKind::ReadAfterWrite]);
    assert_eq!(
        kinds("", &body("membar.cta;"), 32),
        [FindingKind::ReadAfterWrite]
    );
    assert_eq!(kinds("", &body("bar.warp.sync -1;"), 64), []);
    assert_eq!(
        kinds("", &body("shfl.sync.idx.b32 %r5, %t, 0, 31, -1;"), 64),
        []
    );
    // A warp's instruction orders nothing between warps.
    let far = body("bar.warp.sync -1;").replace("%r1, 4; ld", "%r1, 128; ld");
    assert!(!kinds("", &far, 64).is_empty());
}

#[test]
fn named_barriers_order_those_that_come() {
    // The first warp produces and arrives, the second waits and consumes.
    let body = |threads: u32| {
        format!(
            "mov.u32 %r1, s; and.b32 %r2, %t, 31; mad.lo.u32 %r1, %r2, 4, %r1; mov.u32 %r0, 0; setp.lt.u32 %p1, %t, 32; @!%p1 bra CONSUME;
            st.shared.u32 [%r1], %t; barrier.cta.arrive 3, 64; bra FINISH;
            CONSUME: setp.lt.u32 %p2, %t, {threads}; @%p2 barrier.cta.sync 3, 64; ld.shared.u32 %r0, [%r1];"
        )
    };
    assert_eq!(kinds("", &body(64), 64), []);
    // A third warp does not take part.
    assert!(!kinds("", &body(64), 96).is_empty());
}

#[test]
fn atomics_flags_and_equal_values_are_no_races() {
    let histogram = "and.b32 %r2, %t, 7; mov.u32 %r1, s; mad.lo.u32 %r1, %r2, 4, %r1; red.shared.add.u32 [%r1], 1; bar.sync 0; ld.shared.u32 %r0, [%r1];";
    assert_eq!(kinds("", histogram, 128), []);
    let same_value = "st.shared.u32 [s], 5; bar.sync 0; ld.shared.u32 %r0, [s];";
    assert_eq!(kinds("", same_value, 128), []);
    // One thread writes, raises a flag, and another waits for that.
    let flag = "
        mov.u32 %r0, 0; setp.eq.u32 %p1, %t, 0; @!%p1 bra OTHERS; st.shared.u32 [s], 9; membar.cta; st.volatile.shared.u32 [flag], 1; bra FINISH;
        OTHERS: ld.volatile.shared.u32 %r2, [flag]; setp.eq.u32 %p2, %r2, 0; @%p2 bra OTHERS; ld.shared.u32 %r0, [s];";
    assert_eq!(kinds("", flag, 64), []);
    let plain = flag
        .replace("st.volatile", "st")
        .replace("ld.volatile", "ld");
    assert!(kinds("", &plain, 64).contains(&FindingKind::ReadAfterWrite));
    // An atomic access does not excuse an ordinary one.
    let mixed = "setp.eq.u32 %p1, %t, 0; @%p1 red.shared.add.u32 [s], 1; setp.eq.u32 %p2, %t, 40; mov.u32 %r0, 0; @%p2 ld.shared.u32 %r0, [s];";
    assert_eq!(kinds("", mixed, 64).len(), 1);
}

#[test]
fn generic_addresses_and_partial_overlaps() {
    let body = "mov.u32 %r1, s; cvt.u64.u32 %d2, %r1; cvta.shared.u64 %d2, %d2; mov.u32 %r0, 0; setp.eq.u32 %p1, %t, 0;
        @%p1 st.u64 [%d2+8], 77; setp.eq.u32 %p2, %t, 33; @%p2 ld.shared.u8 %r0, [s+15];";
    let found = findings("", body, 64);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].address, Some(15));
}

#[test]
fn a_warp_that_meets_a_barrier_at_two_places() {
    let body = |barrier: &str| {
        format!(
            "mov.u32 %r0, 0; and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra EVEN; {barrier} bra FINISH; EVEN: {barrier}"
        )
    };
    assert_eq!(
        kinds("", &body("bar.sync 0;"), 64),
        [FindingKind::DividedBarrier]
    );
    assert_eq!(kinds("", &body("barrier.sync 0;"), 64), []);
    // Warps may differ.
    let by_warp = body("bar.sync 0;").replace("and.b32 %r1, %t, 1", "and.b32 %r1, %t, 32");
    assert_eq!(kinds("", &by_warp, 64), []);
    // Threads that have ended need not come.
    let ended = "mov.u32 %r0, 0; setp.gt.u32 %p1, %t, 50; @%p1 exit; bar.sync 0;";
    assert_eq!(kinds("", ended, 64), []);
}

#[test]
fn masks_name_the_lane_and_are_the_same() {
    let alone = "setp.lt.u32 %p1, %t, 16; mov.u32 %r0, 0; @%p1 bra FINISH; vote.sync.ballot.b32 %r0, %p1, 0xffff;";
    assert!(kinds("", alone, 32).contains(&FindingKind::NotInMask));
    let different = "mov.u32 %r1, -1; setp.lt.u32 %p1, %t, 16; @%p1 mov.u32 %r1, 0xffff; bar.warp.sync %r1; mov.u32 %r0, 0;";
    assert!(kinds("", different, 32).contains(&FindingKind::DifferentMasks));
    // Tiles of a warp, each with a mask of its own, do not meet.
    let tiles = "and.b32 %r1, %t, 16; mov.u32 %r2, 0xffff; shl.b32 %r1, %r2, %r1; setp.ne.u32 %p1, %t, 40; \
                 vote.sync.ballot.b32 %r0, %p1, %r1; bar.warp.sync %r1;";
    assert_eq!(kinds("", tiles, 64), []);
    let right = "mov.u32 %r1, 0xffff0000; setp.lt.u32 %p1, %t, 16; @%p1 mov.u32 %r1, 0xffff; @%p1 bra LOW; bar.warp.sync %r1; bra FINISH;
        LOW: bar.warp.sync %r1;";
    assert_eq!(kinds("", right, 32), []);
}

#[test]
fn nothing_is_looked_for_unless_it_is_asked_for() {
    let program = program(&thread_kernel(
        ".shared .align 16 .b8 s[1024];",
        &reduction(""),
    ));
    let arena = Arena::new();
    let out = arena.u32s(&[0; 64]);
    let params = out.to_le_bytes();
    let recorder = Recorder::default();
    let launch = Launch {
        services: &recorder,
        ..Launch::new([1, 1, 1], [64, 1, 1], &params)
    };
    run(program.kernel("k").unwrap(), &program, &launch, &arena).unwrap();
    assert_eq!(*recorder.0.lock().unwrap(), []);
}
