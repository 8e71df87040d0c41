//! Symbols that a driver does not export but hands out by name and version.
#![cfg(unix)]

mod common;

use core::ffi::c_int;
use std::path::Path;

use cuda_sys::{CUevent, Library};

/// A driver of `version` that hands out `cuEventCreateFromEGLSync` and `cuMemcpy_ptds`, and remembers what it was asked.
fn build(path: &Path, version: u32) {
    let source = common::driver_source(version)
        + r#"
        int asked_version, asked_calls; unsigned long long asked_flags; char asked_name[64];
        static int from_egl(void **event, void *sync, unsigned flags) { (void)sync; *event = (void *)(__SIZE_TYPE__)flags; return 0; }
        int cuGetProcAddress_v2(const char *name, void **address, int version, unsigned long long flags, int *found) {
            asked_version = version; asked_flags = flags; asked_calls++;
            int i = 0; for (; name[i] && i < 63; i++) asked_name[i] = name[i]; asked_name[i] = 0;
            *found = __builtin_strcmp(name, "cuEventCreateFromEGLSync") == 0 || flags == 2 ? 0 : 1;
            *address = (void *)from_egl;
            return 0;
        }"#;
    common::build_library(path, &source);
}

fn load(path: &Path) -> Library {
    // SAFETY: the library has no initialisers, and only functions with the right signatures are called.
    unsafe { Library::load_from(path) }.unwrap()
}

/// What the driver was asked: how often, for which name, version and flags.
fn asked(path: &Path) -> (c_int, String, c_int, u64) {
    // SAFETY: the library is loaded already.
    let library = unsafe { libloading::Library::new(path) }.unwrap();
    // SAFETY: these are the types of the variables in the source above.
    let number = |name: &[u8]| unsafe { **library.get::<*const c_int>(name).unwrap() };
    // SAFETY: as above.
    let flags = unsafe { **library.get::<*const u64>(b"asked_flags\0").unwrap() };
    // SAFETY: as above.
    let name = unsafe { library.get::<*const core::ffi::c_char>(b"asked_name\0") }.unwrap();
    // SAFETY: the name ends in a NUL.
    let name = unsafe { core::ffi::CStr::from_ptr(*name) }
        .to_string_lossy()
        .into_owned();
    (
        number(b"asked_calls\0"),
        name,
        number(b"asked_version\0"),
        flags,
    )
}

#[test]
fn the_driver_is_asked_for_the_version_of_our_signature() {
    let path = common::empty_directory("entry_point").join("libcuda.so.1");
    build(&path, 13000);
    let library = load(&path);
    let function = library.cuEventCreateFromEGLSync().unwrap();
    assert_eq!(
        asked(&path),
        (1, "cuEventCreateFromEGLSync".to_string(), 9000, 1)
    );
    let mut event: CUevent = core::ptr::null_mut();
    // SAFETY: the function writes one handle.
    let status = unsafe { function(&raw mut event, core::ptr::null_mut(), 7) };
    assert_eq!((status.0, event.addr()), (0, 7));
    assert!(library.cuEventCreateFromEGLSync().is_ok());
    assert_eq!(
        asked(&path).0,
        1,
        "once found, a symbol is not asked for again"
    );

    assert!(library.cuMemcpy_ptds().is_ok());
    assert_eq!(asked(&path), (2, "cuMemcpy".to_string(), 7000, 2));
    // The driver says "not found" but leaves an address behind, which is not taken.
    assert!(library.cuLaunchKernelEx().is_err());
    assert_eq!(asked(&path), (3, "cuLaunchKernelEx".to_string(), 11060, 1));
}

#[test]
fn a_driver_older_than_the_symbol_is_not_asked() {
    let path = common::empty_directory("entry_point_old").join("libcuda.so.1");
    build(&path, 12020);
    let library = load(&path);
    assert!(library.cuMemcpyBatchAsync_v2().is_err());
    assert_eq!(asked(&path).0, 0);
}
