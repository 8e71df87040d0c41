//! What device and kernel allow of the clusters of a launch.

use cuda_sys::{CUdevice_attribute as DeviceAttribute, CUfunction_attribute as Attribute};

use super::attributes::LaunchAttributes;
use super::config::{Dim3, LaunchConfig};
use super::limits::{Excess, Found, Limits};
use crate::error::{Result, count, exceed};

/// The most blocks of a cluster on every device that has clusters.
const PORTABLE: u32 = 8;

impl Limits<'_> {
    /// What of the clusters does not fit grid, kernel or device.
    pub(super) fn cluster(self, config: &LaunchConfig, attributes: &LaunchAttributes) -> Found {
        let required = self.required_cluster()?;
        let asked = attributes.cluster;
        if asked.is_none() && required.is_none() && attributes.preferred_cluster.is_none() {
            return self.undecided_cluster();
        }
        if self.device(DeviceAttribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)? == 0 {
            let capability = self.function.device().compute_capability()?;
            return Ok(Some(Excess::new(
                format!("the device of compute capability {capability} has no clusters"),
                "they came with compute capability 9.0",
            )));
        }
        if let (Some(asked), Some(required)) = (asked, required)
            && asked != required
        {
            return Ok(Some(Excess::new(
                format!(
                    "the launch asks for clusters of {asked} blocks, and the kernel was compiled for clusters of {required}"
                ),
                "leave the cluster out of the launch, or the size out of the kernel",
            )));
        }
        let Some(cluster) = asked.or(required) else {
            return self.undecided_cluster();
        };
        if let Some(excess) = divides(cluster, config.grid, "the grid") {
            return Ok(Some(excess));
        }
        if let Some(preferred) = attributes.preferred_cluster {
            let excess = divides(cluster, preferred, "the preferred cluster")
                .or_else(|| divides(preferred, config.grid, "the grid"));
            if excess.is_some() {
                return Ok(excess);
            }
        }
        self.cluster_size(config, attributes, cluster)
    }

    /// The cluster that the kernel was compiled for.
    fn required_cluster(self) -> Result<Option<Dim3>> {
        if !self.function.context().driver().has_clusters() {
            return Ok(None);
        }
        let read = |attribute| Ok::<_, crate::Error>(u32::try_from(self.own(attribute)?)?);
        let required = Dim3 {
            x: read(Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)?,
            y: read(Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT)?,
            z: read(Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)?,
        };
        Ok((required.volume() != 0).then_some(required))
    }

    /// Whether nobody says how large the clusters are of a kernel that must have some.
    fn undecided_cluster(self) -> Found {
        let must = self.function.context().driver().has_clusters()
            && self.own(Attribute::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET)? != 0;
        Ok(must.then(|| {
            Excess::new(
                "the kernel runs in clusters only, and the launch does not say how large they are"
                    .into(),
                "use `config.with_cluster(…)`",
            )
        }))
    }

    /// Whether clusters have too many blocks, or too large ones to run at once.
    fn cluster_size(
        self,
        config: &LaunchConfig,
        attributes: &LaunchAttributes,
        cluster: Dim3,
    ) -> Found {
        let blocks = cluster.volume();
        let allowed = self.own(Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)?;
        if blocks > u128::from(PORTABLE) && allowed == 0 {
            return Ok(Some(Excess::new(
                format!(
                    "{blocks} blocks per cluster exceed the {PORTABLE} that every device allows"
                ),
                "use smaller clusters, or allow what this device can: `function.allow_non_portable_clusters()`",
            )));
        }
        let mut asked = *attributes;
        asked.cluster = Some(cluster);
        asked.preferred_cluster = None;
        let most = self.function.max_cluster_size(config, &asked)?;
        if blocks > u128::from(most) {
            return Ok(Some(Excess::new(
                format!(
                    "{} per cluster {} the {most} that the device can run at once for this kernel",
                    count(blocks, "block"),
                    exceed(&blocks)
                ),
                "use smaller clusters, smaller blocks or less shared memory",
            )));
        }
        if self.function.active_clusters(config, &asked)? == 0 {
            return Ok(Some(Excess::new(
                format!("no cluster of {cluster} such blocks fits on the device at once"),
                "use smaller clusters, smaller blocks or less shared memory",
            )));
        }
        Ok(None)
    }
}

/// Whether a size is no multiple of a cluster in some dimension.
fn divides(cluster: Dim3, whole: Dim3, what: &str) -> Option<Excess> {
    let pairs = [
        ("x", cluster.x, whole.x),
        ("y", cluster.y, whole.y),
        ("z", cluster.z, whole.z),
    ];
    let wrong = pairs
        .into_iter()
        .find(|(_, part, whole)| *part == 0 || whole % part != 0);
    wrong.map(|(axis, part, size)| {
        if part == 0 {
            return Excess::new(
                format!("a cluster of {cluster} blocks has a dimension of zero"),
                "make every dimension at least 1",
            );
        }
        Excess::new(
            format!(
                "{what} has {} along {axis}, which is no multiple of the cluster's {part}",
                count(size, "block")
            ),
            format!("round {what} up to a multiple, or use smaller clusters"),
        )
    })
}
