//! Contexts: what a device is used through. Streams, modules and memory belong to one.
//!
//! C groups: primary context management and context management. Calls that need a current context push ours and pop it
//! again; the caller's current context is never changed behind its back.

mod created;
mod current;
mod deferred;
mod events;
mod limits;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cuda_sys::{CUcontext, CUdevice, CUresult};

pub use created::ContextFlags;
pub use current::CurrentContext;
pub(crate) use deferred::{Deferred, drop_owner};
pub(crate) use events::{PooledEvent, RawEvent};
pub use limits::{CacheConfig, Limit};

use crate::call;
use crate::device::Device;
use crate::driver::{Driver, context_key};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::memory::staging::StagingPool;
use crate::process;

/// A context of a device; cheap to clone, and alive as long as anything that was made through it.
///
/// [`Device::primary_context`] is the one that PyTorch, CuPy and the CUDA runtime use too; created and borrowed contexts
/// are for those who need them. Any thread may use and drop any handle.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// use cuda_driver::Driver;
///
/// let context = Driver::simulated()?.device(0)?.primary_context()?;
/// let stream = context.create_stream()?;
/// let data = stream.upload(&[1.0_f32, 2.0, 3.0])?;
/// assert_eq!(data.to_vec()?, [1.0, 2.0, 3.0]);
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Context {
    core: Arc<ContextCore>,
}

/// Who gives the raw context back, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ownership {
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
    driver: Driver,
    device: Device,
    raw: CUcontext,
    ownership: Mutex<Ownership>,
    poisoned: AtomicBool,
    legacy_stream: u64,
    events: events::EventPool,
    staging: StagingPool,
    deferred: Mutex<Vec<Deferred>>,
    stream_ordered_allocator: OnceLock<bool>,
}

// SAFETY: a CUcontext may be used from any thread (the driver is thread-safe, and which context is current is a property
// of each thread, not of the context); all else in the core is `Send`.
unsafe impl Send for ContextCore {}
// SAFETY: as for `Send`; everything that changes is behind a lock or atomic.
unsafe impl Sync for ContextCore {}

/// A number that no other stream of this process has or had.
pub(crate) fn next_stream_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Context {
    /// The device's primary context, kept until the last handle is gone.
    pub(crate) fn primary(device: &Device) -> Result<Self> {
        let driver = device.driver();
        let mut contexts = driver.contexts();
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is to a live handle.
        unsafe {
            call!(
                driver,
                cuDevicePrimaryCtxRetain(&raw mut raw, device.as_raw())
            )
        }
        .doing(|| format!("retain the primary context of device {}", device.ordinal()))?;
        let existing = contexts
            .get(&context_key(raw))
            .and_then(std::sync::Weak::upgrade);
        if let Some(core) = existing {
            let mut ownership = core
                .ownership
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if *ownership == Ownership::Borrowed {
                *ownership = Ownership::Primary;
            } else {
                // The core has its reference already.
                // SAFETY: one reference was retained above.
                let released =
                    unsafe { call!(driver, cuDevicePrimaryCtxRelease_v2(device.as_raw())) };
                if let Err(error) = released {
                    log::error!("cannot give a reference to the primary context back: {error}");
                }
            }
            drop(ownership);
            return Ok(Self { core });
        }
        let core = Arc::new(ContextCore::new(device.clone(), raw, Ownership::Primary));
        contexts.insert(context_key(raw), Arc::downgrade(&core));
        Ok(Self { core })
    }

    /// The context object for a raw context, an existing one if there is one.
    fn adopt(device: Device, raw: CUcontext, ownership: Ownership) -> Self {
        let driver = device.driver().clone();
        let mut contexts = driver.contexts();
        let existing = contexts
            .get(&context_key(raw))
            .and_then(std::sync::Weak::upgrade);
        if let Some(core) = existing {
            return Self { core };
        }
        let core = Arc::new(ContextCore::new(device, raw, ownership));
        contexts.insert(context_key(raw), Arc::downgrade(&core));
        Self { core }
    }

    /// A context that somebody else made and keeps alive.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidHandle`] if the driver does not know the context.
    ///
    /// # Safety
    /// `raw` is a context of `driver`, and stays alive until everything made through the returned handle is dropped.
    #[doc(alias = "cuCtxGetDevice")]
    pub unsafe fn from_borrowed_raw(driver: &Driver, raw: CUcontext) -> Result<Self> {
        let mut device: CUdevice = 0;
        {
            let _current = CurrentContext::push_raw(driver, raw)?;
            // SAFETY: the pointer is to a live integer, and the context is current.
            unsafe { call!(driver, cuCtxGetDevice(&raw mut device)) }
                .doing(|| "borrow a foreign context")?;
        }
        let device = Device::from_raw(driver, device);
        Ok(Self::adopt(device, raw, Ownership::Borrowed))
    }

    /// The driver that the context belongs to.
    #[must_use]
    pub fn driver(&self) -> &Driver {
        &self.core.driver
    }

    /// The device that the context is of.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.core.device
    }

    /// The raw context, which stays ours.
    #[must_use]
    pub fn as_raw(&self) -> CUcontext {
        self.core.raw
    }

    /// Whether both handles are of one context.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.core, &other.core)
    }

    /// Whether an error has destroyed the context, so that every call on it fails.
    ///
    /// It is known once some call has returned the error. What the context holds is not released any more; make a new
    /// process, or for a created context a new context.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.core.is_poisoned()
    }

    /// Makes this context current on the calling thread until the guard is dropped.
    ///
    /// Only the raw and checked tiers need it; everything safe does this by itself.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuCtxPushCurrent")]
    pub fn push(&self) -> Result<CurrentContext<'_>> {
        self.core.push()
    }

    /// Waits until everything that was enqueued in this context, on any stream, is done.
    ///
    /// # Errors
    /// What the driver returns, an error of an earlier operation included.
    #[doc(alias = "cuCtxSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        let _current = self.push()?;
        // SAFETY: the context is current.
        let result = unsafe { call!(self.driver(), cuCtxSynchronize()) };
        self.core.watch(result).doing(|| "synchronize the context")
    }

    /// Free and total memory of the device, in bytes.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuMemGetInfo")]
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        let _current = self.push()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both pointers are to live integers, and the context is current.
        unsafe {
            call!(
                self.driver(),
                cuMemGetInfo_v2(&raw mut free, &raw mut total)
            )
        }
        .doing(|| "read the memory's state")?;
        Ok(MemoryInfo { free, total })
    }

    /// Drops the owners of external memory and the host functions whose work is done.
    ///
    /// Ordinary calls do so in passing; this does it now. Returns how many are still in use.
    pub fn collect(&self) -> usize {
        process::drop_postponed();
        self.core.collect()
    }

    /// Gives the context back and reports what that returns, which `Drop` cannot.
    ///
    /// # Errors
    /// [`CloseError`] with the handle if anything still uses the context: other handles, streams, modules or memory.
    #[doc(alias = "cuDevicePrimaryCtxRelease")]
    pub fn close(self) -> std::result::Result<(), CloseError<Self>> {
        match Arc::try_unwrap(self.core) {
            Ok(mut core) => core.destroy().map_err(|error| CloseError {
                error,
                handle: None,
            }),
            Err(core) => Err(CloseError {
                error: Error::new(
                    ErrorKind::StillShared,
                    "other handles, streams, modules or memory still use it",
                )
                .doing("close the context"),
                handle: Some(Self { core }),
            }),
        }
    }

    #[inline]
    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        &self.core
    }

    pub(crate) fn from_core(core: Arc<ContextCore>) -> Self {
        Self { core }
    }
}

/// What `close` returns when it fails: why, and the handle if it is still good.
#[derive(Debug)]
pub struct CloseError<T> {
    error: Error,
    handle: Option<T>,
}

impl<T> CloseError<T> {
    pub(crate) fn new(error: Error, handle: Option<T>) -> Self {
        Self { error, handle }
    }

    /// Why it failed.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The handle, if the resource was not released.
    #[must_use]
    pub fn into_handle(self) -> Option<T> {
        self.handle
    }
}

impl<T> fmt::Display for CloseError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: fmt::Debug> std::error::Error for CloseError<T> {}

impl<T> From<CloseError<T>> for Error {
    fn from(error: CloseError<T>) -> Self {
        error.error
    }
}

/// Free and total memory of a device, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that could be allocated.
    pub free: usize,
    /// Bytes that the device has.
    pub total: usize,
}

impl ContextCore {
    fn new(device: Device, raw: CUcontext, ownership: Ownership) -> Self {
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
            stream_ordered_allocator: OnceLock::new(),
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

    /// Notes when a result is an error that destroys the context.
    #[inline]
    pub(crate) fn watch<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            self.note(error);
        }
        result
    }

    #[cold]
    fn note(&self, error: &Error) {
        let destroyed = error.is_status(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
        if error.is_sticky() || destroyed {
            self.poisoned.store(true, Ordering::Relaxed);
        }
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
    fn report(&self, what: &str, error: &Error) {
        self.note(error);
        let silent = matches!(
            error.kind(),
            ErrorKind::Deinitialized | ErrorKind::ContextLost
        );
        if !silent {
            log::error!("cannot {what}: {error}");
        }
    }

    fn destroy(&mut self) -> Result<()> {
        if self.raw.is_null() {
            return Ok(());
        }
        self.collect_all();
        if self.may_release() {
            let current = self.push();
            if current.is_ok() {
                StagingPool::destroy(self);
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
        if process::is_forked() {
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
}

impl Drop for ContextCore {
    fn drop(&mut self) {
        if let Err(error) = self.destroy() {
            let silent = self.is_poisoned()
                || error.is_sticky()
                || matches!(
                    error.kind(),
                    ErrorKind::Deinitialized | ErrorKind::ContextLost
                );
            if !silent {
                log::error!("{error}");
            }
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("device", &self.core.device.ordinal())
            .field("raw", &self.core.raw)
            .field("poisoned", &self.core.is_poisoned())
            .finish_non_exhaustive()
    }
}
