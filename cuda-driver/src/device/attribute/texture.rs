//! Attributes of textures: arrays that kernels sample, and linear memory that they sample. Extents are in elements.

use super::attributes;

attributes! {
    /// # Textures
    {
        /// Bytes to which the start of a texture must be aligned.
        texture_alignment: usize = "CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT";
        /// Bytes to which the rows of a texture in pitched memory must be aligned.
        texture_pitch_alignment: usize = "CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT";
        /// The widest 1-D texture.
        max_texture_1d: u32 = "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH";
        /// The widest mipmapped 1-D texture.
        max_texture_1d_mipmapped: u32 = "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH";
        /// The widest 1-D texture in linear memory; superseded by `cuDeviceGetTexture1DLinearMaxWidth`, which knows the
        /// element's size.
        max_texture_1d_linear: u32 = "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH";
        /// The largest layered 1-D texture: width and layers.
        max_texture_1d_layered: [u32; 2] = "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS";
        /// The largest 2-D texture: width and height.
        max_texture_2d: [u32; 2] = "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT";
        /// The largest mipmapped 2-D texture: width and height.
        max_texture_2d_mipmapped: [u32; 2] = "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT";
        /// The largest 2-D texture in linear memory: width, height, and pitch in bytes.
        max_texture_2d_linear: [u32; 3] = "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH";
        /// The largest layered 2-D texture: width, height and layers.
        max_texture_2d_layered: [u32; 3] =
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH"
                | "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_WIDTH",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT"
                | "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_HEIGHT",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS"
                | "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES";
        /// Whether four neighbouring elements can be gathered at once, which current drivers always allow.
        supports_texture_gather: bool = "CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER";
        /// The largest 2-D texture to gather from: width and height.
        max_texture_2d_gather: [u32; 2] = "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT";
        /// The largest 3-D texture: width, height and depth.
        max_texture_3d: [u32; 3] = "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT", "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH";
        /// The other largest shape of a 3-D texture: width, height and depth; zero where there is only one.
        max_texture_3d_alternate: [u32; 3] = "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE";
        /// The widest cube texture.
        max_texture_cubemap: u32 = "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH";
        /// The largest layered cube texture: width and layers.
        max_texture_cubemap_layered: [u32; 2] = "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH",
            "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS";
        /// Whether arrays can be mapped in part.
        supports_sparse_arrays: bool = "CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED";
        /// Whether arrays can be made first and mapped to memory later.
        supports_deferred_mapping_arrays: bool = "CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED";
    }
}
