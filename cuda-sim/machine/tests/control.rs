//! Control flow, calls and barriers.

mod support;

use cuda_sim_machine::{FaultKind, Launch, run};
use support::{Arena, Params, each, launch, program, thread_kernel, thread_results};

const FIBONACCI: &str = "
.func (.param .b32 result) fibonacci (.param .b32 n)
{
	.reg .pred %p; .reg .b32 %r<5>; .local .align 4 .b8 mine[4];
	ld.param.u32 %r1, [n];
	st.local.u32 [mine], %r1;
	setp.lt.u32 %p, %r1, 2;
	@%p bra base;
	{ .param .b32 a, b; sub.u32 %r2, %r1, 1; st.param.b32 [a], %r2; call (b), fibonacci, (a); ld.param.b32 %r3, [b]; }
	ld.local.u32 %r1, [mine];
	{ .param .b32 a, b; sub.u32 %r2, %r1, 2; st.param.b32 [a], %r2; call (b), fibonacci, (a); ld.param.b32 %r4, [b]; }
	add.u32 %r1, %r3, %r4;
base:
	st.param.b32 [result], %r1;
	ret;
}";

#[test]
fn recursion_that_differs_between_lanes() {
    let body = "and.b32 %r1, %t, 15; { .param .b32 a, b; st.param.b32 [a], %r1; call.uni (b), fibonacci, (a); ld.param.b32 %r0, [b]; }";
    fn fibonacci(n: u32) -> u32 {
        if n < 2 {
            n
        } else {
            fibonacci(n - 1) + fibonacci(n - 2)
        }
    }
    assert_eq!(
        thread_results(FIBONACCI, body, 2, 64),
        each(128, |thread| fibonacci(thread & 15))
    );
}

#[test]
fn endless_recursion_is_a_stack_overflow() {
    let functions = ".func f () { .local .align 4 .b8 frame[1000]; .reg .b64 %d; mov.u64 %d, frame; call f; ret; }";
    let program = program(&thread_kernel(functions, "call f;"));
    let params = [0; 8];
    let fault = run(
        program.kernel("k").unwrap(),
        &program,
        &Launch::new([1; 3], [1; 3], &params),
        &Arena::new(),
    )
    .unwrap_err();
    assert!(
        matches!(fault.kind, FaultKind::StackOverflow { .. }),
        "{fault}"
    );
    assert_eq!(fault.place.unwrap().function, "f");
}

#[test]
fn arguments_in_registers_and_structs() {
    let functions = "
.func (.reg .b32 %sum, .reg .pred %odd) add (.reg .b32 %a, .reg .b64 %b, .reg .pred %c)
{ .reg .b32 %x; .reg .b32 %y; cvt.u32.u64 %x, %b; add.u32 %sum, %a, %x; @%c add.u32 %sum, %sum, 1000;
  and.b32 %y, %sum, 1; setp.ne.u32 %odd, %y, 0; ret; }
.func (.param .align 8 .b8 out[16]) swap (.param .align 8 .b8 in[16])
{ .reg .b64 %d<3>; ld.param.v2.b64 {%d1, %d2}, [in]; st.param.b64 [out], %d2; st.param.b64 [out+8], %d1; ret; }";
    let body = "
        cvt.u64.u32 %d2, %t; setp.gt.u32 %p1, %t, 40;
        call (%r1, %p2), add, (%t, %d2, %p1);
        selp.u32 %r2, 7, 0, %p2;
        { .param .align 8 .b8 a[16]; .param .align 8 .b8 b[16];
          cvt.u64.u32 %d3, %r1; st.param.b64 [a], %d3; st.param.b64 [a+8], 5;
          call (b), swap, (a);
          ld.param.v2.b64 {%d4, %d5}, [b]; }
        cvt.u32.u64 %r3, %d4; cvt.u32.u64 %r4, %d5; mad.lo.u32 %r0, %r3, 100000, %r4; add.u32 %r0, %r0, %r2;";
    let expected = each(64, |t| 500_000 + 2 * t + if t > 40 { 1000 } else { 0 });
    assert_eq!(thread_results(functions, body, 1, 64), expected);
}

#[test]
fn lanes_end_inside_a_call() {
    let functions =
        ".func f (.reg .b32 %x) { .reg .pred %p; setp.lt.u32 %p, %x, 10; @%p exit; ret; }";
    let expected = each(64, |t| if t < 10 { 0xdead } else { t });
    assert_eq!(
        thread_results(functions, "call f, (%t); mov.u32 %r0, %t;", 1, 64),
        expected
    );
}

#[test]
fn barriers_inside_functions() {
    let functions = "
.shared .align 4 .b8 s[1024];
.func (.reg .b32 %out) neighbour (.reg .b32 %x, .reg .b32 %n)
{ .reg .b32 %r<4>; mov.u32 %r1, %tid.x; mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 4, %r2; st.shared.u32 [%r2], %x; bar.sync 0;
  add.u32 %r1, %r1, 1; rem.u32 %r1, %r1, %n; mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 4, %r2; ld.shared.u32 %out, [%r2]; bar.sync 0; ret; }";
    let body = "call (%r0), neighbour, (%t, %n); call (%r0), neighbour, (%r0, %n);";
    assert_eq!(
        thread_results(functions, body, 2, 96),
        [each(96, |t| (t + 2) % 96), each(96, |t| (t + 2) % 96)].concat()
    );
}

#[test]
fn indexed_branches() {
    let body = "
        and.b32 %r1, %t, 3; targets: .branchtargets A, B, C, B; brx.idx %r1, targets;
        A: mov.u32 %r0, 10; bra FINISH; B: mov.u32 %r0, 20; bra FINISH; C: mov.u32 %r0, 30;";
    assert_eq!(
        thread_results("", body, 1, 40),
        each(40, |t| [10, 20, 30, 20][t as usize & 3])
    );
    let body = "targets: .branchtargets FINISH; brx.idx %t, targets;";
    let program = program(&thread_kernel("", body));
    let fault = launch(
        &program,
        "k",
        1,
        2,
        &Params::default().u64(0x100),
        &Arena::new(),
    )
    .unwrap_err();
    assert_eq!(
        fault.kind,
        FaultKind::BranchOutOfTable {
            index: 1,
            entries: 1
        }
    );
}

#[test]
fn labels_belong_to_their_block() {
    let body = "mov.u32 %r0, 0;
        { L: add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, %t; @%p1 bra L; }
        { L: add.u32 %r0, %r0, 100; setp.lt.u32 %p1, %r0, 250; @%p1 bra L; }";
    assert_eq!(
        thread_results("", body, 1, 40),
        each(40, |t| {
            let mut value = t.max(1);
            while value < 250 {
                value += 100;
            }
            value
        })
    );
}

#[test]
fn names_are_shadowed_in_blocks() {
    let body = "mov.u32 %r0, 1; { .reg .b32 %r<3>; mov.u32 %r0, 99; mov.u32 %r1, %r0; } add.u32 %r0, %r0, %t;";
    assert_eq!(thread_results("", body, 1, 3), [1, 2, 3]);
}

#[test]
fn blocks_that_wait_for_later_blocks() {
    // Every block announces itself and waits for all of them.
    let functions = ".global .u32 arrived;";
    let body = "
        setp.ne.u32 %p1, %t, 0; @%p1 bra WAIT; red.global.add.u32 [arrived], 1;
        WAIT: ld.volatile.global.u32 %r1, [arrived]; setp.lt.u32 %p2, %r1, 8; @%p2 bra WAIT;
        mov.u32 %r0, %r1;";
    let program = program(&thread_kernel(functions, body));
    for seed in [0, 1, 99] {
        let arena = Arena::new();
        let (out, arrived) = (arena.u32s(&[0; 8 * 64]), arena.u32s(&[0]));
        let params = out.to_le_bytes();
        let globals = [arrived];
        let launch = Launch {
            globals: &globals,
            seed,
            ..Launch::new([8, 1, 1], [64, 1, 1], &params)
        };
        run(program.kernel("k").unwrap(), &program, &launch, &arena).unwrap();
        assert_eq!(arena.read_u32s(out, 8 * 64), vec![8; 8 * 64]);
    }
}

#[test]
fn named_barriers_and_arrival() {
    // The first warp produces, the second consumes: one arrives, the other waits.
    let functions = ".shared .align 4 .b8 s[128];";
    let body = "
        mov.u32 %r1, s; and.b32 %r2, %t, 31; mad.lo.u32 %r1, %r2, 4, %r1; setp.lt.u32 %p1, %t, 32; mov.u32 %r0, 0;
        @!%p1 bra CONSUME;
        add.u32 %r3, %t, 500; st.shared.u32 [%r1], %r3; barrier.cta.arrive 3, 64; bra FINISH;
        CONSUME: barrier.cta.sync 3, 64; ld.shared.u32 %r0, [%r1];";
    let program = program(&thread_kernel(functions, body));
    for seed in 0..4 {
        let arena = Arena::new();
        let out = arena.u32s(&[0; 64]);
        let params = out.to_le_bytes();
        let launch = Launch {
            seed,
            ..Launch::new([1, 1, 1], [64, 1, 1], &params)
        };
        run(program.kernel("k").unwrap(), &program, &launch, &arena).unwrap();
        assert_eq!(
            arena.read_u32s(out, 64),
            each(64, |t| if t < 32 { 0 } else { t - 32 + 500 })
        );
    }
}

#[test]
fn every_seed_visits_every_block_once() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %d<3>;
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z; mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y;
        mad.lo.u32 %r2, %r3, %r5, %r2; mad.lo.u32 %r1, %r2, %r4, %r1;
        ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; red.global.add.u32 [%d1], 1; ret; }";
    let program = program(text);
    for seed in 0..20 {
        let arena = Arena::new();
        let out = arena.u32s(&[0; 60]);
        let params = out.to_le_bytes();
        let launch = Launch {
            seed,
            ..Launch::new([5, 4, 3], [1, 1, 1], &params)
        };
        assert_eq!(
            run(program.kernel("k").unwrap(), &program, &launch, &arena)
                .unwrap()
                .blocks,
            60
        );
        assert_eq!(arena.read_u32s(out, 60), [1; 60], "seed {seed}");
    }
}

#[test]
fn vectors_are_packed_and_taken_apart() {
    let body = "
        mov.b64 %d2, {%t, %g}; mov.b64 {%r1, %r2}, %d2; mov.b32 {%h1, %h2}, 0x00050007; mov.b32 %r3, {%h2, %h1};
        mov.b64 {%h3, %h4, %h5, _}, 0x0004000300020001; mov.b64 %d3, {%h5, %h4, %h3, %h3}; shr.u64 %d3, %d3, 16; cvt.u32.u64 %r4, %d3;
        add.u32 %r0, %r1, %r2; xor.b32 %r0, %r0, %r3; add.u32 %r0, %r0, %r4;";
    assert_eq!(
        thread_results("", body, 2, 32),
        each(64, |g| ((g % 32 + g) ^ 0x0007_0005) + 0x0001_0002)
    );
}

#[test]
fn the_clock_runs() {
    let body = "mov.u32 %r1, %clock; mov.u64 %d2, %clock64; add.u32 %r2, %r2, 1; mov.u64 %d3, %clock64; mov.u32 %r3, %clock;
        sub.u64 %d4, %d3, %d2; cvt.u32.u64 %r4, %d4; sub.u32 %r5, %r3, %r1; setp.gt.u32 %p1, %r5, %r4; setp.gt.and.u32 %p1, %r4, 0, %p1;
        selp.u32 %r0, 1, 0, %p1;";
    assert_eq!(thread_results("", body, 1, 32), [1; 32]);
}
