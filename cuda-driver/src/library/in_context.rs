//! A library in a context: its module there, its functions and variables.

use std::sync::Arc;

use cuda_sys::CUdeviceptr;

use super::{Form, Library, LibraryCore};
use crate::call;
use crate::context::{Context, ContextCore};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::function::Function;
use crate::module::{Global, GlobalValue, JitTarget, Module, ModuleCore, c_name, explain};

impl Library {
    /// The library as a module of that context, for what modules offer.
    ///
    /// # Errors
    /// As [`Context::load_ptx`](crate::Context::load_ptx), where the library does not suit the context's device;
    /// [`ErrorKind::Mismatch`] for a context of another driver.
    #[doc(alias = "cuLibraryGetModule")]
    pub fn module(&self, context: &Context) -> Result<Module> {
        self.core
            .module(context)
            .doing(|| "use a library in a context")
    }

    /// The kernel of that name as a function of that context.
    ///
    /// # Errors
    /// As [`module`](Self::module) and [`Module::function`].
    #[doc(alias = "cuKernelGetFunction")]
    pub fn function(&self, context: &Context, name: &str) -> Result<Function> {
        self.kernel(name)?.in_context(context)
    }

    /// The global variable of that name in that context; each context has its own.
    ///
    /// # Errors
    /// As [`module`](Self::module) and [`Module::global`]; [`ErrorKind::NotSupported`] for managed variables, of which all
    /// contexts have the same: see [`managed_address`](Self::managed_address).
    #[doc(alias = "cuLibraryGetGlobal")]
    pub fn global<V: GlobalValue + ?Sized>(
        &self,
        context: &Context,
        name: &str,
    ) -> Result<Global<V>> {
        self.module(context)?.global(name)
    }

    /// The address and the size in bytes of a managed variable, which all contexts and the host share.
    ///
    /// It is only an address: nothing orders accesses through it. It is good as long as the library is loaded.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no managed variable of that name; [`ErrorKind::MissingSymbol`] on drivers before
    /// CUDA 12.0; what the driver returns.
    #[doc(alias = "cuLibraryGetManaged")]
    pub fn managed_address(&self, context: &Context, name: &str) -> Result<(CUdeviceptr, usize)> {
        let doing = || format!("find the managed variable `{name}`");
        let core = &*self.core;
        core.require_driver(context.core()).doing(doing)?;
        let text = c_name(name).doing(doing)?;
        let Form::Native(native) = &core.form else {
            let reason = "this driver does not know libraries (CUDA 12.0)";
            return Err(Error::new(ErrorKind::MissingSymbol, reason)
                .remedied_by("update the driver, or use `Module::global_address`")
                .doing(doing()));
        };
        let (mut address, mut size) = (0, 0);
        let (address_out, size_out) = (&raw mut address, &raw mut size);
        let (raw, text) = (native.as_raw(), text.as_ptr());
        let _current = context.core().push()?;
        // SAFETY: the library is live, the name ends with NUL, and the other pointers are to live numbers.
        let found = unsafe {
            call!(
                core.driver,
                cuLibraryGetManaged(address_out, size_out, raw, text)
            )
        };
        context.core().watch(found).doing(doing)?;
        Ok((address, size))
    }
}

impl LibraryCore {
    pub(super) fn require_driver(&self, context: &ContextCore) -> Result<()> {
        if self.driver.is_same(context.driver()) {
            return Ok(());
        }
        let reason = "the library and the context belong to different drivers";
        Err(Error::new(ErrorKind::Mismatch, reason))
    }

    /// Explains why the driver refuses the library in a context.
    #[cold]
    pub(super) fn explain(&self, error: Error, context: &ContextCore) -> Error {
        let target = JitTarget {
            driver: &self.driver,
            device: Some(context.device()),
        };
        let error = explain(error, target, &self.facts, &[]);
        match &self.form {
            Form::Native(native) if error.kind() == ErrorKind::InvalidImage => {
                error.with_log(native.error_log())
            }
            _ => error,
        }
    }

    /// Explains why the driver refuses the library everywhere.
    #[cold]
    pub(super) fn explain_anywhere(&self, error: Error) -> Error {
        let target = JitTarget {
            driver: &self.driver,
            device: None,
        };
        let error = explain(error, target, &self.facts, &[]);
        match &self.form {
            Form::Native(native) => error.with_log(native.error_log()),
            Form::PerContext(_) => error,
        }
    }

    pub(super) fn module(self: &Arc<Self>, context: &Context) -> Result<Module> {
        self.require_driver(context.core())?;
        let native = match &self.form {
            Form::Native(native) => native,
            Form::PerContext(modules) => return modules.module(self, context),
        };
        let key = context.as_raw().addr();
        let was_used = match native.find(key) {
            Ok(known) => return Ok(Module::from_core(known)),
            Err(was_used) => was_used,
        };
        let core = context.core();
        let mut raw = std::ptr::null_mut();
        let (out, library) = (&raw mut raw, native.as_raw());
        let current = core.push()?;
        // SAFETY: the library is live, the pointer is to a live handle, and the context is current.
        let result = unsafe { call!(self.driver, cuLibraryGetModule(out, library)) };
        drop(current);
        core.watch(result)
            .map_err(|error| self.explain(error, core))?;
        let made = ModuleCore::of_library(
            raw,
            core,
            Arc::clone(self),
            self.text.clone(),
            (was_used, Arc::clone(&self.variables)),
        );
        Ok(Module::from_core(native.enter(key, made)))
    }

    /// Notes that what a module of it did cannot be awaited.
    pub(crate) fn lose(&self) {
        if let Form::Native(native) = &self.form {
            native.lose();
        }
    }
}
