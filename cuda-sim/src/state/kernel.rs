//! What can be asked of a kernel, and set for it: the same for a `CUfunction` and for a library's `CUkernel`.

use std::ffi::c_int;

use cuda_sim_machine::{GlobalSpace, Kernel, Program};
use cuda_sys::{CUfunction_attribute, CUresult};

use crate::code;
use crate::device::DeviceConfig;
use crate::state::State;
use crate::state::module::Function;

/// What programs set; nothing where they have not.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Settings {
    max_dynamic_shared: Option<u32>,
    carveout: Option<c_int>,
    non_portable_cluster: Option<bool>,
    /// Extents of the cluster that launches without one of their own have; 0 for those that were not set.
    cluster: Option<[u32; 3]>,
    cluster_scheduling: Option<c_int>,
}

impl Settings {
    /// These, and those of a library's kernel where these say nothing.
    fn over(self, kernel: Self) -> Self {
        Self {
            max_dynamic_shared: self.max_dynamic_shared.or(kernel.max_dynamic_shared),
            carveout: self.carveout.or(kernel.carveout),
            non_portable_cluster: self.non_portable_cluster.or(kernel.non_portable_cluster),
            cluster: self.cluster.or(kernel.cluster),
            cluster_scheduling: self.cluster_scheduling.or(kernel.cluster_scheduling),
        }
    }
}

/// A kernel on a device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) device: &'a DeviceConfig,
    pub(crate) program: &'a Program,
    pub(crate) kernel: &'a Kernel,
    /// `10 * major + minor` of the PTX's `.target`.
    pub(crate) target: u32,
    pub(crate) settings: Settings,
}

/// The product of a shape's extents.
pub(crate) fn volume(shape: [u32; 3]) -> u32 {
    shape
        .iter()
        .fold(1u32, |product, extent| product.saturating_mul(*extent))
}

impl Facts<'_> {
    /// A device attribute that is a limit.
    pub(crate) fn limit(&self, number: u32) -> u32 {
        self.device.attribute(number, 0).unwrap_or(0).max(0) as u32
    }

    /// The most threads of a block that the kernel can be launched with.
    pub(crate) fn max_threads(&self) -> u32 {
        let limit = self.limit(1).max(1);
        let declared = self.kernel.max_ntid().map_or(limit, volume);
        // Registers are given to whole warps in pieces of 256.
        let per_warp = (self.kernel.registers().max(1) * 32).next_multiple_of(256);
        let by_registers = (self.limit(12).max(1) / per_warp * 32).max(32);
        declared.min(limit).min(by_registers)
    }

    /// The most dynamic shared memory that a launch may ask for: what is left of the device's plain limit, unless more was asked for.
    pub(crate) fn max_dynamic_shared(&self) -> u32 {
        self.settings.max_dynamic_shared.unwrap_or(
            self.device
                .shared_memory_per_block
                .saturating_sub(self.kernel.static_shared_bytes()),
        )
    }

    /// Whether clusters of more than eight blocks were allowed.
    pub(crate) fn allows_large_clusters(&self) -> bool {
        self.settings.non_portable_cluster.unwrap_or(false)
    }

    /// The cluster that a launch has where it names none: the kernel's own, or what was set.
    pub(crate) fn cluster(&self) -> Option<[u32; 3]> {
        let set = self.settings.cluster;
        self.kernel
            .cluster()
            .required
            .or(set.filter(|shape| shape.iter().any(|extent| *extent > 0)))
    }

    fn constants(&self) -> usize {
        self.program
            .globals()
            .iter()
            .filter(|global| global.space == GlobalSpace::Const)
            .map(|global| global.size)
            .sum()
    }

    /// The value of an attribute.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a number that no attribute has.
    pub(crate) fn attribute(&self, attribute: CUfunction_attribute) -> Result<c_int, CUresult> {
        type A = CUfunction_attribute;
        let (major, minor) = self.device.compute_capability;
        let cluster = |axis: usize| {
            self.cluster()
                .and_then(|shape| shape.get(axis).copied())
                .unwrap_or(0) as c_int
        };
        Ok(match attribute {
            A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => self.max_threads() as c_int,
            A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => self.kernel.static_shared_bytes() as c_int,
            A::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => self.constants() as c_int,
            A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => self.kernel.local_bytes() as c_int,
            A::CU_FUNC_ATTRIBUTE_NUM_REGS => self.kernel.registers() as c_int,
            A::CU_FUNC_ATTRIBUTE_PTX_VERSION => self.target as c_int,
            A::CU_FUNC_ATTRIBUTE_BINARY_VERSION => (major * 10 + minor) as c_int,
            A::CU_FUNC_ATTRIBUTE_CACHE_MODE_CA => 0,
            A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
                self.max_dynamic_shared() as c_int
            }
            A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
                self.settings.carveout.unwrap_or(-1)
            }
            A::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET => {
                let rules = self.kernel.cluster();
                c_int::from(rules.explicit || rules.required.is_some())
            }
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH => cluster(0),
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT => cluster(1),
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH => cluster(2),
            A::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => {
                c_int::from(self.allows_large_clusters())
            }
            A::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => {
                self.settings.cluster_scheduling.unwrap_or(0)
            }
            _ => return Err(code::INVALID_VALUE),
        })
    }

    /// The settings with an attribute changed.
    ///
    /// # Errors
    /// `INVALID_VALUE` for attributes that cannot be set, and for values that they cannot have.
    pub(crate) fn with_attribute(
        &self,
        mut settings: Settings,
        attribute: CUfunction_attribute,
        value: c_int,
    ) -> Result<Settings, CUresult> {
        type A = CUfunction_attribute;
        let within = |first, last| {
            if (first..=last).contains(&value) {
                Ok(value)
            } else {
                Err(code::INVALID_VALUE)
            }
        };
        match attribute {
            A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
                let most = self
                    .device
                    .shared_memory_per_block_optin
                    .saturating_sub(self.kernel.static_shared_bytes());
                settings.max_dynamic_shared = Some(within(0, most as c_int)? as u32);
            }
            A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
                settings.carveout = Some(within(-1, 100)?);
            }
            A::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => {
                settings.non_portable_cluster = Some(value != 0);
            }
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH
            | A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT
            | A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH => {
                let axis = attribute.0 - A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH.0;
                if let Some(required) = self.kernel.cluster().required {
                    // What the kernel says can only be repeated.
                    let own = required.get(axis as usize).copied().unwrap_or(1) as c_int;
                    within(own, own)?;
                    return Ok(settings);
                }
                let mut shape = settings.cluster.unwrap_or_default();
                if let Some(extent) = shape.get_mut(axis as usize) {
                    *extent = within(0, c_int::MAX)? as u32;
                }
                settings.cluster = Some(shape);
            }
            A::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => {
                settings.cluster_scheduling = Some(within(0, 2)?);
            }
            // The others can be read only.
            _ => return Err(code::INVALID_VALUE),
        }
        Ok(settings)
    }

    /// Offset and size of a parameter.
    ///
    /// # Errors
    /// `INVALID_VALUE` where there are fewer.
    pub(crate) fn param(&self, index: usize) -> Result<(usize, usize), CUresult> {
        let param = self.kernel.params().get(index).ok_or(code::INVALID_VALUE)?;
        Ok((param.offset, param.size))
    }
}

impl State {
    /// What is known of a function in its context.
    ///
    /// # Errors
    /// `INVALID_HANDLE`, which no function that a module made gives.
    pub(crate) fn facts<'a>(&'a self, function: &'a Function) -> Result<Facts<'a>, CUresult> {
        let ordinal = self.device_of(function.context);
        let device = &self
            .devices
            .get(ordinal)
            .ok_or(code::INVALID_HANDLE)?
            .config;
        let of_kernel = self.kernel_settings(function.library_kernel, ordinal);
        Ok(Facts {
            device,
            program: &function.loaded.program,
            kernel: function.kernel()?,
            target: function.target,
            settings: function.settings.over(of_kernel),
        })
    }
}
