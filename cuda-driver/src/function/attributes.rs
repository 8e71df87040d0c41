//! What a kernel needs of the device, and what can be asked of the driver for it.

use std::sync::{Mutex, PoisonError};

use cuda_sys::CUfunction_attribute as Attribute;

use super::{Function, FunctionCore};
use crate::CacheConfig;
use crate::call;
use crate::error::{Doing, Result, count};

/// What a kernel needs and may use. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FunctionAttributes {
    /// The most threads that a block of this kernel can have on this device.
    pub max_threads_per_block: u32,
    /// Shared memory that the kernel declares, for each block.
    pub static_shared_bytes: u32,
    /// Constant memory that the kernel declares.
    pub const_bytes: u32,
    /// Local memory of each thread.
    pub local_bytes: u32,
    /// Registers of each thread.
    pub registers: u32,
    /// The virtual architecture that the kernel was compiled for, as major × 10 + minor.
    pub ptx_version: u32,
    /// The architecture of the machine code in use, as major × 10 + minor.
    pub binary_version: u32,
    /// Dynamic shared memory that a launch may ask for.
    pub max_dynamic_shared_bytes: u32,
}

/// Which part of the memory that L1 cache and shared memory have in common should be shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharedCarveout {
    /// The driver decides.
    Default,
    /// As much L1 cache as possible.
    MaxL1,
    /// As much shared memory as possible.
    MaxShared,
    /// That many percent of the most shared memory there can be, rounded up to what the device has.
    Percent(u8),
}

impl SharedCarveout {
    /// The percentage, unless the driver decides.
    pub(crate) fn percent(self) -> Option<u8> {
        match self {
            Self::Default => None,
            Self::MaxL1 => Some(0),
            Self::MaxShared => Some(100),
            Self::Percent(percent) => Some(percent),
        }
    }
}

impl Function {
    /// What the kernel needs and may use.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuFuncGetAttribute")]
    pub fn attributes(&self) -> Result<FunctionAttributes> {
        FunctionAttributes::read(|attribute| self.core.raw_attribute(attribute))
    }
}

impl FunctionAttributes {
    /// All of them, by a way to ask for one.
    pub(crate) fn read(ask: impl Fn(Attribute) -> Result<i32>) -> Result<Self> {
        let read = |attribute| Ok::<u32, crate::Error>(u32::try_from(ask(attribute)?)?);
        Ok(Self {
            max_threads_per_block: read(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            static_shared_bytes: read(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            const_bytes: read(Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
            local_bytes: read(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            registers: read(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            ptx_version: read(Attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION)?,
            binary_version: read(Attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION)?,
            max_dynamic_shared_bytes: read(
                Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            )?,
        })
    }
}

impl Function {
    /// Allows launches of this kernel that many bytes of dynamic shared memory, beyond the 48 KiB that all may have.
    ///
    /// [`Function::prepare`] does so by itself where it is needed. A number below what a prepared launch asks for makes that
    /// fail.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the device has not that much for a block,
    /// together with what the kernel declares.
    #[doc(alias = "cuFuncSetAttribute")]
    pub fn set_max_dynamic_shared_bytes(&self, bytes: u32) -> Result<()> {
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let value = i32::try_from(bytes).unwrap_or(i32::MAX);
        self.set(attribute, value).doing(|| {
            format!(
                "allow `{}` {} of dynamic shared memory",
                self.name(),
                count(bytes, "byte")
            )
        })
    }

    /// Allows launches of this kernel clusters of more than 8 blocks, where the device can; a program that relies on them
    /// runs on fewer devices.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED")]
    #[doc(alias = "cuFuncSetAttribute")]
    pub fn allow_non_portable_clusters(&self) -> Result<()> {
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
        self.set(attribute, 1)
            .doing(|| format!("allow `{}` large clusters", self.name()))
    }

    /// Asks for a division between L1 cache and shared memory.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuFuncSetAttribute")]
    pub fn set_preferred_shared_carveout(&self, carveout: SharedCarveout) -> Result<()> {
        let value = carveout.percent().map_or(-1, i32::from);
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
        self.set(attribute, value)
            .doing(|| format!("set the shared memory carve-out of `{}`", self.name()))
    }

    /// Asks for a division between L1 cache and shared memory, on devices of the first generations that had one.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuFuncSetCacheConfig")]
    pub fn set_cache_config(&self, config: CacheConfig) -> Result<()> {
        let core = &*self.core;
        let raw = config.as_raw();
        let _current = core.context.push()?;
        // SAFETY: the function is live as long as its module.
        unsafe { call!(core.context.driver(), cuFuncSetCacheConfig(core.raw, raw)) }
            .doing(|| format!("set the cache configuration of `{}`", self.name()))
    }

    /// The most threads that a block can have on this device.
    #[cfg(feature = "kernels")]
    pub(crate) fn max_threads_per_block(&self) -> Result<u32> {
        let most = Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        Ok(u32::try_from(self.core.raw_attribute(most)?)?)
    }

    fn set(&self, attribute: Attribute, value: i32) -> Result<()> {
        self.core.set_raw_attribute(attribute, value)
    }
}

/// Held while the dynamic shared memory that a kernel is allowed is compared and raised: several objects may stand for one
/// kernel.
static RAISING: Mutex<()> = Mutex::new(());

impl FunctionCore {
    fn set_raw_attribute(&self, attribute: Attribute, value: i32) -> Result<()> {
        let _current = self.context.push()?;
        // SAFETY: the function is live as long as its module.
        unsafe {
            call!(
                self.context.driver(),
                cuFuncSetAttribute(self.raw, attribute, value)
            )
        }
    }

    /// Allows launches at least that many bytes of dynamic shared memory; what others were allowed is never lowered.
    pub(crate) fn raise_dynamic_shared_bytes(&self, bytes: u32) -> Result<()> {
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let wanted = i32::try_from(bytes).unwrap_or(i32::MAX);
        let _raising = RAISING.lock().unwrap_or_else(PoisonError::into_inner);
        if self.raw_attribute(attribute)? >= wanted {
            return Ok(());
        }
        self.set_raw_attribute(attribute, wanted)
    }
}
