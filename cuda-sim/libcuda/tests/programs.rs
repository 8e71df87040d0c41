//! C programs that know nothing of the software driver run on it.
#![cfg(target_os = "linux")]

mod support;

use support::{Program, library, standard_error, vector_add_ptx};

#[test]
fn a_kernel_runs_between_streams_and_events() {
    let output = Program::build("kernel", "vector_add", &["-lcuda"]).run(&[vector_add_ptx()]);
    assert_eq!(output, "10000 sums on 1 devices of CUDA 13000\n");
}

#[test]
fn the_environment_describes_the_driver() {
    let program = Program::build("environment", "vector_add", &["-lcuda"]);
    let output = program
        .command()
        .arg(vector_add_ptx())
        .env("CUDA_SIM_DEVICES", "3")
        .env("CUDA_SIM_DRIVER_VERSION", "12.4")
        .output()
        .expect("it starts");
    assert_eq!(standard_error(&output), "");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "10000 sums on 3 devices of CUDA 12040\n"
    );
}

#[test]
fn errors_are_statuses_with_texts() {
    let log = Program::build("errors", "errors", &["-lcuda"]).run(&[]);
    assert!(log.contains("line 4"), "{log}");
}

#[test]
fn functions_found_by_name_share_the_driver() {
    Program::build("entry_points", "entry_points", &["-lcuda"]).run(&[]);
}

#[test]
fn a_driver_that_cannot_be_configured_says_so_and_fails_every_call() {
    let program = Program::build("configuration", "errors", &["-lcuda"]);
    let output = program
        .command()
        .env("CUDA_SIM_DEVICES", "two")
        .output()
        .expect("it starts");
    assert!(!output.status.success());
    let error = standard_error(&output);
    assert!(error.contains("CUDA_SIM_DEVICES=\"two\""), "{error}");
    assert!(error.contains("gives 802"), "{error}");
}

#[test]
fn calls_after_the_end_and_in_forked_children_fail_quietly() {
    assert_eq!(
        Program::build("ending", "ending", &["-lcuda"]).run(&[]),
        "early\nlate\n"
    );
}

#[test]
fn the_library_can_be_closed_and_opened_again() {
    let program = Program::build("unloading", "unloading", &["-ldl"]);
    assert_eq!(program.run(&[&library()]), "closed\n");
}
