//! Blocks on several threads: nothing but the time may depend on their number.

mod support;

use std::collections::HashSet;
use std::sync::Mutex;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use cuda_sim_machine::{
    Contents, Fault, FaultKind, Launch, Limits, Memory, MemoryFault, Program, Statistics, run,
};
use support::{Arena, Params, numbers, program, thread_kernel};

const BLOCKS: u32 = 48;
const THREADS: u32 = 128;
const NUMBERS: [usize; 3] = [1, 2, 7];

/// Remembers which threads store.
struct Watched<'a> {
    arena: &'a Arena,
    stored_by: Mutex<HashSet<ThreadId>>,
    /// Where stores wait until so many threads have stored.
    waits: Option<(u64, usize)>,
}

impl Memory for Watched<'_> {
    fn load(&self, address: u64, into: &mut [u8]) -> Result<Contents, MemoryFault> {
        self.arena.load(address, into)
    }

    fn store(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        let count = || {
            let mut threads = self.stored_by.lock().unwrap();
            threads.insert(thread::current().id());
            threads.len()
        };
        let start = Instant::now();
        while count()
            < self.waits.map_or(
                0,
                |(from, threads)| if address < from { 0 } else { threads },
            )
        {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "no other thread stores"
            );
            thread::sleep(Duration::from_millis(1));
        }
        self.arena.store(address, bytes)
    }

    fn atomic(
        &self,
        address: u64,
        size: usize,
        update: &mut dyn FnMut(u64) -> u64,
    ) -> Result<(u64, Contents), MemoryFault> {
        self.arena.atomic(address, size, update)
    }
}

/// What a launch of `k(out)` left: its result, the words of `out`, and on how many threads it stored.
struct Run {
    result: Result<Statistics, Fault>,
    words: Vec<u32>,
    stored_by: usize,
}

fn launch(program: &Program, threads: usize, change: impl FnOnce(&mut Launch<'_>)) -> Run {
    launch_watched(program, threads, false, change)
}

/// The same; `waiting` makes the later blocks wait until every thread has stored something.
fn launch_watched(
    program: &Program,
    threads: usize,
    waiting: bool,
    change: impl FnOnce(&mut Launch<'_>),
) -> Run {
    let words = (BLOCKS * THREADS) as usize;
    let arena = Arena::new();
    let out = arena.u32s(&numbers(words, 5));
    let params = Params::default().u64(out);
    let mut launch = Launch::new([BLOCKS, 1, 1], [THREADS, 1, 1], &params.0);
    launch.threads = threads;
    change(&mut launch);
    let memory = Watched {
        arena: &arena,
        stored_by: Mutex::default(),
        // Some blocks run before the launch is spread.
        waits: waiting.then_some((out + 2 * words as u64, threads)),
    };
    let result = run(program.kernel("k").unwrap(), program, &launch, &memory);
    Run {
        result,
        words: arena.read_u32s(out, words),
        stored_by: memory.stored_by.into_inner().unwrap().len(),
    }
}

/// A kernel whose threads each do `body` 200 times; `%r1` counts down, `%r0` is what the thread stores in the end.
fn busy(body: &str) -> Program {
    program(&thread_kernel(
        "",
        &format!(
            "ld.param.u64 %d2, [out]; mov.u32 %r0, %g; mov.u32 %r1, 200; mov.u32 %r9, %ctaid.x;\n\
             LOOP: mad.lo.u32 %r0, %r0, 1664525, 1013904223;\n{body}\n\
             sub.u32 %r1, %r1, 1; setp.ne.u32 %p0, %r1, 0; @%p0 bra LOOP;"
        ),
    ))
}

/// Launches with each number of threads, and requires the same outcome.
fn same_everywhere(program: &Program, change: impl Fn(&mut Launch<'_>)) -> Run {
    assert_eq!(program.kernel("k").unwrap().interaction(), None);
    let alone = launch(program, 1, &change);
    for threads in NUMBERS {
        let spread = launch(program, threads, &change);
        assert_eq!(spread.result, alone.result, "{threads} threads");
        if alone.result.is_ok() {
            assert_eq!(spread.words, alone.words, "{threads} threads");
        }
    }
    alone
}

#[test]
fn results_and_statistics_are_the_same_and_the_work_is_spread() {
    let program = busy("");
    let alone = same_everywhere(&program, |_| {});
    let statistics = alone.result.unwrap();
    assert_eq!(statistics.blocks, u64::from(BLOCKS));
    assert_eq!(alone.stored_by, 1);
    for threads in [2, 3] {
        let spread = launch_watched(&program, threads, true, |_| {});
        assert_eq!(spread.result.unwrap(), statistics);
        assert_eq!(spread.stored_by, threads);
    }
}

#[test]
fn a_small_launch_stays_on_its_thread() {
    let program = program(&thread_kernel("", "mov.u32 %r0, %g;"));
    assert_eq!(program.kernel("k").unwrap().interaction(), None);
    let run = launch(&program, 7, |_| {});
    run.result.unwrap();
    assert_eq!(run.stored_by, 1);
}

#[test]
fn integer_reductions_and_atomics_whose_result_is_not_read_are_spread() {
    // All threads add to the first words; their own words are overwritten in the end, those of block 0 included, so leave before that.
    for update in [
        "red.global.add.u32 [%d3], %r0;",
        "red.add.s32 [%d3], %r0;",
        "atom.global.add.u32 %r7, [%d3], %r0;",
        "red.relaxed.gpu.global.xor.b32 [%d3], %r0;",
        "red.global.max.s32 [%d3], %r0;",
        "atom.shared.add.u32 %r8, [%r12], %r0; add.u32 %r0, %r0, %r8;",
    ] {
        let program = busy(&format!(
            "and.b32 %r4, %r0, 63; mul.wide.u32 %d3, %r4, 4; add.u64 %d3, %d3, %d2; mov.u32 %r12, 0;\n{update}\n\
             setp.eq.u32 %p1, %r1, 1; @%p1 exit;"
        ));
        same_everywhere(&program, |launch| launch.dynamic_shared = 4);
    }
}

#[test]
fn the_fault_of_the_first_block_is_reported() {
    // Blocks 20 and 25 fault, 20 after more work; later blocks never end.
    let program = busy(
        "setp.gt.u32 %p1, %r9, 30; @%p1 bra LOOP;\n\
         setp.eq.u32 %p1, %r9, 20; setp.eq.and.u32 %p1, %r1, 2, %p1; @%p1 trap;\n\
         setp.eq.u32 %p1, %r9, 25; setp.eq.and.u32 %p1, %r1, 150, %p1; @%p1 st.global.u32 [%d4], %r1;",
    );
    let fault = same_everywhere(&program, |_| {}).result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Trap);
    assert_eq!(fault.place.unwrap().block, [20, 0, 0]);
    // In another order of blocks it is another one's.
    let mut first = HashSet::new();
    for seed in 1..12 {
        let program =
            busy("setp.ge.u32 %p1, %r9, 15; setp.eq.and.u32 %p1, %r1, 2, %p1; @%p1 trap;");
        let fault = same_everywhere(&program, |launch| launch.seed = seed);
        first.insert(fault.result.unwrap_err().place.unwrap().block);
    }
    assert!(first.len() > 4, "{first:?}");
}

#[test]
fn the_limit_on_instructions_counts_in_launch_order() {
    let program = busy("setp.eq.u32 %p1, %r9, 40; setp.eq.and.u32 %p1, %r1, 7, %p1; @%p1 trap;");
    let limited = |instructions| {
        move |launch: &mut Launch<'_>| {
            launch.limits = Limits {
                instructions,
                ..Limits::DEFAULT
            };
        }
    };
    let is_timeout = |run: Run| matches!(run.result.unwrap_err().kind, FaultKind::Timeout { .. });
    // The instructions up to the fault: found by halving.
    let (mut enough, mut little) = (1_000_000, 0);
    while enough - little > 1 {
        let middle = (enough + little) / 2;
        if is_timeout(launch(&program, 1, limited(middle))) {
            little = middle;
        } else {
            enough = middle;
        }
    }
    assert!(enough > 100_000, "{enough}");
    assert!(!is_timeout(same_everywhere(&program, limited(enough))));
    assert!(is_timeout(same_everywhere(&program, limited(little))));
    assert!(is_timeout(same_everywhere(&program, limited(1))));
    // Without a fault, exactly what the launch executes is enough.
    let program = busy("");
    let all = launch(&program, 1, |_| {}).result.unwrap().instructions;
    same_everywhere(&program, limited(all)).result.unwrap();
    assert!(is_timeout(same_everywhere(&program, limited(all - 1))));
}

#[test]
fn seeds_choose_the_same_order_of_warps_and_blocks() {
    // Each warp reads what the one before it has left in shared memory.
    let program = busy(
        "mov.u32 %r12, 0; mov.u32 %r13, %warpid; ld.shared.u32 %r14, [%r12]; st.shared.u32 [%r12], %r13;\n\
         add.u32 %r0, %r0, %r14;",
    );
    let mut results = HashSet::new();
    for seed in 0..6 {
        let run = same_everywhere(&program, |launch| {
            launch.seed = seed;
            launch.dynamic_shared = 4;
        });
        run.result.unwrap();
        results.insert(run.words);
    }
    assert!(results.len() > 3, "{} different results", results.len());
}

#[test]
fn kernels_whose_blocks_interact_are_not_spread() {
    for (body, instruction) in [
        (
            "atom.global.add.u32 %r5, [%d2], 1; add.u32 %r0, %r0, %r5;",
            "atom.global.add.u32",
        ),
        ("atom.global.exch.b32 %r5, [%d2], %r0;", "atom.global.exch"),
        (
            "atom.global.cas.b32 %r5, [%d2], %r0, %r1;",
            "atom.global.cas",
        ),
        (
            "red.global.add.f32 [%d2], 0f3F800000;",
            "red.global.add.f32",
        ),
        ("red.global.inc.u32 [%d2], 100;", "red.global.inc"),
        (
            "red.global.add.u32 [%d2], 1; red.global.and.b32 [%d2+4], 1;",
            "red.global.and",
        ),
        ("red.release.gpu.global.add.u32 [%d2], 1;", "red.release"),
        ("ld.volatile.global.u32 %r5, [%d2];", "ld.volatile"),
        ("ld.relaxed.gpu.global.u32 %r5, [%d2];", "ld.relaxed"),
        ("ld.acquire.sys.u32 %r5, [%d2];", "ld.acquire"),
        ("st.volatile.u32 [%d2], %r0;", "st.volatile"),
        ("st.release.gpu.global.u32 [%d2], %r0;", "st.release"),
        ("ld.global.cv.u32 %r5, [%d2];", "ld.global.cv"),
        ("st.global.wt.u32 [%d2], %r0;", "st.global.wt"),
        ("fence.acq_rel.gpu;", "fence"),
        ("membar.gl;", "membar.gl"),
        ("mov.u32 %r5, %clock; add.u32 %r0, %r0, %r5;", "%clock"),
        ("setp.eq.u64 %p1, %d3, %globaltimer;", "%globaltimer"),
    ] {
        let program = busy(body);
        let interaction = program.kernel("k").unwrap().interaction().cloned();
        let interaction = interaction.unwrap_or_else(|| panic!("`{body}` passes for independent"));
        assert!(interaction.text.contains(instruction), "{interaction}");
        assert_eq!(interaction.function, "k");
        let alone = launch(&program, 1, |_| {});
        let several = launch(&program, 7, |_| {});
        assert_eq!(several.stored_by, 1, "{body}");
        assert_eq!(several.result, alone.result);
        assert_eq!(several.words, alone.words);
    }
}

#[test]
fn what_stays_within_a_block_does_not_count() {
    for body in [
        "membar.cta;",
        "fence.acq_rel.cta;",
        "ld.volatile.shared.u32 %r5, [%r12];",
        "atom.shared.exch.b32 %r5, [%r12], %r0; add.u32 %r6, %r6, %r5;",
        "bar.sync 0;",
        "shfl.sync.bfly.b32 %r5, %r0, 1, 31, -1; add.u32 %r0, %r0, %r5;",
        "ld.global.nc.u32 %r5, [%d2];",
    ] {
        let program = busy(&format!("mov.u32 %r12, 0;\n{body}"));
        let interaction = program.kernel("k").unwrap().interaction();
        assert_eq!(interaction, None, "{body}");
    }
}

#[test]
fn called_functions_count() {
    let functions = ".func touch(.param .b64 a) { .reg .b64 %d<2>; .reg .b32 %r<3>; ld.param.u64 %d0, [a];\n\
                     atom.global.add.u32 %r1, [%d0], 1; st.global.u32 [%d0+4], %r1; ret; }";
    let body = "ld.param.u64 %d5, [out]; { .param .b64 p; st.param.b64 [p], %d5; call touch, (p); } mov.u32 %r0, 0;";
    let program = program(&thread_kernel(functions, body));
    let interaction = program.kernel("k").unwrap().interaction().unwrap();
    assert_eq!(interaction.function, "touch");
    assert_eq!(interaction.line, 5);
}

#[test]
fn a_result_that_a_function_returns_counts_as_read() {
    let functions =
        ".func (.reg .b32 %old) draw(.reg .b64 %a) { atom.global.add.u32 %old, [%a], 1; ret; }";
    let body = "ld.param.u64 %d5, [out]; call (%r0), draw, (%d5);";
    let program = program(&thread_kernel(functions, body));
    let interaction = program.kernel("k").unwrap().interaction().unwrap();
    assert_eq!(interaction.function, "draw");
}
