//! How many threads a launch has, and how they are grouped.

use std::fmt;

/// A size in up to three dimensions; those not given are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// The first dimension, of which neighbours run together.
    pub x: u32,
    /// The second dimension.
    pub y: u32,
    /// The third dimension.
    pub z: u32,
}

impl Dim3 {
    /// A size in three dimensions.
    #[must_use]
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// The product of all dimensions.
    #[must_use]
    pub const fn volume(self) -> u128 {
        self.x as u128 * self.y as u128 * self.z as u128
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self::new(x, 1, 1)
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self::new(x, y, 1)
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self::new(x, y, z)
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from([x, y, z]: [u32; 3]) -> Self {
        Self::new(x, y, z)
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}×{}×{}", self.x, self.y, self.z)
    }
}

/// The grid, the block and the dynamic shared memory of a launch.
///
/// ```
/// use cuda_driver::{Dim3, LaunchConfig};
///
/// let config = LaunchConfig::new((16, 16), (32, 8)).with_dynamic_shared_bytes(4096);
/// assert_eq!(config.block, Dim3::new(32, 8, 1));
/// assert_eq!(LaunchConfig::for_len(1000).grid.x, 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchConfig {
    /// How many blocks.
    pub grid: Dim3,
    /// How many threads in each block.
    pub block: Dim3,
    /// Bytes of shared memory for each block beyond what the kernel declares.
    pub dynamic_shared_bytes: u32,
}

impl LaunchConfig {
    /// Threads in a block of [`LaunchConfig::for_len`].
    pub const DEFAULT_BLOCK: u32 = 256;

    /// A grid of blocks, without dynamic shared memory.
    #[must_use]
    #[inline]
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self {
            grid: grid.into(),
            block: block.into(),
            dynamic_shared_bytes: 0,
        }
    }

    /// At least one thread for each of `len` elements, in blocks of [`LaunchConfig::DEFAULT_BLOCK`]; at least one block.
    ///
    /// More blocks than a grid can have are found by the launch.
    #[must_use]
    #[inline]
    pub fn for_len(len: usize) -> Self {
        Self::for_len_with_block(len, Self::DEFAULT_BLOCK)
    }

    /// At least one thread for each of `len` elements, in blocks of `block` threads; at least one block.
    #[must_use]
    #[inline]
    pub fn for_len_with_block(len: usize, block: u32) -> Self {
        let threads = usize::try_from(block).unwrap_or(usize::MAX).max(1);
        let blocks = len.div_ceil(threads).max(1);
        Self::new(u32::try_from(blocks).unwrap_or(u32::MAX), block)
    }

    /// The same with that many bytes of dynamic shared memory for each block.
    #[must_use]
    pub const fn with_dynamic_shared_bytes(mut self, bytes: u32) -> Self {
        self.dynamic_shared_bytes = bytes;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::{Dim3, LaunchConfig};

    #[test]
    fn no_elements_are_one_block() {
        assert_eq!(LaunchConfig::for_len(0).grid, Dim3::new(1, 1, 1));
    }

    #[test]
    fn blocks_are_rounded_up() {
        assert_eq!(LaunchConfig::for_len(256).grid.x, 1);
        assert_eq!(LaunchConfig::for_len(257).grid.x, 2);
    }

    #[test]
    fn too_many_blocks_saturate_beyond_every_limit() {
        assert_eq!(LaunchConfig::for_len(usize::MAX).grid.x, u32::MAX);
    }
}
