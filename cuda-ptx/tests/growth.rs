//! Time grows with the length of the text and not faster, whatever the text consists of.
//!
//! `cargo test --release -p cuda-ptx --test growth -- --ignored` does the same with 100 MB of each kind.

use std::time::{Duration, Instant};

use cuda_ptx::{Accesses, Module};

/// A kind of text: what it starts with, what is repeated, and how it ends.
type Kind = (&'static str, &'static str, &'static str);

const BODY: &str = ".version 7.0\n.target sm_52\n.entry k() {\n";
const MODULE: &str = ".version 7.0\n.target sm_52\n";
const POINTER: &str = ".version 7.0\n.target sm_52\n.func (.reg .b64 r) f(.reg .b64 q, .reg .b64 s) { add.s64 r, q, s; st.u64 [r], q; ret; }
.entry k(.param .u64 p) {\n";
const KINDS: &[Kind] = &[
    (BODY, "add.s32 %r1, %r2, %r3;\n", "}"),
    (BODY, "mov.u32 %r1, ((1+2)*3)<<4;\n", "}"),
    (BODY, "a:", "}"),
    (BODY, ";", "}"),
    (BODY, "{}", "}"),
    (BODY, "{.reg .b32 %a; bra b;}", "}"),
    (BODY, ".reg .b32 %a, %b;", "}"),
    (BODY, ".reg .b32 %r<9>;", "}"),
    (BODY, "@%p a;", "}"),
    (BODY, "bra somewhere;", "}"),
    (BODY, "# x", "}"),
    (BODY, "// #", "}"),
    (BODY, "/**/", "}"),
    (BODY, "\r\n", "}"),
    (BODY, ".loc 1 1 1 ", "\n}"),
    (BODY, ".loc 1 1 1\n", "\n}"),
    (BODY, " ", "}"),
    (BODY, "T: .branchtargets a, b, c;", "}"),
    (BODY, "T: .branchtargets T, T; brx.idx r, T;", "}"),
    (BODY, "T:{T: bra T;", ""),
    (
        BODY,
        "add.s64 a, b, c; add.s64 b, c, a; sub.s64 c, a, b;",
        "}",
    ),
    (BODY, "@p ld.u64 a, [a]; @p bra L; st.u64 [a], a;", "L:}"),
    (
        BODY,
        "{.param .b64 p; st.param.b64 [p], a; call (p), f, (p, p, p); ld.param.b64 a, [p];}",
        "}",
    ),
    (
        BODY,
        "st.param.b64 [p+8], a; call k, (p); ld.param.v4.b64 {a, b, c, d}, [p];",
        ".param .b64 p; }",
    ),
    (
        POINTER,
        "ld.param.u64 a, [p]; add.s64 b, a, b; st.u64 [b], a; call f, (b);",
        "}",
    ),
    (POINTER, "call (b), f, (a, b); add.s64 a, b, a;", "}"),
    (MODULE, ".func f() { call f; } .entry g() { call f; }", ""),
    ("", "(", ""),
    ("", "\u{e4}", ""),
    ("", "\0", ""),
    (BODY, "{", ""),
    (BODY, "mov.u32 %r1, (((((((1", ""),
    (MODULE, ".global .b32 a;", ""),
    (MODULE, ".global .u64 a = {b, c};", ""),
    (MODULE, ".func f();", ""),
    (MODULE, ".func f() { ret; }", ""),
    (MODULE, ".section a { .b8 1 }", ""),
    (MODULE, ".file 1 \"a\"\n", ""),
    (
        ".version 7.0\n.target sm_52\n.global .b8 a[] = {",
        "1,",
        "1};",
    ),
    (".version 7.0\n.target sm_52\n.global .b8 a[] = ", "{", ""),
    (
        ".version 7.0\n.target sm_52\n.entry k(",
        ".param .b32 a,",
        ".param .b32 a);",
    ),
    (".version 7.0\n.target ", "sm_52, ", "sm_52"),
    (
        ".version 7.0\n.target sm_52\n.entry k() { add.u32 ",
        "%r1, ",
        "%r1; }",
    ),
    (
        ".version 7.0\n.target sm_52\n.entry k() { add",
        ".u32",
        " %r1; }",
    ),
    (
        ".version 7.0\n.target sm_52\n.entry k() { mov.u32 %r1, ",
        "1 + 2 * ",
        "1; }",
    ),
    (
        ".version 7.0\n.target sm_52\n.entry k() { mov.u32 %r1, ",
        "-",
        "1; }",
    ),
    (
        ".version 7.0\n.target sm_52\n.entry k() { mov.u32 %r1, %r",
        "1",
        "; }",
    ),
    (
        ".version 7.0\n.target sm_52\n.entry k() { mov.u32 %r1, 0x",
        "f",
        "; }",
    ),
];

/// Everything that can be done with a text of that length.
fn work(kind: &Kind, len: usize) -> Duration {
    let (head, piece, tail) = kind;
    let text = format!("{head}{}{tail}", piece.repeat(len / piece.len()));
    let start = Instant::now();
    if let Ok(module) = Module::parse(&text) {
        drop(module.check());
        let mut accesses = Accesses::new(&module);
        for entry in module.entries() {
            drop(accesses.of(entry));
        }
    }
    if let Ok(module) = Module::parse_signatures(&text) {
        let mut accesses = Accesses::new(&module);
        for entry in module.entries() {
            drop(accesses.of(entry));
        }
    }
    start.elapsed()
}

/// Eight times the text must not take 32 times as long. Other work on the machine can only make a measurement longer, so one that is
/// short enough is enough.
fn grows_linearly(kind: &Kind, len: usize) {
    let mut worst = (Duration::ZERO, Duration::ZERO);
    for _ in 0..8 {
        let short = work(kind, len).min(work(kind, len));
        let long = work(kind, 8 * len);
        if long < short * 32 + Duration::from_millis(20) {
            return;
        }
        worst = (short, long);
    }
    panic!(
        "`{}`: {:?} for one, {:?} for eight",
        kind.1, worst.0, worst.1
    );
}

#[test]
fn of_short_texts() {
    for kind in KINDS {
        grows_linearly(kind, 20_000);
    }
}

/// Texts in which two things are many at once.
#[test]
fn of_many_things_at_once() {
    let list = |count: usize| vec!["a"; count].join(",");
    let operands = format!("{BODY} x.b64 {{{0}}}, {{{0}}}; }}", list(8_000));
    let links: String = (0..8_000)
        .map(|it| format!("mov.u64 a{}, a{it};", 8_001 - it))
        .collect();
    let names: Vec<String> = (0..8_000).map(|it| format!("a{it}")).collect();
    let chain = format!("{BODY} x.b64 b, {{{}}}; {links} }}", names.join(","));
    let returned = format!(
        "{MODULE} .func (.param .b64 r) f() {{ {} ret; }} .entry k() {{ call (q), f, (); {} .param .b64 q; }}",
        "st.param.b64 [r], a;".repeat(8_000),
        "ld.param.b64 a, [q];".repeat(8_000)
    )
    .replace("{ call", "{ .param .b64 q; call")
    .replace(" .param .b64 q; }", " }");
    for text in [operands, chain, returned] {
        let kind: Kind = ("", text.leak(), "");
        // Thousandths of that; with the square of the number it takes that long and longer.
        let took = work(&kind, kind.1.len()).min(work(&kind, kind.1.len()));
        assert!(took < Duration::from_secs(3), "{took:?}: {}", &kind.1[..80]);
    }
}

#[test]
#[ignore = "takes minutes, and 4 GB of memory"]
fn of_100_megabytes() {
    for kind in KINDS {
        let took = work(kind, 100_000_000);
        println!("{:>8.2} s  `{}`", took.as_secs_f64(), kind.1.escape_debug());
        // Three passes, on a machine that has other work besides.
        assert!(took < Duration::from_secs(60), "`{}` took {took:?}", kind.1);
    }
}
