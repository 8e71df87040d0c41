//! The search, in child processes with an environment of their own.

use std::path::Path;
use std::process::Command;

use cuda_nvrtc::Compiler;

use super::build::{empty_directory, nvrtc};

/// The child: says what the search finds.
#[test]
fn searches() {
    if std::env::var_os("CUDA_NVRTC_TEST_CHILD").is_none() {
        return;
    }
    for compiler in Compiler::find_all() {
        println!("found {} {compiler:?}", compiler.path().display());
    }
    match Compiler::find() {
        Ok(compiler) => println!("first {}", compiler.path().display()),
        Err(error) => println!("{error}"),
    }
    if let Ok(compiler) = Compiler::find_for(cuda_driver::Version {
        major: 12,
        minor: 9,
    }) {
        println!("for 12.9 {}", compiler.path().display());
    }
}

/// What the child says in an environment of these variables alone.
fn search(variables: &[(&str, &Path)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "search::searches", "--nocapture"])
        .env_clear()
        .env("CUDA_NVRTC_TEST_CHILD", "1");
    command.envs(variables.iter().copied());
    let output = command.output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn places_are_searched_in_their_order() {
    let root = empty_directory("search");
    let (explicit, home, python) = (root.join("explicit"), root.join("home"), root.join("venv"));
    let (cu12, cu13) = (
        "lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib",
        "lib/python3.9/site-packages/nvidia/cu13/lib",
    );
    nvrtc(&explicit, 12, 1);
    nvrtc(&home.join("lib64"), 13, 0);
    nvrtc(&python.join(cu12), 12, 4);
    nvrtc(&root.join("conda").join(cu13), 13, 5);
    let variables = [
        ("CUDA_NVRTC_PATH", explicit.as_path()),
        ("CUDA_HOME", home.as_path()),
        ("VIRTUAL_ENV", python.as_path()),
        ("CONDA_PREFIX", &root.join("conda")),
    ];
    let said = search(&variables);
    let expected = [
        explicit.join("libnvrtc.so.12"),
        home.join("lib64/libnvrtc.so.13"),
        python.join(cu12).join("libnvrtc.so.12"),
        root.join("conda").join(cu13).join("libnvrtc.so.13"),
    ];
    let found: Vec<&str> = said
        .lines()
        .filter_map(|it| it.strip_prefix("found ")?.split(' ').next())
        .collect();
    let expected: Vec<&str> = expected.iter().map(|it| it.to_str().unwrap()).collect();
    assert_eq!(found.get(..4), Some(&*expected), "{said}");
    assert!(said.contains(&format!("first {}", expected[0])), "{said}");
    // None of this loads a library.
    assert!(!said.contains("is_loaded: true"), "{said}");

    // A driver of 12.9 takes no PTX of 13.0.
    let said = search(&variables[1..]);
    assert!(said.contains(&format!("first {}", expected[1])), "{said}");
    assert!(
        said.contains(&format!("for 12.9 {}", expected[2])),
        "{said}"
    );

    let said = search(&[("LD_LIBRARY_PATH", &explicit)]);
    assert!(said.contains(&format!("first {}", expected[0])), "{said}");
    let said = search(&[("CUDA_NVRTC_PATH", &explicit.join("libnvrtc.so.12"))]);
    assert!(said.contains(&format!("first {}", expected[0])), "{said}");
}

#[test]
fn nothing_found_lists_every_place_and_what_to_install() {
    let gone = empty_directory("search_nothing").join("gone");
    let said = search(&[
        ("CUDA_NVRTC_PATH", &gone),
        ("CUDA_HOME", &gone),
        ("VIRTUAL_ENV", &gone),
    ]);
    if said.contains("first ") {
        // This machine has an NVRTC, which the search found.
        return;
    }
    for part in [
        "cannot load NVRTC",
        "CUDA_NVRTC_PATH (",
        "CUDA_HOME (",
        "VIRTUAL_ENV (",
        "the system's loader (libnvrtc.so.12)",
        "pip install nvidia-cuda-nvrtc`",
    ] {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
}
