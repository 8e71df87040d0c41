//! Devices: what can be asked about one without a context, and the contexts to use it through.
//!
//! C group: device management.

mod attribute;
mod compute_capability;
mod pci;
mod peer;
#[cfg(all(test, feature = "simulator"))]
mod tests;
mod uuid;

use std::ffi::{CStr, c_char};
use std::fmt;

use cuda_sys::{CUdevice, CUdevice_attribute, CUresult, CUuuid};

pub use attribute::{
    ComputeMode, DecompressionAlgorithms, NumaConfig, RdmaFlushOptions, RdmaWritesOrdering,
    ShareableHandleTypes,
};
pub use compute_capability::ComputeCapability;
pub use pci::{PciAddress, PciIdentifier};
pub use peer::PeerLink;
pub use uuid::Uuid;

use crate::call;
use crate::context::{Context, ContextFlags};
use crate::driver::Driver;
use crate::error::{Doing, Error, ErrorKind, Result};

/// A device of a driver; cheap to clone.
///
/// Everything here can be asked without a context, and every attribute of the driver has a reader of its own with the
/// right type and unit.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// use cuda_driver::Driver;
///
/// let device = Driver::simulated()?.device(0)?;
/// println!("{} at {}", device.name()?, device.pci_address()?);
/// println!("compute capability {}", device.compute_capability()?);
/// let [x, y, z] = device.max_block_dim()?;
/// assert!(x.max(y).max(z) <= device.max_threads_per_block()?);
/// # }
/// # Ok(())
/// # }
/// ```
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
            .doing(|| format!("find device {ordinal}"))
            .map_err(|error| no_device(driver, error))?;
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

    /// The device's name, such as `NVIDIA H200`.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuDeviceGetName")]
    pub fn name(&self) -> Result<String> {
        let mut text = [0; 256];
        let (out, len) = (text.as_mut_ptr(), 256);
        // SAFETY: the pointer is to that many live characters.
        unsafe { call!(self.driver, cuDeviceGetName(out, len, self.raw)) }
            .doing(|| format!("read the name of device {}", self.ordinal))?;
        Ok(text_of(&text))
    }

    /// The number that no other device has.
    ///
    /// Of a part of a divided device (MIG) it is the part's number; drivers before CUDA 11.4 give the whole device's.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuDeviceGetUuid")]
    pub fn uuid(&self) -> Result<Uuid> {
        let mut raw = CUuuid::default();
        let out = &raw mut raw;
        let result = if self.driver.library().cuDeviceGetUuid_v2().is_ok() {
            // SAFETY: the pointer is to a live value.
            unsafe { call!(self.driver, cuDeviceGetUuid_v2(out, self.raw)) }
        } else {
            // SAFETY: the pointer is to a live value.
            unsafe { call!(self.driver, cuDeviceGetUuid(out, self.raw)) }
        };
        result.doing(|| format!("read the UUID of device {}", self.ordinal))?;
        Ok(raw.into())
    }

    /// The device's memory, in bytes.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuDeviceTotalMem")]
    pub fn total_memory(&self) -> Result<usize> {
        let mut size = 0;
        // SAFETY: the pointer is to a live integer.
        unsafe { call!(self.driver, cuDeviceTotalMem_v2(&raw mut size, self.raw)) }
            .doing(|| format!("read the memory size of device {}", self.ordinal))?;
        Ok(size)
    }

    /// Where the device is plugged in, as [`Driver::device_by_pci_bus_id`] takes it.
    ///
    /// [`pci_address`](Self::pci_address) gives it as numbers.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuDeviceGetPCIBusId")]
    pub fn pci_bus_id(&self) -> Result<String> {
        let mut text = [0; 32];
        let (out, len) = (text.as_mut_ptr(), 32);
        // SAFETY: the pointer is to that many live characters.
        unsafe { call!(self.driver, cuDeviceGetPCIBusId(out, len, self.raw)) }
            .doing(|| format!("read the PCI address of device {}", self.ordinal))?;
        Ok(text_of(&text))
    }

    /// The value of an attribute by its C name, of attributes newer than this crate too.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the driver does not know the attribute.
    #[doc(alias = "cuDeviceGetAttribute")]
    pub fn raw_attribute(&self, attribute: CUdevice_attribute) -> Result<i32> {
        let mut value = 0;
        let out = &raw mut value;
        // SAFETY: the pointer is to a live integer.
        unsafe { call!(self.driver, cuDeviceGetAttribute(out, attribute, self.raw)) }
            .map_err(|error| {
                if error.is_status(CUresult::CUDA_ERROR_INVALID_VALUE) {
                    let version = self.driver.version();
                    error.because(format!(
                        "this driver (CUDA {version}) does not know the attribute"
                    ))
                } else {
                    error
                }
            })
            .doing(|| format!("read {attribute:?} of device {}", self.ordinal))?;
        Ok(value)
    }
}

/// The text up to its NUL.
fn text_of(characters: &[c_char]) -> String {
    let bytes = characters.iter().map(|byte| byte.to_ne_bytes()[0]);
    let bytes: Vec<u8> = bytes.collect();
    CStr::from_bytes_until_nul(&bytes)
        .map(|text| text.to_string_lossy().into_owned())
        .unwrap_or_default()
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
        Self::from_raw(driver, raw)
    }

    /// The device of a raw handle, which is its ordinal on real drivers.
    ///
    /// # Errors
    /// What the driver returns when it is asked for its devices.
    pub(crate) fn from_raw(driver: &Driver, raw: CUdevice) -> Result<Self> {
        for device in driver.devices()? {
            if device.raw == raw {
                return Ok(device);
            }
        }
        Ok(Self {
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

/// An error of an ordinal, with the devices that there are.
#[cold]
fn no_device(driver: &Driver, error: Error) -> Error {
    if error.kind() != ErrorKind::InvalidDevice {
        return error;
    }
    match driver.device_count() {
        Ok(0) => error.remedied_by("there is no device"),
        Ok(1) => error.remedied_by("there is 1 device: 0"),
        Ok(count) => error.remedied_by(format!("there are {count} devices: 0 to {}", count - 1)),
        Err(_) => error,
    }
}
