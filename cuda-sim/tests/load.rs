//! What loads and what does not, as recorded from a real driver.

mod support;

use std::ffi::CString;
use std::ptr;

use support::{Rig, call};

const STATEMENTS: &str = include_str!("load/statements.txt");
const MODULES: &str = include_str!("load/modules.txt");

/// A kernel around statements, with registers of every type.
fn with_body(statements: &str) -> String {
    format!(
        "\
.version 9.0
.target sm_90
.address_size 64
.global .align 16 .b8 gl[64];
.const .align 16 .b8 co[64];
.func (.param .b32 o) f1(.param .b32 i) {{ ret; }}
.func f0() {{ ret; }}
.visible .entry k(.param .u64 p, .param .u32 n) {{
.reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>;
.reg .u32 %u<9>; .reg .s32 %s<9>; .reg .u64 %ud<9>; .reg .s64 %sd<9>; .reg .u16 %us<9>; .reg .s16 %ss<9>;
.reg .f16 %h<9>; .reg .f16x2 %hh<9>; .reg .b8 %b<9>; .reg .u8 %ub<9>; .reg .b128 %q<9>;
.shared .align 16 .b8 sh[64]; .local .align 16 .b8 lo[64];
{statements}
ret;
}}
"
    )
}

/// The code that is to be expected: the second where there are two.
fn expected(codes: &str) -> u32 {
    let code = codes.rsplit('/').next();
    code.and_then(|code| code.parse().ok())
        .unwrap_or_else(|| panic!("`{codes}` is no code"))
}

fn load(rig: &Rig, text: &[u8]) -> u32 {
    let text = CString::new(text).expect("no NUL");
    let mut module = ptr::null_mut();
    let result = call!(
        rig.cuda,
        cuModuleLoadData(&raw mut module, text.as_ptr().cast())
    );
    if result.0 == 0 {
        assert_eq!(call!(rig.cuda, cuModuleUnload(module)).0, 0);
    }
    result.0
}

/// Compares all cases, and lists those that differ.
fn compare<'c>(cases: impl Iterator<Item = (&'c str, &'c str, Vec<u8>)>) {
    let rig = Rig::new();
    let mut differing = Vec::new();
    let mut count = 0;
    for (codes, name, text) in cases {
        let found = load(&rig, &text);
        if found != expected(codes) {
            differing.push(format!("{codes} recorded, {found} found: {name}"));
        }
        count += 1;
    }
    assert!(count > 100, "only {count} cases were read");
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn statements_load_or_not_as_on_a_real_driver() {
    let lines = STATEMENTS.lines().filter(|line| !line.starts_with('#'));
    compare(lines.map(|line| {
        let (codes, statements) = line.split_once('\t').expect("a code and statements");
        (codes, statements, with_body(statements).into_bytes())
    }));
}

#[test]
fn modules_load_or_not_as_on_a_real_driver() {
    let cases = MODULES.split("\n--- ").skip(1);
    compare(cases.map(|case| {
        let (head, text) = case.split_once('\n').unwrap_or((case, ""));
        let (codes, name) = head.split_once(' ').expect("a code and a name");
        let text = text.replace("CRLF", "\r").into_bytes();
        let mut bytes = Vec::new();
        let mut parts = text.split(|&byte| byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            let latin = part.windows(5).position(|window| window == b"LATIN");
            match latin {
                Some(at) => {
                    bytes.extend(&part[..at]);
                    bytes.push(0xe4);
                    bytes.extend(&part[at + 5..]);
                }
                None => bytes.extend(part),
            }
            if parts.peek().is_some() {
                bytes.push(b'\n');
            }
        }
        (codes, name, bytes)
    }));
}
