//! The exported symbols: one C function each, which calls the function of the same name of the process's software driver.

use core::ffi::*;

use cuda_sys::*;

use crate::process;

/// One function for each row of the table that the driver has; the arms before the last leave out what it does not have.
macro_rules! export {
    ($($(#[$documentation:meta])* $name:ident {
        $base:ident $abi:literal $stream:ident $first:tt $deprecated:expr, $group:literal $public:literal
    } ($($parameter:ident: $type:ty),*);)+) => {
        $(export!(@ $name $first ($($parameter: $type),*) [$($documentation)*]);)+
    };
    // No driver for machines like these has it.
    (@ cuEventCreateFromEGLSync $($rest:tt)*) => {};
    (@ $name:ident 13010 $($rest:tt)*) => {};
    (@ $name:ident 13020 $($rest:tt)*) => {};
    (@ $name:ident 13030 $($rest:tt)*) => {};
    (@ $name:ident 13040 $($rest:tt)*) => {};
    (@ $name:ident 13050 $($rest:tt)*) => {};
    (@ $name:ident $first:tt ($($parameter:ident: $type:ty),*) [$($documentation:meta)*]) => {
        $(#[$documentation])*
        #[allow(non_snake_case, reason = "C names")]
        #[unsafe(no_mangle)]
        unsafe extern "system" fn $name($($parameter: $type),*) -> CUresult {
            match process::library().map(Library::$name) {
                // SAFETY: the caller fulfils what the driver's documentation demands of this function's callers.
                Some(Ok(function)) => unsafe { function($($parameter),*) },
                // The environment chose an older driver, which lacks the symbol.
                Some(Err(_)) => CUresult::CUDA_ERROR_NOT_SUPPORTED,
                None => CUresult::CUDA_ERROR_SYSTEM_NOT_READY,
            }
        }
    };
}

for_each_symbol!(export);
