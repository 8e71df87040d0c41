//! The path of a library that the system found by its name.

use std::path::PathBuf;

/// The file that `library` was loaded from, if it exports `cuInit` and the system says so.
#[cfg(unix)]
pub(crate) fn of(library: &libloading::Library) -> Option<PathBuf> {
    use core::ffi::{CStr, c_char, c_int, c_void};
    use std::os::unix::ffi::OsStrExt;

    #[repr(C)]
    struct Info {
        file_name: *const c_char,
        base: *mut c_void,
        symbol_name: *const c_char,
        symbol: *mut c_void,
    }

    unsafe extern "C" {
        fn dladdr(address: *const c_void, info: *mut Info) -> c_int;
    }

    // SAFETY: the symbol is only taken as an address.
    let symbol = unsafe { library.get::<*mut c_void>(b"cuInit\0") }.ok()?;
    let mut info = Info {
        file_name: core::ptr::null(),
        base: core::ptr::null_mut(),
        symbol_name: core::ptr::null(),
        symbol: core::ptr::null_mut(),
    };
    // SAFETY: any address may be asked for; the structure is the one that POSIX defines.
    let found = unsafe { dladdr(*symbol, &raw mut info) };
    if found == 0 || info.file_name.is_null() {
        return None;
    }
    // SAFETY: the loader's string lives as long as the library, and no library is closed here.
    let name = unsafe { CStr::from_ptr(info.file_name) };
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(name.to_bytes())))
}

/// Elsewhere the name that was given to the system's loader has to do.
#[cfg(not(unix))]
pub(crate) fn of(_: &libloading::Library) -> Option<PathBuf> {
    None
}
