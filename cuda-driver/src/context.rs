//! Contexts: what a device is used through. Streams, modules and memory belong to one.
//!
//! C groups: primary context management and context management. Calls that need a current context push ours and pop it
//! again; the caller's current context is never changed behind its back.

mod checking;
mod core;
mod created;
mod current;
mod deferred;
mod events;
mod limits;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use cuda_sys::{CUcontext, CUdevice};

pub(crate) use self::core::ContextCore;
use self::core::Ownership;
pub use checking::LaunchChecking;
pub use created::ContextFlags;
pub use current::CurrentContext;
pub(crate) use deferred::{Deferred, drop_owner};
pub(crate) use events::{PooledEvent, RawEvent};
pub use limits::{CacheConfig, Limit};

use crate::call;
use crate::close::CloseError;
use crate::device::Device;
use crate::driver::{Driver, context_key};
use crate::error::{Doing, Error, ErrorKind, Result};
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

/// A number that no other stream of this process has or had.
pub(crate) fn next_stream_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Context {
    /// The device's primary context, kept until the last handle is gone.
    pub(crate) fn primary(device: &Device) -> Result<Self> {
        // Before the first lock, which another thread may have held when this process was forked.
        process::permit()?;
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
        let device = Device::from_raw(driver, device)?;
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
        self.core.synchronize()?;
        process::drop_postponed();
        self.core.collect_in_passing();
        Ok(())
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
    #[doc(alias = "cuCtxDestroy")]
    pub fn close(self) -> std::result::Result<(), CloseError<Self>> {
        if let Err(error) = process::permit() {
            return Err(CloseError::new(
                error.doing("close the context"),
                Some(self),
            ));
        }
        match Arc::try_unwrap(self.core) {
            Ok(mut core) => core
                .destroy(true)
                .map_err(|error| CloseError::new(error, None)),
            Err(core) => {
                let reason = "other handles, streams, modules or memory still use it";
                let error = Error::new(ErrorKind::StillShared, reason).doing("close the context");
                Err(CloseError::new(error, Some(Self { core })))
            }
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

/// Free and total memory of a device, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that could be allocated.
    pub free: usize,
    /// Bytes that the device has.
    pub total: usize,
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
