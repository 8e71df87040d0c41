//! What all handles of one context share, and its end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use cuda_sys::{CUcontext, CUresult};

use super::checking::Checking;
use super::{CurrentContext, Deferred, events, next_stream_number};
use crate::call;
use crate::device::Device;
use crate::driver::{Driver, context_key};
use crate::error::{Doing, Error, Result};
use crate::launch::LaunchLog;
use crate::memory::staging::StagingPool;
use crate::process;

/// Who gives the raw context back, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ownership {
    /// One reference to the device's primary context is ours.
    Primary,
    /// The context is ours alone.
    Created,
    /// Somebody else's, who keeps it alive.
    Borrowed,
}

/// # Invariants
/// * `raw` is a live context of `device`, until `drop` gives it back.
/// * It is the only core of its raw context.
pub(crate) struct ContextCore {
    pub(super) driver: Driver,
    pub(super) device: Device,
    pub(super) raw: CUcontext,
    pub(super) ownership: Mutex<Ownership>,
    pub(super) poisoned: AtomicBool,
    legacy_stream: u64,
    pub(super) events: events::EventPool,
    staging: StagingPool,
    pub(super) deferred: Mutex<Vec<Deferred>>,
    /// How many deferred owners were not dropped yet.
    pub(super) deferred_count: AtomicUsize,
    stream_ordered_allocator: OnceLock<bool>,
    launches: LaunchLog,
    pub(super) checking: Checking,
}

// SAFETY: a CUcontext may be used from any thread (the driver is thread-safe, and which context is current is a property
// of each thread, not of the context); all else in the core is `Send`.
unsafe impl Send for ContextCore {}
// SAFETY: as for `Send`; everything that changes is behind a lock or atomic.
unsafe impl Sync for ContextCore {}

impl ContextCore {
    pub(super) fn new(device: Device, raw: CUcontext, ownership: Ownership) -> Self {
        Self {
            driver: device.driver().clone(),
            device,
            raw,
            ownership: Mutex::new(ownership),
            poisoned: AtomicBool::new(false),
            legacy_stream: next_stream_number(),
            events: events::EventPool::new(),
            staging: StagingPool::new(),
            deferred: Mutex::new(Vec::new()),
            deferred_count: AtomicUsize::new(0),
            stream_ordered_allocator: OnceLock::new(),
            launches: LaunchLog::default(),
            checking: Checking::from_environment(),
        }
    }

    #[inline]
    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    #[inline]
    pub(crate) fn as_raw(&self) -> CUcontext {
        self.raw
    }

    /// The number of the legacy default stream, which lives as long as the context.
    pub(crate) fn legacy_stream_number(&self) -> u64 {
        self.legacy_stream
    }

    /// Whether there is a stream-ordered allocator, once that was asked.
    pub(crate) fn stream_ordered_allocator(&self) -> &OnceLock<bool> {
        &self.stream_ordered_allocator
    }

    /// The launches that are not known to be complete.
    pub(crate) fn launches(&self) -> &LaunchLog {
        &self.launches
    }

    /// Whether each launch waits for its kernel.
    pub(crate) fn checks_launches(&self) -> bool {
        self.checking.is_on()
    }

    pub(crate) fn staging(&self) -> &StagingPool {
        &self.staging
    }

    #[inline]
    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Relaxed)
    }

    pub(crate) fn push(&self) -> Result<CurrentContext<'_>> {
        CurrentContext::push_raw(&self.driver, self.raw)
    }

    /// Makes a call that carries a handle of this context: older drivers want the context to be current for it.
    #[inline]
    pub(crate) fn call(&self, mut call: impl FnMut() -> Result<()>) -> Result<()> {
        match call() {
            Ok(()) => Ok(()),
            Err(error) if error.is_status(CUresult::CUDA_ERROR_INVALID_CONTEXT) => {
                // Such a refusal proves that nothing was done.
                let _current = self.push()?;
                self.watch(call())
            }
            Err(error) => self.watch(Err(error)),
        }
    }

    /// Notes when a result is an error that destroys the context, and adds what the driver knows about it.
    #[inline]
    pub(crate) fn watch<T>(&self, result: Result<T>) -> Result<T> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => {
                self.note(&error);
                Err(self.driver.explain(self.blame(error)))
            }
        }
    }

    #[cold]
    pub(super) fn note(&self, error: &Error) {
        let destroyed = error.is_status(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
        if error.is_sticky() || destroyed {
            self.poisoned.store(true, Ordering::Relaxed);
        }
    }

    /// Adds to an error of a kernel which launches may have caused it.
    #[cold]
    fn blame(&self, error: Error) -> Error {
        if !error.is_sticky() {
            return error;
        }
        error.with_launches(self.launches.at_fault())
    }

    /// Makes the host wait until nothing runs in the context.
    pub(crate) fn synchronize(&self) -> Result<()> {
        let marks = self.launches.mark();
        let _current = self.push()?;
        // SAFETY: the context is current.
        let result = unsafe { call!(self.driver, cuCtxSynchronize()) };
        self.watch(result).doing(|| "synchronize the context")?;
        for (stream, mark) in marks {
            stream.complete(mark);
        }
        Ok(())
    }

    /// Whether a drop may still call the driver.
    #[inline]
    pub(crate) fn may_release(&self) -> bool {
        !self.is_poisoned() && !process::is_forked()
    }

    /// Calls what a drop calls: never changes the state of somebody's capture, and reports to the log.
    #[inline]
    pub(crate) fn release(&self, what: &str, body: impl FnOnce() -> Result<()>) {
        if !self.may_release() {
            return;
        }
        if let Err(error) = crate::stream::relaxed(&self.driver, body) {
            self.report(what, &error);
        }
    }

    /// Tells the log what a drop cannot return.
    #[cold]
    pub(super) fn report(&self, what: &str, error: &Error) {
        self.note(error);
        if !error.is_silent_in_drops() {
            log::error!("cannot {what}: {error}");
        }
    }

    /// Gives everything back; a lost context only if `even_if_poisoned`.
    pub(super) fn destroy(&mut self, even_if_poisoned: bool) -> Result<()> {
        // A forked child has no driver, and locks that other threads held at the fork are held for ever.
        if self.raw.is_null() || process::is_forked() {
            return Ok(());
        }
        self.collect_all();
        if self.may_release() {
            let current = self.push();
            if current.is_ok() {
                crate::stream::relaxed(&self.driver, || StagingPool::destroy(self));
            }
            drop(current);
            for event in self.events.drain() {
                self.destroy_event(event);
            }
        }
        let raw = std::mem::replace(&mut self.raw, std::ptr::null_mut());
        let ownership = *self
            .ownership
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let mut contexts = self.driver.contexts();
        if let Some(entry) = contexts.get(&context_key(raw))
            && entry.strong_count() == 0
        {
            contexts.remove(&context_key(raw));
        }
        drop(contexts);
        if self.is_poisoned() && !even_if_poisoned {
            return Ok(());
        }
        match ownership {
            // SAFETY: one reference to the primary context is ours, and this is where it ends.
            Ownership::Primary => unsafe {
                call!(
                    self.driver,
                    cuDevicePrimaryCtxRelease_v2(self.device.as_raw())
                )
            },
            // SAFETY: the context is ours, and nothing of ours that belongs to it is left.
            Ownership::Created => unsafe { call!(self.driver, cuCtxDestroy_v2(raw)) },
            Ownership::Borrowed => Ok(()),
        }
        .doing(|| "give the context back")
    }

    /// Moves everything out, for a thread that may not call the driver.
    fn take_remains(&mut self) -> Self {
        let mut remains = Self::new(
            self.device.clone(),
            std::mem::replace(&mut self.raw, std::ptr::null_mut()),
            Ownership::Borrowed,
        );
        std::mem::swap(&mut remains.ownership, &mut self.ownership);
        std::mem::swap(&mut remains.poisoned, &mut self.poisoned);
        std::mem::swap(&mut remains.events, &mut self.events);
        std::mem::swap(&mut remains.staging, &mut self.staging);
        std::mem::swap(&mut remains.deferred, &mut self.deferred);
        std::mem::swap(&mut remains.deferred_count, &mut self.deferred_count);
        std::mem::swap(&mut remains.launches, &mut self.launches);
        std::mem::swap(&mut remains.checking, &mut self.checking);
        remains
    }
}

impl Drop for ContextCore {
    fn drop(&mut self) {
        if process::in_host_function() && !self.raw.is_null() {
            let remains = self.take_remains();
            process::postpone(Box::new(remains));
            return;
        }
        if let Err(error) = self.destroy(false)
            && !error.is_sticky()
            && !error.is_silent_in_drops()
        {
            log::error!("{error}");
        }
    }
}
