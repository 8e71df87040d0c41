//! C programs, built by the tests and run with the library.
#![allow(dead_code, reason = "not every test file needs all of it")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The library that Cargo has built for the tests: it lies beside them.
pub(crate) fn library() -> PathBuf {
    let tests = std::env::current_exe().expect("this program has a path");
    tests.with_file_name("libcuda.so")
}

/// The PTX of the kernel `vector_add`.
pub(crate) fn vector_add_ptx() -> &'static Path {
    Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/kernels/vector_add.ptx"
    ))
}

/// An empty directory of this name below Cargo's directory for tests.
pub(crate) fn empty_directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if directory.exists() {
        std::fs::remove_dir_all(&directory).expect("the directory can be removed");
    }
    std::fs::create_dir_all(&directory).expect("the directory can be made");
    directory
}

/// A C program.
pub(crate) struct Program {
    path: PathBuf,
    directory: PathBuf,
}

impl Program {
    /// Builds `tests/c/NAME.c`, linked with these libraries, for the test of this name: in a directory of its own, where the library is
    /// under the name that a linked program asks for.
    pub(crate) fn build(test: &str, name: &str, libraries: &[&str]) -> Self {
        let directory = empty_directory(test);
        for link in ["libcuda.so.1", "libcuda.so"] {
            symlink(library(), directory.join(link)).expect("the library can be linked to");
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/c/{name}.c"));
        let path = directory.join(name);
        let output = compiler()
            .args(["-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&path)
            .arg(source)
            .arg("-L")
            .arg(&directory)
            .args(libraries)
            .output()
            .expect("there is a C compiler");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Self { path, directory }
    }

    /// The program, to be run with the library.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("CUDA_") {
                command.env_remove(variable);
            }
        }
        command.env("LD_LIBRARY_PATH", &self.directory);
        command
    }

    /// Runs it with these arguments; it must succeed. What it writes.
    pub(crate) fn run(&self, arguments: &[&Path]) -> String {
        let output = self.command().args(arguments).output().expect("it starts");
        assert!(
            output.status.success(),
            "{}: {}",
            output.status,
            standard_error(&output)
        );
        String::from_utf8(output.stdout).expect("it writes text")
    }
}

pub(crate) fn standard_error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The C compiler of this machine, set up for this target.
fn compiler() -> Command {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut build = cc::Build::new();
    build
        .target(&target)
        .host(&target)
        .opt_level(0)
        .cargo_metadata(false);
    build.get_compiler().to_command()
}
