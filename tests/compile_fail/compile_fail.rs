//! The promised compile errors: what safe code cannot say.

#[test]
fn what_safe_code_cannot_say() {
    let cases = trybuild::TestCases::new();
    // With a program that compiles, all are compiled to the end, where the sizes of elements are checked.
    cases.pass("pass/*.rs");
    cases.compile_fail("cases/*.rs");
}
