//! Texts that are not PTX: each is an error with its place, and none costs more than its length.

use cuda_ptx::Module;

fn error(text: &str) -> String {
    Module::parse(text).unwrap_err().to_string()
}

#[test]
fn errors_say_what_and_where() {
    let body = |body: &str| format!(".version 7.0\n.target sm_52\n.entry k() {{\n{body}\n}}");
    for (text, expected) in [
        (
            String::new(),
            "PTX line 1, column 1: expected the module to start with `.version`, found the end of the text",
        ),
        (
            String::from(".version seven"),
            "PTX line 1, column 10: expected a version such as `7.0`, found `seven`",
        ),
        (
            String::from(".version 7.0\n.entry k"),
            "PTX line 2, column 1: expected `.target` after `.version`, found `.entry`",
        ),
        (
            body("add.s32 %r1, %r2"),
            "PTX line 5, column 1: expected `;` after the instruction, found `}`",
        ),
        (
            body("  add.s32 %r1,, %r2;"),
            "PTX line 4, column 15: expected an operand, found `,`",
        ),
        (
            body("ld.u32 %r1, [%r2;"),
            "PTX line 4, column 17: expected `]` that closes the address, found `;`",
        ),
        (
            body("mov.u32 %r1, 1/0;"),
            "PTX line 4, column 15: division by zero in a constant expression",
        ),
        (
            body("mov.u32 %r1, 99999999999999999999;"),
            "PTX line 4, column 14: `99999999999999999999` is not a 64-bit integer",
        ),
        (
            body("mov.f32 %r1, 0f3F80;"),
            "PTX line 4, column 14: a floating-point constant of 8 hexadecimal digits is expected, found `0f3F80`",
        ),
        (
            body("/* no end"),
            "PTX line 4, column 1: the comment that starts here has no end",
        ),
        (
            body("mov.u32 %r1, ä;"),
            "PTX line 4, column 14: unexpected character 'ä'",
        ),
        (
            body(".reg .b33 %r;"),
            "PTX line 4, column 6: `.b33` does not belong in a declaration",
        ),
        (
            body(".reg .b32 %r<99999999999>;"),
            "PTX line 4, column 14: the number of registers exceeds 32 bits",
        ),
        (
            String::from(".version 7.0\n.target sm_52\n.entry k() { ret;"),
            "PTX line 3, column 12: the body that starts here has no end",
        ),
        (
            String::from(".version 7.0\n.target sm_52\n.entry k(.param .b8 a[99999999999999]) { }"),
            "PTX line 3, column 21: the parameter `a` is too large",
        ),
    ] {
        assert_eq!(error(&text), expected, "{text}");
    }
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    let head = ".version 7.0\n.target sm_52\n.entry k() {\n";
    let many = 200_000;
    for text in [
        format!("{head}{}", "{".repeat(many)),
        format!("{head}mov.u32 %r1, {}1;", "(".repeat(many)),
        format!("{head}mov.u32 %r1, {}1;", "((.u64)".repeat(many)),
        format!("{head}mov.u32 %r1, {};", "1?".repeat(many)),
        format!("{head}mov.u32 %r1, {}", "1?1:".repeat(many)),
        format!("{head}mov.u32 %r1, {};", "{".repeat(many)),
        format!("{head}mov.u32 %r1, {};", "[{".repeat(many)),
        format!("{head}call {};", "(".repeat(many)),
        format!(
            ".version 7.0\n.target sm_52\n.global .u32 x = {}",
            "{".repeat(many)
        ),
        format!(
            ".version 7.0\n.target sm_52\n.section .x {}",
            "{".repeat(many)
        ),
        format!(
            ".version 7.0\n.target sm_52\n.func .attribute{}",
            "(".repeat(many)
        ),
        format!(
            ".version 7.0\n.target sm_52\n.global .attribute{}",
            "(".repeat(many)
        ),
    ] {
        assert!(Module::parse(&text).is_err());
        assert!(Module::parse_signatures(&text).is_err());
    }
    // Long is not deep.
    let long = format!("{head}mov.u32 %r1, {}1;\n}}", "-~".repeat(many));
    assert!(Module::parse(&long).is_ok());
    let long = format!("{head}mov.u32 %r1, {}1;\n}}", "1 + 2 * ".repeat(many));
    assert!(Module::parse(&long).is_ok());
}
