//! Teaches what can be asked of a device: every attribute that the driver has, typed, in groups.

use cuda_driver::{
    ComputeCapability, ComputeMode, DecompressionAlgorithms, Device, Driver, Error, ErrorKind,
    NumaConfig, PciAddress, PciIdentifier, RdmaFlushOptions, RdmaWritesOrdering, Result,
    ShareableHandleTypes,
};

fn main() -> Result<()> {
    let driver = Driver::load_or_simulated()?;
    println!("{driver}");
    for device in driver.devices()? {
        print_device(&device)?;
    }
    Ok(())
}

fn print_device(device: &Device) -> Result<()> {
    println!("\ndevice {}: {}", device.ordinal(), device.name()?);
    print("uuid", device.uuid()?.to_string());
    print("pci_bus_id", device.pci_bus_id()?);
    print("total_memory", device.total_memory()?.text());
    let shown = print_attributes(device)?;

    // Some typed values are made of several attributes of the driver.
    let raw = device.all_attributes();
    assert_eq!(shown, raw.len(), "attributes that no group shows");
    let unknown = raw.iter().filter(|(_, value)| value.is_err()).count();
    println!("\n  {shown} attributes, of which this driver does not know {unknown}");
    assert_eq!(
        device
            .driver()
            .device_by_pci_bus_id(&device.pci_bus_id()?)?
            .uuid()?,
        device.uuid()?,
        "the device at this one's PCI address is another one"
    );
    Ok(())
}

/// Prints all groups, and returns how many of the driver's attributes they consist of.
fn print_attributes(device: &Device) -> Result<usize> {
    let mut shown = 0;
    macro_rules! group {
        ($heading:literal: $($reader:ident $($unit:literal)?)+) => {
            println!("\n  {}", $heading);
            $(
                let unit = concat!("" $(, " ", $unit)?);
                shown += print_attribute(stringify!($reader), device.$reader(), unit)?;
            )+
        };
    }
    group!("What the device is":
        compute_capability
        pci_address
        pci_identifier
        pci_subsystem_identifier
        is_integrated
        is_multi_gpu_board
        multi_gpu_board_group
        uses_tcc_driver
        is_mps_enabled
        numa_config
        numa_node
        host_numa_node
    );
    group!("How kernels execute":
        max_threads_per_block
        max_block_dim
        max_grid_dim
        warp_size
        max_registers_per_block
        max_registers_per_multiprocessor
        multiprocessor_count
        max_threads_per_multiprocessor
        max_blocks_per_multiprocessor
        clock_rate "kHz"
        single_to_double_precision_ratio
        has_kernel_timeout
        compute_mode
        supports_concurrent_kernels
        async_engine_count
        supports_overlap
        supports_stream_priorities
        supports_compute_preemption
        supports_cooperative_launch
        supports_cooperative_multi_device_launch
        supports_cluster_launch
        memory_sync_domain_count
        supports_tensor_maps
        tensor_map_large_tensor_min_size
        supports_unified_function_pointers
        supports_atomic_reduction
        supports_stream_memory_operations_v1
        supports_64_bit_stream_memory_operations_v1
        supports_stream_wait_value_nor_v1
        supports_64_bit_stream_memory_operations
        supports_stream_wait_value_nor
        supports_flush_of_remote_writes
        locality_domain_count
        locality_domain_multiprocessor_count
    );
    group!("Memory and caches":
        memory_clock_rate "kHz"
        memory_bus_width "bits"
        is_ecc_enabled
        total_constant_memory
        max_shared_memory_per_block
        max_shared_memory_per_block_optin
        max_oversized_shared_memory_per_block
        reserved_shared_memory_per_block
        max_shared_memory_per_multiprocessor
        l2_cache_size
        max_persisting_l2_cache_size
        max_access_policy_window_size
        caches_global_memory_in_l1
        caches_local_memory_in_l1
        max_pitch
        supports_memory_pools
        supports_virtual_memory_management
        supports_generic_compression
        decompression_algorithms
        max_decompression_length
    );
    group!("Memory that host and device share":
        can_map_host_memory
        has_unified_addressing
        supports_managed_memory
        supports_concurrent_managed_access
        supports_direct_managed_access_from_host
        supports_pageable_memory_access
        uses_host_page_tables
        supports_host_native_atomics
        supports_only_some_host_native_atomics
        supports_host_registration
        supports_read_only_host_registration
        can_use_host_pointer_of_registered_memory
        supports_host_memory_pools
        supports_host_virtual_memory_management
        supports_host_numa_memory_pools
        supports_host_numa_virtual_memory_management
    );
    group!("Textures":
        texture_alignment
        texture_pitch_alignment
        max_texture_1d
        max_texture_1d_mipmapped
        max_texture_1d_linear
        max_texture_1d_layered
        max_texture_2d
        max_texture_2d_mipmapped
        max_texture_2d_linear
        max_texture_2d_layered
        supports_texture_gather
        max_texture_2d_gather
        max_texture_3d
        max_texture_3d_alternate
        max_texture_cubemap
        max_texture_cubemap_layered
        supports_sparse_arrays
        supports_deferred_mapping_arrays
    );
    group!("Surfaces":
        surface_alignment
        max_surface_1d
        max_surface_2d
        max_surface_3d
        max_surface_1d_layered
        max_surface_2d_layered
        max_surface_cubemap
        max_surface_cubemap_layered
    );
    group!("Sharing":
        supports_posix_file_descriptor_handles
        supports_win32_handles
        supports_win32_kmt_handles
        supports_fabric_handles
        memory_pool_handle_types
        supports_ipc_events
        supports_host_numa_multinode_ipc
        supports_timeline_semaphores
        supports_dma_buf
        supports_dma_buf_mmap
        supports_host_dma_buf
        supports_gpu_direct_rdma
        supports_gpu_direct_rdma_with_mapped_memory
        supports_gpu_direct_rdma_with_localized_memory
        gpu_direct_rdma_flush_options
        gpu_direct_rdma_writes_ordering
        supports_multicast
        supports_unicast_logical_endpoints
        supports_multicast_logical_endpoints
        supports_counted_logical_endpoint_operations
        supports_unicast_logical_endpoint_access_by_owner
        logical_endpoint_handle_types
        supports_d3d12_context
        supports_d3d12_streams
        supports_vulkan_context
        supports_vulkan_streams
    );
    Ok(shown)
}

/// Prints one typed value, and returns how many attributes of the driver it consists of.
fn print_attribute<T: Value>(name: &str, value: Result<T>, unit: &str) -> Result<usize> {
    match value {
        Ok(value) => print(name, value.text() + unit),
        Err(error) if is_unknown(&error) => print(name, "not known to this driver".into()),
        Err(error) => return Err(error),
    }
    Ok(T::ATTRIBUTES)
}

/// Whether the driver is older than the attribute.
fn is_unknown(error: &Error) -> bool {
    error.kind() == ErrorKind::InvalidArgument
}

fn print(name: &str, text: String) {
    println!("    {:<58}{text}", name.replace('_', " "));
}

/// A typed value.
trait Value {
    /// How many attributes of the driver it consists of.
    const ATTRIBUTES: usize = 1;

    fn text(&self) -> String;
}

impl Value for bool {
    fn text(&self) -> String {
        if *self { "yes" } else { "no" }.into()
    }
}

impl Value for u32 {
    fn text(&self) -> String {
        self.to_string()
    }
}

/// All sizes are in bytes.
impl Value for usize {
    fn text(&self) -> String {
        let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
        match units.iter().find(|(shift, _)| *self >= 1 << shift) {
            Some((shift, unit)) => {
                let size = *self as f64 / (1_u64 << shift) as f64;
                format!("{self} bytes ({} {unit})", (size * 10.0).round() / 10.0)
            }
            None => format!("{self} bytes"),
        }
    }
}

impl Value for Option<u32> {
    fn text(&self) -> String {
        self.map_or("none".into(), |value| value.to_string())
    }
}

/// Extents.
impl<const N: usize> Value for [u32; N] {
    const ATTRIBUTES: usize = N;

    fn text(&self) -> String {
        self.map(|extent| extent.to_string()).join(" × ")
    }
}

impl Value for ComputeCapability {
    const ATTRIBUTES: usize = 2;

    fn text(&self) -> String {
        format!("{self} ({})", self.target())
    }
}

impl Value for PciAddress {
    const ATTRIBUTES: usize = 3;

    fn text(&self) -> String {
        self.to_string()
    }
}

impl Value for PciIdentifier {
    fn text(&self) -> String {
        self.to_string()
    }
}

macro_rules! debug {
    ($($type:ty),+) => {$(
        impl Value for $type {
            fn text(&self) -> String {
                format!("{self:?}")
            }
        }
    )+};
}

debug!(
    ComputeMode,
    DecompressionAlgorithms, NumaConfig, RdmaFlushOptions, RdmaWritesOrdering, ShareableHandleTypes
);
