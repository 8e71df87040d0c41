//! The promised compile errors: what safe code cannot say.

#[test]
fn what_safe_code_cannot_say() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
