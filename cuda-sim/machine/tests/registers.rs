//! The estimate of registers: those that are alive at the same time, not those that are named.

use std::fmt::Write as _;

use cuda_ptx::Module;
use cuda_sim_machine::Program;

fn registers(directives: &str, body: &str) -> u32 {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry kernel(.param .u64 out) {directives} {{\n\
         .reg .pred %p<9>; .reg .b32 %r<999>; .reg .b64 %rd<999>;\n{body}\nret;\n}}\n"
    );
    let module = Module::parse(&text).expect("the text is PTX");
    let program = Program::new(&module);
    program
        .kernels()
        .first()
        .expect("it has a kernel")
        .registers()
}

/// Instructions, one after the other.
fn chain(count: u32, instruction: impl Fn(u32) -> String) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        writeln!(text, "{};", instruction(number)).expect("strings take everything");
        text
    })
}

#[test]
fn registers_that_follow_each_other_share() {
    let body = chain(400, |n| format!("add.u32 %r{}, %r{n}, 1", n + 1));
    assert_eq!(registers("", &body), 8);
}

#[test]
fn registers_that_are_alive_together_add_up() {
    let defined = chain(100, |n| format!("mov.u32 %r{n}, %tid.x"));
    let summed = chain(100, |n| format!("add.u32 %r500, %r500, %r{n}"));
    let words = registers("", &format!("{defined}{summed}"));
    assert!((100..110).contains(&words), "{words}");
    let doubles = format!("{defined}{summed}")
        .replace("%r", "%rd")
        .replace("u32 %", "u64 %");
    let words = registers("", &doubles);
    assert!((200..212).contains(&words), "{words}");
}

#[test]
fn registers_used_in_a_loop_stay_alive_in_all_of_it() {
    let defined = chain(50, |n| format!("mov.u32 %r{n}, %tid.x"));
    let first = chain(50, |n| format!("add.u32 %r500, %r500, %r{n}"));
    let second = chain(50, |n| format!("add.u32 %r{}, %r500, 1", n + 100));
    let third = chain(50, |n| format!("add.u32 %r500, %r500, %r{}", n + 100));
    let straight = registers("", &format!("{defined}{first}{second}{third}"));
    let looped = registers(
        "",
        &format!("{defined}LOOP:\n{first}{second}{third}@%p1 bra LOOP;"),
    );
    assert!((50..60).contains(&straight), "{straight}");
    assert!((100..110).contains(&looped), "{looped}");
}

#[test]
fn what_the_kernel_states_is_kept() {
    let defined = chain(300, |n| format!("mov.u32 %r{n}, %tid.x"));
    let summed = chain(300, |n| format!("add.u32 %r500, %r500, %r{n}"));
    let body = format!("{defined}{summed}");
    assert_eq!(registers("", &body), 255);
    assert_eq!(registers(".maxntid 1024, 1, 1", &body), 64);
    assert_eq!(registers(".reqntid 32, 8, 2", &body), 128);
    assert_eq!(registers(".maxnreg 40", &body), 40);
}

#[test]
fn a_limit_holds_where_the_kernel_states_none() {
    let limited = |directives: &str, most: u32| {
        let body = chain(100, |n| format!("mov.u32 %r{n}, %tid.x"));
        let sum = chain(100, |n| format!("add.u32 %r500, %r500, %r{n}"));
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry kernel() {directives} {{\n\
             .reg .b32 %r<999>;\n{body}{sum}\nret;\n}}\n"
        );
        let module = Module::parse(&text).expect("the text is PTX");
        let mut program = Program::new(&module);
        program.limit_registers(most);
        program.kernels()[0].registers()
    };
    assert_eq!(limited("", 32), 32);
    assert_eq!(limited("", 1), 24);
    assert!(limited("", 255) > 100);
    assert_eq!(limited(".maxnreg 64", 32), 64);
    assert!(limited(".maxntid 128, 1, 1", 32) > 100);
}

#[test]
fn hostile_nests_take_no_time() {
    let open = (0..50_000).fold(String::new(), |mut text, n| {
        writeln!(text, "L{n}: add.u32 %r1, %r1, %r{};", n % 900).expect("strings take everything");
        text
    });
    let close = chain(50_000, |n| format!("@%p1 bra L{}", 49_999 - n));
    assert!(registers("", &format!("{open}{close}")) >= 8);
}
