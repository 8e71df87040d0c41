//! What wrong declarations are told.

use crate::check;
use crate::compare::Kernels;
use crate::syntax::Input;

#[test]
fn parameters_that_were_forgotten_are_listed_with_their_sizes() {
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a, .param .f32 b, .param .u32 c, \
               .param .align 4 .b8 d[12])\n{\n ret;\n}\n";
    let module = cuda_ptx::Module::parse_signatures(ptx).expect("PTX");
    let input: Input =
        syn::parse_str("unsafe extern K { unsafe fn k(a: &[f32]); }").expect("parses");
    let mut errors = Vec::new();
    let kernel = input.sets.first().and_then(|it| it.kernels.first());
    let found = Kernels::new(&module).compare(kernel.expect("a kernel"), &mut errors);
    assert!(found.is_none());
    let error = errors.first().expect("an error").to_string();
    let list = "it takes (8-byte address or integer, float, 4-byte integer, something of 12 bytes)";
    assert_says(&error, list);
}

/// The errors of a declaration, one in a line.
fn errors(declaration: &str) -> String {
    match syn::parse_str::<Input>(declaration) {
        Ok(input) => {
            let errors = input.sets.iter().flat_map(check::set);
            errors.map(|it| format!("{it}\n")).collect()
        }
        Err(error) => error.to_string(),
    }
}

/// The errors of a kernel.
fn kernel(declaration: &str) -> String {
    errors(&format!(
        "unsafe extern Kernels from ptx \"k.ptx\" {{ {declaration} }}"
    ))
}

fn launch(shape: &str) -> String {
    kernel(&format!(
        "#[launch({shape})] safe fn f(n: u32, a: &[f32], out: &mut [f32]);"
    ))
}

#[track_caller]
fn assert_says(error: &str, text: &str) {
    assert!(error.contains(text), "{error:?} does not say {text:?}");
}

#[test]
fn right_declarations_have_no_errors() {
    assert_eq!(launch("for_len(out), block <= 1024, grid <= 3"), "");
    assert_eq!(launch("grid = 3, block = (8, 8), shared = 48 * 1024"), "");
    assert_eq!(
        kernel(
            "#[doc = \"x\"] unsafe fn f(a: &[f32; 4..], b: &[f32; n..], n: u32 = 4u32, t: [f32; 4]);"
        ),
        ""
    );
}

#[test]
fn numbers_have_no_units() {
    let text = "`48KB`: a number has no unit here; write `48 * 1024`";
    assert_says(&launch("for_len(out), shared = 48KB"), text);
    let text = "`64threads`: a number has no unit here; write `64`";
    assert_says(&launch("for_len(out), block = 64threads"), text);
    let text = "`10foo`: a number has no unit here";
    assert_says(&kernel("unsafe fn f(a: &[f64; 10foo]);"), text);
    let text = "write `1 * 1024 * 1024`";
    assert_says(&launch("for_len(out), shared <= 1MiB"), text);
}

#[test]
fn images_say_how_they_are_written() {
    for from in ["cu \"k.cu\"", "\"k.ptx\"", "ptx \"k.cu\""] {
        let error = errors(&format!("unsafe extern K from {from} {{}}"));
        assert_says(&error, "the image is `from ptx PATH`");
        assert_says(&error, "a `.cu` is compiled by cuda-build or cuda-nvrtc");
    }
    for from in ["ptx(\"k.ptx\")", "ptx blend.ptx", "ptx"] {
        let error = errors(&format!("unsafe extern K from {from} {{}}"));
        assert_says(&error, "the path is a string such as `\"blend.ptx\"`");
    }
    let error = errors("unsafe extern \"C\" K from ptx \"k.ptx\" {}");
    assert_says(
        &error,
        "there is no ABI here: write `unsafe extern NAME from ptx …`",
    );
    assert_says(
        &kernel("unsafe fn f() {}"),
        "a kernel has no body here: its code is in the image",
    );
}

#[test]
fn lengths_of_what_has_none_say_what_to_write() {
    let error = launch("for_len(x)");
    assert_says(
        &error,
        "`f` has no parameter `x`; there are `a`, `out`, `n`",
    );
    let error = kernel("unsafe fn f(t: f32, b: &[f32; len(t)]);");
    assert_says(&error, "`t` is a value, `f32`, and has no length");
    assert!(!error.contains("write"), "{error}");
    let error = kernel("unsafe fn f(t: u32, b: &[f32; len(t)]);");
    assert_says(&error, "write `t`");
    for declaration in [
        "a: Vec<f32>, b: &[f32; len(a)]",
        "a: [f32; 4], b: &[f32; len(a)]",
        "a: [f32]",
    ] {
        let error = kernel(&format!("unsafe fn f({declaration});"));
        assert_says(&error, "memory is declared as `&[f32]` or `&mut [f32]`");
    }
    let error = kernel("unsafe fn f(a: &[f32], n: u32 = a.len());");
    assert_says(&error, "the length of a slice is `len(a)`");
}

#[test]
fn only_integers_are_filled_in() {
    for parameter in ["t: f32 = 0.5", "t: f32 = 1", "t: bool = true"] {
        assert_says(
            &kernel(&format!("unsafe fn f({parameter});")),
            "only integers can be filled in; pass `t` at the call",
        );
    }
}

#[test]
fn launch_shapes_say_what_is_wrong_with_them() {
    for shape in ["block < 1024", "block: 256", "shared: 4", "grid 3"] {
        assert_says(
            &launch(&format!("for_len(out), {shape}")),
            "expected `=` or `<=`",
        );
    }
    for shape in ["for_len(out), grid = 3", "grid = 3, for_len(out)"] {
        let error = launch(shape);
        assert_says(&error, "both `for_len` and `grid` say the grid: keep one");
    }
    assert_says(
        &launch("for_len(out), threads = 256"),
        "`threads` is no part of a launch; there are `for_len(…)`",
    );
    let error = kernel("/// Doubles.\n#[lunch(for_len(a))] safe fn f(a: &[f32]);");
    assert_says(
        &error,
        "a safe kernel says how it is launched: add `#[launch(…)]`",
    );
    assert_says(&error, "; `#[lunch]` is none");
    let error = kernel("/// Doubles.\n#[inline] safe fn f(a: &[f32]);");
    assert!(!error.contains("is none"), "{error}");
}

#[test]
fn the_name_of_prepared_launches_is_one_name() {
    let errors = |attribute: &str| kernel(&format!("#[launch(grid = 1)] {attribute} safe fn k();"));
    assert_eq!(errors("#[prepared(K)]"), "");
    for wrong in [
        "#[prepared]",
        "#[prepared()]",
        "#[prepared = K]",
        "#[prepared(a::K)]",
        "#[prepared(K, L)]",
    ] {
        assert_says(&errors(wrong), "write `#[prepared(NAME)]`");
    }
    assert_says(
        &errors("#[prepared(K)] #[prepared(L)]"),
        "a kernel has one `#[prepared(…)]`",
    );
    assert_says(&errors("#[prepared(Kernels)]"), "the name of another type");
}
