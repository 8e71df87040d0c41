//! Builds the libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_nvrtc::{Cache, Compiler, Linker};

/// An empty directory of this name below Cargo's directory for tests.
pub(super) fn empty_directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if directory.exists() {
        std::fs::remove_dir_all(&directory).unwrap();
    }
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

fn compile(source: &str, path: &Path, arguments: &[&str]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut build = cc::Build::new();
    build
        .target(&target)
        .host(&target)
        .opt_level(0)
        .cargo_metadata(false);
    let mut command: Command = build.get_compiler().to_command();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/stub")
        .join(source);
    let name = path.file_name().unwrap().to_str().unwrap();
    command
        .args(["-shared", "-fPIC", "-o"])
        .arg(path)
        .arg(source)
        .args(arguments);
    command.arg(format!("-Wl,-soname,{name}")).arg("-ldl");
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Builds an NVRTC of a version into a directory, with its builtins.
pub(super) fn nvrtc(directory: &Path, major: u32, minor: u32) {
    let version = format!("-DVERSION={}", 1000 * major + 10 * minor);
    compile(
        "nvrtc.c",
        &directory.join(format!("libnvrtc.so.{major}")),
        &[&version],
    );
    compile(
        "empty.c",
        &directory.join(format!("libnvrtc-builtins.so.{major}.{minor}")),
        &[],
    );
}

/// A compiler of a version, in a directory of this name, without a cache.
pub(super) fn compiler(name: &str, major: u32, minor: u32) -> Compiler {
    let directory = empty_directory(name);
    nvrtc(&directory, major, minor);
    load(&directory).with_cache(Cache::disabled())
}

pub(super) fn load(directory: &Path) -> Compiler {
    // SAFETY: the tests' own library has no initialisers, and behaves like NVRTC.
    unsafe { Compiler::load_from(directory) }.unwrap()
}

/// A linker whose functions are named so.
pub(super) fn linker(name: &str, prefix: &str, suffix: &str) -> Linker {
    let path = empty_directory(name).join("libnvJitLink.so.12");
    compile(
        "jitlink.c",
        &path,
        &[&format!("-DPREFIX={prefix}"), &format!("-DSUFFIX={suffix}")],
    );
    // SAFETY: the tests' own library has no initialisers, and behaves like nvJitLink.
    unsafe { Linker::load_from(path) }.unwrap()
}
