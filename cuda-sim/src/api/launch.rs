//! Launches: `CUDA_EXEC`.

mod attributes;
mod check;
mod params;

use cuda_sys::{CUDA_LAUNCH_PARAMS, CUfunction, CUlaunchConfig, CUstream};

use super::occupancy::blocks_at_once;
use super::occupancy_cluster::clustered_blocks_at_once;
use super::prelude::*;
use crate::state::queue::{KernelWork, Work};
use crate::submit::{enqueue, target};
use crate::{Report, ReportKind};
pub(super) use attributes::Attributes;
pub(super) use check::{cluster, largest_cluster};
pub(super) use params::Params;

built! {
    cuLaunchKernel [cuLaunchKernel_ptsz] => kernel, (
        function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint,
        shared: c_uint, stream: CUstream, params: In<*mut c_void>, extra: In<*mut c_void>
    );
    cuLaunchKernelEx [cuLaunchKernelEx_ptsz] => kernel_ex, (
        config: In<CUlaunchConfig>, function: CUfunction, params: In<*mut c_void>, extra: In<*mut c_void>
    );
    cuLaunchCooperativeKernel [cuLaunchCooperativeKernel_ptsz] => cooperative, (
        function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint,
        shared: c_uint, stream: CUstream, params: In<*mut c_void>
    );
    cuLaunchCooperativeKernelMultiDevice => multi_device, (launches: In<CUDA_LAUNCH_PARAMS>, count: c_uint, flags: c_uint);
}

/// The shape of a launch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared: u32,
    /// All blocks run at the same time.
    pub(super) cooperative: bool,
}

#[expect(clippy::too_many_arguments, reason = "the C function has them")]
fn kernel(
    call: &Call<'_>,
    function: CUfunction,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: CUstream,
    params: In<*mut c_void>,
    extra: In<*mut c_void>,
) -> Answer {
    let shape = Shape {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        shared,
        cooperative: false,
    };
    let params = Params::Passed { params, extra };
    launch(
        call,
        function,
        shape,
        &Attributes::default(),
        stream,
        params,
    )
}

#[expect(clippy::too_many_arguments, reason = "the C function has them")]
fn cooperative(
    call: &Call<'_>,
    function: CUfunction,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: CUstream,
    params: In<*mut c_void>,
) -> Answer {
    let shape = Shape {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        shared,
        cooperative: true,
    };
    let extra = In::from_pointer(std::ptr::null());
    let params = Params::Passed { params, extra };
    launch(
        call,
        function,
        shape,
        &Attributes::default(),
        stream,
        params,
    )
}

fn kernel_ex(
    call: &Call<'_>,
    config: In<CUlaunchConfig>,
    function: CUfunction,
    params: In<*mut c_void>,
    extra: In<*mut c_void>,
) -> Answer {
    let config = config.get()?;
    let attributes = Attributes::read(call, &config)?;
    let shape = Shape {
        grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
        block: [config.blockDimX, config.blockDimY, config.blockDimZ],
        shared: config.sharedMemBytes,
        cooperative: attributes.cooperative,
    };
    let params = Params::Passed { params, extra };
    launch(call, function, shape, &attributes, config.hStream, params)
}

/// One cooperative launch. Several at once, whose blocks could wait for those on other devices, are not built.
fn multi_device(
    call: &Call<'_>,
    launches: In<CUDA_LAUNCH_PARAMS>,
    count: c_uint,
    flags: c_uint,
) -> Answer {
    let first = launches.get()?;
    if count == 0 || flags > 3 {
        return Err(code::INVALID_VALUE);
    }
    if count > 1 {
        return Err(unsupported(
            call,
            format!("{}: cooperative launches on several devices", call.symbol),
        ));
    }
    cooperative(
        call,
        first.function,
        first.gridDimX,
        first.gridDimY,
        first.gridDimZ,
        first.blockDimX,
        first.blockDimY,
        first.blockDimZ,
        first.sharedMemBytes,
        first.hStream,
        In::from_pointer(first.kernelParams.cast_const()),
    )
}

/// Reports and keeps what is not built.
fn unsupported(call: &Call<'_>, what: String) -> CUresult {
    let message = format!("{what} are not implemented by the software driver");
    call.instance.note_unsupported(message.clone());
    call.instance
        .add_report(Report::new(ReportKind::Unsupported, message, call.number));
    code::NOT_SUPPORTED
}

/// Checks a launch and enqueues it.
pub(super) fn launch(
    call: &Call<'_>,
    function: CUfunction,
    shape: Shape,
    attributes: &Attributes,
    stream: CUstream,
    params: Params<'_>,
) -> Answer {
    let mut state = call.state();
    let handle = number(function);
    // A library's kernel means the function that it is in the stream's context.
    if state.kernels.get(handle).is_err() {
        state.function(handle)?;
    }
    let target = target(call, &mut state, call.stream(stream))?;
    let handle = state.function_in(handle, Ok(target.stream.context), call.number)?;
    let function = state.function(handle)?;
    if function.context != target.stream.context {
        return Err(code::INVALID_HANDLE);
    }
    let facts = state.facts(function)?;
    check::shape(&facts, &shape)?;
    let cluster = check::cluster(&facts, shape.grid, attributes)?;
    let kernel = facts.kernel;
    if let Some(what) = kernel.unsupported() {
        let message = format!("kernel `{}` cannot run: {what}", kernel.name());
        let mut report = Report::new(ReportKind::Unsupported, message.clone(), call.number);
        report.kernel = Some(kernel.name().to_owned());
        report.line = Some(what.line);
        report.instruction = Some(what.text.clone());
        state.add_report(report);
        call.instance.note_unsupported(message);
        return Err(code::NOT_SUPPORTED);
    }
    let params = params.read(kernel)?;
    if shape.cooperative {
        let threads = shape.block.iter().product();
        let fitting = match cluster {
            Some(cluster) => {
                clustered_blocks_at_once(&state, function, cluster, threads, shape.shared)?
            }
            None => blocks_at_once(&state, function, threads, shape.shared)?,
        };
        let blocks = shape.grid.iter().map(|it| u64::from(*it)).product::<u64>();
        if blocks > fitting {
            return Err(code::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
    }
    let (module, kernel) = (std::sync::Arc::clone(&function.loaded), function.kernel);
    let workspace = if shape.cooperative {
        state.workspace(target.stream.context, call.number)?
    } else {
        0
    };
    let work = KernelWork {
        module,
        kernel,
        grid: shape.grid,
        block: shape.block,
        cluster,
        dynamic_shared: shape.shared,
        params,
        dependent: attributes.dependent,
        workspace,
    };
    if !attributes.events.is_empty() {
        drop(state);
        // That all blocks have begun says nothing about what they have done: the event comes after what is before the kernel.
        for (event, flags) in &attributes.events {
            super::event::record_with_flags(call, *event, stream, *flags)?;
        }
        state = call.state();
    }
    enqueue(call, &mut state, &target, Work::Kernel(Box::new(work))).map(|_| ())
}
