//! Occupancy: how many blocks and clusters of a kernel the device runs at the same time.
//!
//! C group: occupancy.

use std::ffi::c_int;

use cuda_sys::{CUlaunchConfig, CUoccupancy_flags};

use super::{Function, FunctionCore};
use crate::call;
use crate::error::{Doing, Result};
use crate::launch::{AnyLaunchConfig, Dim3, Encoded, LaunchAttributes, LaunchConfig, raw_config};

/// Flags of the questions about occupancy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OccupancyFlags(u32);

impl OccupancyFlags {
    /// Nothing special.
    pub const DEFAULT: Self = Self(CUoccupancy_flags::CU_OCCUPANCY_DEFAULT.0);
    /// Count as if global memory were cached even where that costs occupancy, on devices of compute capability 3.5 to 5.
    pub const DISABLE_CACHING_OVERRIDE: Self =
        Self(CUoccupancy_flags::CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE.0);

    pub(super) fn bits(self) -> u32 {
        self.0
    }
}

/// Bytes of shared memory to ask the driver about: it adds what it needs itself in 32 bits, so that what is nearly 4 GiB would
/// become little. No device has as much as 1 GiB.
pub(super) fn shared_bytes(bytes: u32) -> usize {
    const MOST: u32 = 1 << 30;
    bytes.min(MOST) as usize
}

impl Function {
    /// How many blocks of that size a multiprocessor runs at the same time; 0 if none fits.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for blocks without threads; what the driver
    /// returns.
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # #[cfg(feature = "simulator")] {
    /// # let context = cuda_driver::Driver::simulated()?.device(0)?.primary_context()?;
    /// # let module = context.load_ptx(
    /// #     ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry nothing() { ret; }",
    /// # )?;
    /// let nothing = module.function("nothing")?;
    /// let blocks = nothing.active_blocks_per_multiprocessor(256, 0)?;
    /// let most = context.device().max_threads_per_multiprocessor()?;
    /// assert!(blocks * 256 <= most);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "cuOccupancyMaxActiveBlocksPerMultiprocessor")]
    pub fn active_blocks_per_multiprocessor(
        &self,
        block: impl Into<Dim3>,
        dynamic_shared_bytes: u32,
    ) -> Result<u32> {
        self.core
            .active_blocks(threads(block.into())?, dynamic_shared_bytes)
    }

    /// The same with flags.
    ///
    /// # Errors
    /// As [`Function::active_blocks_per_multiprocessor`].
    #[doc(alias = "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags")]
    pub fn active_blocks_per_multiprocessor_with(
        &self,
        block: impl Into<Dim3>,
        dynamic_shared_bytes: u32,
        flags: OccupancyFlags,
    ) -> Result<u32> {
        let threads = c_int::try_from(threads(block.into())?)?;
        let shared = shared_bytes(dynamic_shared_bytes);
        let mut blocks = 0;
        self.core.ask(|function| {
            let out = &raw mut blocks;
            // SAFETY: the function is live, the pointer is to a live integer, and the context is current.
            unsafe {
                call!(
                    function.context.driver(),
                    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                        out,
                        function.raw,
                        threads,
                        shared,
                        flags.bits(),
                    )
                )
            }
        })?;
        Ok(u32::try_from(blocks)?)
    }

    /// How much dynamic shared memory each block can have, in bytes, so that that many blocks run on a multiprocessor.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if so many do not fit at all, or if either number
    /// is zero; what the driver returns.
    #[doc(alias = "cuOccupancyAvailableDynamicSMemPerBlock")]
    pub fn available_dynamic_shared_bytes(
        &self,
        blocks_per_multiprocessor: u32,
        block: impl Into<Dim3>,
    ) -> Result<usize> {
        let blocks = c_int::try_from(blocks_per_multiprocessor)?;
        let threads = c_int::try_from(threads(block.into())?)?;
        let mut bytes = 0;
        self.core.ask(|function| {
            let out = &raw mut bytes;
            // SAFETY: the function is live, the pointer is to a live integer, and the context is current.
            unsafe {
                call!(
                    function.context.driver(),
                    cuOccupancyAvailableDynamicSMemPerBlock(out, function.raw, blocks, threads)
                )
            }
        })?;
        Ok(bytes)
    }

    /// How many blocks the largest cluster has that the device can run for a launch with this configuration, whose own
    /// cluster size does not matter; 8 at most unless [larger ones are allowed](Function::allow_non_portable_clusters).
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuOccupancyMaxPotentialClusterSize")]
    pub fn max_cluster_size<C: AnyLaunchConfig>(&self, config: C) -> Result<u32> {
        self.core
            .max_cluster_size(&config.config(), &config.attributes())
    }

    /// How many clusters of such a launch the device runs at the same time; 0 if none fits.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuOccupancyMaxActiveClusters")]
    pub fn max_active_clusters<C: AnyLaunchConfig>(&self, config: C) -> Result<u32> {
        self.core
            .active_clusters(&config.config(), &config.attributes())
    }
}

/// The threads of a block, as far as they can be counted.
fn threads(block: Dim3) -> Result<u32> {
    Ok(u32::try_from(block.volume())?)
}

impl FunctionCore {
    /// Asks a question about occupancy, with the context current.
    pub(super) fn ask(&self, question: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        let _current = self.context.push()?;
        let result = question(self);
        self.context
            .watch(result)
            .doing(|| format!("compute the occupancy of `{}`", self.name))
    }

    /// Blocks that a multiprocessor runs at the same time.
    pub(crate) fn active_blocks(&self, threads: u32, dynamic_shared_bytes: u32) -> Result<u32> {
        let threads = c_int::try_from(threads)?;
        let shared = shared_bytes(dynamic_shared_bytes);
        let mut blocks = 0;
        self.ask(|function| {
            let out = &raw mut blocks;
            // SAFETY: the function is live, the pointer is to a live integer, and the context is current.
            unsafe {
                call!(
                    function.context.driver(),
                    cuOccupancyMaxActiveBlocksPerMultiprocessor(out, function.raw, threads, shared)
                )
            }
        })?;
        Ok(u32::try_from(blocks)?)
    }

    /// Blocks of the largest cluster that can run.
    pub(crate) fn max_cluster_size(
        &self,
        config: &LaunchConfig,
        attributes: &LaunchAttributes,
    ) -> Result<u32> {
        let mut size = 0;
        self.ask_with(config, attributes, |function, config| {
            let out = &raw mut size;
            // SAFETY: the function is live, the pointers are to live values, and the context is current.
            unsafe {
                call!(
                    function.context.driver(),
                    cuOccupancyMaxPotentialClusterSize(out, function.raw, config)
                )
            }
        })?;
        Ok(u32::try_from(size)?)
    }

    /// Clusters that run at the same time.
    pub(crate) fn active_clusters(
        &self,
        config: &LaunchConfig,
        attributes: &LaunchAttributes,
    ) -> Result<u32> {
        let mut clusters = 0;
        self.ask_with(config, attributes, |function, config| {
            let out = &raw mut clusters;
            // SAFETY: the function is live, the pointers are to live values, and the context is current.
            unsafe {
                call!(
                    function.context.driver(),
                    cuOccupancyMaxActiveClusters(out, function.raw, config)
                )
            }
        })?;
        Ok(u32::try_from(clusters)?)
    }

    /// Asks a question about a launch, which has no stream.
    fn ask_with(
        &self,
        config: &LaunchConfig,
        attributes: &LaunchAttributes,
        question: impl FnOnce(&Self, *const CUlaunchConfig) -> Result<()>,
    ) -> Result<()> {
        attributes.require_support(self.context.driver())?;
        let encoded = Encoded::new(attributes);
        let raw = raw_config(config, std::ptr::null_mut(), encoded.as_slice());
        self.ask(|function| question(function, &raw const raw))
    }
}
