//! The ways to load a module.

use std::path::Path;

use super::Module;
use super::image::Image;
use super::jit::JitOptions;
use super::text::KeptText;
use crate::context::Context;
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::process;

impl Context {
    /// Compiles PTX for the context's device and loads it.
    ///
    /// Loading runs none of its code, so it is safe; launching is where trust is needed. No NUL is needed at the end.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidImage`](crate::ErrorKind::InvalidImage) if the driver refuses the PTX, with the compiler's log
    /// and the lines that it names; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if there is a NUL
    /// inside; what else the driver returns.
    #[doc(alias = "cuModuleLoadData")]
    #[doc(alias = "cuModuleLoadDataEx")]
    pub fn load_ptx(&self, text: &str) -> Result<Module> {
        self.load_ptx_with(text, &JitOptions::new())
    }

    /// Compiles PTX with options.
    ///
    /// # Errors
    /// As [`load_ptx`](Self::load_ptx); options that contradict each other or that the driver refuses are
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument).
    #[doc(alias = "cuModuleLoadDataEx")]
    pub fn load_ptx_with(&self, text: &str, options: &JitOptions) -> Result<Module> {
        let doing = || "load a PTX module";
        self.load_image(&Image::ptx(text).doing(doing)?, options)
            .doing(doing)
    }

    /// Loads a module from PTX, a cubin or a fat binary, whichever its content says.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidImage`](crate::ErrorKind::InvalidImage) if it is none of these, if it is truncated, or if the
    /// driver refuses it; what else the driver returns.
    ///
    /// # Safety
    /// A binary comes from a compiler for the GPU and is unchanged: its headers are checked here, its content is not,
    /// neither here nor by the driver.
    pub unsafe fn load_binary(&self, image: &[u8]) -> Result<Module> {
        // SAFETY: the caller promises the same.
        unsafe { self.load_binary_with(image, &JitOptions::new()) }
    }

    /// Loads a module from PTX, a cubin or a fat binary, with options.
    ///
    /// # Errors
    /// As [`load_binary`](Self::load_binary).
    ///
    /// # Safety
    /// As [`load_binary`](Self::load_binary).
    pub unsafe fn load_binary_with(&self, image: &[u8], options: &JitOptions) -> Result<Module> {
        let doing = || "load a module";
        self.load_image(&Image::detect(image).doing(doing)?, options)
            .doing(doing)
    }

    /// Loads a cubin: code for one architecture.
    ///
    /// # Errors
    /// As [`load_binary`](Self::load_binary), for anything else than a cubin too.
    ///
    /// # Safety
    /// As [`load_binary`](Self::load_binary).
    pub unsafe fn load_cubin(&self, image: &[u8]) -> Result<Module> {
        let doing = || "load a cubin";
        self.load_image(&Image::cubin(image).doing(doing)?, &JitOptions::new())
            .doing(doing)
    }

    /// Loads a fat binary: code and PTX for several architectures, of which the driver takes what fits.
    ///
    /// # Errors
    /// As [`load_binary`](Self::load_binary), for anything else than a fat binary too.
    ///
    /// # Safety
    /// As [`load_binary`](Self::load_binary).
    #[doc(alias = "cuModuleLoadFatBinary")]
    pub unsafe fn load_fatbin(&self, image: &[u8]) -> Result<Module> {
        let doing = || "load a fat binary";
        self.load_image(&Image::fatbin(image).doing(doing)?, &JitOptions::new())
            .doing(doing)
    }

    /// Loads a module from a file with PTX, a cubin or a fat binary, whichever its content says.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such file; as [`load_binary`](Self::load_binary).
    ///
    /// # Safety
    /// As [`load_binary`](Self::load_binary), for the file's content.
    #[doc(alias = "cuModuleLoad")]
    pub unsafe fn load_file(&self, path: impl AsRef<Path>) -> Result<Module> {
        // SAFETY: the caller promises the same.
        unsafe { self.load_file_with(path, &JitOptions::new()) }
    }

    /// Loads a module from a file, with options.
    ///
    /// # Errors
    /// As [`load_file`](Self::load_file).
    ///
    /// # Safety
    /// As [`load_file`](Self::load_file).
    pub unsafe fn load_file_with(
        &self,
        path: impl AsRef<Path>,
        options: &JitOptions,
    ) -> Result<Module> {
        let path = path.as_ref();
        let doing = || format!("load the module `{}`", path.display());
        let bytes = read_file(path).doing(doing)?;
        self.load_image(&Image::detect(&bytes).doing(doing)?, options)
            .doing(doing)
    }

    fn load_image(&self, image: &Image<'_>, options: &JitOptions) -> Result<Module> {
        process::drop_postponed();
        let text = KeptText::of(image);
        let variables = image.variables().into();
        Module::load(self, image, options, text, variables)
    }
}

/// The content of a file.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            _ => ErrorKind::InvalidArgument,
        };
        Error::new(kind, format!("the file cannot be read: {error}"))
    })
}
