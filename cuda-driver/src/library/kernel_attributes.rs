//! What a library's kernel needs on a device, and what can be asked of the driver for it there.

use cuda_sys::CUfunction_attribute as Attribute;

use super::kernel::{Kernel, RawKernel};
use crate::CacheConfig;
use crate::call;
use crate::device::Device;
use crate::error::{Doing, Error, ErrorKind, Result, count};
use crate::function::{Function, FunctionAttributes, SharedCarveout};

impl Kernel {
    /// What the kernel needs and may use on a device.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuKernelGetAttribute")]
    pub fn attributes(&self, device: &Device) -> Result<FunctionAttributes> {
        let Some(RawKernel(raw)) = self.raw else {
            return self.on(device)?.attributes();
        };
        self.require_driver(device)?;
        FunctionAttributes::read(|attribute| {
            let mut value = 0;
            let (out, device) = (&raw mut value, device.as_raw());
            // SAFETY: the kernel is live as long as its library, and the pointer is to a live integer.
            let read = unsafe {
                call!(
                    self.library.driver,
                    cuKernelGetAttribute(out, attribute, raw, device)
                )
            };
            read.doing(|| format!("read {attribute:?} of `{}`", self.name()))?;
            Ok(value)
        })
    }

    /// Allows launches of this kernel on a device that many bytes of dynamic shared memory, beyond the 48 KiB that all may
    /// have, in every context of the device.
    ///
    /// Drivers that do not know libraries set it in the device's primary context.
    ///
    /// # Errors
    /// As [`Function::set_max_dynamic_shared_bytes`].
    #[doc(alias = "cuKernelSetAttribute")]
    pub fn set_max_dynamic_shared_bytes(&self, device: &Device, bytes: u32) -> Result<()> {
        if self.raw.is_none() {
            return self.on(device)?.set_max_dynamic_shared_bytes(bytes);
        }
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let value = i32::try_from(bytes).unwrap_or(i32::MAX);
        self.set(device, attribute, value).doing(|| {
            format!(
                "allow `{}` {} of dynamic shared memory",
                self.name(),
                count(bytes, "byte")
            )
        })
    }

    /// Asks for a division between L1 cache and shared memory on a device.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuKernelSetAttribute")]
    pub fn set_preferred_shared_carveout(
        &self,
        device: &Device,
        carveout: SharedCarveout,
    ) -> Result<()> {
        if self.raw.is_none() {
            return self.on(device)?.set_preferred_shared_carveout(carveout);
        }
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
        let value = carveout.percent().map_or(-1, i32::from);
        self.set(device, attribute, value)
            .doing(|| format!("set the shared memory carve-out of `{}`", self.name()))
    }

    /// Asks for a division between L1 cache and shared memory, on devices of the first generations that had one.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuKernelSetCacheConfig")]
    pub fn set_cache_config(&self, device: &Device, config: CacheConfig) -> Result<()> {
        let Some(RawKernel(raw)) = self.raw else {
            return self.on(device)?.set_cache_config(config);
        };
        self.require_driver(device)?;
        let (config, device) = (config.as_raw(), device.as_raw());
        // SAFETY: the kernel is live as long as its library.
        unsafe {
            call!(
                self.library.driver,
                cuKernelSetCacheConfig(raw, config, device)
            )
        }
        .doing(|| format!("set the cache configuration of `{}`", self.name()))
    }

    fn set(&self, device: &Device, attribute: Attribute, value: i32) -> Result<()> {
        self.require_driver(device)?;
        let raw = self.as_raw().unwrap_or(std::ptr::null_mut());
        let device = device.as_raw();
        // SAFETY: the kernel is live as long as its library.
        unsafe {
            call!(
                self.library.driver,
                cuKernelSetAttribute(attribute, value, raw, device)
            )
        }
    }

    fn require_driver(&self, device: &Device) -> Result<()> {
        if self.library.driver.is_same(device.driver()) {
            return Ok(());
        }
        let reason = "the library and the device belong to different drivers";
        Err(Error::new(ErrorKind::Mismatch, reason))
    }

    /// The kernel in the device's primary context.
    fn on(&self, device: &Device) -> Result<Function> {
        self.in_context(&device.primary_context()?)
    }
}
