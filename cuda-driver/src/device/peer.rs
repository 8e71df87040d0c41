//! What two devices can do with each other's memory.
//!
//! C group: peer context memory access.

use std::ffi::c_int;

use cuda_sys::CUdevice_P2PAttribute;

use super::Device;
use crate::call;
use crate::error::{Doing, Error, ErrorKind, Result};

/// The way from one device to another's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerLink {
    /// Whether kernels of the one can access memory of the other.
    pub access: bool,
    /// Speed compared with the links to other devices; a lower number is faster.
    pub performance_rank: i32,
    /// Whether atomic operations over the link are as good as local ones.
    pub native_atomics: bool,
    /// Whether arrays, and not only linear memory, can be accessed.
    pub array_access: bool,
}

impl Device {
    /// Whether kernels of this device can access memory of `other`, once a context has enabled it.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] if the devices are of different drivers; what the driver returns.
    #[doc(alias = "cuDeviceCanAccessPeer")]
    pub fn can_access_peer(&self, other: &Self) -> Result<bool> {
        let doing = || {
            let (here, there) = (self.ordinal(), other.ordinal());
            format!("ask whether device {here} can access device {there}")
        };
        self.same_driver(other).doing(doing)?;
        let mut can = 0;
        let (here, there) = (self.as_raw(), other.as_raw());
        // SAFETY: the pointer is to a live integer.
        unsafe {
            call!(
                self.driver(),
                cuDeviceCanAccessPeer(&raw mut can, here, there)
            )
        }
        .doing(doing)?;
        Ok(can != 0)
    }

    /// What the way from this device to the memory of `other` is like.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] if the devices are of different drivers; [`ErrorKind::InvalidDevice`] if they are one
    /// device; what the driver returns.
    #[doc(alias = "cuDeviceGetP2PAttribute")]
    pub fn peer_link(&self, other: &Self) -> Result<PeerLink> {
        use CUdevice_P2PAttribute as Attribute;
        let doing = || {
            let (here, there) = (self.ordinal(), other.ordinal());
            format!("read the link from device {here} to device {there}")
        };
        self.same_driver(other).doing(doing)?;
        let read = |attribute| self.peer_attribute(other, attribute).doing(doing);
        Ok(PeerLink {
            access: read(Attribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED)? != 0,
            performance_rank: read(Attribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK)?,
            native_atomics: read(Attribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED)? != 0,
            array_access: read(Attribute::CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED)?
                != 0,
        })
    }

    fn peer_attribute(&self, other: &Self, attribute: CUdevice_P2PAttribute) -> Result<c_int> {
        let mut value = 0;
        let out = &raw mut value;
        let (here, there) = (self.as_raw(), other.as_raw());
        // SAFETY: the pointer is to a live integer.
        unsafe {
            call!(
                self.driver(),
                cuDeviceGetP2PAttribute(out, attribute, here, there)
            )
        }?;
        Ok(value)
    }

    fn same_driver(&self, other: &Self) -> Result<()> {
        if self.driver().is_same(other.driver()) {
            Ok(())
        } else {
            let reason = "the devices are of different drivers";
            Err(Error::new(ErrorKind::Mismatch, reason))
        }
    }
}
