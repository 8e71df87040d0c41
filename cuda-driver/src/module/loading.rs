//! When the driver brings the code of a module onto the device.

use cuda_sys::CUmoduleLoadingMode;

use crate::call;
use crate::driver::Driver;
use crate::error::{Doing, Error, ErrorKind, Result};

/// When the driver brings the code of a module onto the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "CUmoduleLoadingMode")]
pub enum ModuleLoadingMode {
    /// All of it when the module is loaded.
    Eager,
    /// Each kernel when it is first needed.
    Lazy,
}

impl Driver {
    /// When the driver brings the code of modules onto the device, which the variable `CUDA_MODULE_LOADING` chooses.
    ///
    /// # Errors
    /// [`ErrorKind::MissingSymbol`] on drivers before CUDA 11.7, which load eagerly; what the driver returns.
    #[doc(alias = "cuModuleGetLoadingMode")]
    pub fn module_loading_mode(&self) -> Result<ModuleLoadingMode> {
        let mut mode = CUmoduleLoadingMode::default();
        // SAFETY: the pointer is to a live value.
        unsafe { call!(self, cuModuleGetLoadingMode(&raw mut mode)) }
            .doing(|| "read how modules are loaded")?;
        match mode {
            CUmoduleLoadingMode::CU_MODULE_EAGER_LOADING => Ok(ModuleLoadingMode::Eager),
            CUmoduleLoadingMode::CU_MODULE_LAZY_LOADING => Ok(ModuleLoadingMode::Lazy),
            other => Err(Error::new(
                ErrorKind::Driver,
                format!("the driver reports {other:?}, which is newer than this crate"),
            )
            .doing("read how modules are loaded")),
        }
    }
}
