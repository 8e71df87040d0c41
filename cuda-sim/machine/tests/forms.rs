//! Forms that decode to more than one step, and what they must not disturb.

mod support;

use cuda_sim_machine::{FaultKind, Launch, run};
use support::{Arena, Params, each, program, thread_results};

#[test]
fn a_guard_that_the_instruction_itself_writes() {
    // Odd threads have the guard; the instruction then clears it, and both of its results must have arrived.
    let body = "
        and.b32 %r1, %t, 1; setp.ne.u32 %p1, %r1, 0; setp.ne.u32 %p2, 0, 0;
        mov.u32 %r2, 7; mov.u32 %r3, 0;
        @%p1 lop3.or.b32 %r2|%p1, %r3, %r3, %r3, 0x80, %p2;
        selp.u32 %r4, 100, 0, %p1; add.u32 %r0, %r2, %r4;";
    assert_eq!(
        thread_results("", body, 1, 64),
        each(64, |t| if t % 2 == 1 { 0 } else { 7 })
    );
    let body = "
        and.b32 %r1, %t, 1; setp.ne.u32 %p1, %r1, 0; setp.ne.u32 %p2, 1, 0;
        mov.b32 %r2, 0x3c003c00; mov.b32 %r3, 0x00003c00;
        @%p1 setp.ne.f16x2 %p1|%p2, %r2, %r3;
        selp.u32 %r4, 10, 0, %p1; selp.u32 %r5, 1, 0, %p2; add.u32 %r0, %r4, %r5;";
    // The low halves are equal, the high ones are not.
    assert_eq!(thread_results("", body, 1, 64), each(64, |_| 1));
}

#[test]
fn three_operands_and_two() {
    let body = "
        cvt.rn.f32.u32 %r1, %t; mov.b32 %r2, 0f41200000; mov.b32 %r3, 0f41A00000;
        max.f32 %r4, %r1, %r2; min.f32 %r5, %r4, %r3, %r3; cvt.rzi.u32.f32 %r0, %r5;";
    assert_eq!(
        thread_results("", body, 1, 64),
        each(64, |t| t.clamp(10, 20))
    );
}

#[test]
fn each_block_is_a_cluster() {
    let body = "
        .shared .align 4 .b32 cell;
        mov.u32 %r1, cell; mapa.shared::cluster.u32 %r2, %r1, 0;
        st.shared::cluster.u32 [%r2], 41;
        ld.shared.u32 %r3, [cell];
        getctarank.shared::cluster.u32 %r4, %r2;
        add.u32 %r0, %r3, %r4;";
    assert_eq!(thread_results("", body, 2, 1), [41, 41]);
}

/// What a kernel of one thread on one buffer of 64 bytes ends with.
fn fault(instruction: &str) -> FaultKind {
    let text = format!(
        ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
         .reg .b32 %r<9>; .reg .b64 %d<9>;\nld.param.u64 %d1, [p];\n{instruction}\nret;\n}}\n"
    );
    let program = program(&text);
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None);
    let arena = Arena::new();
    let params = Params::default().u64(arena.place(&[0; 64]));
    let launch = Launch::new([1; 3], [1; 3], &params.0);
    run(kernel, &program, &launch, &arena).unwrap_err().kind
}

#[test]
fn vectors_are_aligned_as_a_whole() {
    let misaligned = |kind: FaultKind, bytes: usize| {
        assert!(
            matches!(kind, FaultKind::Misaligned { size, .. } if size == bytes),
            "{kind}"
        );
    };
    misaligned(
        fault("red.global.add.v4.f32 [%d1+8], {%r1, %r2, %r3, %r4};"),
        16,
    );
    misaligned(fault("red.global.add.v2.f32 [%d1+4], {%r1, %r2};"), 8);
    misaligned(
        fault("ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d1+16];"),
        32,
    );
    misaligned(
        fault(".reg .b128 %q; mov.b128 %q, {%d1, %d1}; st.global.b128 [%d1+8], %q;"),
        16,
    );
}

#[test]
fn a_block_that_the_cluster_does_not_have() {
    let kind = fault("mapa.u64 %d2, %d1, 1; ld.u32 %r1, [%d2+1];");
    assert!(matches!(kind, FaultKind::Memory(_)), "{kind}");
}
