//! Which numbers lie behind a parameter.

use cuda_ptx::ScalarType as S;

use super::{kernel, with};

#[track_caller]
fn assert_number(body: &str, number: Option<S>) {
    let found = with(&kernel(body), |found| {
        found.number_behind(0, |_| true).and_then(|it| it.number)
    });
    assert_eq!(found, number, "{body}");
}

#[test]
fn by_the_instruction() {
    assert_number("ld.global.f32 %f1, [%a];", Some(S::F32));
    assert_number("st.global.f64 [%a], %fd1;", Some(S::F64));
    assert_number("red.global.add.f64 [%a], %fd1;", Some(S::F64));
    assert_number("ld.global.u32 %r1, [%a];", None);
    assert_number("", None);
}

#[test]
fn by_what_is_computed() {
    for load in [
        "ld.global.u32 %r1, [%a];",
        "ld.global.b32 %r1, [%a];",
        "ld.global.v2.b32 {%r2, %r1}, [%a];",
    ] {
        assert_number(&format!("{load} add.f32 %r3, %r1, %r4;"), Some(S::F32));
        assert_number(&format!("{load} cvt.f64.f32 %fd1, %r1;"), Some(S::F32));
        assert_number(&format!("{load} cvt.rn.f32.s32 %f1, %r1;"), None);
        assert_number(
            &format!("{load} setp.lt.f32 %p1, %r1, 0f00000000;"),
            Some(S::F32),
        );
    }
    assert_number(
        "fma.rn.f64 %fd1, %fd2, %fd3, %fd4; st.global.b64 [%a], %fd1;",
        Some(S::F64),
    );
    assert_number(
        "ld.global.u16 %h1, [%a]; cvt.f32.f16 %f1, %h1;",
        Some(S::F16),
    );
    assert_number(
        "ld.global.u32 %r1, [%a]; fma.rn.f16x2 %r2, %r1, %r3, %r4;",
        Some(S::F16),
    );
}

#[test]
fn what_is_only_moved_tells_nothing() {
    let body =
        "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%b]; st.global.v4.f32 [%a], {%f1, %f2, %f3, %f4};";
    assert_number(body, None);
    assert_number("ld.global.v2.f64 {%fd1, %fd2}, [%a];", None);
    assert_number(
        "ld.global.b32 %r1, [%a]; selp.b32 %r2, %r1, %r3, %p1; shl.b32 %r4, %r1, 16;",
        None,
    );
}

#[test]
fn contradictions_tell_nothing() {
    assert_number("ld.global.f32 %f1, [%a]; ld.global.f64 %fd1, [%a];", None);
    assert_number("ld.global.f32 %f1, [%a]; ld.global.u8 %r1, [%a+4];", None);
    assert_number(
        "ld.global.f32 %f1, [%a]; ld.global.u32 %r1, [%a+4];",
        Some(S::F32),
    );
    assert_number(
        "ld.global.b32 %r1, [%a]; add.f32 %r2, %r1, %r1; fma.rn.f16x2 %r3, %r1, %r1, %r1;",
        None,
    );
    // Something that may go through it too.
    assert_number(
        "ld.global.f32 %f1, [%a]; selp.b64 %rd1, %a, %b, %p1; ld.global.f32 %f2, [%rd1];",
        None,
    );
}

#[test]
fn elements_agree() {
    let element = |body: &str| with(&kernel(body), |found| found.element_behind(0, |_| true));
    assert_eq!(
        element("ld.global.s32 %r1, [%a]; ld.global.s32 %r1, [%a+4];"),
        Some(S::S32)
    );
    assert_eq!(
        element("ld.global.s32 %r1, [%a]; ld.global.u32 %r1, [%a+4];"),
        None
    );
    assert_eq!(
        element("ld.global.b32 %r1, [%a]; add.f32 %r2, %r1, %r1;"),
        Some(S::F32)
    );
}
