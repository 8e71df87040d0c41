//! Symbols that a driver has but does not export: it hands them out by name and version.

use core::ffi::{CStr, c_int, c_void};
use core::ptr::{self, NonNull};

use crate::types::{CUdriverProcAddress_flags, CUdriverProcAddressQueryResult, CUresult};
use crate::{Library, StreamVariant, Symbol};

/// Asks the driver itself, through `cuGetProcAddress_v2`, for a symbol that it does not export.
///
/// The driver is asked for the version that brought *this* symbol, and only if it is that new: asked for a version
/// newer than its own, a 12.x driver returns an older binary interface and reports success.
pub(crate) fn ask(library: &Library, symbol: &Symbol) -> Option<NonNull<c_void>> {
    let is_entry_point = symbol.base == "cuGetProcAddress";
    if !library.is_shared()
        || is_entry_point
        || library.driver_version()? < c_int::try_from(symbol.first_cuda).ok()?
    {
        return None;
    }
    // A base name is an identifier and always fits.
    let mut name = [0_u8; 128];
    name.get_mut(..symbol.base.len())?
        .copy_from_slice(symbol.base.as_bytes());
    let name = CStr::from_bytes_until_nul(&name).ok()?;
    let flags = match symbol.stream_variant {
        StreamVariant::Legacy => CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_LEGACY_STREAM,
        StreamVariant::PerThreadDefault | StreamVariant::PerThread => {
            CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
        }
    };
    let function = library.cuGetProcAddress_v2().ok()?;
    let mut address: *mut c_void = ptr::null_mut();
    let mut found = CUdriverProcAddressQueryResult::default();
    let version = c_int::try_from(symbol.first_cuda).ok()?;
    // SAFETY: the name ends in a NUL, and the function writes one pointer and one query result.
    let status = unsafe {
        function(
            name.as_ptr(),
            &raw mut address,
            version,
            flags.0.into(),
            &raw mut found,
        )
    };
    if status != CUresult::CUDA_SUCCESS
        || found != CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS
    {
        return None;
    }
    NonNull::new(address)
}
