//! The compiler: an NVRTC, found once and loaded when it is first needed.

mod job;
mod plan;
mod run;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cuda_driver::{Device, Version};

use crate::architecture::Architecture;
use crate::cache::Cache;
use crate::compiled::Compiled;
use crate::error::Result;
use crate::nvrtc::Nvrtc;
use crate::options::CompileOptions;
use crate::program::Program;
use crate::search::{Component, Found, Search};
use plan::Target;

/// A compiler for CUDA C++: an NVRTC of this machine; cheap to clone.
///
/// Finding one looks at files only; the library is loaded when it first has to compile something, and stays loaded until the
/// process ends. Several versions can be used side by side. Any thread may compile at any time.
///
/// ```
/// use cuda_nvrtc::{CompileOptions, Compiler, ErrorKind};
///
/// let compiler = match Compiler::find() {
///     Err(error) if error.kind() == ErrorKind::LibraryNotFound => return Ok(println!("{error}")),
///     other => other?,
/// };
/// let compiled = compiler.compile("extern \"C\" __global__ void nothing() {}", &CompileOptions::new())?;
/// assert!(compiled.ptx().is_some_and(|ptx| ptx.contains(".entry nothing")));
/// # Ok::<(), cuda_nvrtc::Error>(())
/// ```
#[derive(Clone)]
pub struct Compiler {
    located: Arc<Located>,
    cache: Cache,
}

/// # Invariants
/// What is at `found.path`, is an NVRTC.
struct Located {
    found: Found,
    /// What tells its files from those of any other version, if that is known.
    identity: Option<Vec<u8>>,
    loaded: OnceLock<Nvrtc>,
    /// Held while it is being loaded.
    loading: Mutex<()>,
}

impl Compiler {
    /// The first NVRTC of the search, the same at every later call.
    ///
    /// Looked at in this order: the environment variable `CUDA_NVRTC_PATH` (the library or its directory); the toolkit at
    /// `CUDA_HOME`, `CUDA_PATH` or `CONDA_PREFIX`; the loader's `LD_LIBRARY_PATH`; the places where toolkits install themselves; the
    /// package `nvidia-cuda-nvrtc` of the active Python environment (`VIRTUAL_ENV`, `CONDA_PREFIX`, `PYTHONPATH`, the
    /// interpreter on `PATH`, the user's and the system's packages); what else the system's loader knows. After a failure
    /// the next call searches again.
    ///
    /// # Errors
    /// [`ErrorKind::LibraryNotFound`](crate::ErrorKind::LibraryNotFound) with every place, and what to install.
    pub fn find() -> Result<Self> {
        Self::find_for(None)
    }

    /// All that the search finds, in its order.
    #[must_use]
    pub fn find_all() -> Vec<Self> {
        let found = Search::of(Component::Nvrtc, &|_| false).found;
        found.into_iter().map(Self::located).collect()
    }

    /// The first one whose PTX a driver takes, as far as the names of files tell; else the first one.
    ///
    /// A driver takes PTX of its own CUDA version and older, so of several compilers on a machine, the newest may make PTX
    /// that its driver refuses.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn find_for(driver: impl Into<Option<Version>>) -> Result<Self> {
        static FOUND: Mutex<Vec<(Option<Version>, Compiler)>> = Mutex::new(Vec::new());
        let driver = driver.into();
        let mut known = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, compiler)) = known.iter().find(|it| it.0 == driver) {
            return Ok(compiler.clone());
        }
        let fits = |found: &Found| {
            let version = found.version;
            driver.is_none_or(|driver| version.is_some_and(|version| version <= driver))
        };
        let search = Search::of(Component::Nvrtc, &fits);
        let chosen = search.found.iter().find(|it| fits(it));
        let Some(found) = chosen.or(search.found.first()).cloned() else {
            return Err(search.into_error(Component::Nvrtc));
        };
        let same = known
            .iter()
            .find(|(_, it)| it.located.found.path == found.path);
        let compiler = match same {
            Some((_, compiler)) => compiler.clone(),
            None => Self::located(found),
        };
        known.push((driver, compiler.clone()));
        Ok(compiler)
    }

    /// The NVRTC at `path`: the library, or a directory with it.
    ///
    /// # Errors
    /// [`ErrorKind::LibraryNotFound`](crate::ErrorKind::LibraryNotFound) if there is none;
    /// [`ErrorKind::BrokenLibrary`](crate::ErrorKind::BrokenLibrary) if it cannot be loaded.
    ///
    /// # Safety
    /// The library, and its builtins beside it, are NVIDIA's or behave like them: their initialisers are safe to run, their
    /// functions have the documented signatures and behaviour, and what they compile is code for the GPU.
    pub unsafe fn load_from(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut search = Search::at(Component::Nvrtc, path);
        let found = match search.found.pop() {
            Some(found) => found,
            None => return Err(search.into_error(Component::Nvrtc)),
        };
        let compiler = Self::located(found);
        compiler.nvrtc()?;
        Ok(compiler)
    }

    fn located(found: Found) -> Self {
        let located = Located {
            identity: found.identity(),
            found,
            loaded: OnceLock::new(),
            loading: Mutex::new(()),
        };
        Self {
            located: Arc::new(located),
            cache: Cache::user(),
        }
    }

    /// The same compiler with another cache than the [user's](Cache::user).
    #[must_use]
    pub fn with_cache(mut self, cache: Cache) -> Self {
        self.cache = cache;
        self
    }

    /// The cache that it looks into before it compiles.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The loaded library.
    fn nvrtc(&self) -> Result<&Nvrtc> {
        let located = &*self.located;
        if let Some(nvrtc) = located.loaded.get() {
            return Ok(nvrtc);
        }
        let _loading = located
            .loading
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(nvrtc) = located.loaded.get() {
            return Ok(nvrtc);
        }
        // SAFETY: it is an NVRTC by this type's invariants: it lies in one of the places of NVRTC under its name, or
        // `load_from`'s caller vouches for it.
        let nvrtc = unsafe { Nvrtc::load(&located.found.path) }?;
        Ok(located.loaded.get_or_init(|| nvrtc))
    }

    /// The path of the library, or its bare name if the system's loader found it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.located.found.path
    }

    /// Its version, such as 13.0. Loads the library.
    ///
    /// # Errors
    /// [`ErrorKind::BrokenLibrary`](crate::ErrorKind::BrokenLibrary) if it cannot be loaded.
    #[doc(alias = "nvrtcVersion")]
    pub fn version(&self) -> Result<Version> {
        self.nvrtc().map(Nvrtc::version)
    }

    /// The architectures that it makes code for, without their variants, in ascending order. Loads the library.
    ///
    /// # Errors
    /// [`ErrorKind::BrokenLibrary`](crate::ErrorKind::BrokenLibrary) if it cannot be loaded;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) before CUDA 11.2.
    #[doc(alias = "nvrtcGetSupportedArchs")]
    pub fn supported_architectures(&self) -> Result<Vec<Architecture>> {
        let numbers = self.nvrtc()?.supported()?;
        Ok(numbers.into_iter().map(Architecture::from_number).collect())
    }

    /// Compiles a program, to PTX unless the options say otherwise, for their architecture or else the compiler's default.
    ///
    /// # Errors
    /// [`ErrorKind::Compilation`](crate::ErrorKind::Compilation) with the compiler's log and the lines that it speaks of;
    /// [`ErrorKind::InvalidOption`](crate::ErrorKind::InvalidOption),
    /// [`ErrorKind::UnsupportedArchitecture`](crate::ErrorKind::UnsupportedArchitecture),
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for what it was asked;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) if this version cannot do it.
    pub fn compile(
        &self,
        program: impl Into<Program>,
        options: &CompileOptions,
    ) -> Result<Compiled> {
        job::compile(self, &program.into(), options, Target::Unknown)
    }

    /// Compiles a program for a device: a cubin, PTX if the device is newer than the compiler or simulated.
    ///
    /// # Errors
    /// As [`compile`](Self::compile); what the driver returns when it is asked about the device.
    pub fn compile_for(
        &self,
        device: &Device,
        program: impl Into<Program>,
        options: &CompileOptions,
    ) -> Result<Compiled> {
        let target = Target::Device {
            capability: device.compute_capability()?,
            is_simulated: device.driver().is_simulated(),
        };
        job::compile(self, &program.into(), options, target)
    }
}

impl fmt::Debug for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loaded = self.located.loaded.get();
        f.debug_struct("Compiler")
            .field("path", &self.path())
            .field(
                "version",
                &loaded.map(Nvrtc::version).or(self.located.found.version),
            )
            .field("is_loaded", &loaded.is_some())
            .finish_non_exhaustive()
    }
}
