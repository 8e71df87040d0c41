//! Attributes of sharing with other processes, other devices, other nodes and other programming interfaces.

use super::{RdmaFlushOptions, RdmaWritesOrdering, ShareableHandleTypes, attributes};

attributes! {
    /// # Sharing
    {
        /// Whether memory can be shared as POSIX file descriptors.
        supports_posix_file_descriptor_handles: bool =
            "CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED";
        /// Whether memory can be shared as Windows NT handles.
        supports_win32_handles: bool = "CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED";
        /// Whether memory can be shared as global Windows handles.
        supports_win32_kmt_handles: bool = "CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED";
        /// Whether memory can be shared as handles that are good on every node of a fabric.
        supports_fabric_handles: bool = "CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED";
        /// How memory pools can be shared.
        memory_pool_handle_types: ShareableHandleTypes = "CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES";
        /// Whether events can be shared with other processes.
        supports_ipc_events: bool = "CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED";
        /// Whether memory of a NUMA node of the host can be shared between the nodes of a fabric.
        supports_host_numa_multinode_ipc: bool = "CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED";
        /// Whether timeline semaphores of other interfaces can be imported.
        supports_timeline_semaphores: bool = "CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED";
        /// Whether memory can be exported as a DMA buffer of Linux.
        supports_dma_buf: bool = "CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED";
        /// Whether such DMA buffers can be mapped by the host.
        supports_dma_buf_mmap: bool = "CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED";
        /// Whether memory of the host can be exported as a DMA buffer of Linux.
        supports_host_dma_buf: bool = "CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED";
        /// Whether other PCI devices can access the memory through GPUDirect RDMA.
        supports_gpu_direct_rdma: bool = "CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED";
        /// Whether they can access memory that is mapped to reserved addresses.
        supports_gpu_direct_rdma_with_mapped_memory: bool =
            "CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED";
        /// Whether they can access memory of a chosen locality domain.
        supports_gpu_direct_rdma_with_localized_memory: bool =
            "CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_LOCALIZED_MEMORY_SUPPORTED";
        /// How writes through GPUDirect RDMA can be made visible.
        gpu_direct_rdma_flush_options: RdmaFlushOptions = "CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS";
        /// How far writes through GPUDirect RDMA are ordered by themselves.
        gpu_direct_rdma_writes_ordering: RdmaWritesOrdering = "CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING";
        /// Whether the device takes part in multicast objects: memory of several devices behind one address.
        supports_multicast: bool = "CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED";
        /// Whether logical endpoints on one device are possible.
        supports_unicast_logical_endpoints: bool = "CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_SUPPORTED";
        /// Whether logical endpoints on several devices are possible.
        supports_multicast_logical_endpoints: bool = "CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_MULTICAST_SUPPORTED";
        /// Whether logical endpoints can count the operations on them.
        supports_counted_logical_endpoint_operations: bool =
            "CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_COUNTED_OPS_SUPPORTED";
        /// Whether the device that owns a unicast logical endpoint can access it too.
        supports_unicast_logical_endpoint_access_by_owner: bool =
            "CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_ACCESS_ON_OWNER_DEVICE_SUPPORTED";
        /// How logical endpoints can be shared.
        logical_endpoint_handle_types: ShareableHandleTypes =
            "CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_SUPPORTED_HANDLE_TYPES";
        /// Whether a context can run inside Direct3D 12 work.
        supports_d3d12_context: bool = "CU_DEVICE_ATTRIBUTE_D3D12_CIG_SUPPORTED";
        /// Whether a stream can run inside Direct3D 12 work.
        supports_d3d12_streams: bool = "CU_DEVICE_ATTRIBUTE_D3D12_CIG_STREAMS_SUPPORTED";
        /// Whether a context can run inside Vulkan work.
        supports_vulkan_context: bool = "CU_DEVICE_ATTRIBUTE_VULKAN_CIG_SUPPORTED";
        /// Whether a stream can run inside Vulkan work.
        supports_vulkan_streams: bool = "CU_DEVICE_ATTRIBUTE_VULKAN_CIG_STREAMS_SUPPORTED";
    }
}
