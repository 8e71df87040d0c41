//! Reads of what nothing had written: which are told, and that the number of threads makes no difference.

mod support;

use std::collections::HashSet;
use std::sync::Mutex;

use cuda_sim_machine::{
    Contents, Fault, Finding, FindingKind, Launch, Limits, Memory, MemoryFault, Program,
    Statistics, run,
};
use support::recorder::Recorder;
use support::{Arena, Params, program, thread_kernel};

const BLOCKS: u32 = 48;
const THREADS: u32 = 128;

/// An arena with some bytes that nothing has written.
struct Partial<'a> {
    arena: &'a Arena,
    unwritten: Mutex<HashSet<u64>>,
}

impl Partial<'_> {
    fn contents(&self, address: u64, size: usize) -> Contents {
        let unwritten = self.unwritten.lock().unwrap();
        let first = (0..size).find(|index| unwritten.contains(&(address + *index as u64)));
        first.map_or(Contents::Written, |first| Contents::Unwritten { first })
    }
}

impl Memory for Partial<'_> {
    fn load(&self, address: u64, into: &mut [u8]) -> Result<Contents, MemoryFault> {
        self.arena.load(address, into)?;
        Ok(self.contents(address, into.len()))
    }

    fn store(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        self.arena.store(address, bytes)
    }

    fn atomic(
        &self,
        address: u64,
        size: usize,
        update: &mut dyn FnMut(u64) -> u64,
    ) -> Result<(u64, Contents), MemoryFault> {
        let (old, _) = self.arena.atomic(address, size, update)?;
        Ok((old, self.contents(address, size)))
    }
}

/// Launches `k(out)`, with `unwritten` bytes of the words behind those that it stores to; says what was found.
fn launch(
    program: &Program,
    unwritten: &[u64],
    change: impl FnOnce(&mut Launch<'_>),
) -> (Result<Statistics, Fault>, Vec<Finding>) {
    let arena = Arena::new();
    let words = (BLOCKS * THREADS) as usize;
    let out = arena.u32s(&vec![0; 2 * words]);
    let behind = out + 4 * words as u64;
    let memory = Partial {
        arena: &arena,
        unwritten: Mutex::new(unwritten.iter().map(|byte| behind + byte).collect()),
    };
    let recorder = Recorder::default();
    let params = Params::default().u64(out);
    let mut launch = Launch::new([BLOCKS, 1, 1], [THREADS, 1, 1], &params.0);
    launch.services = &recorder;
    change(&mut launch);
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None);
    let result = run(kernel, program, &launch, &memory);
    let mut findings = recorder.0.into_inner().unwrap();
    for finding in &mut findings {
        finding.address = finding.address.map(|address| address - behind);
    }
    (result, findings)
}

/// A kernel with `%d3` at the thread's word behind the output, and `%d4` at the first of these.
fn reader(body: &str) -> Program {
    program(&thread_kernel(
        "",
        &format!(
            "ld.param.u64 %d4, [out]; add.u64 %d4, %d4, {}; mul.wide.u32 %d3, %g, 4; add.u64 %d3, %d3, %d4; mov.u32 %r0, 0;\n{body}",
            4 * BLOCKS * THREADS
        ),
    ))
}

/// Line of the body's first instruction.
const BODY: u32 = 10;

fn read(size: usize, first: usize) -> FindingKind {
    FindingKind::UninitialisedRead { size, first }
}

#[test]
fn each_form_of_access_names_its_first_lane() {
    // Word 200 belongs to thread 72 of block 1; lines are those of the body.
    let word: Vec<u64> = (800..804).collect();
    for (body, size, thread) in [
        ("ld.global.u32 %r1, [%d3];", 4, 72),
        ("ld.u32 %r1, [%d3];", 4, 72),
        ("ld.global.nc.u32 %r1, [%d3];", 4, 72),
        (
            "setp.eq.u32 %p1, %t, 72; @%p1 ld.global.u32 %r1, [%d3];",
            4,
            72,
        ),
        // Lanes that do not follow each other.
        ("xor.b64 %d3, %d3, 4; ld.global.u16 %r1, [%d3];", 2, 73),
        ("xor.b64 %d3, %d3, 4; ld.global.u32 %r1, [%d3];", 4, 73),
        // Lanes that share what they read.
        (
            "and.b64 %d3, %d3, -16; ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%d3];",
            16,
            72,
        ),
        ("and.b64 %d3, %d3, -8; ld.global.u64 %d5, [%d3];", 8, 72),
        (
            "add.u64 %d3, %d4, 800; setp.ge.u32 %p1, %g, 200; @%p1 ld.global.u32 %r1, [%d3];",
            4,
            72,
        ),
        ("red.global.add.u32 [%d3], 1;", 4, 72),
        (
            "atom.global.add.u32 %r1, [%d3], 1; add.u32 %r0, %r0, %r1;",
            4,
            72,
        ),
        (
            "mul.wide.u32 %d6, %t, 4; mov.u64 %d7, dyn; add.u64 %d6, %d6, %d7; cp.async.ca.shared.global [%d6], [%d3], 4;",
            4,
            72,
        ),
    ] {
        let text = thread_kernel(
            ".extern .shared .align 16 .b8 dyn[];",
            &format!(
                "ld.param.u64 %d4, [out]; add.u64 %d4, %d4, {}; mul.wide.u32 %d3, %g, 4; add.u64 %d3, %d3, %d4; mov.u32 %r0, 0;\n{body}",
                4 * BLOCKS * THREADS
            ),
        );
        let (result, found) = launch(&program(&text), &word, |it| it.dynamic_shared = 1024);
        result.unwrap();
        let [finding] = &found[..] else {
            panic!("`{body}`: {found:?}");
        };
        assert_eq!(
            (finding.kind, finding.address),
            (read(size, 0), Some(800)),
            "{body}"
        );
        let place = &finding.second;
        assert_eq!(finding.first, *place);
        assert_eq!((place.line, place.block), (BODY, [1, 0, 0]), "{body}");
        assert!(body.contains(&place.instruction), "{}", place.instruction);
        assert_eq!(place.thread, [thread, 0, 0], "{body}");
    }
}

#[test]
fn a_vector_says_which_of_its_bytes_is_the_first() {
    let program = reader("and.b64 %d3, %d3, -16; ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%d3];");
    let (result, found) = launch(&program, &[44, 45], |_| {});
    result.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].kind, found[0].address), (read(16, 12), Some(32)));
    assert_eq!(found[0].second.thread, [8, 0, 0]);
    let text = found[0].to_string();
    assert!(
        text.starts_with("kernel `k`, PTX line 10 `ld.global.v4"),
        "{text}"
    );
    assert!(
        text.ends_with("16 bytes, of which byte 12 is the first such"),
        "{text}"
    );
}

/// Findings with each number of threads; they must be the same.
fn same_everywhere(
    program: &Program,
    unwritten: &[u64],
    change: impl Fn(&mut Launch<'_>),
) -> (Result<Statistics, Fault>, Vec<Finding>) {
    assert_eq!(program.kernel("k").unwrap().interaction(), None);
    let alone = launch(program, unwritten, &change);
    for threads in [2, 3, 7] {
        let spread = launch(program, unwritten, |launch| {
            change(launch);
            launch.threads = threads;
        });
        assert_eq!(spread, alone, "{threads} threads");
    }
    alone
}

/// 200 rounds of work, so that a launch is spread; the body reads in round `%r9 == 100`, where `%p1` holds.
fn busy(body: &str) -> Program {
    reader(&format!(
        "mov.u32 %r9, 200;\nLOOP: mad.lo.u32 %r0, %r0, 1664525, 1013904223; setp.eq.u32 %p1, %r9, 100;\n{body}\n\
         sub.u32 %r9, %r9, 1; setp.ne.u32 %p0, %r9, 0; @%p0 bra LOOP;"
    ))
}

#[test]
fn the_first_block_in_launch_order_is_told_by_any_number_of_threads() {
    // Blocks from 7 on read unwritten words, by two instructions.
    let unwritten: Vec<u64> =
        (u64::from(4 * 7 * THREADS)..u64::from(4 * BLOCKS * THREADS)).collect();
    let program = busy(
        "@%p1 ld.global.u32 %r1, [%d3];\n@%p1 red.global.add.u32 [%d4+4], 1;\n@%p1 ld.global.u8 %r2, [%d3+1];",
    );
    let mut blocks = HashSet::new();
    for seed in 0..4 {
        let (result, found) = same_everywhere(&program, &unwritten, |launch| launch.seed = seed);
        result.unwrap();
        let lines: Vec<u32> = found.iter().map(|it| it.second.line).collect();
        assert_eq!(lines, [BODY + 2, BODY + 4], "seed {seed}");
        assert_eq!(found[0].second.block, found[1].second.block);
        blocks.insert(found[0].second.block);
        if seed == 0 {
            assert_eq!(found[0].second.block, [7, 0, 0]);
            assert_eq!(found[0].second.thread, [0, 0, 0]);
        }
    }
    assert!(blocks.len() > 1, "{blocks:?}");
}

#[test]
fn what_comes_behind_a_fault_or_the_limit_is_not_told() {
    let unwritten: Vec<u64> = (0..u64::from(4 * BLOCKS * THREADS)).collect();
    // Blocks 3, 20 and 30 read; 20 faults after its read, in the same round.
    let program = busy(
        "mov.u32 %r3, %ctaid.x;\n\
         setp.eq.and.u32 %p2, %r3, 3, %p1;\n@%p2 ld.global.u32 %r1, [%d3];\n\
         setp.eq.and.u32 %p2, %r3, 20, %p1;\n@%p2 ld.global.u32 %r1, [%d3];\n@%p2 trap;\n\
         setp.eq.and.u32 %p2, %r3, 30, %p1;\n@%p2 ld.global.u32 %r1, [%d3];",
    );
    let (result, found) = same_everywhere(&program, &unwritten, |_| {});
    assert!(result.is_err());
    let blocks = |found: &[Finding]| {
        found
            .iter()
            .map(|it| it.second.block[0])
            .collect::<Vec<_>>()
    };
    assert_eq!(blocks(&found), [3, 20]);
    // Limits at which block 20 has read, or has not, or nothing has.
    let limited = |instructions| {
        let limits = Limits {
            instructions,
            ..Limits::DEFAULT
        };
        same_everywhere(&program, &unwritten, |launch| launch.limits = limits)
    };
    let mut seen = HashSet::new();
    for limit in (0..250_000).step_by(12_500) {
        let found = limited(limit).1;
        assert!(blocks(&found).len() <= 2);
        seen.insert(blocks(&found));
    }
    assert_eq!(seen, HashSet::from([vec![], vec![3], vec![3, 20]]));
}

#[test]
fn a_launch_tells_a_bounded_number() {
    let reads: String = (0..40)
        .map(|it| format!("ld.global.u32 %r1, [%d4+{}];\n", 4 * it))
        .collect();
    let unwritten: Vec<u64> = (0..160).collect();
    let (result, found) = launch(&reader(&reads), &unwritten, |_| {});
    result.unwrap();
    let lines: Vec<u32> = found.iter().map(|it| it.second.line).collect();
    assert_eq!(lines, (BODY..BODY + 16).collect::<Vec<_>>());
}

#[test]
fn a_called_function_is_named() {
    let functions = ".func get(.param .b64 a) { .reg .b64 %d<2>; .reg .b32 %r<3>; ld.param.u64 %d0, [a];\n\
                     ld.global.u32 %r1, [%d0]; ret; }";
    let body = "ld.param.u64 %d5, [out]; add.u64 %d5, %d5, 24576; { .param .b64 p; st.param.b64 [p], %d5; call get, (p); } mov.u32 %r0, 0;";
    let (result, found) = launch(&program(&thread_kernel(functions, body)), &[0], |_| {});
    result.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].second.function.as_str(), found[0].second.line),
        ("get", 5)
    );
    assert!(
        found[0]
            .to_string()
            .starts_with("kernel `k`, function `get`, PTX line 5")
    );
}
