//! The ways to load a library.

use std::path::Path;
use std::sync::Arc;

use cuda_sys::CUlibrary;

use super::native::{Kept, Native};
use super::per_context::PerContext;
use super::{Form, Library, LibraryCore, LibraryOptions, load};
use crate::driver::Driver;
use crate::error::{Doing, Result};
use crate::module::{Facts, Image, KeptText, read_file};
use crate::process;

impl Driver {
    /// Loads PTX for every context of this driver.
    ///
    /// It is compiled for a device when a context of that device first asks for something of it, unless modules are
    /// [loaded eagerly](Driver::module_loading_mode), so what the compiler refuses may come out only then.
    ///
    /// # Errors
    /// As [`Context::load_ptx`](crate::Context::load_ptx).
    #[doc(alias = "cuLibraryLoadData")]
    pub fn load_library_ptx(&self, text: &str) -> Result<Library> {
        self.load_library_ptx_with(text, &LibraryOptions::new())
    }

    /// Loads PTX for every context of this driver, with options.
    ///
    /// # Errors
    /// As [`load_library_ptx`](Self::load_library_ptx), and for options that the driver refuses.
    #[doc(alias = "cuLibraryLoadData")]
    pub fn load_library_ptx_with(&self, text: &str, options: &LibraryOptions) -> Result<Library> {
        let doing = || "load a PTX library";
        self.load_library(Image::ptx(text).doing(doing)?, options)
            .doing(doing)
    }

    /// Loads PTX, a cubin or a fat binary, whichever its content says, for every context of this driver.
    ///
    /// # Errors
    /// As [`Context::load_binary`](crate::Context::load_binary), or when a context first asks for something of it.
    ///
    /// # Safety
    /// A binary comes from a compiler for the GPU and is unchanged: its headers are checked here, its content is not,
    /// neither here nor by the driver.
    #[doc(alias = "cuLibraryLoadData")]
    pub unsafe fn load_library_binary(
        &self,
        image: &[u8],
        options: &LibraryOptions,
    ) -> Result<Library> {
        let doing = || "load a library";
        self.load_library(Image::detect(image).doing(doing)?, options)
            .doing(doing)
    }

    /// Loads a file with PTX, a cubin or a fat binary, whichever its content says, for every context of this driver.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such file; as
    /// [`load_library_binary`](Self::load_library_binary).
    ///
    /// # Safety
    /// As [`load_library_binary`](Self::load_library_binary), for the file's content.
    #[doc(alias = "cuLibraryLoadFromFile")]
    pub unsafe fn load_library_file(
        &self,
        path: impl AsRef<Path>,
        options: &LibraryOptions,
    ) -> Result<Library> {
        let path = path.as_ref();
        let doing = || format!("load the library `{}`", path.display());
        let bytes = read_file(path).doing(doing)?;
        self.load_library(Image::detect(&bytes).doing(doing)?, options)
            .doing(doing)
    }

    pub(crate) fn load_library(
        &self,
        image: Image<'_>,
        options: &LibraryOptions,
    ) -> Result<Library> {
        process::drop_postponed();
        let facts = image.facts();
        let text = KeptText::of(&image);
        let variables = image.variables().into();
        let form = if self.library().cuLibraryLoadData().is_ok() {
            Form::Native(load::load(self, image, &facts, options)?)
        } else {
            process::permit()?;
            Form::PerContext(PerContext::new(image.into_owned(), options.jit.clone()))
        };
        Ok(Library::from_core(Arc::new(LibraryCore {
            driver: self.clone(),
            form,
            facts,
            text,
            variables,
        })))
    }
}

impl Library {
    /// A library that somebody else loaded, and which is ours from now on.
    ///
    /// # Safety
    /// `raw` is a library of `driver`, and nobody else uses or unloads it any more.
    #[must_use]
    pub unsafe fn from_raw(driver: &Driver, raw: CUlibrary) -> Self {
        Self::from_core(Arc::new(LibraryCore {
            driver: driver.clone(),
            form: Form::Native(Native::new(raw, Kept::default())),
            facts: Facts::unknown(),
            text: None,
            variables: Arc::from([]),
        }))
    }
}
