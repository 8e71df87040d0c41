//! What the software driver says of a program's mistakes, as the environment asks for.
#![cfg(target_os = "linux")]

mod support;

use std::process::Output;

use support::{Program, empty_directory, standard_error, vector_add_ptx};

fn run(program: &Program, variables: &[(&str, &str)]) -> Output {
    let mut command = program.command();
    command
        .arg(vector_add_ptx())
        .envs(variables.iter().copied());
    let output = command.output().expect("it starts");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "done",
        "{}",
        standard_error(&output)
    );
    output
}

#[test]
fn reports_go_to_standard_error_or_a_file_and_can_fail_the_program() {
    let program = Program::build("reports", "faulty", &["-lcuda"]);

    let output = run(&program, &[]);
    assert!(output.status.success());
    let text = standard_error(&output);
    assert!(text.starts_with("cuda-sim: OutOfBounds: "), "{text}");
    assert_eq!(text.matches("cuda-sim: ").count(), 1, "{text}");

    let output = run(&program, &[("CUDA_SIM_FAIL", "9"), ("CUDA_SIM_LEAKS", "1")]);
    assert_eq!(output.status.code(), Some(9));
    let text = standard_error(&output);
    let left = "cuda-sim: 3 objects were left because the context is lost";
    assert!(text.contains(left), "{text}");

    let file = empty_directory("reports_file").join("of-%p.txt");
    let file = file.to_str().expect("the path is text");
    let output = run(&program, &[("CUDA_SIM_REPORT", file)]);
    assert_eq!(standard_error(&output), "");
    let written = std::fs::read_dir(directory_of(file)).expect("the directory is there");
    let written: Vec<_> = written
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    assert_eq!(written.len(), 1, "{written:?}");
    assert!(!written[0].to_string_lossy().contains('%'));
    let text = std::fs::read_to_string(&written[0]).expect("it is text");
    assert!(text.starts_with("cuda-sim: OutOfBounds: "), "{text}");

    let output = run(
        &program,
        &[("CUDA_SIM_REPORT", "0"), ("CUDA_SIM_FAIL", "9")],
    );
    assert_eq!(standard_error(&output), "");
    assert_eq!(output.status.code(), Some(9), "unseen is not unfound");
}

#[test]
fn leaks_are_reports_if_they_are_asked_for() {
    let program = Program::build("leaks", "leaking", &["-lcuda"]);
    let output = run(&program, &[("CUDA_SIM_FAIL", "9")]);
    assert_eq!(standard_error(&output), "");
    assert!(output.status.success());

    let output = run(&program, &[("CUDA_SIM_FAIL", "9"), ("CUDA_SIM_LEAKS", "1")]);
    assert_eq!(output.status.code(), Some(9));
    let text = standard_error(&output);
    for kind in ["Memory", "Module", "PrimaryContext"] {
        assert!(text.contains(&format!("cuda-sim: {kind} ")), "{text}");
    }
}

#[test]
fn a_trace_has_every_call() {
    let program = Program::build("trace", "faulty", &["-lcuda"]);
    let file = empty_directory("trace_file").join("calls.json");
    let path = file.to_str().expect("the path is text");
    run(
        &program,
        &[("CUDA_SIM_TRACE", path), ("CUDA_SIM_REPORT", "0")],
    );
    let text = std::fs::read_to_string(&file).expect("it is text");
    let first = text.lines().next().expect("it has a line");
    assert!(first.contains("\"symbol\":\"cuInit\""), "{first}");
    let last = text.lines().last().expect("it has a line");
    assert!(last.contains("\"symbol\":\"cuCtxSynchronize\""), "{last}");
    assert!(last.contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{last}");
}

fn directory_of(file: &str) -> &std::path::Path {
    std::path::Path::new(file)
        .parent()
        .expect("it has a directory")
}
