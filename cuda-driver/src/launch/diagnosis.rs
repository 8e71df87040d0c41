//! Why a launch was refused: the limit that it exceeds. Runs only after the failure.

use cuda_sys::{CUdevice_attribute as Attribute, CUfunction_attribute, CUresult};

use super::{ExtendedLaunchConfig, LaunchConfig};
use crate::error::{Error, ErrorKind};
use crate::function::FunctionCore;

/// Says which limit a refused launch exceeds, as far as that can be told.
#[cold]
pub(super) fn diagnose(
    function: &FunctionCore,
    config: &ExtendedLaunchConfig,
    error: Error,
) -> Error {
    let suspicious = error.is_status(CUresult::CUDA_ERROR_INVALID_VALUE)
        || error.is_status(CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    let error = error.doing(format!("launch `{}`", function.name()));
    if !suspicious {
        return error;
    }
    match excess(function, &config.config) {
        Some((reason, remedy)) => error
            .of_kind(ErrorKind::LaunchTooLarge)
            .because(reason)
            .remedied_by(remedy),
        None => error,
    }
}

/// The first limit that the configuration exceeds: what, and what to do.
fn excess(function: &FunctionCore, config: &LaunchConfig) -> Option<(String, String)> {
    let device = |attribute| {
        let value = function.device().raw_attribute(attribute).ok()?;
        u128::try_from(value).ok()
    };
    let LaunchConfig { grid, block, .. } = *config;
    if grid.volume() == 0 || block.volume() == 0 {
        return Some((
            format!("a grid of {grid} blocks of {block} threads has a dimension of zero"),
            "make every dimension at least 1".into(),
        ));
    }
    let threads = block.volume();
    let limit = device(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
    if threads > limit {
        return Some((
            format!("{threads} threads per block exceed the device's limit of {limit}"),
            "use smaller blocks and more of them".into(),
        ));
    }
    let dimensions = [
        (
            "x",
            block.x,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
            "block",
        ),
        (
            "y",
            block.y,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
            "block",
        ),
        (
            "z",
            block.z,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
            "block",
        ),
        (
            "x",
            grid.x,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
            "grid",
        ),
        (
            "y",
            grid.y,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
            "grid",
        ),
        (
            "z",
            grid.z,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
            "grid",
        ),
    ];
    for (axis, size, attribute, what) in dimensions {
        let limit = device(attribute)?;
        if u128::from(size) > limit {
            return Some((
                format!(
                    "{size} in the {what}'s {axis} dimension exceed the device's limit of {limit}"
                ),
                format!("make the {what} smaller along {axis}"),
            ));
        }
    }
    let own = |attribute| {
        let value = function.raw_attribute(attribute).ok()?;
        u128::try_from(value).ok()
    };
    let limit = own(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
    if threads > limit {
        let registers = own(CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?;
        return Some((
            format!(
                "{threads} threads per block exceed this kernel's limit of {limit} (it uses {registers} registers per thread)"
            ),
            "use smaller blocks, or compile the kernel with launch bounds or fewer registers"
                .into(),
        ));
    }
    shared_memory_excess(function, config)
}

fn shared_memory_excess(
    function: &FunctionCore,
    config: &LaunchConfig,
) -> Option<(String, String)> {
    let own = |attribute| function.raw_attribute(attribute).ok();
    let fixed = own(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
    let allowed = own(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?;
    let asked = config.dynamic_shared_bytes;
    if i64::from(asked) <= i64::from(allowed) {
        return None;
    }
    let device = function.device();
    let opt_in = Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    let most = i64::from(device.raw_attribute(opt_in).ok()?) - i64::from(fixed);
    let remedy = if i64::from(asked) <= most {
        format!("allow it first: `function.set_max_dynamic_shared_bytes({asked})`")
    } else {
        format!("this device can give the kernel {most} bytes at most")
    };
    Some((
        format!(
            "{asked} bytes of dynamic shared memory exceed the {allowed} bytes that the kernel is allowed (it declares {fixed} \
             bytes itself)"
        ),
        remedy,
    ))
}
