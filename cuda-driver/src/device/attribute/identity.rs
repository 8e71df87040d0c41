//! Attributes of what the device is and where it is plugged in.

use super::{NumaConfig, attributes};
use crate::device::{ComputeCapability, PciAddress, PciIdentifier};

attributes! {
    /// # What the device is
    {
        /// The compute capability: what the device's instructions can do.
        compute_capability: ComputeCapability = "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR",
            "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR";
        /// Where the device is plugged in, as numbers.
        pci_address: PciAddress = "CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID", "CU_DEVICE_ATTRIBUTE_PCI_BUS_ID",
            "CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID";
        /// The maker's and the product's PCI number.
        pci_identifier: PciIdentifier = "CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID";
        /// The PCI number of the board's maker and of the board.
        pci_subsystem_identifier: PciIdentifier = "CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID";
        /// Whether the device is part of the host's processor and shares its memory.
        is_integrated: bool = "CU_DEVICE_ATTRIBUTE_INTEGRATED";
        /// Whether the device is one of several on a board.
        is_multi_gpu_board: bool = "CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD";
        /// A number that all devices of one board have in common.
        multi_gpu_board_group: u32 = "CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID";
        /// Whether the device runs with the TCC driver model of Windows, which is without graphics.
        uses_tcc_driver: bool = "CU_DEVICE_ATTRIBUTE_TCC_DRIVER";
        /// Whether contexts of this device go through the multi-process service.
        is_mps_enabled: bool = "CU_DEVICE_ATTRIBUTE_MPS_ENABLED";
        /// Whether the device's memory is a NUMA node of the host.
        numa_config: NumaConfig = "CU_DEVICE_ATTRIBUTE_NUMA_CONFIG";
        /// The NUMA node that the device's memory is, if it is one.
        numa_node: Option<u32> = "CU_DEVICE_ATTRIBUTE_NUMA_ID";
        /// The NUMA node of the host that is nearest to the device; `None` where the system has no NUMA.
        host_numa_node: Option<u32> = "CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID";
    }
}
