//! Declarations that what the kernel does contradicts, where no type tells it.

use cuda_driver::{ErrorKind, LaunchConfig, Module, kernels};

use crate::support::Test;
use crate::support::bench::Bench;

const PTX: &str = include_str!("../compile_fail/kernels/c_linkage.ptx");

/// A store behind `const_cast`: the name says `float const*`.
const CONST: &str = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry _Z3setPKf(.param .u64 p)\n{
    .reg .b64 %rd<3>;\n    ld.param.u64 %rd1, [p];\n    cvta.to.global.u64 %rd2, %rd1;\n    st.global.u32 [%rd2], 1065353216;\n    ret;\n}\n";

kernels! {
    unsafe extern Wrong {
        #[launch(for_len(results))]
        safe fn scale(factor: f32, values: &[f64], results: &[f32; len(values)], n: u32 = len(results));

        #[launch(for_len(results), waits)]
        safe fn early(values: &[f32; 1], results: &mut [f32; 1]);

        #[launch(for_len(results), waits)]
        safe fn noncoherent(values: &[f32; 1], results: Option<&[f32; 1]>);
    }

    /// Nothing in them contradicts the kernels.
    unsafe extern Right {
        #[launch(for_len(results))]
        safe fn scale(factor: f32, values: &[[f32; 2]], results: &mut [f32; 2 * len(values)], n: u32 = len(results));

        #[launch(grid = 1, block = 1)]
        safe fn early(values: &[u8; 4], results: &mut [u32; 1]);

        unsafe fn noncoherent(values: &[f32], results: &mut [f32]);
    }

    unsafe extern ConstWritten {
        #[launch(grid = 1, block = 1)]
        safe fn set(p: &mut [f32; 1]);
    }
}

/// The module, if the device can have it.
fn module(bench: &Bench) -> Result<Option<Module>, cuda_driver::Error> {
    let has_it = bench.context().device().compute_capability()?.major >= 9;
    has_it.then(|| bench.context().load_ptx(PTX)).transpose()
}

#[test]
fn what_a_kernel_does_is_compared_when_it_is_loaded() -> Test {
    let bench = Bench::new();
    let Some(module) = module(&bench)? else {
        return Ok(());
    };
    // SAFETY: it is refused.
    let error = unsafe { Wrong::from_module(&module) }.expect_err("nothing is right");
    assert_eq!(error.kind(), ErrorKind::DeclarationMismatch);
    let text = error.to_string();
    for row in [
        [
            "scale ",
            "values ",
            "&[f64]",
            "elements are computed with as f32, at PTX line 24 (scale.cu:7)",
        ],
        [
            "scale ",
            "results ",
            "&[f32; len(values)]",
            "written at PTX line 27 (scale.cu:8): declare `&mut [f32; len(values)]`",
        ],
        [
            "early ",
            "",
            "waits",
            "memory is touched at PTX line 38 (scale.cu:14), where it may come without having waited",
        ],
        [
            "noncoherent ",
            "results ",
            "Option<&[f32; 1]>",
            "written at PTX line 51: declare `Option<&mut [f32; 1]>`",
        ],
        [
            "noncoherent ",
            "",
            "waits",
            "`ld.global.nc` at PTX line 50, which may happen before the wait",
        ],
    ] {
        let is_row = |line: &str| row.iter().all(|cell| line.contains(cell));
        assert!(text.lines().any(is_row), "{row:?} in {text}");
    }
    assert!(text.contains("differ in 5 places"), "{text}");
    Ok(())
}

#[test]
fn what_agrees_with_the_kernels_is_taken() -> Test {
    let bench = Bench::new();
    let Some(module) = module(&bench)? else {
        return Ok(());
    };
    // SAFETY: the kernels do as they are declared.
    let kernels = unsafe { Right::from_module(&module) }?;
    let stream = bench.stream();
    let values = stream.upload(&[[1.0_f32, 2.0], [3.0, 4.0]])?;
    let mut results = stream.zeroed::<f32>(4)?;
    kernels.scale(&stream, 2.0, &values, &mut results)?;
    assert_eq!(results.to_vec()?, [2.0, 4.0, 6.0, 8.0]);
    let mut bits = stream.zeroed::<u32>(1)?;
    kernels.early(&stream, &stream.upload(&1.0_f32.to_ne_bytes())?, &mut bits)?;
    assert_eq!(bits.to_vec()?, [1.0_f32.to_bits()]);
    let one = stream.upload(&[5.0_f32])?;
    // SAFETY: the kernel reads one element and writes one.
    unsafe { kernels.noncoherent(LaunchConfig::new(1, 1), &stream, &one, &mut results) }?;
    assert_eq!(results.to_vec()?[0], 5.0);
    Ok(())
}

#[test]
fn what_is_written_behind_const_is_declared_as_written() -> Test {
    let bench = Bench::new();
    let module = bench.context().load_ptx(CONST)?;
    // SAFETY: the kernel writes one element.
    let kernels = unsafe { ConstWritten::from_module(&module) }?;
    let stream = bench.stream();
    let mut p = stream.zeroed::<f32>(1)?;
    kernels.set(&stream, &mut p)?;
    assert_eq!(p.to_vec()?, [1.0]);
    Ok(())
}
