//! Launches that are refused before anything runs.

mod support;

use cuda_sim_machine::{FaultKind, Launch, Limits, run};
use support::{Arena, Params, launch, program};

/// A module with one kernel `k(.param .u64 p)`.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n{body}\n}}\n"
    )
}

#[test]
fn what_is_not_implemented_fails_its_own_launch() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64
.func helper()
{
	.reg .b32 %r<3>;
	frobnicate.rn.u32 %r1, %r2;
	ret;
}
.visible .entry good() { ret; }
.visible .entry bad() { .reg .b32 %r<3>; add.sat.u32 %r1, %r2, 1; ret; }
.visible .entry indirectly_bad() { call helper; ret; }
";
    let program = program(text);
    let arena = Arena::new();
    launch(&program, "good", 1, 32, &Params::default(), &arena).unwrap();
    let bad = program.kernel("bad").unwrap();
    let unsupported = bad.unsupported().unwrap();
    assert_eq!(
        (
            unsupported.line,
            unsupported.text.as_str(),
            unsupported.function.as_str()
        ),
        (11, "add.sat.u32 %r1, %r2, 1", "bad")
    );
    let fault = run(bad, &program, &Launch::new([1; 3], [1; 3], &[]), &arena).unwrap_err();
    let expected = "kernel `bad`: not implemented: function `bad`, PTX line 11 `add.sat.u32 %r1, %r2, 1`: \
                    this form of the instruction is not implemented";
    assert_eq!(fault.to_string(), expected);
    let unsupported = program
        .kernel("indirectly_bad")
        .unwrap()
        .unsupported()
        .unwrap();
    assert_eq!(
        (unsupported.line, unsupported.function.as_str()),
        (7, "helper")
    );
}

#[test]
fn modifiers_are_never_ignored() {
    for instruction in [
        "add.s32.frob %r1, %r2, %r3",
        "add.rn.u32 %r1, %r2, %r3",
        "add.ftz.f64 %rd1, %rd2, %rd3",
        "ld.global.frob.u32 %r1, [%rd1]",
        "ld.global.u32.global %r1, [%rd1]",
        "st.global.v3.u32 [%rd1], {%r1, %r2, %r3}",
        "atom.global.add.noftz.f16 %r1, [%rd1], %r2",
        "cvt.rn.u32.s32 %r1, %r2",
        "cvt.f32.u32 %r1, %r2",
        "cvt.rni.s32.u32 %r1, %r2",
        "setp.lt.b32 %p1, %r1, %r2",
        "setp.lt.nand.s32 %p1, %r1, %r2, %p2",
        "mul.u32 %r1, %r2, %r3",
        "shl.u32 %r1, %r2, %r3",
        "fma.rz.bf16x2 %r1, %r2, %r3, %r4",
        "add.sat.u16x2 %r1, %r2, %r3",
        "cvt.rn.ftz.bf16x2.f32 %r1, %r2, %r3",
        "cvt.rn.tf32.f32.relu.sat %r1, %r2",
        "set.eq.f32.f16x2 %r1, %r2, %r3",
        "vadd.u32.u32.u32 %r1, %r2, %r3",
        "vadd4.u32.u32.u32 %r1.b13, %r2, %r3, %r4",
        "atom.global.add.s64 %rd1, [%rd2], %rd3",
        "red.acquire.gpu.global.add.u32 [%rd1], %r1",
        "red.global.exch.b32 [%rd1], %r1",
        "ld.relaxed.global.u32 %r1, [%rd1]",
        "ld.global.L2::evict_last.u32 %r1, [%rd1]",
        "ld.global.lu.nc.u32 %r1, [%rd1]",
        "ld.shared.L2::128B.u32 %r1, [%rd1]",
        "st.acquire.gpu.global.u32 [%rd1], %r1",
        "fence.relaxed.gpu",
        "setmaxnreg.inc.sync.aligned.u32 100",
        "mov.u32 %r1, %nosuchregister",
        "mov.u32 %r1, %rd1",
        "mov.u32 %rd1, %r1",
        "add.u32 %r1, %r2",
        "add.u32 %r1, %r2, %r3, %r4",
        "add.u32 5, %r2, %r3",
        "add.f32 %r1, %r2, 1",
        "ld.u32 %r1, [%p1]",
        "ld.param.u64 %rd1, [p+8]",
        "ld.param.u64 %rd1, [p+4]",
        "ld.shared.u64 %rd1, [p]",
        "bra nowhere",
        "call nothing",
    ] {
        let text = kernel(&format!("{instruction};\nret;"));
        let program = program(&text);
        let unsupported = program.kernel("k").unwrap().unsupported().cloned();
        assert!(unsupported.is_some(), "{instruction} was accepted");
    }
}

#[test]
fn launches_that_make_no_sense() {
    let program = program(&kernel(".local .b8 big[4096]; mov.u64 %rd1, big; ret;"));
    let kernel = program.kernel("k").unwrap();
    let arena = Arena::new();
    let params = [0; 8];
    let refused = |launch: &Launch<'_>, why: &str| {
        let fault = run(kernel, &program, launch, &arena).unwrap_err();
        assert!(
            matches!(fault.kind, FaultKind::InvalidLaunch(_)) && fault.to_string().contains(why),
            "{fault}"
        );
    };
    refused(
        &Launch::new([0, 1, 1], [1; 3], &params),
        "a grid of 0×1×1 blocks",
    );
    refused(
        &Launch::new([1, 65536, 1], [1; 3], &params),
        "a grid of 1×65536×1 blocks",
    );
    refused(
        &Launch::new([1; 3], [0, 1, 1], &params),
        "a block of 0×1×1 threads",
    );
    refused(
        &Launch::new([1; 3], [1025, 1, 1], &params),
        "a block of 1025×1×1 threads",
    );
    refused(
        &Launch::new([1; 3], [1 << 16, 1 << 16, 1], &params),
        "threads; a block has 1 to 1024",
    );
    refused(
        &Launch::new([1; 3], [1; 3], &params[..7]),
        "7 bytes of parameters; the kernel takes 8",
    );
    refused(
        &Launch {
            globals: &[0],
            ..Launch::new([1; 3], [1; 3], &params)
        },
        "1 addresses of module variables",
    );
    let dynamic_shared = 227 * 1024 + 1;
    let launch = Launch {
        dynamic_shared,
        ..Launch::new([1; 3], [1; 3], &params)
    };
    refused(
        &launch,
        "232449 bytes of shared memory for each block; the limit is 232448",
    );
    let limits = Limits {
        local_bytes: 4095,
        ..Limits::DEFAULT
    };
    refused(
        &Launch {
            limits,
            ..Launch::new([1; 3], [1; 3], &params)
        },
        "4096 bytes of local memory",
    );
}

#[test]
fn a_statement_of_many_lines_is_shown_on_one() {
    let program = program(&kernel(
        "{ .reg .b64 %t;\nfrobnicate.u64\n\t%t,\n\t%rd1;\n}\nret;",
    ));
    let unsupported = program.kernel("k").unwrap().unsupported().unwrap();
    assert_eq!(unsupported.text, "frobnicate.u64 %t, %rd1");
}
