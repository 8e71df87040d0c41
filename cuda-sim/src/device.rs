//! What a device is: its properties, and the attributes that programs ask for.

mod attributes;
mod preset;

use cuda_sys::{CUdevice, CUdevice_attribute, CUresult};

use crate::code;
use crate::state::{Device, State};

/// The properties of a device.
///
/// What is not said here follows from the compute capability, and is otherwise as on an H200; every attribute can be set besides.
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
    /// PCI domain, bus and device. By default the bus grows with the ordinal.
    pub pci: Option<(u32, u32, u32)>,
    /// The identifier that no other device has. By default it says the ordinal.
    pub uuid: Option<[u8; 16]>,
    /// Attributes that differ: they go before all else.
    pub attributes: Vec<(CUdevice_attribute, i32)>,
}

impl DeviceConfig {
    /// Domain, bus and device of the device with that ordinal.
    pub(crate) fn pci_address(&self, ordinal: usize) -> (u32, u32, u32) {
        self.pci.unwrap_or((0, 0x10 + ordinal as u32, 0))
    }

    /// The identifier of the device with that ordinal.
    pub(crate) fn uuid_bytes(&self, ordinal: usize) -> [u8; 16] {
        self.uuid.unwrap_or_else(|| {
            let mut bytes = *b"cuda-sim device?";
            if let Some(last) = bytes.last_mut() {
                *last = ordinal as u8;
            }
            bytes
        })
    }

    /// The value of an attribute, by its number; nothing for one that CUDA 13.0 does not have.
    pub(crate) fn attribute(&self, number: u32, ordinal: usize) -> Option<i32> {
        let wanted = CUdevice_attribute(number);
        let mut set = self.attributes.iter().rev();
        if let Some((_, value)) = set.find(|(attribute, _)| *attribute == wanted) {
            return Some(*value);
        }
        let (domain, bus, device) = self.pci_address(ordinal);
        Some(match wanted {
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK => {
                self.shared_memory_per_block as i32
            }
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => {
                self.shared_memory_per_block_optin as i32
            }
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => {
                self.multiprocessors as i32
            }
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID => domain as i32,
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID => bus as i32,
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID => device as i32,
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => {
                self.compute_capability.0 as i32
            }
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => {
                self.compute_capability.1 as i32
            }
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID => ordinal as i32,
            _ => attributes::of(self.compute_capability, wanted)?,
        })
    }
}

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

    fn value(device: &DeviceConfig, attribute: u32) -> Option<i32> {
        device.attribute(attribute, 2)
    }

    #[test]
    fn attributes_come_from_the_table_the_properties_and_the_overrides() {
        let device = DeviceConfig {
            attributes: vec![(CUdevice_attribute(10), 32), (CUdevice_attribute(10), 64)],
            ..DeviceConfig::h200()
        };
        assert_eq!(value(&device, 1), Some(1024));
        assert_eq!(value(&device, 10), Some(64), "the last one counts");
        assert_eq!(value(&device, 75), Some(9));
        assert_eq!(value(&device, 33), Some(0x12));
        assert_eq!(value(&device, 111), Some(1024));
        assert_eq!(value(&device, 0), None);
        assert_eq!(value(&device, 400), None);
    }

    #[test]
    fn the_compute_capability_decides_what_nobody_set() {
        const BLOCKS: u32 = 106;
        const THREADS: u32 = 39;
        for (preset, blocks, threads) in [
            ("h200", 32, 2048),
            ("b200", 32, 2048),
            ("a100", 32, 2048),
            ("rtx4090", 24, 1536),
            ("t4", 16, 1024),
        ] {
            let device = DeviceConfig::preset(preset).expect("a preset");
            assert_eq!(value(&device, BLOCKS), Some(blocks), "{preset}");
            assert_eq!(value(&device, THREADS), Some(threads), "{preset}");
        }
        let later = DeviceConfig {
            compute_capability: (8, 6),
            ..DeviceConfig::h200()
        };
        assert_eq!(
            value(&later, THREADS),
            Some(1536),
            "as the nearest of its generation"
        );
        assert_eq!(DeviceConfig::preset("voodoo"), None);
    }
}
