//! A library as the driver knows it, and its modules in contexts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cuda_sys::CUlibrary;

use crate::call;
use crate::driver::Driver;
use crate::error::Result;
use crate::module::{Encoded, Image, LogBuffer, ModuleCore};

/// # Invariants
/// `raw` is a live library and ours, until `unload`.
pub(super) struct Native {
    raw: CUlibrary,
    kept: Kept,
    /// The module of each context, of which the first went into the list when it was made.
    modules: Mutex<Vec<(usize, Weak<ModuleCore>)>>,
    /// Whether something may use it for ever.
    is_lost: AtomicBool,
}

/// What the driver may read and write until the library is unloaded.
#[derive(Default)]
pub(super) struct Kept {
    /// What the compiler remarks.
    pub(super) info: Option<LogBuffer>,
    /// What the compiler refuses.
    pub(super) error: Option<LogBuffer>,
    /// What it refused when the library was loaded, with lines of the source.
    pub(super) first_error: String,
    /// The options' values, which the driver may write to.
    pub(super) encoded: Option<Encoded>,
    pub(super) image: Option<Image<'static>>,
}

// SAFETY: a CUlibrary may be used from any thread (the driver is thread-safe); what it keeps is only read by us, or atomic.
unsafe impl Send for Native {}
// SAFETY: as for `Send`; what changes is behind a lock or atomic.
unsafe impl Sync for Native {}

impl Native {
    pub(super) fn new(raw: CUlibrary, kept: Kept) -> Self {
        Self {
            raw,
            kept,
            modules: Mutex::new(Vec::new()),
            is_lost: AtomicBool::new(false),
        }
    }

    pub(super) fn as_raw(&self) -> CUlibrary {
        self.raw
    }

    pub(super) fn info_log(&self) -> String {
        let log = self.kept.info.as_ref();
        log.map(LogBuffer::text).unwrap_or_default()
    }

    /// What the compiler refuses, also if it is only asked when a context needs the code.
    pub(super) fn error_log(&self) -> String {
        if !self.kept.first_error.is_empty() {
            return self.kept.first_error.clone();
        }
        let log = self.kept.error.as_ref();
        log.map(LogBuffer::text).unwrap_or_default()
    }

    fn modules(&self) -> std::sync::MutexGuard<'_, Vec<(usize, Weak<ModuleCore>)>> {
        // The list is consistent between any two steps.
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The module in a context, if it is in use; otherwise whether it was.
    pub(super) fn find(&self, context: usize) -> Result<Arc<ModuleCore>, bool> {
        let modules = self.modules();
        let known = modules.iter().find(|(key, _)| *key == context);
        match known {
            Some((_, module)) => module.upgrade().ok_or(true),
            None => Err(false),
        }
    }

    /// Enters a module, unless another thread has just done so.
    pub(super) fn enter(&self, context: usize, module: Arc<ModuleCore>) -> Arc<ModuleCore> {
        let mut modules = self.modules();
        let Some((_, known)) = modules.iter_mut().find(|(key, _)| *key == context) else {
            modules.push((context, Arc::downgrade(&module)));
            return module;
        };
        if let Some(known) = known.upgrade() {
            drop(modules);
            return known;
        }
        // There was one, perhaps only since `find` was asked, and what it was used for may still run.
        module.note_kernel();
        *known = Arc::downgrade(&module);
        module
    }

    /// Notes that something may use the library for ever, so that it is never unloaded.
    pub(super) fn lose(&self) {
        self.is_lost.store(true, Ordering::Release);
    }

    /// Unloads the library if that was not done yet; if the driver refuses, it is leaked with what the driver may use.
    pub(super) fn unload(&mut self, driver: &Driver) -> Result<()> {
        let raw = std::mem::replace(&mut self.raw, std::ptr::null_mut());
        if raw.is_null() {
            return Ok(());
        }
        let kept = std::mem::take(&mut self.kept);
        if self.is_lost.load(Ordering::Acquire) {
            log::error!("a library is leaked: an operation on its variables cannot be awaited");
            std::mem::forget(kept);
            return Ok(());
        }
        // SAFETY: the library is live and ours, and nothing uses it any more.
        let result = unsafe { call!(driver, cuLibraryUnload(raw)) };
        if result.is_err() {
            std::mem::forget(kept);
        }
        result
    }

    /// Moves everything out, for a thread that may not call the driver.
    pub(super) fn take(&mut self) -> Self {
        let raw = std::mem::replace(&mut self.raw, std::ptr::null_mut());
        let mut taken = Self::new(raw, std::mem::take(&mut self.kept));
        std::mem::swap(&mut taken.is_lost, &mut self.is_lost);
        taken
    }

    pub(super) fn is_unloaded(&self) -> bool {
        self.raw.is_null()
    }
}
