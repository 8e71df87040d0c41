//! Which names are read from which texts.

use super::*;

fn of(text: &str, kernel: &str, count: usize) -> Vec<String> {
    let mut names = Names::default();
    names.read(text);
    let found = names.of(kernel, count).into_iter();
    found
        .map(|name| name.unwrap_or_else(|| "-".into()))
        .collect()
}

#[test]
fn names_are_read_from_declarations_of_every_form() {
    for (parameters, expected) in [
        (
            "const float *a, float* __restrict__ b, unsigned int n",
            &["a", "b", "n"][..],
        ),
        (
            "float const &a, T (*rows)[3], int (&tile)[16], int list[4]",
            &["a", "rows", "tile", "list"],
        ),
        (
            "std::array<int, 4> pair, Map<int, List<float>> map, ns::Params p",
            &["pair", "map", "p"],
        ),
        (
            "int n = f(1, 2), float x = 1.5f, bool b = a < b",
            &["n", "x", "b"],
        ),
        (
            "const __grid_constant__ Params params, struct Point point",
            &["params", "point"],
        ),
        (
            "float *, int, const Params, ns::Params, unsigned long, struct Point",
            &["-", "-", "-", "-", "-", "-"],
        ),
        (
            "/* first */ int a /* last, int b */, // int c\n int d",
            &["a", "d"],
        ),
        ("int a, int a, int c", &["-", "-", "c"]),
        ("Types... values", &["-"]),
    ] {
        let text = format!("__global__ void kernel({parameters}) {{}}");
        assert_eq!(
            of(&text, "kernel", expected.len()),
            expected,
            "{parameters}"
        );
    }
    assert!(of("__global__ void kernel(void);", "kernel", 0).is_empty());
    assert!(of("__global__ void kernel();", "kernel", 0).is_empty());
}

#[test]
fn attributes_templates_and_linkage_do_not_matter() {
    for text in [
        "extern \"C\" __global__ __launch_bounds__(256, 2) void kernel(int a)",
        "extern \"C\" { void __global__ kernel(int a) {} }",
        "template <class T, int N = (3 > 2)> __global__ void __cluster_dims__(2, 1, 1) kernel(T a)",
        "static __global__ __attribute__((noinline)) void\nkernel\n(\nint\na\n)",
        "[[nodiscard]] __global__ void __maxnreg__(64) kernel(int a);",
        "#define NOT __global__ void kernel(int wrong)\n__global__ void kernel(int a);",
        "#define NOT \\\n __global__ void kernel(int wrong)\n__global__ void kernel(int a);",
        "char *text = \"__global__ void kernel(int wrong)\"; __global__ void kernel(int a);",
        "char *text = R\"x(\")\" __global__ void kernel(int wrong))x\"; __global__ void kernel(int a);",
        "int big = 1'000'000; __global__ void kernel(int a);",
    ] {
        assert_eq!(of(text, "kernel", 1), ["a"], "{text}");
    }
}

#[test]
fn only_what_is_agreed_upon_is_taken() {
    let text = "__global__ void kernel(int a, float b); __global__ void kernel(int, float c) {} __global__ void kernel(int x) {}";
    assert_eq!(of(text, "kernel", 2), ["a", "-"]);
    assert_eq!(of(text, "kernel", 1), ["x"]);
    assert_eq!(of(text, "kernel", 3), ["-", "-", "-"]);
    assert_eq!(of(text, "other", 1), ["-"]);
}

#[test]
fn any_text_is_read() {
    for text in [
        "__global__",
        "__global__ void k(",
        "__global__ void k(int a",
        "__global__ (",
        "\"",
        "'",
        "/*",
        "//",
        "#",
        "R\"(",
        "\\",
        "é __global__ é(é)",
        "__global__ ;k(int a)",
    ] {
        let mut names = Names::default();
        names.read(text);
        names.of("k", 1);
    }
    assert_eq!(
        of("__global__ void größe(int länge);", "größe", 1),
        ["länge"]
    );
    let deep = format!("__global__ void k{}", "(".repeat(100_000));
    assert_eq!(of(&deep, "k", 1), ["-"]);
}
