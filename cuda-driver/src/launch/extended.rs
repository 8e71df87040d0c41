//! A launch configuration with attributes.

use super::attributes::{
    ClusterScheduling, LaunchAttributes, MemorySyncDomain, MemorySyncDomainMap,
};
use super::config::{Dim3, LaunchConfig};
use crate::function::SharedCarveout;

/// A [`LaunchConfig`] with [`LaunchAttributes`], made by the methods of either; `Copy` like that.
///
/// ```
/// use cuda_driver::{Dim3, LaunchConfig};
///
/// let config = LaunchConfig::new(128, 256).with_cluster(2).with_priority(-1);
/// assert_eq!(config.config.grid, Dim3::new(128, 1, 1));
/// assert_eq!(config.attributes.cluster, Some(Dim3::new(2, 1, 1)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExtendedLaunchConfig {
    /// Grid, block and dynamic shared memory.
    pub config: LaunchConfig,
    /// What else is asked for.
    pub attributes: LaunchAttributes,
}

impl From<LaunchConfig> for ExtendedLaunchConfig {
    fn from(config: LaunchConfig) -> Self {
        Self {
            config,
            attributes: LaunchAttributes::NONE,
        }
    }
}

impl ExtendedLaunchConfig {
    /// The same with that many bytes of dynamic shared memory for each block.
    #[must_use]
    pub const fn with_dynamic_shared_bytes(mut self, bytes: u32) -> Self {
        self.config.dynamic_shared_bytes = bytes;
        self
    }
}

/// Methods of both configurations that set one attribute.
macro_rules! attributes {
    ($($(#[$meta:meta])* $name:ident($($argument:ident: $type:ty)?) $field:ident = $value:expr;)*) => {
        impl LaunchConfig {
            $(
                $(#[$meta])*
                #[must_use]
                pub fn $name(self, $($argument: $type)?) -> ExtendedLaunchConfig {
                    ExtendedLaunchConfig::from(self).$name($($argument)?)
                }
            )*
        }

        impl ExtendedLaunchConfig {
            $(
                $(#[$meta])*
                #[must_use]
                pub fn $name(mut self, $($argument: $type)?) -> Self {
                    self.attributes.$field = $value;
                    self
                }
            )*
        }
    };
}

attributes! {
    /// The same in clusters of that many blocks, which share their shared memory and run at the same time.
    ///
    /// Each dimension must divide the grid's; up to 8 blocks are always possible where there are clusters at all
    /// (CUDA 11.8, compute capability 9.0).
    #[doc(alias = "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION")]
    with_cluster(cluster: impl Into<Dim3>) cluster = Some(cluster.into());

    /// The same in clusters of that many blocks where the device can form them, and as [`LaunchAttributes::cluster`] says
    /// elsewhere.
    #[doc(alias = "CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION")]
    with_preferred_cluster(cluster: impl Into<Dim3>) preferred_cluster = Some(cluster.into());

    /// The same with the blocks of a cluster spread in that way.
    #[doc(alias = "CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE")]
    with_cluster_scheduling(scheduling: ClusterScheduling) cluster_scheduling = Some(scheduling);

    /// The same with all blocks running at the same time, so that they can wait for each other; refused if they do not
    /// fit.
    #[doc(alias = "cuLaunchCooperativeKernel")]
    #[doc(alias = "CU_LAUNCH_ATTRIBUTE_COOPERATIVE")]
    cooperative() cooperative = true;

    /// The same, and the kernel may start before the kernel in front of it on the stream is done.
    ///
    /// To ask for it is safe; who launches with it vouches for the kernel, which must wait by itself before it touches
    /// memory (see [`Function::launch`](crate::Function::launch)). What comes after it on the stream waits for it as ever.
    #[doc(alias = "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION")]
    #[doc(alias = "griddepcontrol")]
    #[doc(alias = "cudaGridDependencySynchronize")]
    programmatic_dependent() programmatic_dependent = true;

    /// The same with a priority of the launch's own; smaller numbers go first.
    #[doc(alias = "CU_LAUNCH_ATTRIBUTE_PRIORITY")]
    with_priority(priority: i32) priority = Some(priority);

    /// The same with the kernel's memory operations in that domain.
    #[doc(alias = "CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN")]
    with_memory_sync_domain(domain: MemorySyncDomain) memory_sync_domain = Some(domain);

    /// The same with the domains of memory operations standing for those of the device.
    #[doc(alias = "CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP")]
    with_memory_sync_domain_map(map: MemorySyncDomainMap) memory_sync_domain_map = Some(map);

    /// The same with that division between L1 cache and shared memory, for this launch.
    #[doc(alias = "CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT")]
    with_shared_carveout(carveout: SharedCarveout) shared_carveout = Some(carveout);
}
