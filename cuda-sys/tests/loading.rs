//! Loading shared libraries that the tests build themselves.
#![cfg(unix)]

mod common;

use std::path::Path;

use common::{build_library, child, driver_source, empty_directory, is_child};
use cuda_sys::{CUresult, Library, LoadError};

fn load(path: &Path) -> Result<Library, LoadError> {
    // SAFETY: the tests' own libraries have no initialisers, and their functions have the driver's signatures.
    unsafe { Library::load_from(path) }
}

#[test]
fn a_driver_is_found_and_called() {
    let path = empty_directory("found").join("libcuda.so.1");
    let source = driver_source(12020)
        + "int cuMemAlloc_v2(unsigned long long *pointer, __SIZE_TYPE__ size) { *pointer = size * 2; return 2; }";
    build_library(&path, &source);
    let library = load(&path).unwrap();
    assert_eq!(library.path(), Some(path.as_path()));
    assert_eq!(library.driver_version(), Some(12020));
    let mut pointer = 0;
    // SAFETY: the function writes one pointer.
    let status = unsafe { library.cuMemAlloc_v2().unwrap()(&raw mut pointer, 21) };
    assert_eq!((status, pointer), (CUresult::CUDA_ERROR_OUT_OF_MEMORY, 42));
    let shown = format!("{library:?}");
    assert!(
        shown.contains("12020") && shown.contains("libcuda.so.1"),
        "{shown}"
    );
}

#[test]
fn a_path_that_does_not_exist_is_named_with_the_reason() {
    let path = empty_directory("absent").join("libcuda.so.1");
    let error = load(&path).unwrap_err();
    let LoadError::NotFound { tried } = &error else {
        panic!("{error}")
    };
    assert_eq!(tried.len(), 1);
    assert_eq!(tried[0].place, path);
    assert!(
        tried[0].reason.contains("No such file"),
        "{}",
        tried[0].reason
    );
    let message = error.to_string();
    assert!(
        message.starts_with("cannot load the CUDA driver: no driver library was found"),
        "{message}"
    );
    assert!(message.contains(path.to_str().unwrap()), "{message}");
}

#[test]
fn loading_can_be_tried_again() {
    let path = empty_directory("again").join("libcuda.so.1");
    assert!(load(&path).is_err());
    std::fs::write(&path, "this is no library").unwrap();
    let LoadError::NotFound { tried } = load(&path).unwrap_err() else {
        panic!("text was taken for a library")
    };
    assert!(!tried[0].reason.is_empty());
    std::fs::remove_file(&path).unwrap();
    build_library(&path, &driver_source(11040));
    assert_eq!(load(&path).unwrap().driver_version(), Some(11040));
}

#[test]
fn a_library_that_is_no_driver_is_refused_by_the_function_it_lacks() {
    let directory = empty_directory("foreign");
    let cases = [
        ("empty.so", "int unrelated;", "cuDriverGetVersion"),
        (
            "half.so",
            "int cuDriverGetVersion(int *version) { *version = 12000; return 0; }",
            "cuInit",
        ),
    ];
    for (name, source, lacks) in cases {
        let path = directory.join(name);
        build_library(&path, source);
        let error = load(&path).unwrap_err();
        let LoadError::MissingSymbol { missing, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(missing.symbol().as_str(), lacks);
        let message = error.to_string();
        assert!(
            message.contains(name) && message.contains(lacks),
            "{message}"
        );
        assert!(std::error::Error::source(&error).is_some());
    }
}

#[test]
fn a_stub_is_recognised_by_its_directory_and_by_its_answers() {
    let directory = empty_directory("stub");
    let by_directory = directory.join("lib64/stubs/libcuda.so.1");
    build_library(&by_directory, &driver_source(12020));
    let by_answer = directory.join("elsewhere/libcuda.so.1");
    build_library(
        &by_answer,
        "int cuDriverGetVersion(int *version) { (void)version; return 34; } int cuInit(unsigned f) { (void)f; return 34; }",
    );
    for path in [by_directory, by_answer] {
        let error = load(&path).unwrap_err();
        let LoadError::Stub { path: found, tried } = &error else {
            panic!("{error}")
        };
        assert_eq!((found, tried.len()), (&path, 1));
        let message = error.to_string();
        assert!(
            message.contains("stub library") && message.contains("install the NVIDIA driver"),
            "{message}"
        );
    }
}

#[test]
fn a_driver_that_cannot_say_its_version_is_loaded_and_asked_again() {
    let path = empty_directory("versionless").join("libcuda.so.1");
    let source = "int cuDriverGetVersion(int *version) { static int calls; *version = 12040; return calls++ < 3 ? 999 : 0; } int cuInit(unsigned f) { (void)f; return 0; }";
    build_library(&path, source);
    let library = load(&path).unwrap();
    let missing = library.cuMemAlloc_v2().unwrap_err();
    assert_eq!(missing.driver_version(), None);
    assert!(
        missing
            .to_string()
            .ends_with("the driver does not say which version it supports"),
        "{missing}"
    );
    assert_eq!(library.driver_version(), Some(12040));
}

#[test]
fn a_missing_symbol_says_which_versions_meet() {
    let path = empty_directory("old").join("libcuda.so.1");
    build_library(&path, &driver_source(11020));
    let library = load(&path).unwrap();
    assert_eq!(
        library.cuLaunchKernelEx().unwrap_err().to_string(),
        "the loaded driver has no `cuLaunchKernelEx`, which came with CUDA 11.6; the driver supports CUDA 11.2: update it to \
         use this function"
    );
    assert_eq!(
        library.cuMemAlloc_v2().unwrap_err().to_string(),
        "the loaded driver has no `cuMemAlloc_v2`, which came with CUDA 3.2; the driver supports CUDA 11.2 but does not offer it"
    );
}

#[test]
fn functions_outlive_the_library() {
    let path = empty_directory("outlive").join("libcuda.so.1");
    build_library(&path, &driver_source(12030));
    let library = load(&path).unwrap();
    let function = library.cuDriverGetVersion().unwrap();
    drop(library);
    let mut version = 0;
    // SAFETY: the function writes one `int`; its code stays, because libraries are never closed.
    let status = unsafe { function(&raw mut version) };
    assert_eq!(status, CUresult::CUDA_SUCCESS);
    assert_eq!(version, 12030);
}

/// The child of the two tests below: loads the driver by the ordinary search and says what came of it.
#[test]
fn searches() {
    if !is_child("searches") {
        return;
    }
    match Library::load() {
        Ok(library) => println!(
            "loaded {:?} from {}",
            library.driver_version(),
            library.path().unwrap().display()
        ),
        Err(error) => println!("{error:?}\n{error}"),
    }
}

#[test]
fn the_search_begins_with_the_systems_own_rules() {
    let directory = empty_directory("search");
    build_library(&directory.join("libcuda.so.1"), &driver_source(12060));
    let output = child("searches")
        .env("LD_LIBRARY_PATH", &directory)
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = format!(
        "loaded Some(12060) from {}",
        directory.join("libcuda.so.1").display()
    );
    assert!(output.contains(&expected), "{output}");
}

#[test]
fn the_search_passes_over_stubs_and_lists_every_place() {
    let directory = empty_directory("search_stub").join("stubs");
    build_library(&directory.join("libcuda.so.1"), &driver_source(12060));
    let output = child("searches")
        .env("LD_LIBRARY_PATH", &directory)
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.contains("loaded ") {
        // This machine has a driver, which the search found behind the stub.
        assert!(!output.contains("stubs"), "{output}");
        return;
    }
    assert!(
        output.contains("Stub {") && output.contains("is a toolkit's stub library"),
        "{output}"
    );
    for place in [
        "libcuda.so.1",
        "/usr/lib/wsl/lib/libcuda.so.1",
        "/usr/lib64/libcuda.so.1",
    ] {
        assert!(
            output.contains(&format!("\n  {place}: ")),
            "{place} is missing in {output}"
        );
    }
}
