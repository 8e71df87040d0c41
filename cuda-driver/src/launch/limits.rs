//! What device and kernel allow of a launch, and the first limit that a configuration exceeds.
//!
//! Asked before a launch is prepared, and after a launch was refused.

use cuda_sys::{CUdevice_attribute as DeviceAttribute, CUfunction_attribute as Attribute};

use super::attributes::LaunchAttributes;
use super::config::{Dim3, LaunchConfig};
use super::extended::ExtendedLaunchConfig;
use crate::error::{Error, ErrorKind, Result, count, exceed};
use crate::function::{FunctionCore, SharedCarveout};

/// A limit that is exceeded, and what to do about it.
#[derive(Debug)]
pub(super) struct Excess {
    reason: String,
    remedy: String,
}

impl Excess {
    pub(super) fn new(reason: String, remedy: impl Into<String>) -> Self {
        let remedy = remedy.into();
        Self { reason, remedy }
    }

    /// An error that says so, without a driver call.
    pub(super) fn into_error(self) -> Error {
        self.explain(Error::new(ErrorKind::LaunchTooLarge, ""))
    }

    /// The same error with this as its reason.
    pub(super) fn explain(self, error: Error) -> Error {
        error
            .of_kind(ErrorKind::LaunchTooLarge)
            .because(self.reason)
            .remedied_by(self.remedy)
    }
}

/// A limit that is exceeded, if one is; or the error of asking.
pub(super) type Found = Result<Option<Excess>>;

fn found(reason: String, remedy: impl Into<String>) -> Found {
    Ok(Some(Excess::new(reason, remedy)))
}

/// Asks for limits.
#[derive(Clone, Copy)]
pub(super) struct Limits<'a> {
    pub(super) function: &'a FunctionCore,
}

impl Limits<'_> {
    pub(super) fn device(self, attribute: DeviceAttribute) -> Result<i64> {
        Ok(i64::from(self.function.device().raw_attribute(attribute)?))
    }

    pub(super) fn own(self, attribute: Attribute) -> Result<i64> {
        Ok(i64::from(self.function.raw_attribute(attribute)?))
    }

    /// What of grid and block is too much, or zero.
    pub(super) fn shape(self, config: &LaunchConfig) -> Found {
        let LaunchConfig { grid, block, .. } = *config;
        if grid.volume() == 0 || block.volume() == 0 {
            return found(
                format!("a grid of {grid} blocks of {block} threads has a dimension of zero"),
                "make every dimension at least 1",
            );
        }
        let threads = block.volume();
        let exceeds = |limit: i64| u128::try_from(limit).is_ok_and(|limit| threads > limit);
        let limit = self.device(DeviceAttribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        if exceeds(limit) {
            return found(
                format!("{threads} threads per block exceed the device's limit of {limit}"),
                "use smaller blocks and more of them",
            );
        }
        if let Some(excess) = self.dimensions(grid, block)? {
            return Ok(Some(excess));
        }
        let limit = self.own(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        if exceeds(limit) {
            let registers = self.own(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?;
            return found(
                format!(
                    "{threads} threads per block exceed this kernel's limit of {limit} (it uses {registers} registers per thread)"
                ),
                "use smaller blocks, or compile the kernel with launch bounds or fewer registers",
            );
        }
        Ok(None)
    }

    fn dimensions(self, grid: Dim3, block: Dim3) -> Found {
        type A = DeviceAttribute;
        let dimensions = [
            (
                "block",
                "x",
                block.x,
                A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
            ),
            (
                "block",
                "y",
                block.y,
                A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
            ),
            (
                "block",
                "z",
                block.z,
                A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
            ),
            ("grid", "x", grid.x, A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
            ("grid", "y", grid.y, A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
            ("grid", "z", grid.z, A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z),
        ];
        for (what, axis, size, attribute) in dimensions {
            let limit = self.device(attribute)?;
            if i64::from(size) > limit {
                return found(
                    format!(
                        "{size} in the {what}'s {axis} dimension exceed the device's limit of {limit}"
                    ),
                    format!("make the {what} smaller along {axis}"),
                );
            }
        }
        Ok(None)
    }

    /// The most dynamic shared memory that the device can give a block of this kernel.
    pub(super) fn most_dynamic_shared(self) -> Result<i64> {
        let fixed = self.own(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let opt_in = DeviceAttribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        Ok(self.device(opt_in)? - fixed)
    }

    /// Whether more dynamic shared memory is asked for than the kernel is allowed now.
    pub(super) fn shared_memory(self, config: &LaunchConfig) -> Found {
        let allowed = self.own(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?;
        let asked = config.dynamic_shared_bytes;
        if i64::from(asked) <= allowed {
            return Ok(None);
        }
        let most = self.most_dynamic_shared()?;
        let remedy = if i64::from(asked) <= most {
            format!(
                "allow it first: `function.set_max_dynamic_shared_bytes({asked})`, or prepare the launch"
            )
        } else {
            format!(
                "this device can give the kernel {} at most",
                count(most, "byte")
            )
        };
        let fixed = self.own(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        found(
            format!(
                "{} of dynamic shared memory {} the {} that the kernel is allowed (it declares {} itself)",
                count(asked, "byte"),
                exceed(&asked),
                count(allowed, "byte"),
                count(fixed, "byte")
            ),
            remedy,
        )
    }

    /// What of a cooperative launch the device cannot run at once.
    pub(super) fn cooperative(self, config: &LaunchConfig) -> Found {
        if self.device(DeviceAttribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? == 0 {
            return found(
                "the device has no cooperative launches".into(),
                "launch the kernel's phases one by one",
            );
        }
        let attribute = DeviceAttribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let multiprocessors = self.device(attribute)?;
        let threads = u32::try_from(config.block.volume()).unwrap_or(u32::MAX);
        let shared = config.dynamic_shared_bytes;
        let each = self.function.active_blocks(threads, shared)?;
        let fitting = i64::from(each) * multiprocessors;
        let asked = config.grid.volume();
        if u128::try_from(fitting).is_ok_and(|fitting| asked <= fitting) {
            return Ok(None);
        }
        found(
            format!(
                "{} of a cooperative launch {} the {fitting} that the device runs at once ({} of {} on each of {})",
                count(asked, "block"),
                exceed(&asked),
                count(each, "block"),
                count(threads, "thread"),
                count(multiprocessors, "multiprocessor")
            ),
            "use fewer blocks, and let each of them do more",
        )
    }

    /// Attributes that are out of their range.
    pub(super) fn attributes(self, attributes: &LaunchAttributes) -> Found {
        if let Some(SharedCarveout::Percent(percent)) = attributes.shared_carveout
            && percent > 100
        {
            return found(
                format!("a shared memory carve-out of {percent} percent is more than all"),
                "give a percentage up to 100",
            );
        }
        if let Some(map) = attributes.memory_sync_domain_map {
            let domains =
                self.device(DeviceAttribute::CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT)?;
            let highest = map.default.max(map.remote);
            if i64::from(highest) >= domains {
                return found(
                    format!(
                        "memory synchronisation domain {highest} is not one of the device's {domains}"
                    ),
                    "number the domains from 0",
                );
            }
        }
        Ok(None)
    }

    /// The first limit that a launch exceeds, with the shared memory that it is allowed now.
    pub(super) fn first(self, config: &ExtendedLaunchConfig) -> Found {
        let ExtendedLaunchConfig { config, attributes } = config;
        if let Some(excess) = self.shape(config)? {
            return Ok(Some(excess));
        }
        if let Some(excess) = self.shared_memory(config)? {
            return Ok(Some(excess));
        }
        self.residency(config, attributes)
    }

    /// What cannot run at once, or is no attribute.
    pub(super) fn residency(self, config: &LaunchConfig, attributes: &LaunchAttributes) -> Found {
        if let Some(excess) = self.cluster(config, attributes)? {
            return Ok(Some(excess));
        }
        if attributes.cooperative
            && let Some(excess) = self.cooperative(config)?
        {
            return Ok(Some(excess));
        }
        self.attributes(attributes)
    }
}
