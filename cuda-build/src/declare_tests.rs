//! What is declared for which kernels, and what is refused.

use super::*;
use crate::interface::{Names, Probe};

const PTX: &str = ".version 7.0 .target sm_52 .address_size 64
.visible .entry vectorAdd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 d) { ret; }
.visible .entry _ZN2ns5scaleIfLi4EEEvPT_S1_(.param .u64 a, .param .f32 b) { ret; }
.visible .entry _ZN2ns5scaleIdLi2EEEvPT_S1_(.param .u64 a, .param .f64 b) { ret; }
.visible .entry _Z5stepsPN2ns8ParticleENS_6ParamsE6float4b5Colormc(.param .u64 a, .param .align 8 .b8 b[24], .param .align 16 .b8 c[16],
    .param .u8 d, .param .u32 e, .param .u64 f, .param .u8 g) { ret; }
.visible .entry untold(.param .u64 a, .param .b8 b[3], .param .f32 c) { ret; }
.visible .entry nothing() { ret; }";

const SOURCE: &str = "extern \"C\" __global__ void vectorAdd(const float *a, const float *b, float *sum, unsigned n);
template <class T, int N> __global__ void scale(T *data, T by);
__global__ void steps(ns::Particle *particles, ns::Params in, float4 wind, bool on, Color type, unsigned long numRows, char);";

fn interface() -> Interface {
    let mut interface = Interface::read(PTX, "test").unwrap();
    interface.take_types(&Probe::from_symbols([(
        "vectorAdd",
        "_Z16cuda_build_typesILi0EJPKfS1_PfjEEvDpT0_",
    )]));
    let mut names = Names::default();
    names.read(SOURCE);
    interface.take_names(&names);
    interface
}

fn types() -> TypeNames {
    let mut types = TypeNames::default();
    types.size_of_long = 8;
    types
}

fn declared(kernels: &[Kernel], types: &TypeNames) -> Result<String, Error> {
    let interface = interface();
    let declaration = Declaration {
        name: "a_test",
        type_name: None,
        source: "kernels/a_test.cu",
        image: "ptx \"a_test.ptx\"",
        interface: &interface,
        kernels,
        types,
    };
    declaration.text().map(Option::unwrap_or_default)
}

/// The line that declares a method.
fn line(kernels: &[Kernel], types: &TypeNames, method: &str) -> String {
    let text = declared(kernels, types).unwrap();
    let mut lines = text.lines().map(str::trim);
    lines
        .find(|line| line.contains(&format!(" fn {method}(")))
        .unwrap_or_default()
        .to_owned()
}

fn refused(kernel: Kernel) -> String {
    let error = declared(&[kernel], &types()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Declaration);
    error.to_string()
}

#[path = "declare_tests/elements.rs"]
mod elements;

#[test]
fn the_whole_declaration() {
    let vouched = Kernel::new("vectorAdd")
        .doc("`sum[i] = a[i] + b[i]`")
        .len("b", "len(a)")
        .len("sum", "len(a)")
        .value("n", "len(a)")
        .vouch("for_len(sum), block <= 1024");
    let text = declared(&[vouched, Kernel::new("untold").skip()], &types()).unwrap();
    assert_eq!(text, include_str!("declare_tests/whole.rs"));
    assert_eq!(text, {
        let again = Kernel::new("vectorAdd")
            .doc("`sum[i] = a[i] + b[i]`")
            .value("n", "len(a)")
            .len("sum", "len(a)")
            .len("b", "len(a)");
        declared(
            &[
                Kernel::new("untold").skip(),
                again.vouch("for_len(sum), block <= 1024"),
            ],
            &types(),
        )
        .unwrap()
    });
}

#[test]
fn what_is_said_of_parameters() {
    let said = Kernel::new("scale<float, 4>")
        .method("scale4")
        .nullable("data")
        .len("data", "8..")
        .rename("by", "factor")
        .ty("by", "Wrapping<f32>");
    assert_eq!(
        line(&[said], &types(), "scale4"),
        "pub unsafe fn scale4(data: Option<&mut [f32; 8..]>, factor: Wrapping<f32>);"
    );
    let launched = declared(
        &[Kernel::new("nothing").launch("grid = 1, block = 32")],
        &types(),
    )
    .unwrap();
    assert!(launched.contains("#[launch(grid = 1, block = 32)]\n        pub unsafe fn nothing();"));
}

#[test]
fn what_is_said_of_a_template_holds_for_its_instances() {
    let all = Kernel::new("scale")
        .rename("data", "values")
        .vouch("for_len(values)");
    let one = Kernel::new("ns::scale<float,4>").len("data", "4");
    let kernels = [all.clone(), one];
    assert_eq!(
        line(&kernels, &types(), "scale_double_2"),
        "pub safe fn scale_double_2(values: &mut [f64], by: f64);"
    );
    assert_eq!(
        line(&kernels, &types(), "scale_float_4"),
        "pub unsafe fn scale_float_4(data: &mut [f32; 4], by: f32);"
    );
    let twice = declared(&[all.clone(), all], &types()).unwrap_err();
    assert!(twice.to_string().ends_with("something is said of it twice"));
}

/// Functions of one name are no instances of a template: each has its own parameters.
#[test]
fn overloads_are_told_apart() {
    let ptx = ".version 7.0 .target sm_52 .address_size 64
        .visible .entry _Z3fooi(.param .u32 a) { ret; } .visible .entry _Z3foof(.param .f32 a) { ret; }";
    let interface = Interface::read(ptx, "test").unwrap();
    let of = |kernels: &[Kernel]| {
        let declaration = Declaration {
            name: "a",
            type_name: Some("Foo"),
            source: "a.cu",
            image: "ptx \"a.ptx\"",
            interface: &interface,
            kernels,
            types: &types(),
        };
        declaration.text().map(Option::unwrap_or_default)
    };
    let text = of(&[Kernel::new("_Z3foof").method("foo_f32")]).unwrap();
    assert!(text.contains("unsafe extern Foo from"));
    assert!(
        text.contains("#[name = \"_Z3foof\"]\n        pub unsafe fn foo_f32(p0: f32);"),
        "{text}"
    );
    assert!(
        text.contains("#[name = \"_Z3fooi\"]\n        pub unsafe fn foo(p0: i32);"),
        "{text}"
    );
    let error = of(&[Kernel::new("foo")]).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "several kernels have this name; the kernels are: `foo` (_Z3fooi), `foo` (_Z3foof)"
        ),
        "{error}"
    );
}

/// Where no name and no compiler tells types, what the kernel does tells addresses and their elements.
#[test]
fn what_kernels_do_tells_what_names_do_not() {
    let ptx = ".version 7.0 .target sm_52 .address_size 64
        .visible .entry untold(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 n) {
            .reg .b64 %rd<9>; .reg .f32 %f<3>; .reg .b32 %r<3>;
            ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u64 %rd4, [n]; ld.param.u64 %rd7, [d];
            shl.b64 %rd5, %rd4, 2; add.s64 %rd6, %rd1, %rd5;
            ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd6];
            ld.global.s32 %r1, [%rd2]; st.global.s32 [%rd2+4], %r1;
            ld.global.v4.u32 {%r1, %r1, %r1, %r1}, [%rd3];
            ret; }
        .visible .entry _Z5breakPKf(.param .u64 p) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 0; ret; }";
    let interface = Interface::read(ptx, "test").unwrap();
    let declaration = Declaration {
        name: "a",
        type_name: None,
        source: "a.cu",
        image: "ptx \"a.ptx\"",
        interface: &interface,
        kernels: &[],
        types: &types(),
    };
    let text = declaration.text().unwrap().unwrap_or_default();
    let line = "unsafe fn untold(p0: &[f32], p1: &mut [i32], p2: &[u8], p3: u64, p4: u64);";
    assert!(text.contains(line), "{text}");
    assert!(
        text.contains("is declared by what the kernel does there"),
        "{text}"
    );
    // It breaks its word.
    assert!(text.contains("(p0: &mut [f32]);"), "{text}");
}

#[test]
fn types_of_rust_are_given_by_name() {
    let mut types = types();
    types.add("ns::Particle", "crate::Particle");
    types.add("Params", "Params");
    types.add("float4", "glam::Vec4");
    assert_eq!(
        line(&[], &types, "steps"),
        "pub unsafe fn steps(particles: &mut [crate::Particle], in_: Params, wind: glam::Vec4, on: bool, type_: u32, num_rows: u64, p6: i8);"
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let kernels = "the kernels are: `vectorAdd` (vectorAdd), `ns::scale<double, 2>` (_ZN2ns5scaleIdLi2EEEvPT_S1_)";
    let none = refused(Kernel::new("vector_add"));
    assert!(
        none.starts_with(
            "cannot declare the kernel `vector_add` of kernels/a_test.cu: there is no such kernel; "
        ) && none.contains(kernels)
    );
    let two = refused(Kernel::new("scale").method("scale"));
    assert!(
        two.contains("several kernels have this name, which cannot all have the method `scale`; the kernels are: `ns::scale<double, 2>`")
            && !two.contains("vectorAdd"),
        "{two}"
    );
    for (kernel, why) in [
        (
            Kernel::new("vectorAdd").len("m", "1"),
            "it has no parameter `m`; its parameters are: `a`, `b`, `sum`, `n`",
        ),
        (
            Kernel::new("nothing").value("n", "1"),
            "it has no parameter `n`; its parameters are: none",
        ),
        (
            Kernel::new("vectorAdd").len("n", "1"),
            "`n` is a value and no pointer, so it has no length",
        ),
        (
            Kernel::new("vectorAdd").nullable("n"),
            "`n` is a value and no pointer, so it has no null",
        ),
        (
            Kernel::new("vectorAdd").value("a", "1"),
            "`a` is a pointer, and only numbers are filled in",
        ),
        (
            Kernel::new("vectorAdd").rename("a", "b"),
            "two parameters have the name `b`",
        ),
        (
            Kernel::new("vectorAdd").rename("a", "type"),
            "`type` is no name of a parameter",
        ),
        (
            Kernel::new("vectorAdd").method("no method"),
            "`no method` is no name of a method",
        ),
    ] {
        let text = refused(kernel);
        // Behind it is the place in the build script, where that says more than a name.
        let (text, place) = text.split_once(" (").unwrap_or((&text, "declare_tests.rs"));
        assert!(text.ends_with(why), "{text}");
        assert!(place.contains("declare_tests.rs"), "{place}");
    }
    let twice = declared(&[Kernel::new("nothing"), Kernel::new("nothing")], &types()).unwrap_err();
    assert!(twice.to_string().ends_with("something is said of it twice"));
    let methods = declared(
        &[
            Kernel::new("nothing").method("x"),
            Kernel::new("untold").method("x"),
        ],
        &types(),
    )
    .unwrap_err();
    assert!(
        methods
            .to_string()
            .ends_with("another kernel has the method `x`")
    );
}

#[test]
fn lengths_values_and_launches_are_read_where_they_are_written() {
    let kernel = || Kernel::new("vectorAdd");
    for (text, length, why) in [
        (
            "len(c)",
            true,
            "it has no parameter `c`; its parameters are: `a`, `b`, `sum`, `n`",
        ),
        ("a", true, "`a` is a pointer; its length is `len(a)`"),
        ("len(n)", true, "`n` is a value, which has no length"),
        ("2 * (len(a) + 1", true, "it ends where `)` is expected"),
        ("len(a) len(b)", true, "there is `len` where it should end"),
        (
            "",
            true,
            "it ends where an integer, a length or a parameter is expected",
        ),
        ("a.len()", true, "`a` is a pointer; its length is `len(a)`"),
        ("len(a)..", false, "there is `.` where it should end"),
        ("min(n)", false, "there is `)` where `,` is expected"),
    ] {
        let kernel = match length {
            true => kernel().len("b", text),
            false => kernel().value("n", text),
        };
        let error = refused(kernel);
        assert!(
            error.contains(&format!("`{text}` of `")) && error.contains(why),
            "{error}"
        );
        assert!(error.contains("declare_tests.rs:"), "{error}");
    }
    assert!(refused(kernel().len("b", "(".repeat(10_000))).contains("nested too deep"));
    for (text, why) in [
        ("block = 32", "it does not say the grid"),
        ("for_len(q)", "it has no parameter `q`"),
        (
            "grid = (1, 2, 3, 4)",
            "there are at most three dimensions, and not 4",
        ),
        ("grid = 1, thread = 2", "`thread` is no part of a launch"),
        (
            "for_len(sum) block = 3",
            "there is `block` where `,` is expected",
        ),
        ("grid = 1, globals(\"x", "a text in it does not end"),
    ] {
        let error = refused(kernel().vouch(text));
        assert!(
            error.contains(&format!("the launch `{text}`: {why}")),
            "{error}"
        );
    }
    for text in [
        "for_len(sum), block <= 1024, grid <= 64,",
        "grid = (div_ceil(n, 16), (2)), block = (16, 16), shared = 4 * len(a), cooperative",
        "grid = (n + 1) * 2, shared <= 1024, cluster = 2, waits, globals(mut x, \"y z\")",
        "for_len(len(a) / 2)",
    ] {
        declared(&[kernel().vouch(text)], &types()).unwrap();
    }
}

/// Names that nobody wrote in good faith end neither comments nor strings.
#[test]
fn hostile_names_stay_in_their_place() {
    let probe = Probe::from_symbols([("vectorAdd", "_Z1kI9a\r*/\"{}\nbEvP9a\r*/\"{}\nbS0_S0_j")]);
    let mut interface = Interface::read(PTX, "test").unwrap();
    interface.take_types(&probe);
    let declaration = Declaration {
        name: "a",
        type_name: None,
        source: "a.cu",
        image: "ptx \"a.ptx\"",
        interface: &interface,
        kernels: &[],
        types: &types(),
    };
    let text = declaration.text().unwrap().unwrap();
    assert!(!text.contains('\r'));
    for line in text.lines().filter(|line| line.contains("*/")) {
        assert!(line.trim_start().starts_with("///"), "{line}");
    }
}
