//! Attributes of how kernels execute: the shape of launches, registers, multiprocessors, clocks and kinds of launch.

use super::{ComputeMode, attributes};

attributes! {
    /// # How kernels execute
    {
        /// The most threads in a block.
        max_threads_per_block: u32 = "CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK";
        /// The most threads of a block along x, y and z.
        max_block_dim: [u32; 3] = "CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X", "CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y",
            "CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z";
        /// The most blocks of a grid along x, y and z.
        max_grid_dim: [u32; 3] = "CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X", "CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y",
            "CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z";
        /// Threads in a warp.
        warp_size: u32 = "CU_DEVICE_ATTRIBUTE_WARP_SIZE";
        /// 32-bit registers that a block can have.
        max_registers_per_block: u32 = "CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK"
            | "CU_DEVICE_ATTRIBUTE_REGISTERS_PER_BLOCK";
        /// 32-bit registers of a multiprocessor.
        max_registers_per_multiprocessor: u32 = "CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR";
        /// How many multiprocessors there are.
        multiprocessor_count: u32 = "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT";
        /// The most threads that are resident on a multiprocessor at once.
        max_threads_per_multiprocessor: u32 = "CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR";
        /// The most blocks that are resident on a multiprocessor at once.
        max_blocks_per_multiprocessor: u32 = "CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR";
        /// Highest clock of the multiprocessors, in kHz.
        clock_rate: u32 = "CU_DEVICE_ATTRIBUTE_CLOCK_RATE";
        /// How many times faster single precision is than double precision.
        single_to_double_precision_ratio: u32 = "CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO";
        /// Whether the system kills kernels that run too long, as it does on a device with a display.
        has_kernel_timeout: bool = "CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT";
        /// How many processes may use the device.
        compute_mode: ComputeMode = "CU_DEVICE_ATTRIBUTE_COMPUTE_MODE";
        /// Whether several kernels of one context can run at once.
        supports_concurrent_kernels: bool = "CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS";
        /// How many copies can run beside kernels: 0 for none, 2 for one in each direction.
        async_engine_count: u32 = "CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT";
        /// Whether a copy can run beside a kernel; superseded by [`async_engine_count`](Self::async_engine_count).
        supports_overlap: bool = "CU_DEVICE_ATTRIBUTE_GPU_OVERLAP";
        /// Whether streams can have priorities.
        supports_stream_priorities: bool = "CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED";
        /// Whether a running kernel can be interrupted between any two instructions, for a debugger or another process.
        supports_compute_preemption: bool = "CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED";
        /// Whether cooperative launches are possible, whose blocks can wait for each other.
        supports_cooperative_launch: bool = "CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH";
        /// Whether one cooperative launch can span several devices; CUDA 13 has no such launch any more.
        supports_cooperative_multi_device_launch: bool = "CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH";
        /// Whether blocks can be launched in clusters.
        supports_cluster_launch: bool = "CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH";
        /// How many domains there are for ordering memory operations of different kernels apart from each other.
        memory_sync_domain_count: u32 = "CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT";
        /// Whether kernels can use tensor maps, the descriptors of bulk tensor copies.
        supports_tensor_maps: bool = "CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED";
        /// Size in bytes from which on a tensor counts as large for tensor maps.
        tensor_map_large_tensor_min_size: usize = "CU_DEVICE_ATTRIBUTE_TENSOR_MAP_LARGE_TENSOR_MIN_SIZE";
        /// Whether a function of a loaded library can have one pointer that is good on host and device.
        supports_unified_function_pointers: bool = "CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS";
        /// Whether streams can reduce values in memory atomically.
        supports_atomic_reduction: bool = "CU_DEVICE_ATTRIBUTE_ATOMIC_REDUCTION_SUPPORTED";
        /// Whether streams can write and wait for 32-bit values in memory, with the first form of these functions, which
        /// current drivers do not have any more; the second form needs no support of the device for 32 bits.
        supports_stream_memory_operations_v1: bool = "CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1";
        /// Whether streams can write and wait for 64-bit values in memory, with the first form of these functions;
        /// superseded by [`supports_64_bit_stream_memory_operations`](Self::supports_64_bit_stream_memory_operations).
        supports_64_bit_stream_memory_operations_v1: bool = "CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1";
        /// Whether streams can wait with the comparison NOR, with the first form of these functions; superseded by
        /// [`supports_stream_wait_value_nor`](Self::supports_stream_wait_value_nor).
        supports_stream_wait_value_nor_v1: bool = "CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1";
        /// Whether streams can write and wait for 64-bit values in memory.
        supports_64_bit_stream_memory_operations: bool = "CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS";
        /// Whether streams can wait with the comparison NOR.
        supports_stream_wait_value_nor: bool = "CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR";
        /// Whether streams can flush writes of remote devices while they wait for a value.
        supports_flush_of_remote_writes: bool = "CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES";
        /// How many locality domains the device is divided into: parts whose memory is nearer to their multiprocessors.
        locality_domain_count: u32 = "CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_COUNT";
        /// Multiprocessors in a locality domain.
        locality_domain_multiprocessor_count: u32 = "CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_MULTIPROCESSOR_COUNT";
    }
}
