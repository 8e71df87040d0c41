//! The linker: an nvJitLink, found once and loaded when it is first needed.

mod api;
mod input;
mod linked;
mod options;

use std::ffi::CString;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cuda_driver::Version;

use crate::error::{Doing, Error, Result};
use crate::program::c_text;
use crate::search::{Component, Found, Search};
use crate::stack;
use api::{JitLink, RawLink};
pub use input::LinkInput;
pub use linked::Linked;
pub use options::LinkOptions;

/// A linker of code for the GPU: an nvJitLink of this machine, of CUDA 12.0 and newer; cheap to clone.
///
/// It joins relocatable programs, and optimises across those that were compiled to [LTO-IR](crate::Output::LtoIr). As with
/// [`Compiler`](crate::Compiler), finding one loads nothing, and any thread may link at any time.
///
/// ```
/// use cuda_nvrtc::{CompileOptions, Compiler, ErrorKind, LinkInput, LinkOptions, Linker, Output};
///
/// let (compiler, linker) = match (Compiler::find(), Linker::find()) {
///     (Ok(compiler), Ok(linker)) => (compiler, linker),
///     (Err(error), _) | (_, Err(error)) => {
///         assert_eq!(error.kind(), ErrorKind::LibraryNotFound);
///         return Ok(println!("{error}"));
///     }
/// };
/// let options = CompileOptions::new().output(Output::LtoIr).architecture(cuda_nvrtc::Architecture::new(8, 0));
/// let helper = compiler.compile("__device__ int helper(int x) { return x + 1; }", &options)?;
/// let kernel = compiler.compile("__device__ int helper(int x); extern \"C\" __global__ void f(int *x) { *x = helper(*x); }", &options)?;
///
/// let options = LinkOptions::new("sm_80".parse()?).link_time_optimization();
/// let linked = linker.link(&[LinkInput::compiled(&helper), LinkInput::compiled(&kernel)], &options)?;
/// assert_eq!(linked.output(), Output::Cubin);
/// # Ok::<(), cuda_nvrtc::Error>(())
/// ```
#[derive(Clone)]
pub struct Linker {
    located: Arc<Located>,
}

/// # Invariants
/// What is at `found.path`, is an nvJitLink.
struct Located {
    found: Found,
    loaded: OnceLock<JitLink>,
    /// Held while it is being loaded.
    loading: Mutex<()>,
}

impl Linker {
    /// The first nvJitLink of the search, which goes through the same places as that of
    /// [`Compiler::find`](crate::Compiler::find), with `CUDA_NVJITLINK_PATH` and the package `nvidia-nvjitlink`.
    ///
    /// Code that a compiler made needs a linker of its version or newer.
    ///
    /// # Errors
    /// [`ErrorKind::LibraryNotFound`](crate::ErrorKind::LibraryNotFound) with every place, and what to install.
    pub fn find() -> Result<Self> {
        let mut search = Search::of(Component::JitLink, &|_| true);
        if search.found.is_empty() {
            return Err(search.into_error(Component::JitLink));
        }
        Ok(Self::located(search.found.swap_remove(0)))
    }

    /// The nvJitLink at `path`: the library, or a directory with it.
    ///
    /// # Errors
    /// [`ErrorKind::LibraryNotFound`](crate::ErrorKind::LibraryNotFound) if there is none;
    /// [`ErrorKind::BrokenLibrary`](crate::ErrorKind::BrokenLibrary) if it cannot be loaded.
    ///
    /// # Safety
    /// The library is NVIDIA's or behaves like it: its initialisers are safe to run, its functions have the documented
    /// signatures and behaviour, and what it links is code for the GPU.
    pub unsafe fn load_from(path: impl AsRef<Path>) -> Result<Self> {
        let mut search = Search::at(Component::JitLink, path.as_ref());
        let found = match search.found.pop() {
            Some(found) => found,
            None => return Err(search.into_error(Component::JitLink)),
        };
        let linker = Self::located(found);
        linker.library()?;
        Ok(linker)
    }

    fn located(found: Found) -> Self {
        let located = Located {
            found,
            loaded: OnceLock::new(),
            loading: Mutex::new(()),
        };
        Self {
            located: Arc::new(located),
        }
    }

    /// The loaded library.
    fn library(&self) -> Result<&JitLink> {
        let located = &*self.located;
        let _loading = located
            .loading
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = located.loaded.get() {
            return Ok(library);
        }
        // SAFETY: it is an nvJitLink by the invariants of `Located`: it lies in one of the places of nvJitLink under its name, or
        // `load_from`'s caller vouches for it.
        let library = unsafe { JitLink::load(&located.found.path) }?;
        Ok(located.loaded.get_or_init(|| library))
    }

    /// The path of the library, or its bare name if the system's loader found it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.located.found.path
    }

    /// Its version, such as 13.0. Loads the library.
    ///
    /// # Errors
    /// [`ErrorKind::BrokenLibrary`](crate::ErrorKind::BrokenLibrary) if it cannot be loaded;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) for the oldest ones, which cannot tell.
    #[doc(alias = "nvJitLinkVersion")]
    pub fn version(&self) -> Result<Version> {
        self.library()?.version()
    }

    /// Links the inputs to a cubin, or to PTX if the options say so.
    ///
    /// # Errors
    /// [`ErrorKind::Link`](crate::ErrorKind::Link) with the linker's log, for symbols that are missing or defined twice and inputs
    /// that do not fit the architecture or each other; [`ErrorKind::InvalidOption`](crate::ErrorKind::InvalidOption);
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for texts with a NUL inside, for PTX
    /// that is none, and for no input at all.
    #[doc(alias = "nvJitLinkComplete")]
    pub fn link(&self, inputs: &[LinkInput<'_>], options: &LinkOptions) -> Result<Linked> {
        let doing = || format!("link {} programs", inputs.len());
        if inputs.is_empty() {
            return Err(Error::invalid("there is nothing to link").doing(doing()));
        }
        inputs.iter().try_for_each(LinkInput::check).doing(doing)?;
        let library = self.library()?;
        let arguments: Vec<CString> = options
            .arguments()
            .iter()
            .map(|it| c_text(it, || format!("the option `{it}`").into()))
            .collect::<Result<_>>()
            .doing(doing)?;
        let names: Vec<CString> = inputs
            .iter()
            .map(|it| c_text(it.name(), || "the name of an input".into()))
            .collect::<Result<_>>()
            .doing(doing)?;
        let output = options.output();
        let work = || -> Result<Linked> {
            let mut raw = RawLink::create(library, &arguments)?;
            for (input, name) in inputs.iter().zip(&names) {
                raw.add(input, name)?;
            }
            raw.complete()?;
            Ok(Linked::new(output, raw.image(output)?, raw.info_log()))
        };
        let bytes = inputs.iter().map(|it| it.bytes().len()).sum();
        stack::run(bytes, &work).and_then(|it| it).doing(doing)
    }
}

impl fmt::Debug for Linker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linker")
            .field("path", &self.path())
            .field("is_loaded", &self.located.loaded.get().is_some())
            .finish_non_exhaustive()
    }
}
