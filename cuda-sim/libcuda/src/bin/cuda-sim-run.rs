//! Runs a program on the software driver, or says where the library is.
//!
//! `cuda-sim-run PROGRAM ARGUMENT…` runs the program with `LD_LIBRARY_PATH` beginning with a directory that has `libcuda.so.1`;
//! without arguments it prints that directory.

use std::error::Error;
use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    let executable = std::env::current_exe()?;
    let built = executable.with_file_name("libcuda.so");
    if !built.exists() {
        return Err(format!(
            "there is no {}: build the package cuda-sim-libcuda",
            built.display()
        )
        .into());
    }
    let directory = executable.with_file_name("cuda-sim");
    provide(&directory, &built)?;
    let mut arguments = std::env::args_os().skip(1);
    let Some(program) = arguments.next() else {
        println!("{}", directory.display());
        return Ok(());
    };
    let error = Command::new(&program)
        .args(arguments)
        .env("LD_LIBRARY_PATH", search_path(directory)?)
        .exec();
    Err(format!("cannot run {}: {error}", program.display()).into())
}

/// Makes a directory of its own for the library, under the names that programs and linkers look for: beside other libraries it would
/// shadow the real driver for whatever is started with them.
fn provide(directory: &Path, built: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot prepare {}: {error}", directory.display());
    std::fs::create_dir_all(directory).map_err(failed)?;
    for name in ["libcuda.so.1", "libcuda.so"] {
        let link = directory.join(name);
        if link.read_link().is_ok_and(|target| target == built) {
            continue;
        }
        match std::fs::remove_file(&link) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(error));
            }
            _ => symlink(built, &link).map_err(failed)?,
        }
    }
    Ok(())
}

/// The directory before what is searched already.
fn search_path(directory: PathBuf) -> Result<OsString, std::env::JoinPathsError> {
    let known = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let known = std::env::split_paths(&known).filter(|path| !path.as_os_str().is_empty());
    std::env::join_paths(std::iter::once(directory).chain(known))
}
