//! Shared libraries that are loaded once and stay.

use std::ffi::{CStr, c_void};
use std::path::Path;
use std::ptr::NonNull;

/// A shared library that is never unloaded, so that its functions are good until the process ends.
#[derive(Clone, Copy)]
pub(crate) struct Shared {
    library: &'static libloading::Library,
}

impl Shared {
    /// Opens the library; the error is the system's reason.
    ///
    /// # Safety
    /// The library's initialisers are sound to run in this process.
    pub(crate) unsafe fn open(path: &Path) -> Result<Self, String> {
        // SAFETY: the caller vouches for the initialisers.
        let library = unsafe { open(path) }.map_err(|error| {
            let text = error.to_string();
            let reason = text.strip_prefix(&format!("{}: ", path.display()));
            reason.unwrap_or(&text).to_owned()
        })?;
        // Never closed: threads of the compiler would run into nothing.
        let library = Box::leak(Box::new(library));
        Ok(Self { library })
    }

    /// The address of a symbol, looked up anew each time: nobody compiles often enough to notice.
    pub(crate) fn address(self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the symbol is only taken as an address here; who calls it, knows its type.
        let symbol = unsafe { self.library.get::<*mut c_void>(name.to_bytes_with_nul()) };
        symbol.ok().and_then(|address| NonNull::new(*address))
    }
}

/// # Safety
/// The library's initialisers are sound to run in this process.
#[cfg(not(windows))]
unsafe fn open(path: &Path) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: the caller vouches for the initialisers.
    unsafe { libloading::Library::new(path) }
}

/// # Safety
/// The library's initialisers are sound to run in this process.
#[cfg(windows)]
unsafe fn open(path: &Path) -> Result<libloading::Library, libloading::Error> {
    use libloading::os::windows::{LOAD_WITH_ALTERED_SEARCH_PATH, Library};
    // What the library needs lies beside it; the flag is only allowed with a full path.
    let flags = if path.is_absolute() {
        LOAD_WITH_ALTERED_SEARCH_PATH
    } else {
        0
    };
    // SAFETY: the caller vouches for the initialisers.
    unsafe { Library::load_with_flags(path, flags) }.map(Into::into)
}

/// Builds the typed access to the functions of a library: each is looked up by its exact name.
///
/// `api.name()?` is the function. What the library lacks is an error that names it and the version that brought it.
macro_rules! functions {
    ($api:ident, $component:literal, { $($name:ident since $since:literal ($($argument:ty),*);)* }) => {
        #[allow(non_snake_case, reason = "the names of the C functions")]
        impl $api {
            $(
                pub(crate) fn $name(&self) -> $crate::Result<unsafe extern "C" fn($($argument),*) -> std::ffi::c_int> {
                    const NAME: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => c"",
                    };
                    match self.address(NAME) {
                        // SAFETY: by the invariant of this type, what is exported under that name has that signature.
                        Some(address) => Ok(unsafe {
                            std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($argument),*) -> std::ffi::c_int>(address.as_ptr())
                        }),
                        None => Err(self.missing(stringify!($name), concat!($component, " ", $since))),
                    }
                }
            )*
        }
    };
}
pub(crate) use functions;
