//! Loading declared kernels: what is compared with the module, and how the differences are told.

use bytemuck::{Pod, Zeroable};
use cuda_driver::{ErrorKind, JitOptions, Module, kernels};

use super::{Typed, Window};
use crate::support::bench::Bench;

const PTX: &str = include_str!(env!("TYPED_KERNELS_PTX"));

fn module(bench: &Bench) -> Module {
    bench.context().load_ptx(PTX).expect("it loads")
}

/// A struct of another size than `Window`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Wide {
    all: [f32; 3],
}

/// As large as `Window`, and nothing is said of its name.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Pair {
    both: [f32; 2],
}

kernels! {
    /// Everything that can be wrong.
    unsafe extern Wrong {
        #[launch(for_len(y))]
        safe fn axpy(a: f64, x: &mut [f32], y: &mut [u32; len(x)], n: i32 = len(y));

        #[name = "fill<double>"]
        #[launch(for_len(out))]
        safe fn fill(out: &mut [f64], value: f64, n: u32 = len(out));

        #[launch(for_len(data))]
        safe fn clamp(window: Wide, data: &mut [f32], n: u32 = len(data));

        unsafe fn missing();
    }

    /// Right in all that can be compared.
    unsafe extern Right {
        #[name = "axpy"]
        #[launch(for_len(y))]
        safe fn add(a: f32, x: &[[f32; 2]], y: &mut [f32; 2 * len(x)], n: u32 = len(y));

        #[launch(for_len(data))]
        safe fn clamp(window: Pair, data: &mut [f32], outside: &mut [u32; 1], n: u32 = len(data));
    }

    unsafe extern Ambiguous {
        #[launch(for_len(out))]
        safe fn fill(out: &mut [f32], value: f32, n: u32 = len(out));
    }

    unsafe extern Swapped {
        unsafe fn clamp(data: &mut [f32], window: Window, n: u64, outside: &mut [u32]);
    }
}

#[test]
fn one_table_has_everything_that_differs() {
    let bench = Bench::new();
    // SAFETY: it is refused.
    let error = unsafe { Wrong::from_module(&module(&bench)) }.expect_err("nothing is right");
    assert_eq!(error.kind(), ErrorKind::DeclarationMismatch);
    let text = error.to_string();
    let head = "cannot take the kernels `Wrong` from the module: the declaration and the image differ in 7 places\n  kernel ";
    assert!(text.starts_with(head), "{text}");
    for row in [
        ["axpy", "a", "f64 (8 bytes)", "float (4 bytes)"],
        ["axpy", "x", "&mut [f32]", "const float *"],
        ["axpy", "y", "&mut [u32; len(x)]", "float *"],
        ["axpy", "n", "i32", "unsigned int"],
        [
            "fill",
            "",
            "fill<double>",
            "the module has no kernel `fill<double>`",
        ],
        ["clamp", "", "3 parameters", "4 parameters"],
        [
            "missing",
            "",
            "missing",
            "the module has no kernel `missing`",
        ],
    ] {
        let is_row = |line: &&str| {
            row.iter().all(|cell| line.contains(cell)) && line.trim().starts_with(row[0])
        };
        assert!(text.lines().any(|line| is_row(&line)), "{row:?} in {text}");
    }
}

#[test]
fn what_is_right_or_in_doubt_is_taken() {
    let bench = Bench::new();
    // SAFETY: the kernels do as they are declared.
    let kernels = unsafe { Right::from_module(&module(&bench)) }.expect("it is as declared");
    let stream = bench.stream();
    let x = stream
        .upload(&[[1.0, 2.0_f32], [3.0, 4.0]])
        .expect("memory");
    let mut y = stream.zeroed::<f32>(4).expect("memory");
    kernels
        .add(&stream, 2.0, &x, &mut y)
        .expect("it is enqueued");
    let mut outside = stream.zeroed::<u32>(1).expect("memory");
    let window = Pair { both: [3.0, 7.0] };
    kernels
        .clamp(&stream, window, &mut y, &mut outside)
        .expect("it is enqueued");
    assert_eq!(y.to_vec().expect("it ran"), [3.0, 4.0, 6.0, 7.0]);
    assert_eq!(outside.to_vec().expect("it ran"), [2]);
}

#[test]
fn a_name_that_several_kernels_have_is_not_guessed() {
    let bench = Bench::new();
    // SAFETY: it is refused.
    let error = unsafe { Ambiguous::from_module(&module(&bench)) }.expect_err("there are two");
    let text = error.to_string();
    assert!(text.contains("2 kernels have that name: `fill<"), "{text}");
    assert!(text.contains("#[name = \"…\"]"), "{text}");
}

#[test]
fn an_order_that_is_wrong_is_found() {
    let bench = Bench::new();
    // SAFETY: it is refused.
    let error = unsafe { Swapped::from_module(&module(&bench)) }.expect_err("swapped");
    let text = error.to_string();
    for (parameter, found) in [
        ("window", "float *"),
        ("n ", "unsigned int *"),
        ("outside", "unsigned int (4 bytes)"),
    ] {
        assert!(
            text.lines()
                .any(|line| line.contains(parameter) && line.contains(found)),
            "{parameter} in {text}"
        );
    }
    assert!(
        !text.contains("  data "),
        "a struct of 8 bytes may hold an address: {text}"
    );
}

#[test]
fn options_reach_the_compiler() {
    let bench = Bench::new();
    let options = JitOptions::new().verbose_log();
    let kernels = Typed::load_with(bench.context(), &options).expect("it loads");
    assert!(kernels.axpy_function().parameters().is_some());
}

#[test]
fn old_drivers_compare_by_the_text() {
    // No driver before CUDA 12.4 tells the parameters of a kernel.
    let Some(bench) = Bench::only_software_with(|builder| builder.driver_version(11_080)) else {
        return;
    };
    let kernels = Typed::load(bench.context()).expect("it loads");
    kernels.strict().expect("the text tells");
    // SAFETY: it is refused.
    let error = unsafe { Wrong::from_module(&module(&bench)) }.expect_err("the text tells");
    assert_eq!(error.kind(), ErrorKind::DeclarationMismatch);
}

#[test]
fn what_nothing_tells_is_unverified_and_strictness_refuses_it() {
    let Some(bench) = Bench::only_software_with(|builder| builder.driver_version(11_080)) else {
        return;
    };
    let owner = module(&bench);
    // SAFETY: the module stays loaded until the end of the test.
    let borrowed = unsafe { Module::from_borrowed_raw(bench.context(), owner.as_raw()) };
    // SAFETY: the kernels do as they are declared; their names are those of the image.
    let kernels = unsafe { Exact::from_module(&borrowed) }.expect("nothing can be compared");
    assert!(
        format!("{kernels:?}").contains("\"unverified\""),
        "{kernels:?}"
    );
    let error = kernels.strict().expect_err("nothing was compared");
    assert_eq!(error.kind(), ErrorKind::DeclarationMismatch);
    assert!(
        error
            .to_string()
            .contains("neither the driver nor the image tells the parameters of `add`"),
        "{error}"
    );
}

kernels! {
    unsafe extern Exact {
        #[name = "_Z4axpyfPKfPfj"]
        #[launch(for_len(y))]
        safe fn add(a: f32, x: &[f32], y: &mut [f32; len(x)], n: u32 = len(y));
    }
}
