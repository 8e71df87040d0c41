//! Calls through addresses, recursion, and room that is taken on the stack.

mod support;

use cuda_sim_machine::{
    CODE_WINDOW, Fault, FaultKind, Launch, Limits, Program, RelocationTarget, run,
};
use support::{Arena, each, program, thread_kernel, thread_results};

const OPERATIONS: &str = "
.func (.param .b32 out) plus (.param .b32 a, .param .b32 b)
{ .reg .b32 %r<4>; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; add.u32 %r3, %r1, %r2; st.param.b32 [out], %r3; ret; }
.func (.param .b32 out) times (.param .b32 a, .param .b32 b)
{ .reg .b32 %r<4>; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; mul.lo.u32 %r3, %r1, %r2; st.param.b32 [out], %r3; ret; }
.func (.param .b32 out) other (.param .b64 a) { st.param.b32 [out], 3; ret; }
.global .align 8 .u64 table[3] = {plus, times, plus};
";

const CALL: &str = "
    { .param .b32 a; .param .b32 b; .param .b32 back;
      st.param.b32 [a], %t; st.param.b32 [b], 7;
      binary: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
      call (back), %d5, (a, b), binary;
      ld.param.b32 %r0, [back]; }";

/// Runs a kernel of 64 threads with the module's variables in place.
fn run_kernel(program: &Program, limits: Limits) -> Result<Vec<u32>, Fault> {
    let arena = Arena::new();
    let out = arena.u32s(&[0; 64]);
    let params = out.to_le_bytes();
    let mut globals = Vec::new();
    for global in program.globals() {
        let mut bytes = global.bytes.clone();
        for relocation in &global.relocations {
            let RelocationTarget::Function(offset) = relocation.target else {
                panic!("{relocation:?}");
            };
            let address = (CODE_WINDOW + offset).to_le_bytes();
            bytes[relocation.offset..][..8].copy_from_slice(&address);
        }
        globals.push(arena.place(&bytes));
    }
    let launch = Launch {
        globals: &globals,
        limits,
        ..Launch::new([1, 1, 1], [64, 1, 1], &params)
    };
    let kernel = program.kernel("k").expect("it is there");
    run(kernel, program, &launch, &arena)?;
    Ok(arena.read_u32s(out, 64))
}

fn results(functions: &str, body: &str) -> Result<Vec<u32>, Fault> {
    run_kernel(&program(&thread_kernel(functions, body)), Limits::default())
}

#[test]
fn lanes_call_different_functions_out_of_a_table() {
    let body = format!(
        "mov.u64 %d2, table; rem.u32 %r1, %t, 3; mul.wide.u32 %d3, %r1, 8; add.u64 %d2, %d2, %d3; ld.global.u64 %d5, [%d2]; {CALL}"
    );
    let expected = each(64, |t| if t % 3 == 1 { t * 7 } else { t + 7 });
    assert_eq!(results(OPERATIONS, &body).unwrap(), expected);
}

#[test]
fn the_address_of_a_function_in_a_register() {
    let body = format!(
        "mov.u64 %d5, plus; mov.u64 %d6, times; setp.gt.u32 %p1, %t, 40; @%p1 mov.u64 %d5, %d6; {CALL}"
    );
    let expected = each(64, |t| if t > 40 { t * 7 } else { t + 7 });
    assert_eq!(results(OPERATIONS, &body).unwrap(), expected);
}

#[test]
fn a_list_of_targets_and_registers_as_parameters() {
    let functions = "
.func (.reg .b32 %out) one (.reg .b32 %x) { add.u32 %out, %x, 1; ret; }
.func (.reg .b32 %out) two (.reg .b32 %x) { add.u32 %out, %x, 2; ret; }
.func (.reg .b32 %out) three (.reg .b32 %x) { add.u32 %out, %x, 3; ret; }";
    let body = "
        mov.u64 %d5, one; mov.u64 %d6, two; setp.gt.u32 %p1, %t, 40; @%p1 mov.u64 %d5, %d6;
        some: .calltargets one, two; call (%r0), %d5, (%t), some;";
    let expected = each(64, |t| if t > 40 { t + 2 } else { t + 1 });
    assert_eq!(results(functions, body).unwrap(), expected);
    let unlisted = body.replace("two;", "three;");
    let unlisted = unlisted.replace("one, three;", "one, two;");
    let fault = results(functions, &unlisted).unwrap_err();
    let expected = "block (0,0,0), thread (41,0,0): call of address 0x43000000000020: the function `three`, which is not among the targets that the call lists";
    assert!(fault.to_string().ends_with(expected), "{fault}");
}

#[test]
fn addresses_at_which_no_such_function_starts() {
    for (address, why) in [
        ("0", "no function of the kernel's module starts there"),
        (
            "0x43000000000008",
            "no function of the kernel's module starts there",
        ),
        (
            "0x43000000100000",
            "no function of the kernel's module starts there",
        ),
        (
            "other",
            "the function `other`, whose parameters are not those that the call passes",
        ),
    ] {
        let body = format!(
            "mov.u64 %d5, plus; setp.eq.u32 %p1, %t, 33; @%p1 mov.u64 %d5, {address}; {CALL}"
        );
        let fault = results(OPERATIONS, &body).unwrap_err();
        let FaultKind::BadCall { why: found, .. } = &fault.kind else {
            panic!("{fault}");
        };
        assert_eq!(found, why);
        let place = fault.place.unwrap();
        assert_eq!(place.thread, [33, 0, 0]);
        assert!(
            place.instruction.starts_with("call (back), %d5"),
            "{}",
            place.instruction
        );
    }
}

#[test]
fn what_an_indirect_call_may_reach_must_be_implemented() {
    let functions = ".func bad () { frobnicate.u32; ret; }
.func good () { ret; }
.global .align 8 .u64 hooks[1] = {bad};";
    let call = "mov.u64 %d5, good; p: .callprototype _ (); call %d5, p;";
    let reached = program(&thread_kernel(functions, call));
    let why = reached.kernel("k").unwrap().unsupported().unwrap();
    assert_eq!(why.function, "bad");
    // With a list, only that counts.
    let call = "mov.u64 %d5, good; p: .calltargets good; call %d5, p;";
    let listed = program(&thread_kernel(functions, call));
    assert_eq!(listed.kernel("k").unwrap().unsupported(), None);
}

#[test]
fn functions_declared_elsewhere_and_kernels_are_refused_by_name() {
    let functions = ".extern .func outside (.param .b32 a);";
    let body = "{ .param .b32 a; st.param.b32 [a], %t; call outside, (a); }";
    let refused = program(&thread_kernel(functions, body));
    let why = refused.kernel("k").unwrap().unsupported().unwrap();
    assert_eq!(why.why, "the function is declared here and defined nowhere");
    assert_eq!(why.function, "outside");
    let refused = program(&thread_kernel("", "mov.u64 %d5, k;"));
    let why = refused.kernel("k").unwrap().unsupported().unwrap();
    assert!(why.why.starts_with("`k` is a kernel"), "{why}");
}

#[test]
fn a_second_name_of_a_function() {
    let functions = ".func (.reg .b32 %out) first (.reg .b32 %x) { add.u32 %out, %x, 1; ret; }
.func (.reg .b32 %out) second (.reg .b32 %x);
.alias second, first;";
    assert_eq!(
        results(functions, "call (%r0), second, (%t);").unwrap(),
        each(64, |t| t + 1)
    );
}

const SUM: &str = "
.func (.reg .b32 %out) sum (.reg .b32 %x)
{ .reg .pred %p; .reg .b32 %y; mov.u32 %out, 0; setp.eq.u32 %p, %x, 0; @%p ret;
  sub.u32 %y, %x, 1; call (%out), sum, (%y); add.u32 %out, %out, %x; ret; }";

#[test]
fn recursion_ends_where_the_stack_does() {
    let deep = program(&thread_kernel(SUM, "call (%r0), sum, (%t);"));
    let sums = each(64, |t| t * (t + 1) / 2);
    assert_eq!(run_kernel(&deep, Limits::default()).unwrap(), sums);
    let limits = |stack_bytes| Limits {
        stack_bytes,
        ..Limits::default()
    };
    assert_eq!(run_kernel(&deep, limits(1024)).unwrap(), sums);
    let fault = run_kernel(&deep, limits(512)).unwrap_err();
    assert!(
        matches!(fault.kind, FaultKind::StackOverflow { limit: 544 }),
        "{fault}"
    );
    // What a kernel needs without recursion is always there.
    let frames = ".func f () { .local .align 4 .b8 a[4096]; .reg .b32 %r; mov.u32 %r, a; st.local.u32 [%r+4092], %r; ret; }";
    let shallow = program(&thread_kernel(frames, "mov.u32 %r0, 5; call f;"));
    assert_eq!(run_kernel(&shallow, limits(0)).unwrap(), [5; 64]);
}

#[test]
fn each_lane_takes_what_it_needs() {
    // Each thread takes t + 1 words twice, fills them, and sums what it finds after a call that takes room of its own.
    let functions = "
.func scribble () { .reg .b64 %d<3>; .reg .b32 %r<3>; alloca.u64 %d1, 64; mov.u32 %r1, 0;
  LOOP: cvt.u64.u32 %d2, %r1; add.u64 %d2, %d1, %d2; st.local.u32 [%d2], 0xffffffff; add.u32 %r1, %r1, 4;
  .reg .pred %p; setp.lt.u32 %p, %r1, 64; @%p bra LOOP; ret; }";
    let body = "
        add.u32 %r1, %t, 1; mul.wide.u32 %d2, %r1, 4; stacksave.u64 %d8; alloca.u64 %d3, %d2, 16; alloca.u64 %d4, %d2;
        mov.u32 %r2, 0;
        FILL: mul.wide.u32 %d5, %r2, 4; add.u64 %d6, %d3, %d5; st.local.u32 [%d6], %r2; add.u64 %d6, %d4, %d5; st.local.u32 [%d6], %t;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra FILL;
        call scribble; mov.u32 %r2, 0; mov.u32 %r0, 0;
        READ: mul.wide.u32 %d5, %r2, 4; add.u64 %d6, %d3, %d5; ld.local.u32 %r3, [%d6]; add.u32 %r0, %r0, %r3;
        add.u64 %d6, %d4, %d5; ld.local.u32 %r3, [%d6]; add.u32 %r0, %r0, %r3;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra READ;
        stackrestore.u64 %d8; stacksave.u64 %d9; setp.ne.u64 %p2, %d8, %d9; @%p2 trap;
        and.b64 %d3, %d3, 15; setp.ne.u64 %p2, %d3, 0; @%p2 trap;";
    let expected = each(64, |t| t * (t + 1) / 2 + t * (t + 1));
    assert_eq!(thread_results(functions, body, 1, 64), expected);
}

#[test]
fn the_stack_has_an_end_and_a_start() {
    let fault = results("", "mov.u64 %d2, 0x7fffffff; alloca.u64 %d3, %d2;").unwrap_err();
    assert!(
        matches!(fault.kind, FaultKind::StackOverflow { .. }),
        "{fault}"
    );
    let fault = results("", "stackrestore.u64 -1;").unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Stack(_)), "{fault}");
}
