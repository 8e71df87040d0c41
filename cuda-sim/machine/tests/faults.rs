//! How launches end that cannot end well: each report names kernel, line, instruction, block and thread.

mod support;

use cuda_sim_machine::{FaultKind, Launch, SHARED_WINDOW, Window, run};
use support::{Arena, Params, launch, program};

const FAULTS: &str = include_str!("../../../tests/kernels/faults.ptx");

/// A module with one kernel `k(.param .u64 p)`.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n{body}\n}}\n"
    )
}

#[test]
fn out_of_bounds() {
    let program = program(FAULTS);
    let arena = Arena::new();
    let data = arena.u32s(&[0; 100]);
    let fault = launch(
        &program,
        "out_of_bounds",
        1,
        64,
        &Params::default().u64(data).u64(60),
        &arena,
    )
    .unwrap_err();
    let place = fault.place.as_ref().unwrap();
    assert_eq!((place.block, place.thread), ([0; 3], [40, 0, 0]));
    assert!(place.instruction.starts_with("st.global"), "{fault}");
    let line = FAULTS.lines().nth(place.line as usize - 1).unwrap();
    assert_eq!(line.trim().trim_end_matches(';'), place.instruction);
    let expected = format!(
        "kernel `out_of_bounds`, PTX line {} `{}`, block (0,0,0), thread (40,0,0): address {:#x}, 4 bytes: no allocation there",
        place.line,
        place.instruction,
        data + 400
    );
    assert_eq!(fault.to_string(), expected);
    // The lanes below the faulting one have stored.
    assert_eq!(arena.read_u32s(data, 100)[60..], [1; 40]);
}

#[test]
fn null_and_misaligned() {
    let program = program(FAULTS);
    let arena = Arena::new();
    let fault = launch(&program, "null_store", 1, 1, &Params::default(), &arena).unwrap_err();
    assert!(
        matches!(&fault.kind, FaultKind::Memory(fault) if fault.address == 0),
        "{fault}"
    );
    let data = arena.u32s(&[0; 4]);
    let fault = launch(
        &program,
        "misaligned",
        1,
        1,
        &Params::default().u64(data),
        &arena,
    )
    .unwrap_err();
    assert_eq!(
        fault.kind,
        FaultKind::Misaligned {
            address: data + 1,
            size: 4
        }
    );
}

#[test]
fn a_trap_names_the_thread() {
    let program = program(FAULTS);
    let arena = Arena::new();
    launch(
        &program,
        "trap_at",
        2,
        64,
        &Params::default().u32(500),
        &arena,
    )
    .unwrap();
    let fault = launch(
        &program,
        "trap_at",
        2,
        64,
        &Params::default().u32(101),
        &arena,
    )
    .unwrap_err();
    let place = fault.place.as_ref().unwrap();
    assert_eq!(
        (&fault.kind, place.block, place.thread),
        (&FaultKind::Trap, [1, 0, 0], [37, 0, 0])
    );
}

#[test]
fn threads_have_three_coordinates() {
    let text = kernel("mov.u32 %r1, %tid.z; setp.eq.u32 %p1, %r1, 2; @%p1 trap; ret;");
    let program = program(&text);
    let params = Params::default().u64(0);
    let launch = Launch::new([1, 1, 1], [5, 4, 3], &params.0);
    let fault = run(
        program.kernel("k").unwrap(),
        &program,
        &launch,
        &Arena::new(),
    )
    .unwrap_err();
    assert_eq!(fault.place.unwrap().thread, [0, 0, 2]);
}

#[test]
fn shared_memory_ends() {
    let program = program(FAULTS);
    let arena = Arena::new();
    let out = arena.u32s(&[0; 32]);
    let params = Params::default().u64(out).u32(30);
    let mut launch = Launch::new([1, 1, 1], [32, 1, 1], &params.0);
    launch.dynamic_shared = 128;
    let fault = run(
        program.kernel("shared_out_of_bounds").unwrap(),
        &program,
        &launch,
        &arena,
    )
    .unwrap_err();
    assert_eq!(
        fault.kind,
        FaultKind::OutOfRange {
            window: Window::Shared,
            address: 128,
            size: 4,
            limit: 128
        }
    );
    assert_eq!(fault.place.unwrap().thread, [2, 0, 0]);
}

#[test]
fn windows_are_not_memory() {
    // The generic address of shared memory is not valid as a global one.
    let text = kernel(&format!(
        "mov.u64 %rd1, {SHARED_WINDOW}; ld.global.u32 %r1, [%rd1]; ret;"
    ));
    let program = program(&text);
    let fault = launch(
        &program,
        "k",
        1,
        1,
        &Params::default().u64(0),
        &Arena::new(),
    )
    .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Memory(_)), "{fault}");
    // Kernel parameters cannot be written, nor read past their end.
    for body in [
        "st.param.u32 [%rd1], %r1; ret;",
        "mov.u64 %rd1, p; ld.param.u64 %rd2, [%rd1+8]; ret;",
    ] {
        let program = support::program(&kernel(body));
        let fault = launch(
            &program,
            "k",
            1,
            1,
            &Params::default().u64(0),
            &Arena::new(),
        )
        .unwrap_err();
        assert!(
            matches!(
                fault.kind,
                FaultKind::OutOfRange {
                    window: Window::Param,
                    ..
                }
            ),
            "{fault}"
        );
    }
}

#[test]
fn deadlocks_are_reported() {
    let body = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 1, 96; ret;";
    let program = program(&kernel(body));
    let fault = launch(
        &program,
        "k",
        1,
        64,
        &Params::default().u64(0),
        &Arena::new(),
    )
    .unwrap_err();
    let expected = "line 7 `@%p1 bar.sync 1, 96`, block (0,0,0), thread (0,0,0): \
                    deadlock: no thread can run; this one waits for barrier 1, at which 32 of 96 threads have arrived";
    assert!(fault.to_string().contains(expected), "{fault}");

    // Two halves of a warp wait for each other at different places.
    let body = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16; @%p1 bra A;
        shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; ret;
        A: shfl.sync.idx.b32 %r2, %r1, 1, 31, -1; ret;";
    let program = support::program(&kernel(body));
    let fault = launch(
        &program,
        "k",
        1,
        32,
        &Params::default().u64(0),
        &Arena::new(),
    )
    .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Deadlock { .. }), "{fault}");
}

#[test]
fn threads_that_have_ended_do_not_block_a_barrier() {
    let body = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 40; @%p1 exit; bar.sync 0; ret;";
    let program = program(&kernel(body));
    launch(
        &program,
        "k",
        3,
        128,
        &Params::default().u64(0),
        &Arena::new(),
    )
    .unwrap();
}

#[test]
fn barriers_with_wrong_numbers() {
    for (body, expected) in [
        ("bar.sync 16; ret;", "there is no barrier 16"),
        ("bar.sync 0, 33; ret;", "no multiple of the warp size"),
        (
            "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 0, 64; @!%p1 bar.sync 0, 96; ret;",
            "different numbers",
        ),
    ] {
        let program = program(&kernel(body));
        let fault = launch(
            &program,
            "k",
            1,
            64,
            &Params::default().u64(0),
            &Arena::new(),
        )
        .unwrap_err();
        assert!(fault.to_string().contains(expected), "{fault}");
    }
}

#[test]
fn endless_loops_reach_the_limit() {
    let program = program(&kernel("L: bra L;"));
    let params = Params::default().u64(0);
    let mut launch = Launch::new([3, 1, 1], [64, 1, 1], &params.0);
    launch.limits.instructions = 1_000_000;
    let fault = run(
        program.kernel("k").unwrap(),
        &program,
        &launch,
        &Arena::new(),
    )
    .unwrap_err();
    assert_eq!(
        fault.kind,
        FaultKind::Timeout {
            instructions: 1_000_000
        }
    );
    // A launch that just fits is not refused.
    let program = support::program(&kernel("add.u32 %r1, %r1, 1; ret;"));
    launch.limits.instructions = 3 * 2 * 2;
    run(
        program.kernel("k").unwrap(),
        &program,
        &launch,
        &Arena::new(),
    )
    .unwrap();
    launch.limits.instructions -= 1;
    assert!(
        run(
            program.kernel("k").unwrap(),
            &program,
            &launch,
            &Arena::new()
        )
        .is_err()
    );
}
