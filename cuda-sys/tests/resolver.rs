//! A library made of functions that the program supplies.

use core::ffi::{c_int, c_void};
use core::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cuda_sys::{CUdeviceptr, CUresult, Library, signatures};

unsafe extern "system" fn version(out: *mut c_int) -> CUresult {
    // SAFETY: the tests pass a valid pointer.
    unsafe { *out = 12040 };
    CUresult::CUDA_SUCCESS
}

unsafe extern "system" fn allocate(out: *mut CUdeviceptr, size: usize) -> CUresult {
    // SAFETY: the tests pass a valid pointer.
    unsafe { *out = size as CUdeviceptr };
    CUresult::CUDA_SUCCESS
}

fn address_of(name: &core::ffi::CStr) -> Option<NonNull<c_void>> {
    let pointer = match name.to_bytes() {
        b"cuDriverGetVersion" => version as signatures::cuDriverGetVersion as *mut c_void,
        b"cuMemAlloc_v2" => allocate as signatures::cuMemAlloc_v2 as *mut c_void,
        _ => return None,
    };
    NonNull::new(pointer)
}

#[test]
fn a_supplied_function_is_called() {
    // SAFETY: both functions have the signatures of their names.
    let library = unsafe { Library::from_resolver(address_of) };
    let mut pointer = 0;
    let function = library.cuMemAlloc_v2().unwrap();
    // SAFETY: the function writes one pointer.
    let status = unsafe { function(&raw mut pointer, 4096) };
    assert_eq!(status, CUresult::CUDA_SUCCESS);
    assert_eq!(pointer, 4096);
    assert_eq!(library.driver_version(), Some(12040));
    assert_eq!(library.path(), None);
}

#[test]
fn a_missing_symbol_names_itself_and_both_versions() {
    // SAFETY: both functions have the signatures of their names.
    let library = unsafe { Library::from_resolver(address_of) };
    let missing = library.cuMemcpyBatchAsync_v2().unwrap_err();
    assert_eq!(missing.symbol().as_str(), "cuMemcpyBatchAsync_v2");
    assert_eq!(missing.driver_version(), Some(12040));
    assert_eq!(
        missing.to_string(),
        "the loaded driver has no `cuMemcpyBatchAsync_v2`, which came with CUDA 13.0; the driver supports CUDA 12.4: update it to \
         use this function"
    );
}

#[test]
fn a_symbol_that_was_missing_is_asked_for_again() {
    let present = Arc::new(AtomicBool::new(false));
    let asked = Arc::new(AtomicU32::new(0));
    let (present_too, asked_too) = (Arc::clone(&present), Arc::clone(&asked));
    let resolver = move |name: &core::ffi::CStr| {
        if name != c"cuMemAlloc_v2" {
            return address_of(name);
        }
        asked_too.fetch_add(1, Ordering::Relaxed);
        present_too
            .load(Ordering::Relaxed)
            .then(|| address_of(name))
            .flatten()
    };
    // SAFETY: both functions have the signatures of their names.
    let library = unsafe { Library::from_resolver(resolver) };
    assert!(library.cuMemAlloc_v2().is_err());
    assert!(library.cuMemAlloc_v2().is_err());
    present.store(true, Ordering::Relaxed);
    assert!(library.cuMemAlloc_v2().is_ok());
    assert!(library.cuMemAlloc_v2().is_ok());
    assert_eq!(
        asked.load(Ordering::Relaxed),
        3,
        "once found, a symbol is not looked up again"
    );
}
