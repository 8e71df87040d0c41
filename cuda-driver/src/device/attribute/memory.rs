//! Attributes of the device's memories and caches.

use super::{DecompressionAlgorithms, attributes};

attributes! {
    /// # Memory and caches
    {
        /// Highest clock of the memory, in kHz.
        memory_clock_rate: u32 = "CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE";
        /// Width of the path to the memory, in bits.
        memory_bus_width: u32 = "CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH";
        /// Whether the memory corrects errors.
        is_ecc_enabled: bool = "CU_DEVICE_ATTRIBUTE_ECC_ENABLED";
        /// Bytes of constant memory that a module can have.
        total_constant_memory: usize = "CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY";
        /// Bytes of shared memory that a block can have without asking for more.
        max_shared_memory_per_block: usize = "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK"
            | "CU_DEVICE_ATTRIBUTE_SHARED_MEMORY_PER_BLOCK";
        /// Bytes of shared memory that a block can have when its kernel asks for it.
        max_shared_memory_per_block_optin: usize = "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN";
        /// Bytes of shared memory that a block can have in oversized form.
        max_oversized_shared_memory_per_block: usize = "CU_DEVICE_ATTRIBUTE_MAX_OVERSIZED_SHARED_MEMORY_PER_BLOCK";
        /// Bytes of shared memory that the system takes of each block.
        reserved_shared_memory_per_block: usize = "CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK";
        /// Bytes of shared memory of a multiprocessor.
        max_shared_memory_per_multiprocessor: usize = "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR";
        /// Bytes of the L2 cache.
        l2_cache_size: usize = "CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE";
        /// The most bytes of the L2 cache that can be set aside for persisting accesses.
        max_persisting_l2_cache_size: usize = "CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE";
        /// The most bytes that an access policy can cover.
        max_access_policy_window_size: usize = "CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE";
        /// Whether the L1 cache caches global memory.
        caches_global_memory_in_l1: bool = "CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED";
        /// Whether the L1 cache caches local memory.
        caches_local_memory_in_l1: bool = "CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED";
        /// The largest pitch of a copy between rows of memory, in bytes.
        max_pitch: usize = "CU_DEVICE_ATTRIBUTE_MAX_PITCH";
        /// Whether memory can be allocated in stream order, from memory pools.
        supports_memory_pools: bool = "CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED";
        /// Whether addresses can be reserved and memory mapped to them apart from each other.
        supports_virtual_memory_management: bool = "CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED"
            | "CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED";
        /// Whether memory can be allocated that the device compresses.
        supports_generic_compression: bool = "CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED";
        /// What the decompression engine takes; nothing where there is none.
        decompression_algorithms: DecompressionAlgorithms = "CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK";
        /// The most bytes that the decompression engine takes at once.
        max_decompression_length: usize = "CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH";
    }
}
