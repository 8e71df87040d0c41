//! What a launch can ask for beyond grid, block and shared memory, and how the driver takes it.

use std::mem::MaybeUninit;

use cuda_sys::{
    CUclusterSchedulingPolicy, CUlaunchAttribute, CUlaunchAttributeID as Id,
    CUlaunchAttributeValue, CUlaunchAttributeValue_clusterDim,
    CUlaunchAttributeValue_preferredClusterDim, CUlaunchMemSyncDomain, CUlaunchMemSyncDomainMap,
};

use super::Dim3;
use crate::driver::{Driver, Version};
use crate::error::{Error, ErrorKind, Result};
use crate::function::SharedCarveout;

/// What a launch asks for beyond grid, block and shared memory; by default nothing.
///
/// The methods of [`LaunchConfig`](crate::LaunchConfig) and [`ExtendedLaunchConfig`](crate::ExtendedLaunchConfig) set the
/// fields one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LaunchAttributes {
    /// How many blocks form a cluster, which shares its shared memory; nothing where the kernel decides. Each dimension
    /// divides the grid's. CUDA 11.8, compute capability 9.0.
    pub cluster: Option<Dim3>,
    /// Blocks of the clusters that the device forms where it can, a multiple of [`LaunchAttributes::cluster`]. CUDA 12.8.
    pub preferred_cluster: Option<Dim3>,
    /// How the blocks of a cluster are spread over the device. CUDA 11.8.
    pub cluster_scheduling: Option<ClusterScheduling>,
    /// Whether all blocks run at the same time, so that they can wait for each other.
    pub cooperative: bool,
    /// Whether the kernel may start before the kernel in front of it is done (programmatic dependent launch). CUDA 11.8.
    pub programmatic_dependent: bool,
    /// The kernel's priority instead of the stream's; smaller numbers go first. CUDA 11.8.
    pub priority: Option<i32>,
    /// What the kernel's memory fences wait for. CUDA 12.0.
    pub memory_sync_domain: Option<MemorySyncDomain>,
    /// Which of the device's domains the logical ones are. CUDA 12.0.
    pub memory_sync_domain_map: Option<MemorySyncDomainMap>,
    /// How L1 cache and shared memory are divided during this launch. CUDA 12.5.
    pub shared_carveout: Option<SharedCarveout>,
}

/// How the blocks of a cluster are spread over the multiprocessors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClusterScheduling {
    /// As few blocks as possible on each multiprocessor.
    Spread,
    /// Where there is room, for an even load.
    LoadBalancing,
}

/// A domain of memory operations: a fence of the device's scope waits for writes of its own domain only.
///
/// Kernels that send data to other devices go to the remote domain, so that fences of computing kernels do not wait for
/// them. Kernels of different domains that run at the same time order their accesses by fences of the system's scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemorySyncDomain {
    /// Where kernels are by default.
    Default,
    /// Where kernels are that communicate with other devices.
    Remote,
}

/// Which of the device's domains (0 to 3 on Hopper) each [`MemorySyncDomain`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemorySyncDomainMap {
    /// The number for [`MemorySyncDomain::Default`]; 0 unless changed.
    pub default: u8,
    /// The number for [`MemorySyncDomain::Remote`]; 1 unless changed.
    pub remote: u8,
}

impl LaunchAttributes {
    /// Nothing beyond grid, block and shared memory.
    pub const NONE: Self = Self {
        cluster: None,
        preferred_cluster: None,
        cluster_scheduling: None,
        cooperative: false,
        programmatic_dependent: false,
        priority: None,
        memory_sync_domain: None,
        memory_sync_domain_map: None,
        shared_carveout: None,
    };

    /// Whether they ask for nothing, so that the launch is a plain one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }

    /// Whether they ask for nothing but a cooperative launch, for which there is a function of its own.
    pub(super) fn are_only_cooperative(&self) -> bool {
        let cooperative = Self {
            cooperative: true,
            ..Self::NONE
        };
        *self == cooperative
    }

    /// Refuses what the driver is too old for; what it does not know it might pass over.
    pub(crate) fn require_support(&self, driver: &Driver) -> Result<()> {
        let needs = [
            (self.cluster.is_some(), "clusters", 11, 8),
            (
                self.cluster_scheduling.is_some(),
                "a cluster scheduling",
                11,
                8,
            ),
            (
                self.programmatic_dependent,
                "programmatic dependent launch",
                11,
                8,
            ),
            (self.priority.is_some(), "a priority of a launch", 11, 8),
            (
                self.memory_sync_domain.is_some() || self.memory_sync_domain_map.is_some(),
                "memory synchronisation domains",
                12,
                0,
            ),
            (
                self.shared_carveout.is_some(),
                "a shared memory carve-out of a launch",
                12,
                5,
            ),
            (
                self.preferred_cluster.is_some(),
                "a preferred cluster",
                12,
                8,
            ),
        ];
        let version = driver.version();
        for (asked, what, major, minor) in needs {
            let first = Version { major, minor };
            if asked && version < first {
                let reason =
                    format!("{what} came with CUDA {first}, and the driver supports {version}");
                return Err(Error::new(ErrorKind::NotSupported, reason)
                    .remedied_by("update the driver, or leave the attribute out"));
            }
        }
        Ok(())
    }
}

/// The most attributes that one launch has.
const MOST: usize = 9;

/// Attributes as the driver takes them, on the stack.
///
/// # Invariants
/// The first `count` are initialised.
pub(crate) struct Encoded {
    attributes: [MaybeUninit<CUlaunchAttribute>; MOST],
    count: u32,
}

impl Encoded {
    pub(crate) fn new(attributes: &LaunchAttributes) -> Self {
        let mut this = Self {
            attributes: [const { MaybeUninit::uninit() }; MOST],
            count: 0,
        };
        if let Some(Dim3 { x, y, z }) = attributes.cluster {
            let cluster = CUlaunchAttributeValue_clusterDim { x, y, z };
            this.push(Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, |value| {
                value.clusterDim = cluster;
            });
        }
        if let Some(Dim3 { x, y, z }) = attributes.preferred_cluster {
            let preferred = CUlaunchAttributeValue_preferredClusterDim { x, y, z };
            this.push(
                Id::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
                |value| {
                    value.preferredClusterDim = preferred;
                },
            );
        }
        if let Some(scheduling) = attributes.cluster_scheduling {
            type Policy = CUclusterSchedulingPolicy;
            let policy = match scheduling {
                ClusterScheduling::Spread => Policy::CU_CLUSTER_SCHEDULING_POLICY_SPREAD,
                ClusterScheduling::LoadBalancing => {
                    Policy::CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING
                }
            };
            this.push(
                Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
                |value| value.clusterSchedulingPolicyPreference = policy,
            );
        }
        if attributes.cooperative {
            this.push(Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, |value| {
                value.cooperative = 1;
            });
        }
        if attributes.programmatic_dependent {
            this.push(
                Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                |value| value.programmaticStreamSerializationAllowed = 1,
            );
        }
        if let Some(priority) = attributes.priority {
            this.push(Id::CU_LAUNCH_ATTRIBUTE_PRIORITY, |value| {
                value.priority = priority;
            });
        }
        if let Some(MemorySyncDomainMap { default, remote }) = attributes.memory_sync_domain_map {
            let default_ = default;
            this.push(Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, |value| {
                value.memSyncDomainMap = CUlaunchMemSyncDomainMap { default_, remote };
            });
        }
        if let Some(domain) = attributes.memory_sync_domain {
            type Domain = CUlaunchMemSyncDomain;
            let domain = match domain {
                MemorySyncDomain::Default => Domain::CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT,
                MemorySyncDomain::Remote => Domain::CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE,
            };
            this.push(Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, |value| {
                value.memSyncDomain = domain;
            });
        }
        // The driver decides unless it is told a number.
        if let Some(percent) = attributes.shared_carveout.and_then(SharedCarveout::percent) {
            this.push(
                Id::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                |value| value.sharedMemCarveout = u32::from(percent),
            );
        }
        this
    }

    fn push(&mut self, id: Id, set: impl FnOnce(&mut CUlaunchAttributeValue)) {
        let mut attribute = CUlaunchAttribute {
            id,
            ..Default::default()
        };
        set(&mut attribute.value);
        // There is room for each kind once.
        if let Some(slot) = self.attributes.get_mut(self.count as usize) {
            slot.write(attribute);
            self.count += 1;
        }
    }

    /// The attributes.
    pub(crate) fn as_slice(&self) -> &[CUlaunchAttribute] {
        let first: *const CUlaunchAttribute = self.attributes.as_ptr().cast();
        // SAFETY: the first `count` are initialised.
        unsafe { std::slice::from_raw_parts(first, self.count as usize) }
    }
}

#[cfg(test)]
mod tests {
    use super::{ClusterScheduling, Encoded, LaunchAttributes, MOST, MemorySyncDomain};
    use super::{MemorySyncDomainMap, SharedCarveout};
    use crate::Dim3;

    fn all() -> LaunchAttributes {
        LaunchAttributes {
            cluster: Some(Dim3::new(2, 1, 1)),
            preferred_cluster: Some(Dim3::new(4, 1, 1)),
            cluster_scheduling: Some(ClusterScheduling::Spread),
            cooperative: true,
            programmatic_dependent: true,
            priority: Some(-1),
            memory_sync_domain: Some(MemorySyncDomain::Remote),
            memory_sync_domain_map: Some(MemorySyncDomainMap {
                default: 0,
                remote: 3,
            }),
            shared_carveout: Some(SharedCarveout::MaxShared),
        }
    }

    #[test]
    fn there_is_room_for_all_of_them() {
        let encoded = Encoded::new(&all());
        let attributes = encoded.as_slice();
        assert_eq!(attributes.len(), MOST);
        // SAFETY: the first is a cluster's.
        assert_eq!(unsafe { attributes[0].value.clusterDim }.x, 2);
    }

    #[test]
    fn nothing_is_nothing() {
        assert!(LaunchAttributes::default().is_empty() && !all().is_empty());
        assert!(Encoded::new(&LaunchAttributes::NONE).as_slice().is_empty());
        let carveout = LaunchAttributes {
            shared_carveout: Some(SharedCarveout::Default),
            ..LaunchAttributes::NONE
        };
        assert!(Encoded::new(&carveout).as_slice().is_empty());
    }
}
