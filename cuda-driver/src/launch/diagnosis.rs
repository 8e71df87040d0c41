//! Why a launch was refused: the limit that it exceeds. Runs only after the failure.

use cuda_sys::CUresult;

use super::config::LaunchConfig;
use super::extended::ExtendedLaunchConfig;
use super::limits::Limits;
use crate::error::{Doing, Error, Result, count};
use crate::function::FunctionCore;
use crate::stream::{StreamCore, relaxed, wait};

/// Says which limit a refused launch exceeds, as far as that can be told.
#[cold]
pub(super) fn diagnose(
    function: &FunctionCore,
    config: &ExtendedLaunchConfig,
    error: Error,
) -> Error {
    let is = |status| error.is_status(status);
    let invalid = is(CUresult::CUDA_ERROR_INVALID_VALUE);
    let handle = is(CUresult::CUDA_ERROR_INVALID_HANDLE);
    let suspicious = invalid
        || is(CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
        || is(CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
        || is(CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE)
        || is(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    let error = error.doing(format!("launch `{}`", function.name()));
    if handle {
        return error.because(
            "the kernel's module or the stream is no longer valid, or they belong to different contexts",
        );
    }
    if !suspicious {
        return error;
    }
    match (Limits { function }).first(config) {
        Ok(Some(excess)) => excess.explain(error),
        _ if invalid => error.remedied_by(
            "no limit that can be asked for is exceeded: the kernel may be compiled for one block size only (`.reqntid`)",
        ),
        _ => error,
    }
}

/// Waits for a kernel that was just launched, and names it if it fails.
#[cold]
pub(super) fn check(
    function: &FunctionCore,
    config: &ExtendedLaunchConfig,
    stream: &StreamCore,
) -> Result<()> {
    // The program did not ask for the wait, which must not end a capture of another thread.
    relaxed(stream.driver(), || wait(stream)).doing(|| {
        let LaunchConfig {
            grid,
            block,
            dynamic_shared_bytes: shared,
        } = config.config;
        let name = function.name();
        let shared = count(shared, "byte");
 format!("run `{name}` in {grid} blocks of {block} threads with {shared} of dynamic shared memory")
    })
}
