//! Loading an image as a library.

use std::ffi::c_void;

use cuda_sys::{CUjit_option, CUlibrary, CUlibraryOption};

use super::native::{Kept, Native};
use super::options::LibraryOptions;
use crate::call;
use crate::driver::Driver;
use crate::error::Result;
use crate::module::{Encoded, Facts, Image, JitTarget, LogBuffer, explain, with_source};

/// Loads the image for every context. What the compiler refuses may come out only when a context needs the code.
pub(super) fn load(
    driver: &Driver,
    image: Image<'_>,
    facts: &Facts,
    options: &LibraryOptions,
) -> Result<Native> {
    let encoded = options.jit.encode()?;
    let asked: Vec<CUjit_option> = encoded.options().to_vec();
    let source = image.text().map(|text| text.into_owned());
    let mut kept = Kept {
        info: Some(LogBuffer::new(LogBuffer::capacity_for(&options.jit))),
        error: Some(LogBuffer::new(LogBuffer::capacity_for(&options.jit))),
        first_error: String::new(),
        encoded: Some(encoded),
        image: None,
    };
    let result = if options.preserve {
        let image = image.into_owned();
        let address = image.as_ptr();
        kept.image = Some(image);
        call(driver, address, &mut kept, true)
    } else {
        call(driver, image.as_ptr(), &mut kept, false)
    };
    let log = kept.error.as_ref().map(LogBuffer::text).unwrap_or_default();
    let log = match source {
        Some(source) if !log.is_empty() => with_source(log, &source),
        _ => log,
    };
    match result {
        Ok(raw) => {
            kept.first_error = log;
            Ok(Native::new(raw, kept))
        }
        Err(error) => {
            let target = JitTarget {
                driver,
                device: None,
            };
            Err(explain(error, target, facts, &asked).with_log(log))
        }
    }
}

/// Calls the driver; if that succeeds, it may use what is kept until the library is unloaded.
fn call(
    driver: &Driver,
    image: *const c_void,
    kept: &mut Kept,
    preserve: bool,
) -> Result<CUlibrary> {
    let encoded = kept.encoded.get_or_insert_with(Encoded::default);
    if let Some(info) = &kept.info {
        info.announce_for_information(encoded);
    }
    if let Some(error) = &kept.error {
        error.announce_for_errors(encoded);
    }
    let count = u32::try_from(encoded.len())?;
    let (keys, values) = encoded.as_mut_ptrs();
    let mut library_options = [CUlibraryOption::CU_LIBRARY_BINARY_IS_PRESERVED];
    let mut library_values: [*mut c_void; 1] = [std::ptr::without_provenance_mut(1)];
    let options = library_options.as_mut_ptr();
    let option_values = library_values.as_mut_ptr();
    let mut raw = std::ptr::null_mut();
    let out = &raw mut raw;
    // SAFETY: by the image's invariant the driver finds its end within it, and it is aligned; each list has as many items as
    // is said; the lists of the compiler and the buffers that they name live as long as the library, as does an image that is
    // said to be preserved.
    unsafe {
        call!(
            driver,
            cuLibraryLoadData(
                out,
                image,
                keys,
                values,
                count,
                options,
                option_values,
                u32::from(preserve)
            )
        )
    }?;
    Ok(raw)
}
