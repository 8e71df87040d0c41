//! Barriers in memory, and copies to shared memory.

mod support;

use cuda_sim_machine::{FaultKind, Launch, Limits, run};
use support::{Arena, Params, each, launch, program, thread_results};

#[test]
fn a_barrier_in_memory_holds_threads_back() {
    // Each thread stores its number and reads its neighbour's once all have arrived.
    let body = "
        .shared .align 8 .b64 bar; .shared .align 4 .b8 cells[512];
        setp.ne.u32 %p1, %t, 0;
        @%p1 bra INITED;
        mbarrier.init.shared::cta.b64 [bar], 64;
        INITED: bar.sync 0;
        mov.u32 %r1, cells; shl.b32 %r2, %t, 2; add.u32 %r1, %r1, %r2;
        mul.lo.u32 %r3, %t, 3; st.shared.u32 [%r1], %r3;
        mbarrier.arrive.release.cta.shared::cta.b64 %d5, [bar];
        AGAIN: mbarrier.try_wait.acquire.cta.shared::cta.b64 %p2, [bar], %d5;
        @!%p2 bra AGAIN;
        xor.b32 %r2, %r2, 252; mov.u32 %r1, cells; add.u32 %r1, %r1, %r2; ld.shared.u32 %r0, [%r1];";
    assert_eq!(
        thread_results("", body, 2, 64),
        [each(64, |t| (t ^ 63) * 3), each(64, |t| (t ^ 63) * 3)].concat()
    );
}

#[test]
fn phases_alternate_and_bytes_are_waited_for() {
    let body = "
        .shared .align 8 .b64 bar;
        mbarrier.init.shared.b64 [bar], 2;
        mbarrier.arrive.shared.b64 %d5, [bar];
        mbarrier.pending_count.b64 %r1, %d5;
        mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;
        mbarrier.arrive.expect_tx.shared.b64 %d6, [bar], 16;
        mbarrier.pending_count.b64 %r2, %d6;
        mbarrier.test_wait.shared.b64 %p2, [bar], %d6;
        mbarrier.complete_tx.shared.b64 [bar], 16;
        mbarrier.test_wait.shared.b64 %p3, [bar], %d6;
        mbarrier.test_wait.parity.shared.b64 %p4, [bar], 1;
        mbarrier.arrive_drop.shared.b64 _, [bar];
        mbarrier.arrive.shared.b64 _, [bar];
        mbarrier.test_wait.parity.shared.b64 %p5, [bar], 1;
        mbarrier.arrive.shared.b64 _, [bar];
        mbarrier.test_wait.parity.shared.b64 %p6, [bar], 0;
        mul.lo.u32 %r0, %r1, 10; add.u32 %r0, %r0, %r2;
        selp.u32 %r3, 100, 0, %p1; add.u32 %r0, %r0, %r3;
        selp.u32 %r3, 1000, 0, %p2; add.u32 %r0, %r0, %r3;
        selp.u32 %r3, 10000, 0, %p3; add.u32 %r0, %r0, %r3;
        selp.u32 %r3, 100000, 0, %p4; add.u32 %r0, %r0, %r3;
        selp.u32 %r3, 1000000, 0, %p5; add.u32 %r0, %r0, %r3;
        selp.u32 %r3, 10000000, 0, %p6; add.u32 %r0, %r0, %r3;";
    // Two were missing, then one; over after the bytes; and again with two arrivals, then with the one that is left.
    assert_eq!(thread_results("", body, 1, 1), [11_010_021]);
}

#[test]
fn copies_arrive_and_are_filled_with_zeros() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 from, .param .u64 out)
{
    .reg .b32 %r<9>; .reg .b64 %d<9>; .shared .align 16 .b8 cells[1024];
    mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, cells; add.u32 %r3, %r3, %r2;
    ld.param.u64 %d1, [from]; cvt.u64.u32 %d2, %r2; add.u64 %d1, %d1, %d2;
    and.b32 %r4, %r1, 15;
    cp.async.cg.shared.global [%r3], [%d1], 16, %r4;
    cp.async.commit_group;
    cp.async.wait_group 0;
    ld.shared.u32 %r5, [%r3]; ld.shared.u32 %r6, [%r3+4]; ld.shared.u32 %r7, [%r3+8]; xor.b32 %r5, %r5, %r6; xor.b32 %r5, %r5, %r7;
    ld.param.u64 %d3, [out]; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d3, %d2; st.global.u32 [%d3], %r5;
    ret;
}";
    let program = program(text);
    let arena = Arena::new();
    let bytes: Vec<u8> = (0..1024u32).map(|i| (i * 7 + 1) as u8).collect();
    let (from, out) = (arena.place(&bytes), arena.u32s(&[0; 64]));
    launch(
        &program,
        "k",
        1,
        64,
        &Params::default().u64(from).u64(out),
        &arena,
    )
    .unwrap();
    let expected = each(64, |t| {
        let mut copied = [0; 16];
        let size = t as usize & 15;
        copied[..size].copy_from_slice(&bytes[16 * t as usize..][..size]);
        let word = |at: usize| u32::from_le_bytes(copied[at..at + 4].try_into().unwrap());
        word(0) ^ word(4) ^ word(8)
    });
    assert_eq!(arena.read_u32s(out, 64), expected);
}

#[test]
fn a_phase_that_never_ends_is_a_timeout() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64
.visible .entry k()
{
    .reg .pred %p; .shared .align 8 .b64 bar;
    mbarrier.init.shared.b64 [bar], 1;
    AGAIN: mbarrier.test_wait.parity.shared.b64 %p, [bar], 0;
    @!%p bra AGAIN;
    ret;
}";
    let program = program(text);
    let limits = Limits {
        instructions: 10_000,
        ..Limits::DEFAULT
    };
    let launch = Launch {
        limits,
        ..Launch::new([1; 3], [32, 1, 1], &[])
    };
    let fault = run(
        program.kernel("k").unwrap(),
        &program,
        &launch,
        &Arena::new(),
    )
    .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Timeout { .. }), "{fault}");
}
