//! Kernels of a library, which become functions in contexts.

use std::fmt;
use std::sync::Arc;

use cuda_sys::{CUkernel, CUresult};

use super::{Form, Library, LibraryCore};
use crate::call;
use crate::context::Context;
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::function::Function;
use crate::module::{ModuleLoadingMode, c_name, no_such_kernel};

/// A kernel of a library, for every context; cheap to clone. It keeps its library loaded.
///
/// In a context it is a [`Function`], which can be launched.
#[doc(alias = "CUkernel")]
#[derive(Clone)]
pub struct Kernel {
    pub(super) library: Arc<LibraryCore>,
    /// `None` on drivers that do not know libraries.
    pub(super) raw: Option<RawKernel>,
    name: Arc<str>,
}

/// # Invariants
/// A kernel of a library, live as long as that.
#[derive(Clone, Copy)]
pub(super) struct RawKernel(pub(super) CUkernel);

// SAFETY: a CUkernel may be used from any thread.
unsafe impl Send for RawKernel {}
// SAFETY: as for `Send`.
unsafe impl Sync for RawKernel {}

impl Library {
    /// The kernel of that name, as it stands in the image (`extern "C"` names as written, others mangled).
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] with the names that there are; what the driver returns. Drivers that do not know libraries
    /// tell only in a context whether a kernel of a binary exists.
    #[doc(alias = "cuLibraryGetKernel")]
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let doing = || format!("find the kernel `{name}`");
        let text = c_name(name).doing(doing)?;
        let core = &self.core;
        let missing = |error| no_such_kernel(name, core.kernel_names().ok().as_deref(), error);
        let raw = match &core.form {
            Form::Native(native) => {
                let mut raw = std::ptr::null_mut();
                let (out, library) = (&raw mut raw, native.as_raw());
                // SAFETY: the library is live, the name ends with NUL, and the other pointer is to a live handle.
                let found =
                    unsafe { call!(core.driver, cuLibraryGetKernel(out, library, text.as_ptr())) };
                found.map_err(|error| {
                    let error = if error.is_status(CUresult::CUDA_ERROR_NOT_FOUND) {
                        missing(error)
                    } else if error.kind() == ErrorKind::InvalidImage {
                        core.explain_anywhere(error)
                    } else {
                        error
                    };
                    error.doing(doing())
                })?;
                Some(RawKernel(raw))
            }
            Form::PerContext(_) => {
                if let Ok(names) = core.kernel_names()
                    && !names.iter().any(|it| it == name)
                {
                    return Err(missing(Error::new(ErrorKind::NotFound, "")).doing(doing()));
                }
                None
            }
        };
        Ok(Kernel {
            library: Arc::clone(core),
            raw,
            name: name.into(),
        })
    }
}

impl Kernel {
    /// The name in the image.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The library that the kernel is of.
    #[doc(alias = "cuKernelGetLibrary")]
    #[must_use]
    pub fn library(&self) -> Library {
        Library::from_core(Arc::clone(&self.library))
    }

    /// The raw kernel, which stays its library's; `None` on drivers that do not know libraries.
    #[must_use]
    pub fn as_raw(&self) -> Option<CUkernel> {
        self.raw.map(|raw| raw.0)
    }

    /// The kernel in a context, to be launched there; brought onto its device now.
    ///
    /// # Errors
    /// As [`Library::module`]; what loading the kernel returns.
    #[doc(alias = "cuKernelGetFunction")]
    pub fn in_context(&self, context: &Context) -> Result<Function> {
        self.in_context_with(context, ModuleLoadingMode::Eager)
    }

    /// The kernel in a context, brought onto its device now or when it is first launched; see
    /// [`Module::function_with`](crate::Module::function_with).
    ///
    /// # Errors
    /// As [`in_context`](Self::in_context).
    #[doc(alias = "cuKernelGetFunction")]
    pub fn in_context_with(&self, context: &Context, mode: ModuleLoadingMode) -> Result<Function> {
        let doing = || format!("use the kernel `{}` in a context", self.name);
        let module = self.library.module(context).doing(doing)?;
        let Some(RawKernel(kernel)) = self.raw else {
            return module.function_with(&self.name, mode);
        };
        let mut raw = std::ptr::null_mut();
        let core = context.core();
        let current = core.push()?;
        let out = &raw mut raw;
        // SAFETY: the kernel is live as long as its library, the pointer is to a live handle, and the context is current.
        let found = unsafe { call!(self.library.driver, cuKernelGetFunction(out, kernel)) };
        drop(current);
        core.watch(found)
            .map_err(|error| self.library.explain(error, core))
            .doing(doing)?;
        Function::new(module.core(), raw, &self.name, mode)
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.name)
            .field("raw", &self.as_raw())
            .finish_non_exhaustive()
    }
}
