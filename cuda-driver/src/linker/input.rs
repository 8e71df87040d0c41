//! What can be linked, and the ways to add it.

use std::ffi::c_void;
use std::fmt;
use std::path::Path;

use cuda_sys::CUjitInputType;

use super::Linker;
use crate::JitOptions;
use crate::error::{Doing, Result};
use crate::module::{Aligned, Image, check_archive, check_object, read_file};

/// An input that is whole.
///
/// # Invariants
/// A host file's headers name no byte beyond its end.
pub(super) enum Input<'a> {
    Image(Image<'a>),
    Object(Aligned<'a>),
    Archive(Aligned<'a>),
}

impl<'a> Input<'a> {
    fn object(bytes: &'a [u8]) -> Result<Self> {
        check_object(bytes)?;
        Ok(Self::Object(Aligned::new(bytes)))
    }

    fn archive(bytes: &'a [u8]) -> Result<Self> {
        check_archive(bytes)?;
        Ok(Self::Archive(Aligned::new(bytes)))
    }

    /// An input of the kind that its content says.
    fn detect(bytes: &'a [u8]) -> Result<Self> {
        if bytes.starts_with(crate::module::ARCHIVE_MAGIC) {
            return Self::archive(bytes);
        }
        match Image::detect(bytes) {
            Ok(image) => Ok(Self::Image(image)),
            // What is no image may be a host object, which is an ELF file too.
            Err(error) => Self::object(bytes).map_err(|_| error),
        }
    }

    pub(super) fn kind(&self) -> CUjitInputType {
        match self {
            Self::Image(Image::Ptx(_)) => CUjitInputType::CU_JIT_INPUT_PTX,
            Self::Image(Image::Cubin(_)) => CUjitInputType::CU_JIT_INPUT_CUBIN,
            Self::Image(Image::Fatbin(_)) => CUjitInputType::CU_JIT_INPUT_FATBINARY,
            Self::Object(_) => CUjitInputType::CU_JIT_INPUT_OBJECT,
            Self::Archive(_) => CUjitInputType::CU_JIT_INPUT_LIBRARY,
        }
    }

    pub(super) fn as_ptr(&self) -> *const c_void {
        match self {
            Self::Image(image) => image.as_ptr(),
            Self::Object(bytes) | Self::Archive(bytes) => bytes.as_ptr(),
        }
    }

    /// The size in bytes, the NUL of a text included.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Image(image) => image.size(),
            Self::Object(bytes) | Self::Archive(bytes) => bytes.bytes().len(),
        }
    }
}

impl fmt::Display for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image(image) => image.fmt(f),
            Self::Object(_) => f.write_str("a host object"),
            Self::Archive(_) => f.write_str("an archive"),
        }
    }
}

/// The ways to add an input. Each is given a name, by which the logs speak of it.
impl Linker {
    /// Compiles PTX and adds it.
    ///
    /// # Errors
    /// As [`Context::load_ptx`](crate::Context::load_ptx), with the log so far.
    #[doc(alias = "cuLinkAddData")]
    pub fn add_ptx(&mut self, name: &str, text: &str) -> Result<()> {
        self.add_ptx_with(name, text, &JitOptions::new())
    }

    /// Compiles PTX with options that go before those of the linker, and adds it.
    ///
    /// # Errors
    /// As [`add_ptx`](Self::add_ptx), and for options that the driver refuses.
    #[doc(alias = "cuLinkAddData")]
    pub fn add_ptx_with(&mut self, name: &str, text: &str, options: &JitOptions) -> Result<()> {
        let image = Image::ptx(text).doing(|| format!("link the PTX `{name}`"))?;
        self.add(name, &Input::Image(image), Some(options))
    }

    /// Adds a cubin that was compiled to be linked (`nvcc -rdc=true`).
    ///
    /// # Errors
    /// As [`Context::load_cubin`](crate::Context::load_cubin), with the log so far.
    ///
    /// # Safety
    /// It comes from a compiler for the GPU and is unchanged: its headers are checked here, its content is not, neither here
    /// nor by the driver.
    #[doc(alias = "cuLinkAddData")]
    pub unsafe fn add_cubin(&mut self, name: &str, image: &[u8]) -> Result<()> {
        let image = Image::cubin(image).doing(|| format!("link the cubin `{name}`"))?;
        self.add(name, &Input::Image(image), None)
    }

    /// Adds a fat binary that was compiled to be linked (`nvcc -rdc=true`).
    ///
    /// # Errors
    /// As [`Context::load_fatbin`](crate::Context::load_fatbin), with the log so far.
    ///
    /// # Safety
    /// As [`add_cubin`](Self::add_cubin).
    #[doc(alias = "cuLinkAddData")]
    pub unsafe fn add_fatbin(&mut self, name: &str, image: &[u8]) -> Result<()> {
        let image = Image::fatbin(image).doing(|| format!("link the fat binary `{name}`"))?;
        self.add(name, &Input::Image(image), None)
    }

    /// Adds an object file of the host with GPU code in it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidImage`](crate::ErrorKind::InvalidImage) if it is none or truncated; what the driver returns, with
    /// the log so far.
    ///
    /// # Safety
    /// As [`add_cubin`](Self::add_cubin).
    #[doc(alias = "cuLinkAddData")]
    pub unsafe fn add_object(&mut self, name: &str, object: &[u8]) -> Result<()> {
        let input = Input::object(object).doing(|| format!("link the object `{name}`"))?;
        self.add(name, &input, None)
    }

    /// Adds an archive (`.a`) of objects of the host with GPU code in them, such as `libcudadevrt.a`.
    ///
    /// # Errors
    /// As [`add_object`](Self::add_object).
    ///
    /// # Safety
    /// As [`add_cubin`](Self::add_cubin).
    #[doc(alias = "cuLinkAddData")]
    pub unsafe fn add_archive(&mut self, name: &str, archive: &[u8]) -> Result<()> {
        let input = Input::archive(archive).doing(|| format!("link the archive `{name}`"))?;
        self.add(name, &input, None)
    }

    /// Adds a file of any of these kinds, whichever its content says. The logs speak of it by its path.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such file; as the other ways.
    ///
    /// # Safety
    /// As [`add_cubin`](Self::add_cubin), for the file's content.
    #[doc(alias = "cuLinkAddFile")]
    pub unsafe fn add_file(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let doing = || format!("link `{}`", path.display());
        let bytes = read_file(path).doing(doing)?;
        let input = Input::detect(&bytes).doing(doing)?;
        self.add(&path.to_string_lossy(), &input, None)
    }
}
