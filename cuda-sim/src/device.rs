//! What a device is: its properties, and the table of attributes that programs ask for.

use cuda_sys::{CUdevice, CUresult};

use crate::code;
use crate::state::{Device, State};

/// The properties of a device. Everything else that programs can ask follows from them and is as on an H200.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceConfig {
    /// Its name.
    pub name: String,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Bytes of memory.
    pub total_memory: u64,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Shared memory of a block in bytes, without asking for more.
    pub shared_memory_per_block: u32,
    /// Shared memory of a block in bytes, when asked for.
    pub shared_memory_per_block_optin: u32,
    /// PCI domain, bus and device; the bus grows with the ordinal where the default is taken.
    pub pci: Option<(u32, u32, u32)>,
    /// Attributes that differ, by number: they go before all else.
    pub attributes: Vec<(u32, i32)>,
}

impl DeviceConfig {
    /// A device like an H200.
    #[must_use]
    pub fn h200() -> Self {
        Self {
            name: String::from("NVIDIA H200 (simulated)"),
            compute_capability: (9, 0),
            total_memory: 150_109_880_320,
            multiprocessors: 132,
            shared_memory_per_block: 49_152,
            shared_memory_per_block_optin: 232_448,
            pci: None,
            attributes: Vec::new(),
        }
    }

    /// Domain, bus and device of the device with that ordinal.
    pub(crate) fn pci_address(&self, ordinal: usize) -> (u32, u32, u32) {
        self.pci.unwrap_or((0, 0x10 + ordinal as u32, 0))
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, number: u32, ordinal: usize) -> Option<i32> {
        if let Some((_, value)) = self
            .attributes
            .iter()
            .find(|(attribute, _)| *attribute == number)
        {
            return Some(*value);
        }
        let (domain, bus, device) = self.pci_address(ordinal);
        Some(match number {
            8 => self.shared_memory_per_block as i32,
            16 => self.multiprocessors as i32,
            33 => bus as i32,
            34 => device as i32,
            50 => domain as i32,
            75 => self.compute_capability.0 as i32,
            76 => self.compute_capability.1 as i32,
            85 => ordinal as i32,
            97 => self.shared_memory_per_block_optin as i32,
            _ => *H200.get(number.checked_sub(1)? as usize)?,
        })
    }
}

/// The attributes of an H200 under driver 13.0, from number 1 on. Where the software driver cannot do what the device can, the
/// attribute says so.
#[rustfmt::skip]
const H200: [i32; 146] = [
    /*   1 */ 1024, 1024, 1024, 64, i32::MAX, 65535, 65535, 49152, 65536, 32,
    /*  11 */ i32::MAX, 65536, 1_980_000, 512, 1, 132, 0, 0, 1, 0,
    /*  21 */ 131_072, 131_072, 65536, 16384, 16384, 16384, 32768, 32768, 2048, 512,
    /*  31 */ 1, 1, 0, 0, 0, 3_201_000, 6016, 62_914_560, 2048, 3,
    /*  41 */ 1, 32768, 2048, 1, 32768, 32768, 8192, 8192, 32768, 0,
    /*  51 */ 32, 32768, 32768, 2046, 32768, 131_072, 65536, 16384, 16384, 16384,
    /*  61 */ 32768, 2048, 32768, 32768, 2048, 32768, 32768, 2046, 268_435_456, 131_072,
    /*  71 */ 65000, 2_097_120, 32768, 32768, 9, 0, 32768, 1, 1, 1,
    /*  81 */ 233_472, 65536, 0, 0, 0, 0, 2, 0, 0, 1,
    /*  91 */ 1, 0, 0, 0, 0, 0, 232_448, 0, 1, 0,
    /* 101 */ 0, 0, 0, 0, 0, 32, 0, 0, 0, 0,
    /* 111 */ 1024, 0, 0, 0, 1, 0, 0, 0, 0, 0,
    /* 121 */ 0, 0, 0, 0, 0, 4, 0, 0, 0, 0,
    /* 131 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    /* 141 */ 0, 0, 0, 0, 0, 0,
];

impl State {
    /// The `CUdevice` of an ordinal: it carries the slot, so that another instance refuses it.
    pub(crate) fn device_handle(&self, ordinal: usize) -> CUdevice {
        ((self.slot << 8) | ordinal) as CUdevice
    }

    /// The ordinal of a `CUdevice`.
    ///
    /// # Errors
    /// `INVALID_DEVICE`
    pub(crate) fn ordinal(&self, device: CUdevice) -> Result<usize, CUresult> {
        let number = usize::try_from(device).map_err(|_| code::INVALID_DEVICE)?;
        let ordinal = number & 0xff;
        if number >> 8 == self.slot && ordinal < self.devices.len() {
            Ok(ordinal)
        } else {
            Err(code::INVALID_DEVICE)
        }
    }

    /// A device with its ordinal.
    ///
    /// # Errors
    /// `INVALID_DEVICE`
    pub(crate) fn device(&self, device: CUdevice) -> Result<(usize, &Device), CUresult> {
        let ordinal = self.ordinal(device)?;
        self.devices
            .get(ordinal)
            .map(|device| (ordinal, device))
            .ok_or(code::INVALID_DEVICE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_come_from_the_table_the_properties_and_the_overrides() {
        let device = DeviceConfig {
            attributes: vec![(10, 64)],
            ..DeviceConfig::h200()
        };
        assert_eq!(device.attribute(1, 0), Some(1024));
        assert_eq!(device.attribute(10, 0), Some(64));
        assert_eq!(device.attribute(75, 0), Some(9));
        assert_eq!(device.attribute(33, 2), Some(0x12));
        assert_eq!(device.attribute(111, 0), Some(1024));
        assert_eq!(device.attribute(0, 0), None);
        assert_eq!(device.attribute(400, 0), None);
    }
}
