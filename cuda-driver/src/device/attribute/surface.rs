//! Attributes of surfaces: arrays that kernels read and write. Extents are in elements.

use super::attributes;

attributes! {
    /// # Surfaces
    {
        /// Bytes to which the start of a surface must be aligned.
        surface_alignment: usize = "CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT";
        /// The widest 1-D surface.
        max_surface_1d: u32 = "CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH";
        /// The largest 2-D surface: width and height.
        max_surface_2d: [u32; 2] = "CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT";
        /// The largest 3-D surface: width, height and depth.
        max_surface_3d: [u32; 3] = "CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT", "CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH";
        /// The largest layered 1-D surface: width and layers.
        max_surface_1d_layered: [u32; 2] = "CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS";
        /// The largest layered 2-D surface: width, height and layers.
        max_surface_2d_layered: [u32; 3] = "CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS";
        /// The widest cube surface.
        max_surface_cubemap: u32 = "CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH";
        /// The largest layered cube surface: width and layers.
        max_surface_cubemap_layered: [u32; 2] = "CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS";
    }
}
