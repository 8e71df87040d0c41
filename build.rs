//! Finds the PTX of each kernel of the examples and tests, and tells them where it is.
//!
//! Beside each `x.cu` lies the `x.ptx` that was made of it, of so old a version that every driver takes it. Programs include
//! it by `include_str!(env!("X_PTX"))`. With `CUDA_RECOMPILE_KERNELS=1` the kernels are compiled anew, by the `nvcc` that
//! `NVCC` names, that lies in `bin` of `CUDA_HOME` or `CUDA_PATH`, or that is found in `PATH`; the committed files stay as
//! they are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for name in ["CUDA_RECOMPILE_KERNELS", "NVCC", "CUDA_HOME", "CUDA_PATH"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let recompile = env::var_os("CUDA_RECOMPILE_KERNELS").is_some_and(|value| value != "0");
    for directory in ["examples/kernels", "tests/kernels"] {
        println!("cargo::rerun-if-changed={directory}");
        if let Err(error) = take_kernels(Path::new(directory), recompile) {
            println!("cargo::error={directory}: {error}");
        }
    }
}

/// Announces the PTX of each kernel in a directory.
fn take_kernels(directory: &Path, recompile: bool) -> io::Result<()> {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let entries = fs::read_dir(here.join(directory))?;
    let mut sources: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    sources.sort();
    for source in sources {
        if source.extension() != Some("cu".as_ref()) {
            continue;
        }
        let name = source.file_stem().unwrap_or_default().to_string_lossy();
        let ptx = if recompile {
            let ptx = PathBuf::from(variable("OUT_DIR")?).join(format!("{name}.ptx"));
            compile(&source, &ptx)?;
            warn_if_too_new(&ptx)?;
            ptx
        } else {
            source.with_extension("ptx")
        };
        if !ptx.is_file() {
            println!("cargo::error={} has no PTX beside it", source.display());
        }
        println!(
            "cargo::rustc-env={}_PTX={}",
            name.to_uppercase(),
            ptx.display()
        );
    }
    Ok(())
}

/// Compiles one kernel: for the oldest architecture that the compiler makes PTX for by itself, or with the options that the source states in
/// a first line `// nvcc: …`.
fn compile(source: &Path, ptx: &Path) -> io::Result<()> {
    let nvcc = nvcc();
    let text = fs::read_to_string(source)?;
    let stated = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("// nvcc: "));
    let output = Command::new(&nvcc)
        .arg("--ptx")
        .args(stated.unwrap_or("").split_whitespace())
        .arg("-o")
        .args([ptx, source])
        .output()
        .map_err(|error| {
            io::Error::other(format!(
                "cannot run {}: {error}; name it in NVCC or CUDA_HOME",
                nvcc.display()
            ))
        })?;
    if output.status.success() {
        return Ok(());
    }
    let log = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
    Err(io::Error::other(format!(
        "{} refuses {}: {log}",
        nvcc.display(),
        source.display()
    )))
}

fn nvcc() -> PathBuf {
    if let Some(path) = env::var_os("NVCC") {
        return path.into();
    }
    let toolkit = env::var_os("CUDA_HOME").or_else(|| env::var_os("CUDA_PATH"));
    match toolkit {
        Some(toolkit) => Path::new(&toolkit).join("bin").join("nvcc"),
        None => "nvcc".into(),
    }
}

/// Warns where this machine's driver, if it has one, will refuse the PTX.
fn warn_if_too_new(ptx: &Path) -> io::Result<()> {
    let text = fs::read_to_string(ptx)?;
    let stated = text.lines().find_map(|line| line.strip_prefix(".version "));
    let version = stated.and_then(|version| version.trim().split_once('.'));
    let version = version
        .and_then(|(major, minor)| Some((major.parse::<i32>().ok()?, minor.parse::<i32>().ok()?)));
    let driver = cuda_sys::Library::load().ok();
    let cuda = driver.and_then(|driver| driver.driver_version());
    let newest = cuda.and_then(newest_ptx);
    if let (Some(version), Some(newest)) = (version, newest)
        && version > newest
    {
        println!(
            "cargo::warning={} is PTX {}.{}, but this machine's driver takes PTX up to {}.{} and will refuse it: use an older nvcc or a \
             newer driver",
            ptx.display(),
            version.0,
            version.1,
            newest.0,
            newest.1
        );
    }
    Ok(())
}

/// The newest PTX that a driver takes, by the CUDA version that it states (1000 × major + 10 × minor), where that is known.
fn newest_ptx(cuda: i32) -> Option<(i32, i32)> {
    match (cuda / 1000, cuda % 1000 / 10) {
        (11, minor @ 0..=8) => Some((7, minor)),
        (12, minor @ 0..=5) => Some((8, minor)),
        (12, minor @ 6..=9) => Some((8, minor - 1)),
        (13, minor @ 0..=2) => Some((9, minor)),
        _ => None,
    }
}

/// A variable that Cargo sets.
fn variable(name: &str) -> io::Result<OsString> {
    env::var_os(name).ok_or_else(|| io::Error::other(format!("Cargo did not set {name}")))
}
