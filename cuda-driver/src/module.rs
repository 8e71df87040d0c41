//! Modules: code and global variables, loaded into a context.
//!
//! C group: module management.

mod diagnosis;
mod global;
#[cfg(all(test, feature = "simulator"))]
mod hostile_tests;
mod image;
mod jit;
mod load;
mod loading;
mod log_buffer;
#[cfg(all(test, feature = "simulator"))]
mod message_tests;
mod names;
mod open;
mod ptx;
mod symbols;
#[cfg(all(test, feature = "simulator"))]
mod tests;
mod text;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cuda_sys::CUmodule;

pub use global::{Global, GlobalValue};
pub use jit::{JitCacheMode, JitFallback, JitOptions};
pub use loading::ModuleLoadingMode;

use crate::call;
use crate::close::CloseError;
use crate::context::{Context, ContextCore};
use crate::driver::Driver;
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::library::LibraryCore;
use crate::process;
use load::Loaded;

pub(crate) use diagnosis::{Target as JitTarget, explain, with_source};
pub(crate) use image::{ARCHIVE_MAGIC, Aligned, Facts, Image};
pub use image::{check_archive, check_cubin, check_fatbin, check_object};
pub(crate) use jit::Encoded;
pub(crate) use log_buffer::LogBuffer;
pub(crate) use names::{c_name, no_such_kernel};
pub(crate) use open::read_file;
pub(crate) use symbols::DeclaredGlobal;
use symbols::Symbols;
pub(crate) use text::KeptText;

/// A loaded module; cheap to clone.
///
/// It stays loaded until the last handle and the last function of it are gone. Unloading waits for the kernels that run.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// use cuda_driver::Driver;
///
/// let context = Driver::simulated()?.device(0)?.primary_context()?;
/// let module = context.load_ptx(
///     ".version 7.0
///     .target sm_70
///     .address_size 64
///     .visible .entry nothing() { ret; }",
/// )?;
/// assert_eq!(module.function_names()?, ["nothing"]);
/// let error = module.function("nothin").unwrap_err();
/// assert!(error.to_string().contains("it has `nothing`"));
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Module {
    core: Arc<ModuleCore>,
}

/// Who unloads the module.
#[derive(Clone)]
enum Ownership {
    /// We do, with the last handle.
    Owned,
    /// Somebody else, who keeps it loaded.
    Borrowed,
    /// Its library, when that is unloaded.
    Library(Arc<LibraryCore>),
}

/// # Invariants
/// `raw` is a live module of `context` until `unload`; if it is owned, nobody else unloads it.
pub(crate) struct ModuleCore {
    raw: CUmodule,
    context: Arc<ContextCore>,
    ownership: Ownership,
    info_log: Box<str>,
    wall_time: Option<Duration>,
    text: Option<Arc<KeptText>>,
    symbols: Symbols,
}

// SAFETY: a CUmodule may be used from any thread (the driver is thread-safe); all else in the core is `Send`.
unsafe impl Send for ModuleCore {}
// SAFETY: as for `Send`; what changes is behind a lock.
unsafe impl Sync for ModuleCore {}

impl Module {
    /// A module that somebody else loaded, and which is ours from now on.
    ///
    /// # Safety
    /// `raw` is a module of `context`, and nobody else uses or unloads it any more.
    #[must_use]
    pub unsafe fn from_raw(context: &Context, raw: CUmodule) -> Self {
        Self::new(context, raw, Ownership::Owned)
    }

    /// A module that somebody else loaded and keeps loaded.
    ///
    /// # Safety
    /// * `raw` is a module of `context`, and stays loaded until everything made through the returned handle is dropped and
    ///   its kernels are done.
    /// * What others do with its global variables is ordered with what is done through the returned handle.
    #[must_use]
    pub unsafe fn from_borrowed_raw(context: &Context, raw: CUmodule) -> Self {
        Self::new(context, raw, Ownership::Borrowed)
    }

    fn new(context: &Context, raw: CUmodule, ownership: Ownership) -> Self {
        let core = ModuleCore {
            raw,
            context: Arc::clone(context.core()),
            ownership,
            info_log: "".into(),
            wall_time: None,
            text: None,
            symbols: Symbols::new(true, Arc::from([])),
        };
        Self::from_core(Arc::new(core))
    }

    fn from_loaded(
        context: &Arc<ContextCore>,
        loaded: Loaded,
        text: Option<Arc<KeptText>>,
        variables: Arc<[Box<str>]>,
    ) -> Self {
        let core = ModuleCore {
            raw: loaded.raw,
            context: Arc::clone(context),
            ownership: Ownership::Owned,
            info_log: loaded.info_log.into(),
            wall_time: loaded.wall_time,
            text,
            symbols: Symbols::new(false, variables),
        };
        Self::from_core(Arc::new(core))
    }

    /// Loads an image.
    pub(crate) fn load(
        context: &Context,
        image: &Image<'_>,
        options: &JitOptions,
        text: Option<Arc<KeptText>>,
        variables: Arc<[Box<str>]>,
    ) -> Result<Self> {
        let loaded = load::load(context.core(), image, options)?;
        Ok(Self::from_loaded(context.core(), loaded, text, variables))
    }

    pub(crate) fn from_core(core: Arc<ModuleCore>) -> Self {
        Self { core }
    }

    pub(crate) fn core(&self) -> &Arc<ModuleCore> {
        &self.core
    }

    /// The context that the module is loaded into.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::from_core(Arc::clone(&self.core.context))
    }

    /// The raw module, which stays ours.
    #[must_use]
    pub fn as_raw(&self) -> CUmodule {
        self.core.raw
    }

    /// Gives the raw module away: it is the caller's to unload.
    ///
    /// # Errors
    /// [`CloseError`] with the handle if other handles or functions still use the module, or if it is its library's.
    pub fn into_raw(self) -> std::result::Result<CUmodule, CloseError<Self>> {
        let doing = "give the module away";
        let mut core = self.into_sole_owner(doing)?;
        let given = if let Ownership::Library(_) = core.ownership {
            Err(Error::invalid("it belongs to its library"))
        } else {
            core.symbols.wait_on_host()
        };
        match given {
            Ok(()) => Ok(std::mem::replace(&mut core.raw, std::ptr::null_mut())),
            Err(error) => {
                let handle = Self::from_core(Arc::new(core));
                Err(CloseError::new(error.doing(doing), Some(handle)))
            }
        }
    }

    /// What the driver's compiler remarked while it loaded the module; mostly empty, unless it was
    /// [asked to be verbose](JitOptions::verbose_log) and did not find the compiled code in its cache.
    #[must_use]
    pub fn info_log(&self) -> &str {
        &self.core.info_log
    }

    /// How long the driver's compiler took; `None` where it compiled nothing, because the code was in its cache or was
    /// compiled before.
    #[doc(alias = "CU_JIT_WALL_TIME")]
    #[must_use]
    pub fn compile_time(&self) -> Option<Duration> {
        self.core.wall_time
    }

    /// Whether both handles are of one module.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.core, &other.core)
    }

    /// Unloads the module and reports what that returns, which `Drop` cannot. It waits for the kernels that run.
    ///
    /// A borrowed module and that of a library are only let go.
    ///
    /// # Errors
    /// [`CloseError`] with the handle if other handles or functions still use the module; what the driver returns.
    #[doc(alias = "cuModuleUnload")]
    pub fn close(self) -> std::result::Result<(), CloseError<Self>> {
        if let Err(error) = crate::process::permit() {
            return Err(CloseError::new(
                error.doing("unload the module"),
                Some(self),
            ));
        }
        let mut core = self.into_sole_owner("unload the module")?;
        let context = Arc::clone(&core.context);
        // Unloading would end a capture that another thread has begun, unless this thread does not mind.
        let result = crate::stream::relaxed(context.driver(), || core.unload());
        let result = context.watch(result).doing(|| "unload the module");
        result.map_err(|error| CloseError::new(error, None))
    }

    fn into_sole_owner(
        self,
        doing: &'static str,
    ) -> std::result::Result<ModuleCore, CloseError<Self>> {
        Arc::try_unwrap(self.core).map_err(|core| {
            let reason = "other handles or functions of it still use it";
            let error = Error::new(ErrorKind::StillShared, reason).doing(doing);
            CloseError::new(error, Some(Self { core }))
        })
    }
}

impl ModuleCore {
    /// What a library is in a context; `was_used` if it was already used there before.
    pub(crate) fn of_library(
        raw: CUmodule,
        context: &Arc<ContextCore>,
        library: Arc<LibraryCore>,
        text: Option<Arc<KeptText>>,
        (was_used, variables): (bool, Arc<[Box<str>]>),
    ) -> Arc<Self> {
        Arc::new(Self {
            raw,
            context: Arc::clone(context),
            ownership: Ownership::Library(library),
            info_log: "".into(),
            wall_time: None,
            text,
            symbols: Symbols::new(was_used, variables),
        })
    }

    pub(crate) fn context(&self) -> &Arc<ContextCore> {
        &self.context
    }

    pub(crate) fn driver(&self) -> &Driver {
        self.context.driver()
    }

    pub(crate) fn as_raw(&self) -> CUmodule {
        self.raw
    }

    /// Whether other contexts have modules of the same code, with which they share managed variables.
    fn is_of_library(&self) -> bool {
        matches!(self.ownership, Ownership::Library(_))
    }

    fn text(&self) -> Option<&KeptText> {
        self.text.as_deref()
    }

    /// Unloads the module if it is ours and was not unloaded yet; if the driver refuses, it is leaked.
    fn unload(&mut self) -> Result<()> {
        let raw = std::mem::replace(&mut self.raw, std::ptr::null_mut());
        if raw.is_null() || !self.context.may_release() {
            return Ok(());
        }
        match &self.ownership {
            Ownership::Owned => self.symbols.wait_on_host()?,
            Ownership::Borrowed => return Ok(()),
            Ownership::Library(library) => {
                return self.symbols.wait_on_host().inspect_err(|_| library.lose());
            }
        }
        let _current = self.context.push()?;
        // SAFETY: the module is live and ours, and nothing uses it any more.
        unsafe { call!(self.driver(), cuModuleUnload(raw)) }
    }
}

impl Drop for ModuleCore {
    fn drop(&mut self) {
        if self.raw.is_null() || matches!(self.ownership, Ownership::Borrowed) {
            return;
        }
        if process::in_host_function() {
            let raw = std::mem::replace(&mut self.raw, std::ptr::null_mut());
            process::postpone(Box::new(Self {
                raw,
                context: Arc::clone(&self.context),
                ownership: self.ownership.clone(),
                info_log: "".into(),
                wall_time: None,
                text: None,
                symbols: std::mem::replace(&mut self.symbols, Symbols::new(false, Arc::from([]))),
            }));
            return;
        }
        let context = Arc::clone(&self.context);
        context.release("unload a module", || self.unload());
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("raw", &self.core.raw)
            .finish_non_exhaustive()
    }
}
