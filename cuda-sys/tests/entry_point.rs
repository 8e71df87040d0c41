//! Symbols that a driver does not export but hands out by name and version.
#![cfg(unix)]

mod common;

use core::ffi::{CStr, c_char, c_int};
use std::path::Path;

use cuda_sys::{CUevent, Library};

/// A driver of `version` that hands out `cuEventCreateFromEGLSync` and all per-thread variants, and remembers what it was asked.
fn build(path: &Path, version: u32) {
    let source = common::driver_source(version)
        + r#"
        static int calls; static char last[128] = "nothing";
        int snprintf(char *, __SIZE_TYPE__, const char *, ...);
        int asked(const char **text) { *text = last; return calls; }
        static int from_egl(void **event, void *sync, unsigned flags) { (void)sync; *event = (void *)(__SIZE_TYPE__)flags; return 0; }
        int cuGetProcAddress_v2(const char *name, void **address, int version, unsigned long long flags, int *found) {
            calls++;
            snprintf(last, sizeof last, "%s %d %llu", name, version, flags);
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

/// What the driver was asked: how often, and the last name, version and flags.
fn asked(path: &Path) -> (c_int, String) {
    type Asked = unsafe extern "C" fn(*mut *const c_char) -> c_int;
    // SAFETY: the library is loaded already.
    let library = unsafe { libloading::Library::new(path) }.unwrap();
    // SAFETY: this is the signature of the function in the source above.
    let function = unsafe { library.get::<Asked>(b"asked\0") }.unwrap();
    let mut text = core::ptr::null();
    // SAFETY: the function writes one pointer.
    let calls = unsafe { function(&raw mut text) };
    // SAFETY: the text ends in a NUL and does not change while it is read.
    let text = unsafe { CStr::from_ptr(text) };
    (calls, text.to_string_lossy().into_owned())
}

#[test]
fn the_driver_is_asked_for_the_version_of_our_signature() {
    let path = common::empty_directory("entry_point").join("libcuda.so.1");
    build(&path, 13000);
    let library = load(&path);
    let function = library.cuEventCreateFromEGLSync().unwrap();
    assert_eq!(
        asked(&path),
        (1, "cuEventCreateFromEGLSync 9000 1".to_string())
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
    assert_eq!(asked(&path), (2, "cuMemcpy 7000 2".to_string()));
    // The driver says "not found" but leaves an address behind, which is not taken.
    assert!(library.cuLaunchKernelEx().is_err());
    assert_eq!(asked(&path), (3, "cuLaunchKernelEx 11060 1".to_string()));
}

#[test]
fn a_driver_older_than_the_symbol_is_not_asked() {
    let path = common::empty_directory("entry_point_old").join("libcuda.so.1");
    build(&path, 12020);
    let library = load(&path);
    assert!(library.cuMemcpyBatchAsync_v2().is_err());
    assert_eq!(asked(&path).0, 0);
}
