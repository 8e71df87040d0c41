//! Devices: what can be asked about one without a context, and the contexts to use it through.
//!
//! C group: device management.

use std::fmt;

use cuda_sys::{CUdevice, CUdevice_attribute};

use crate::call;
use crate::context::{Context, ContextFlags};
use crate::driver::Driver;
use crate::error::{Doing, Result};

/// A device of a driver; cheap to clone.
#[derive(Clone)]
pub struct Device {
    driver: Driver,
    raw: CUdevice,
    ordinal: usize,
}

impl Device {
    pub(crate) fn by_ordinal(driver: &Driver, ordinal: usize) -> Result<Self> {
        let mut raw = 0;
        let number = std::ffi::c_int::try_from(ordinal).unwrap_or(std::ffi::c_int::MAX);
        // SAFETY: the pointer is to a live handle.
        unsafe { call!(driver, cuDeviceGet(&raw mut raw, number)) }
            .doing(|| format!("find device {ordinal}"))?;
        Ok(Self {
            driver: driver.clone(),
            raw,
            ordinal,
        })
    }

    /// The device's context that all libraries of the process share.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuDevicePrimaryCtxRetain")]
    pub fn primary_context(&self) -> Result<Context> {
        Context::primary(self)
    }

    /// A context of its own, apart from the primary one.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuCtxCreate")]
    pub fn create_context(&self, flags: ContextFlags) -> Result<Context> {
        Context::create(self, flags)
    }

    /// The driver that the device belongs to.
    #[must_use]
    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The device's number, from 0.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// The raw device.
    #[must_use]
    pub fn as_raw(&self) -> CUdevice {
        self.raw
    }

    /// The value of an attribute by its C name, of attributes newer than this crate too.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the driver does not know the attribute.
    #[doc(alias = "cuDeviceGetAttribute")]
    pub fn raw_attribute(&self, attribute: CUdevice_attribute) -> Result<i32> {
        let mut value = 0;
        // SAFETY: the pointer is to a live integer.
        unsafe {
            call!(
                self.driver,
                cuDeviceGetAttribute(&raw mut value, attribute, self.raw)
            )
        }
        .doing(|| format!("read {attribute:?}"))?;
        Ok(value)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("ordinal", &self.ordinal)
            .finish_non_exhaustive()
    }
}

impl Device {
    pub(crate) fn by_pci_bus_id(driver: &Driver, address: &str) -> Result<Self> {
        let text = std::ffi::CString::new(address).map_err(|_| {
            crate::Error::invalid("the PCI address contains a NUL").doing("find a device")
        })?;
        let mut raw = 0;
        // SAFETY: the pointers are to a live handle and a text that ends with NUL.
        unsafe { call!(driver, cuDeviceGetByPCIBusId(&raw mut raw, text.as_ptr())) }
            .doing(|| format!("find the device at `{address}`"))?;
        Ok(Self::from_raw(driver, raw))
    }

    /// The device of a raw handle, which is its ordinal on real drivers.
    pub(crate) fn from_raw(driver: &Driver, raw: CUdevice) -> Self {
        let count = driver.device_count().unwrap_or(0);
        let mut candidates =
            (0..count).filter_map(|ordinal| Self::by_ordinal(driver, ordinal).ok());
        candidates.find(|device| device.raw == raw).unwrap_or(Self {
            driver: driver.clone(),
            raw,
            ordinal: usize::try_from(raw).unwrap_or(0),
        })
    }

    /// The ordinal as the driver reports it for pointers.
    pub(crate) fn raw_ordinal(&self) -> CUdevice {
        self.raw
    }
}
