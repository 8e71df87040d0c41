//! Contexts of our own, beside the primary one.

use cuda_sys::CUctx_flags;

use super::{Context, Ownership};
use crate::call;
use crate::device::Device;
use crate::error::{Doing, Result};

/// How a created context behaves, above all how the host waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ContextFlags(u32);

impl ContextFlags {
    /// The driver decides between spinning and yielding.
    pub const SCHEDULE_AUTO: Self = Self(CUctx_flags::CU_CTX_SCHED_AUTO.0);
    /// Waiting threads spin: the least latency, at the price of a busy core.
    pub const SCHEDULE_SPIN: Self = Self(CUctx_flags::CU_CTX_SCHED_SPIN.0);
    /// Waiting threads yield to others.
    pub const SCHEDULE_YIELD: Self = Self(CUctx_flags::CU_CTX_SCHED_YIELD.0);
    /// Waiting threads sleep.
    pub const SCHEDULE_BLOCKING_SYNC: Self = Self(CUctx_flags::CU_CTX_SCHED_BLOCKING_SYNC.0);
    /// Local memory that a launch needed is kept for the next one.
    pub const KEEP_LOCAL_MEMORY: Self = Self(CUctx_flags::CU_CTX_LMEM_RESIZE_TO_MAX.0);

    /// The bits as the driver takes them.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

impl std::ops::BitOr for ContextFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Context {
    /// A context of its own on `device`, destroyed with the last thing made through it.
    pub(crate) fn create(device: &Device, flags: ContextFlags) -> Result<Self> {
        let driver = device.driver();
        let mut raw = std::ptr::null_mut();
        // The second ABI version is the one that every driver has.
        // SAFETY: the pointer is to a live handle.
        unsafe {
            call!(
                driver,
                cuCtxCreate_v2(&raw mut raw, flags.0, device.as_raw())
            )
        }
        .doing(|| format!("create a context on device {}", device.ordinal()))?;
        let context = Self::adopt(device.clone(), raw, Ownership::Created);
        // Creating also pushes, which the caller did not ask for.
        let mut popped = std::ptr::null_mut();
        // SAFETY: the pointer is to a live handle; the new context is on top of this thread's stack.
        unsafe { call!(driver, cuCtxPopCurrent_v2(&raw mut popped)) }
            .doing(|| "restore the current context")?;
        Ok(context)
    }
}
