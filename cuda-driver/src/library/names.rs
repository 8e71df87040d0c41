//! What is in a library.

use std::ffi::CStr;

use cuda_sys::CUkernel;

use super::native::Native;
use super::{Form, Library, LibraryCore};
use crate::call;
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::module::c_name;

impl Library {
    /// The names of the library's kernels, as they stand in the image.
    ///
    /// # Errors
    /// [`ErrorKind::MissingSymbol`] for a library that was not loaded from PTX on a driver older than CUDA 12.4; what the
    /// driver returns.
    #[doc(alias = "cuLibraryGetKernelCount")]
    #[doc(alias = "cuLibraryEnumerateKernels")]
    #[doc(alias = "cuKernelGetName")]
    pub fn kernel_names(&self) -> Result<Vec<String>> {
        self.core.kernel_names()
    }

    /// The address of a function that host and device can both call, on systems that have such.
    ///
    /// It is good as long as the library is loaded.
    ///
    /// # Errors
    /// [`ErrorKind::MissingSymbol`] on drivers before CUDA 12.0; what the driver returns, an error for every name on
    /// systems without such functions included.
    #[doc(alias = "cuLibraryGetUnifiedFunction")]
    pub fn unified_function(&self, name: &str) -> Result<*const std::ffi::c_void> {
        let doing = || format!("find the unified function `{name}`");
        let text = c_name(name).doing(doing)?;
        let Form::Native(native) = &self.core.form else {
            let reason = "this driver does not know libraries (CUDA 12.0)";
            return Err(Error::new(ErrorKind::MissingSymbol, reason).doing(doing()));
        };
        let mut address = std::ptr::null_mut();
        let (out, raw, text) = (&raw mut address, native.as_raw(), text.as_ptr());
        // SAFETY: the library is live, the name ends with NUL, and the other pointer is to a live pointer.
        unsafe {
            call!(
                self.core.driver,
                cuLibraryGetUnifiedFunction(out, raw, text)
            )
        }
        .doing(doing)?;
        Ok(address)
    }
}

impl LibraryCore {
    pub(super) fn kernel_names(&self) -> Result<Vec<String>> {
        let from_driver = match &self.form {
            Form::Native(native) => self.names_from_driver(native),
            Form::PerContext(_) => Err(Error::new(
                ErrorKind::MissingSymbol,
                "drivers before CUDA 12.4 do not list the kernels of a library that is not PTX",
            )),
        };
        let from_text = || self.text.as_ref().and_then(|text| text.names());
        from_driver
            .or_else(|error| match from_text() {
                Some(names) if error.kind() == ErrorKind::MissingSymbol => Ok(names),
                _ => Err(error),
            })
            .doing(|| "list the kernels of a library")
    }

    fn names_from_driver(&self, native: &Native) -> Result<Vec<String>> {
        let (driver, raw) = (&self.driver, native.as_raw());
        // Asked for first: without it the list is of no use.
        driver
            .library()
            .cuKernelGetName()
            .map_err(|missing| Error::from_missing("cuKernelGetName", missing))?;
        let mut count = 0;
        let out = &raw mut count;
        // SAFETY: the library is live, and the pointer is to a live number.
        unsafe { call!(driver, cuLibraryGetKernelCount(out, raw)) }?;
        let mut kernels = vec![std::ptr::null_mut(); usize::try_from(count)?];
        if kernels.is_empty() {
            return Ok(Vec::new());
        }
        let out = kernels.as_mut_ptr();
        // SAFETY: the library is live, and the pointer is to that many live handles.
        unsafe { call!(driver, cuLibraryEnumerateKernels(out, count, raw)) }?;
        kernels.into_iter().map(|it| self.name_of(it)).collect()
    }

    fn name_of(&self, kernel: CUkernel) -> Result<String> {
        let mut text = std::ptr::null();
        let out = &raw mut text;
        // SAFETY: the kernel is the library's, and the pointer is to a live pointer.
        unsafe { call!(self.driver, cuKernelGetName(out, kernel)) }?;
        if text.is_null() {
            return Ok(String::new());
        }
        // SAFETY: the name ends with NUL and lives as long as the library.
        let text = unsafe { CStr::from_ptr(text) };
        Ok(text.to_string_lossy().into_owned())
    }
}
