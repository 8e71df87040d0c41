//! Races in global memory: the classical mistakes between blocks are found, and what the memory model orders is silent.

mod support;

use cuda_sim_machine::{Access, Cause, Checks, Finding, FindingKind, Launch, run};
use support::recorder::Recorder;
use support::{Arena, program, thread_kernel};

const BLOCKS: u32 = 3;
const THREADS: u32 = 64;

/// What is found in a kernel of three blocks with `%d3` at the words of `data`, `%b` the number of the block and `%p0` set in its first thread;
/// in each of several orders. What the kernel reads there must have been found or not in all of them.
fn findings(body: &str) -> Vec<Finding> {
    let body = format!(
        ".reg .b32 %b; mov.u32 %b, %ctaid.x; mov.u64 %d3, data; mul.wide.u32 %d4, %g, 4; add.u64 %d4, %d4, %d3;
         setp.eq.u32 %p0, %t, 0; mov.u32 %r0, 0;\n{body}"
    );
    let program = program(&thread_kernel(
        ".global .align 8 .b8 data[4096]; .global .u32 flag; .global .u32 count; .shared .u32 last;",
        &body,
    ));
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None);
    let mut results = Vec::new();
    for seed in [0, 1, 2, 3] {
        let arena = Arena::new();
        let out = arena.u32s(&vec![0; (BLOCKS * THREADS) as usize]);
        let params = out.to_le_bytes();
        let globals: Vec<u64> = program
            .globals()
            .iter()
            .map(|it| arena.place(&it.bytes))
            .collect();
        let recorder = Recorder::default();
        let mut launch = Launch {
            globals: &globals,
            services: &recorder,
            checks: Checks {
                global_race: true,
                ..Checks::default()
            },
            seed,
            ..Launch::new([BLOCKS, 1, 1], [THREADS, 1, 1], &params)
        };
        launch.limits.instructions = 10_000_000;
        run(kernel, &program, &launch, &arena).unwrap();
        results.push(recorder.0.into_inner().unwrap());
    }
    let found: Vec<bool> = results.iter().map(|it| !it.is_empty()).collect();
    assert!(
        found.iter().all(|it| *it == found[0]),
        "{body}: {results:?}"
    );
    results.swap_remove(0)
}

/// The causes of what is found, which must be races.
fn causes(body: &str) -> Vec<Cause> {
    findings(body)
        .iter()
        .map(|it| match it.kind {
            FindingKind::GlobalRace { cause, .. } => cause,
            _ => panic!("{it}"),
        })
        .collect()
}

#[track_caller]
fn silent(body: &str) {
    assert_eq!(findings(body), [], "{body}");
}

#[track_caller]
fn races(body: &str) {
    let causes = causes(body);
    assert!(!causes.is_empty(), "{body}");
    assert!(causes.iter().all(|it| *it == Cause::Order), "{body}");
}

/// The word of the thread that has the same number in the next block (of the last, in the first one), to `%d5`.
const NEXT: &str =
    "add.u32 %r1, %g, 64; rem.u32 %r1, %r1, 192; mul.wide.u32 %d5, %r1, 4; add.u64 %d5, %d5, %d3;";

#[test]
fn blocks_that_use_each_others_words_race() {
    silent("st.global.u32 [%d4], %g; ld.global.u32 %r0, [%d4];");
    let found = findings(&format!(
        "st.global.u32 [%d4], %g;\n{NEXT} ld.global.u32 %r0, [%d5];"
    ));
    let [finding, ..] = found.as_slice() else {
        panic!("nothing is found");
    };
    let FindingKind::GlobalRace {
        size: 4,
        cause: Cause::Order,
        ..
    } = finding.kind
    else {
        panic!("{finding}");
    };
    assert_ne!(finding.first.block, finding.second.block);
    let text = finding.to_string();
    for part in [
        "kernel `k`, PTX line ",
        "address 0x",
        ", 4 bytes; nothing orders the two, which are in different blocks",
        "; the other thread ",
    ] {
        assert!(text.contains(part), "{text}");
    }
    // A barrier of the block does not order blocks.
    races(&format!(
        "st.global.u32 [%d4], %g; bar.sync 0; {NEXT} ld.global.u32 %r0, [%d5];"
    ));
    // Nor does a fence.
    races(&format!(
        "st.global.u32 [%d4], %g; membar.gl; {NEXT} ld.global.u32 %r0, [%d5];"
    ));
    races(&format!(
        "ld.global.u32 %r0, [%d4]; {NEXT} add.u32 %r2, %g, 1; st.global.u32 [%d5], %r2;"
    ));
}

#[test]
fn threads_of_a_block_need_a_barrier() {
    let neighbour = "xor.b32 %r1, %g, 32; mul.wide.u32 %d5, %r1, 4; add.u64 %d5, %d5, %d3;";
    silent(&format!(
        "{neighbour} st.global.u32 [%d4], %g; bar.sync 0; ld.global.u32 %r0, [%d5];"
    ));
    let found = findings(&format!(
        "{neighbour} st.global.u32 [%d4], %g; ld.global.u32 %r0, [%d5];"
    ));
    assert!(!found.is_empty());
    for finding in &found {
        assert_eq!(finding.first.block, finding.second.block);
        assert!(
            finding.to_string().contains("`__syncthreads()`"),
            "{finding}"
        );
    }
}

#[test]
fn writes_race_where_they_differ() {
    races("st.global.u32 [%d3], %b;");
    // The habit of setting a flag.
    silent("mov.u32 %r1, 1; st.global.u32 [%d3], %r1;");
    // Lanes of one instruction, of which one wins.
    silent(
        "setp.eq.u32 %p1, %b, 0; setp.lt.u32 %p2, %t, 32; and.pred %p1, %p1, %p2; @%p1 st.global.u32 [%d3], %t;",
    );
    // Bytes beside each other.
    silent(
        "cvt.u64.u32 %d5, %g; add.u64 %d5, %d5, %d3; st.global.u8 [%d5], %t; ld.global.u8 %r1, [%d5];",
    );
    races("st.global.u32 [%d3], %b; ld.global.v2.u32 {%r1, %r2}, [%d3];");
}

#[test]
fn atomics_do_not_race_with_each_other() {
    silent(
        "atom.global.add.u32 %r1, [%d3], 1; red.global.max.u32 [%d3], %g; ld.volatile.global.u32 %r2, [%d3];",
    );
    silent("st.volatile.global.u32 [%d3], %g; ld.relaxed.gpu.global.u32 %r2, [%d3];");
    races("atom.global.add.u32 %r1, [%d3], 1; ld.global.u32 %r2, [%d3];");
    races("red.global.add.u32 [%d3], 1; @%p0 st.global.u32 [%d3], %b;");
    let narrow = causes("red.relaxed.cta.global.add.u32 [%d3], 1;");
    assert!(!narrow.is_empty() && narrow.iter().all(|it| *it == Cause::Scope));
    // Each block has its own word.
    silent(
        "mul.wide.u32 %d5, %b, 4; add.u64 %d5, %d5, %d3; red.relaxed.cta.global.add.u32 [%d5], 1;",
    );
}

/// Block 0 writes a word and raises a flag, the first thread of block 1 waits for it, and its block reads the word.
fn message(publish: &str, wait: &str) -> String {
    format!(
        "setp.eq.u32 %p1, %b, 0; @!%p1 bra OTHER;
         @%p0 bra SEND; bra.uni END;
         SEND: mov.u32 %r1, 7; st.global.u32 [%d3+8], %r1; {publish} bra.uni END;
         OTHER: setp.ne.u32 %p1, %b, 1; @%p1 bra END; @!%p0 bra MEET;
         SPIN: {wait}; setp.eq.u32 %p1, %r2, 0; @%p1 bra SPIN;
         MEET: FENCE; bar.sync 0; ld.global.u32 %r0, [%d3+8];
         END:"
    )
}

#[test]
fn messages_need_their_fences() {
    let fence = |text: String, with: &str| text.replace("FENCE", with);
    let store = "membar.gl; st.volatile.global.u32 [flag], 1;";
    let load = "ld.volatile.global.u32 %r2, [flag]";
    silent(&fence(message(store, load), "membar.gl"));
    silent(&fence(
        message(
            "membar.gl; atom.global.exch.b32 %r3, [flag], 1;",
            "atom.global.or.b32 %r2, [flag], 0",
        ),
        "fence.acq_rel.gpu",
    ));
    silent(&fence(
        message(
            "st.release.gpu.global.u32 [flag], 1;",
            "ld.acquire.gpu.global.u32 %r2, [flag]",
        ),
        "mov.u32 %r4, 0",
    ));
    silent(&fence(
        message(
            "red.release.gpu.global.add.u32 [flag], 1;",
            "ld.acquire.sys.global.u32 %r2, [flag]",
        ),
        "mov.u32 %r4, 0",
    ));
    silent(&fence(
        message(
            "fence.sc.gpu; st.relaxed.gpu.global.u32 [flag], 1;",
            "ld.acquire.gpu.global.u32 %r2, [flag]",
        ),
        "mov.u32 %r4, 0",
    ));
    // The reader's is missing.
    let missing = causes(&fence(message(store, load), "mov.u32 %r4, 0"));
    assert_eq!(missing, [Cause::Fence]);
    // The writer's is missing, or reaches its block only.
    for publish in [
        "st.volatile.global.u32 [flag], 1;",
        "membar.cta; st.volatile.global.u32 [flag], 1;",
        "fence.acq_rel.cta; st.relaxed.gpu.global.u32 [flag], 1;",
        "st.volatile.global.u32 [flag], 1; membar.gl;",
    ] {
        let found = fence(message(publish, load), "membar.gl");
        assert_eq!(causes(&found), [Cause::Order], "{publish}");
    }
}

/// All threads write, a barrier of the grid, all read what another block has written.
fn grid_barrier(before: &str, after: &str) -> String {
    format!(
        "st.global.u32 [%d4], %g; bar.sync 0; @!%p0 bra MEET;
         {before} atom.global.add.u32 %r1, [count], 1;
         SPIN: ld.volatile.global.u32 %r2, [count]; setp.lt.u32 %p1, %r2, 3; @%p1 bra SPIN; {after}
         MEET: bar.sync 0; {NEXT} ld.global.u32 %r0, [%d5];"
    )
}

#[test]
fn a_barrier_of_the_grid_orders_its_blocks() {
    silent(&grid_barrier("membar.gl;", "membar.gl;"));
    assert!(!causes(&grid_barrier("", "membar.gl;")).is_empty());
    assert!(causes(&grid_barrier("membar.gl;", "")).contains(&Cause::Fence));
    // The fence of each thread, as older programs have it, and that of the one thread do the same.
    silent(
        &grid_barrier("membar.gl;", "membar.gl;")
            .replacen("bar.sync", "membar.gl; bar.sync", 1)
            .replacen("\n         membar.gl; atom", "\n         atom", 1),
    );
}

#[test]
fn the_last_block_may_read_what_all_have_written() {
    let last = |fence: &str, acquire: &str| {
        format!(
            "st.global.u32 [%d4], %g; {fence} bar.sync 0; @!%p0 bra MEET;
             atom.global.inc.u32 %r1, [count], 10; st.shared.u32 [last], %r1;
             MEET: bar.sync 0; ld.shared.u32 %r1, [last]; setp.ne.u32 %p1, %r1, 2; @%p1 bra END;
             {acquire} {NEXT} ld.global.u32 %r0, [%d5];
             END:"
        )
    };
    silent(&last("membar.gl;", "membar.gl;"));
    assert!(!causes(&last("", "membar.gl;")).is_empty());
    let missing = causes(&last("membar.gl;", ""));
    assert_eq!(missing, [Cause::Fence]);
}

#[test]
fn a_lock_orders_what_it_guards() {
    let guarded = |acquire: &str, release: &str| {
        format!(
            "@!%p0 bra END;
             SPIN: atom.global.cas.b32 %r1, [flag], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN; {acquire}
             ld.global.u32 %r2, [%d3]; add.u32 %r2, %r2, 1; st.global.u32 [%d3], %r2;
             {release} atom.global.exch.b32 %r1, [flag], 0;
             END:"
        )
    };
    silent(&guarded("membar.gl;", "membar.gl;"));
    let causes = causes(&guarded("", "membar.gl;"));
    assert!(!causes.is_empty() && causes.iter().all(|it| *it == Cause::Fence));
    races(&guarded("membar.gl;", ""));
}

#[test]
fn what_is_done_to_it_is_named() {
    let acts = |body: &str| match findings(body)[0].kind {
        FindingKind::GlobalRace { first, second, .. } => [first, second],
        kind => panic!("{kind:?}"),
    };
    let reads = "ld.global.u32 %r0, [%d3];";
    let both = acts(&format!(
        "setp.eq.u32 %p1, %b, 0; @%p1 st.global.u32 [%d3], 9; @!%p1 {reads}"
    ));
    assert!(both.contains(&Access::Read) && both.contains(&Access::Write));
    let both = acts(&format!(
        "setp.eq.u32 %p1, %b, 0; @%p1 red.global.add.u32 [%d3], 9; @!%p1 {reads}"
    ));
    assert!(both.contains(&Access::Read) && both.contains(&Access::Update));
}
