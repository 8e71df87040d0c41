//! Libraries: images that are loaded once and placed in each context that asks for them.

use std::collections::BTreeMap;
use std::ffi::CString;

use cuda_sys::CUresult;

use crate::code;
use crate::image::Decoded;
use crate::state::State;
use crate::state::context::ContextRef;
use crate::state::handle::Kind;
use crate::state::kernel::{Facts, Settings};

/// What a library is on devices of one compute capability.
pub(crate) type Variants = BTreeMap<(u32, u32), Result<Decoded, CUresult>>;

/// A `CUlibrary`.
#[derive(Debug)]
pub(crate) struct Library {
    variants: Variants,
    /// Handles of its kernels.
    pub(crate) kernels: Vec<u64>,
    /// Its module in each context that has asked for one.
    modules: Vec<(ContextRef, u64)>,
    /// Number of the call that made it.
    pub(crate) call: u64,
}

impl Library {
    /// Whether it can be used on some device.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn usable(&self) -> Result<(), CUresult> {
        if self.variants.values().any(Result::is_ok) {
            return Ok(());
        }
        let refused = self
            .variants
            .values()
            .find_map(|variant| variant.as_ref().err());
        Err(refused.copied().unwrap_or(code::NO_BINARY_FOR_GPU))
    }
}

impl Library {
    /// Whether it has a managed variable of that name.
    pub(crate) fn has_managed(&self, name: &str) -> bool {
        let decoded = self.variants.values().flatten();
        decoded
            .flat_map(|decoded| decoded.program.globals())
            .any(|global| global.managed && global.name == name)
    }
}

/// A `CUkernel`.
#[derive(Debug)]
pub(crate) struct LibraryKernel {
    pub(crate) library: u64,
    /// Its name as a C string, which callers may keep until the library is unloaded.
    pub(crate) name: CString,
    /// What was set for it, by the device.
    settings: BTreeMap<usize, Settings>,
}

impl State {
    /// Gives handles to a library and its kernels. Nothing is placed yet.
    pub(crate) fn load_library(&mut self, variants: Variants, call: u64) -> u64 {
        let library = self.libraries.next();
        let mut names: Vec<&str> = Vec::new();
        for decoded in variants.values().flatten() {
            for kernel in decoded.program.kernels() {
                if !names.contains(&kernel.name()) {
                    names.push(kernel.name());
                }
            }
        }
        let kernels = names
            .into_iter()
            .map(|name| {
                self.kernels.insert(LibraryKernel {
                    library,
                    name: CString::new(name).unwrap_or_default(),
                    settings: BTreeMap::new(),
                })
            })
            .collect();
        self.libraries.insert(Library {
            variants,
            kernels,
            modules: Vec::new(),
            call,
        })
    }

    /// The contexts in which a library has a module.
    pub(crate) fn contexts_of_library(&self, library: u64) -> Result<Vec<ContextRef>, CUresult> {
        let library = self.libraries.get(library)?;
        Ok(library
            .modules
            .iter()
            .map(|(context, _)| *context)
            .collect())
    }

    /// Removes a library with its modules. Nothing may use them any more.
    pub(crate) fn unload_library(&mut self, handle: u64, call: u64) {
        let reuse = self.options.reuse_handles;
        let Ok(library) = self.libraries.remove(handle, reuse) else {
            return;
        };
        for (_, module) in library.modules {
            self.unload_module(module, call);
        }
        for kernel in library.kernels {
            drop(self.kernels.remove(kernel, reuse));
        }
    }

    /// What a library is on a device.
    ///
    /// # Errors
    /// Why it cannot be used there.
    fn variant(&self, library: u64, ordinal: usize) -> Result<&Decoded, CUresult> {
        let capability = self
            .devices
            .get(ordinal)
            .map(|device| device.config.compute_capability)
            .ok_or(code::INVALID_DEVICE)?;
        match self.libraries.get(library)?.variants.get(&capability) {
            Some(Ok(decoded)) => Ok(decoded),
            Some(Err(result)) => Err(*result),
            None => Err(code::NO_BINARY_FOR_GPU),
        }
    }

    /// The module of a library in a context, placed there when it is first asked for.
    ///
    /// # Errors
    /// `INVALID_HANDLE`, `OUT_OF_MEMORY`, or why the library cannot be used on the context's device.
    pub(crate) fn library_module(
        &mut self,
        library: u64,
        context: ContextRef,
        call: u64,
    ) -> Result<u64, CUresult> {
        let known = self.libraries.get(library)?;
        if let Some((_, module)) = known.modules.iter().find(|(place, _)| *place == context) {
            return Ok(*module);
        }
        let decoded = self.variant(library, self.device_of(context))?.clone();
        let kernels = known.kernels.clone();
        let module = self.load_module(context, &decoded, call)?;
        for kernel in kernels {
            let name = self.kernels.get(kernel)?.name.clone();
            if let Some(function) = self.function_of_module(module, name.to_bytes()) {
                self.functions.get_mut(function)?.library_kernel = Some(kernel);
            }
        }
        self.modules.get_mut(module)?.library = Some(library);
        self.libraries
            .get_mut(library)?
            .modules
            .push((context, module));
        Ok(module)
    }

    /// Forgets a module that is gone.
    pub(crate) fn forget_library_module(&mut self, module: u64) {
        for library in self.libraries.values_mut() {
            library.modules.retain(|(_, known)| *known != module);
        }
    }

    /// The function that a handle means in a context: itself, or that of a library's kernel.
    ///
    /// # Errors
    /// `INVALID_HANDLE`, or as for [`library_module`](Self::library_module).
    pub(crate) fn function_in(
        &mut self,
        handle: u64,
        context: Result<ContextRef, CUresult>,
        call: u64,
    ) -> Result<u64, CUresult> {
        if !self.kernels.is_of(handle, Kind::Kernel) {
            return Ok(handle);
        }
        let kernel = self.kernels.get(handle)?;
        let (library, name) = (kernel.library, kernel.name.clone());
        let module = self.library_module(library, context?, call)?;
        self.function_of_module(module, name.to_bytes())
            .ok_or(code::NOT_FOUND)
    }

    /// What was set for a library's kernel on a device.
    pub(crate) fn kernel_settings(&self, kernel: Option<u64>, ordinal: usize) -> Settings {
        kernel
            .and_then(|kernel| self.kernels.get(kernel).ok())
            .and_then(|kernel| kernel.settings.get(&ordinal).copied())
            .unwrap_or_default()
    }

    /// Keeps what was set for a library's kernel on a device.
    ///
    /// # Errors
    /// `INVALID_HANDLE`
    pub(crate) fn set_kernel_settings(
        &mut self,
        kernel: u64,
        ordinal: usize,
        settings: Settings,
    ) -> Result<(), CUresult> {
        let kernel = self.kernels.get_mut(kernel)?;
        kernel.settings.insert(ordinal, settings);
        Ok(())
    }

    /// What is known of a library's kernel on a device.
    ///
    /// # Errors
    /// `INVALID_HANDLE`, `INVALID_DEVICE`, or why the library cannot be used there.
    pub(crate) fn kernel_facts(&self, handle: u64, ordinal: usize) -> Result<Facts<'_>, CUresult> {
        let kernel = self.kernels.get(handle)?;
        let device = self.devices.get(ordinal).ok_or(code::INVALID_DEVICE)?;
        let decoded = self.variant(kernel.library, ordinal)?;
        let name = kernel.name.to_str().unwrap_or_default();
        Ok(Facts {
            device: &device.config,
            program: &decoded.program,
            kernel: decoded.program.kernel(name).ok_or(code::NOT_FOUND)?,
            target: decoded.target,
            settings: self.kernel_settings(Some(handle), ordinal),
        })
    }
}
