//! The driver of this machine, if it has one.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::Path;

use cuda_sys::{Library, LoadError, SYMBOLS};

#[test]
fn the_installed_driver_has_what_its_version_promises() {
    let library = match Library::load() {
        Ok(library) => library,
        Err(LoadError::NotFound { .. } | LoadError::Stub { .. }) => {
            println!("skipped: this machine has no driver");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    if library
        .path()
        .is_some_and(|path| path.starts_with("/usr/lib/wsl"))
        || Path::new("/usr/lib/wsl").exists()
    {
        println!("skipped: drivers for the Windows Subsystem for Linux have fewer functions");
        return;
    }
    let version = library
        .driver_version()
        .and_then(|version| u32::try_from(version).ok())
        .unwrap();
    assert!(
        version >= 11040,
        "these bindings promise nothing for CUDA {version}"
    );
    // Not exported by any driver that was seen.
    let promised = |name: &str| name != "cuEventCreateFromEGLSync";
    let old = SYMBOLS
        .iter()
        .filter(|symbol| symbol.first_cuda <= version && promised(symbol.as_str()));
    let missing: Vec<String> = old
        .clone()
        .filter_map(|symbol| library.resolve(symbol).err())
        .map(|missing| missing.to_string())
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
    println!(
        "{} symbols of {:?}, CUDA {version}, are there",
        old.count(),
        library.path()
    );
}
