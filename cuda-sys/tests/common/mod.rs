//! Shared libraries built by the tests, and child processes that load them.
#![allow(dead_code, reason = "not every test file needs all of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A `cuDriverGetVersion` that says `$version`, and a `cuInit` that finds no device.
pub(crate) fn driver_source(version: u32) -> String {
    format!(
        "int cuDriverGetVersion(int *version) {{ *version = {version}; return 0; }} int cuInit(unsigned flags) {{ (void)flags; return 100; }}\n"
    )
}

/// The C compiler of this machine, set up for this target.
pub(crate) fn compiler() -> Command {
    let target = match std::env::consts::OS {
        "macos" => format!("{}-apple-darwin", std::env::consts::ARCH),
        _ => format!("{}-unknown-linux-gnu", std::env::consts::ARCH),
    };
    let mut build = cc::Build::new();
    build
        .target(&target)
        .host(&target)
        .opt_level(0)
        .cargo_metadata(false);
    build.get_compiler().to_command()
}

/// An empty directory of this name below Cargo's directory for tests.
pub(crate) fn empty_directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if directory.exists() {
        std::fs::remove_dir_all(&directory).unwrap();
    }
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Builds `source` as the shared library `path`.
pub(crate) fn build_library(path: &Path, source: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let c = path.with_extension("c");
    std::fs::write(&c, source).unwrap();
    let output = compiler()
        .args(["-shared", "-fPIC", "-o"])
        .arg(path)
        .arg(&c)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// This test program again, running the test `name` alone, which is told by `CUDA_SYS_TEST_CHILD` that it is the child.
pub(crate) fn child(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env("CUDA_SYS_TEST_CHILD", name);
    command
}

/// Whether this process is the child that was to run `name`.
pub(crate) fn is_child(name: &str) -> bool {
    std::env::var("CUDA_SYS_TEST_CHILD").is_ok_and(|child| child == name)
}
