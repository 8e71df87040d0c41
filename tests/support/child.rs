//! Tests that end or ruin their process run in a child: this same program, with one test.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const VARIABLE: &str = "CUDA_TEST_CHILD";

/// Whether this process is the child of that test.
pub(crate) fn is_child(test: &str) -> bool {
    std::env::var(VARIABLE).is_ok_and(|name| name == test)
}

/// Runs the test of that full name in a child process, and gives what it left; fails if it takes longer than a minute.
pub(crate) fn run(test: &str) -> Output {
    run_with(test, &[])
}

/// The same with variables of the environment.
fn run_with(test: &str, variables: &[(&str, &str)]) -> Output {
    let program = std::env::current_exe().expect("the path of this program");
    let mut child = Command::new(program)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(VARIABLE, test)
        .envs(variables.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child process");
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("the child's state").is_none() {
        if Instant::now() > deadline {
            child.kill().expect("the child ends");
            let output = child.wait_with_output().expect("the child's output");
            panic!(
                "the child hangs:\n{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().expect("the child's output")
}

/// Runs the test in a child process that must succeed and have run it.
pub(crate) fn must_succeed(test: &str) -> String {
    must_succeed_with(test, &[])
}

/// The same with variables of the environment.
pub(crate) fn must_succeed_with(test: &str, variables: &[(&str, &str)]) -> String {
    let output = run_with(test, variables);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}\n{text}\n{errors}",
        output.status
    );
    assert!(
        text.contains("1 passed"),
        "no test is called `{test}`:\n{text}"
    );
    format!("{text}\n{errors}")
}
