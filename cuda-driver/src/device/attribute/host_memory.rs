//! Attributes of the memory that host and device share.

use super::attributes;

attributes! {
    /// # Memory that host and device share
    {
        /// Whether page-locked memory of the host can be mapped for kernels.
        can_map_host_memory: bool = "CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY";
        /// Whether host and device use one address space.
        has_unified_addressing: bool = "CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING";
        /// Whether managed memory can be allocated.
        supports_managed_memory: bool = "CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY";
        /// Whether the host may access managed memory while the device uses it.
        supports_concurrent_managed_access: bool = "CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS";
        /// Whether the host accesses managed memory on the device in place, without moving it.
        supports_direct_managed_access_from_host: bool =
            "CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST";
        /// Whether kernels can access ordinary memory of the host.
        supports_pageable_memory_access: bool = "CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS";
        /// Whether kernels access ordinary memory of the host through the host's own page tables.
        uses_host_page_tables: bool = "CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES";
        /// Whether host and device are connected so that their atomic operations on one place work together.
        supports_host_native_atomics: bool = "CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED";
        /// Whether only some of these atomic operations work together.
        supports_only_some_host_native_atomics: bool =
            "CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED";
        /// Whether ordinary memory of the host can be page-locked afterwards.
        supports_host_registration: bool = "CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED";
        /// Whether this is possible for memory that the host may only read.
        supports_read_only_host_registration: bool = "CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED";
        /// Whether kernels can use the host's address of such memory.
        can_use_host_pointer_of_registered_memory: bool =
            "CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM";
        /// Whether memory of the host can come from memory pools.
        supports_host_memory_pools: bool = "CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED";
        /// Whether memory of the host can be mapped to reserved addresses.
        supports_host_virtual_memory_management: bool =
            "CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED";
        /// Whether memory pools can take from a chosen NUMA node of the host.
        supports_host_numa_memory_pools: bool = "CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED";
        /// Whether memory of a chosen NUMA node of the host can be mapped to reserved addresses.
        supports_host_numa_virtual_memory_management: bool =
            "CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED";
    }
}
