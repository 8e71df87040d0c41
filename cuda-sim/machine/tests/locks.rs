//! Locks that lanes of one warp take from each other: whoever has it must get on while the others spin, however short a turn is.

mod support;

use cuda_sim_machine::{Launch, Limits, run};
use support::{Arena, Params, program, thread_kernel};

const BLOCKS: u32 = 3;
const THREADS: u32 = 8;

/// Each thread adds one to a word behind a lock; returns the word. No more instructions than given may be needed.
fn count_with(functions: &str, lock: &str, unlock: &str, instructions: u64) -> u32 {
    let body = format!(
        "mov.u32 %r0, 0; ld.param.u64 %d2, [out]; add.u64 %d3, %d2, {};
        {lock}
        membar.gl; ld.volatile.global.u32 %r2, [%d3+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%d3+4], %r2; membar.gl;
        {unlock}",
        4 * BLOCKS * THREADS
    );
    let program = program(&thread_kernel(functions, &body));
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None);
    let arena = Arena::new();
    let words = (BLOCKS * THREADS) as usize;
    let out = arena.u32s(&vec![0; words + 2]);
    let params = Params::default().u64(out);
    let mut launch = Launch::new([BLOCKS, 1, 1], [THREADS, 1, 1], &params.0);
    launch.limits = Limits {
        instructions,
        ..launch.limits
    };
    run(kernel, &program, &launch, &arena).unwrap();
    arena.read_u32s(out, words + 2)[words + 1]
}

#[test]
fn lanes_that_spin_let_the_owner_on() {
    let lock = "SPIN: atom.global.exch.b32 %r1, [%d3], 1; setp.eq.u32 %p1, %r1, 1; @%p1 bra SPIN;";
    let unlock = "atom.global.exch.b32 %r1, [%d3], 0;";
    assert_eq!(count_with("", lock, unlock, 500_000), BLOCKS * THREADS);
}

#[test]
fn lanes_that_spin_in_a_function_let_the_owner_on() {
    let functions = "
        .func lock(.reg .b64 %l) { .reg .b32 %r1; .reg .pred %p1;
        SPIN: atom.global.exch.b32 %r1, [%l], 1; setp.eq.u32 %p1, %r1, 1; @%p1 bra SPIN; ret; }
        .func unlock(.reg .b64 %l) { .reg .b32 %r1; atom.global.exch.b32 %r1, [%l], 0; ret; }";
    let count = count_with(
        functions,
        "call lock, (%d3);",
        "call unlock, (%d3);",
        4_000_000,
    );
    assert_eq!(count, BLOCKS * THREADS);
}
