//! What kernels do through their parameters.

#[path = "access/flow.rs"]
mod flow;
#[path = "access/numbers.rs"]
mod numbers;
#[path = "access/provenance.rs"]
mod provenance;

use cuda_ptx::{Accesses, KernelAccesses, Module};

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// A kernel `k` with six parameters of 8 bytes, `a` to `f`, and `n` of 4; the first three and `n` are in `%a`, `%b`, `%c` and `%n`.
fn kernel(body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .align 8 .b8 s[16], .param .u32 n) {{
        .reg .b64 %rd<50>; .reg .b32 %r<50>; .reg .f32 %f<50>; .reg .f64 %fd<50>; .reg .pred %p<9>; .reg .b16 %h<9>;
        ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; ld.param.u32 %n, [n];
        {body}
        ret; }}"
    )
}

fn with<T>(text: &str, look: impl FnOnce(&KernelAccesses<'_>) -> T) -> T {
    let text = format!("{HEAD}{text}");
    let module = Module::parse_signatures(&text).expect("parses");
    let whole = Module::parse(&text).expect("parses");
    let entry = module.entry("k").expect("is there");
    let found = Accesses::new(&module).of(entry).expect("parses");
    // Bodies that were parsed before give the same.
    let same = Accesses::new(&whole).of(whole.entry("k").expect("is there"));
    let positions = |it: &KernelAccesses<'_>| -> Vec<_> {
        it.list().iter().map(|it| (it.kind, it.position)).collect()
    };
    assert_eq!(positions(&found), positions(&same.expect("parses")));
    look(&found)
}

/// The parameters that are certainly written, those that may be, if the ones listed are memory.
fn written(text: &str, memory: &[usize]) -> (Vec<usize>, Vec<usize>) {
    with(text, |found| {
        let certain =
            (0..3).filter(|&it| found.write_through(it, |it| memory.contains(&it)).is_some());
        let may = (0..3).filter(|&it| found.may_write(it));
        (certain.collect(), may.collect())
    })
}

const ALL: &[usize] = &[0, 1, 2];
