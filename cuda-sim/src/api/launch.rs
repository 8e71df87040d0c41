//! Launches: `CUDA_EXEC`.

use cuda_sys::{CUfunction, CUlaunchAttributeID, CUlaunchConfig, CUstream};

use super::occupancy::blocks_at_once;
use super::prelude::*;
use crate::state::kernel::{Facts, volume};
use crate::state::module::Function;
use crate::state::queue::{KernelWork, Work};
use crate::submit::{enqueue, target};
use crate::{Report, ReportKind};

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
}

/// The shape of a launch.
#[derive(Debug, Clone, Copy)]
struct Shape {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    /// All blocks run at the same time.
    cooperative: bool,
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
    launch(call, function, shape, stream, params, extra)
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
    launch(call, function, shape, stream, params, extra)
}

fn kernel_ex(
    call: &Call<'_>,
    config: In<CUlaunchConfig>,
    function: CUfunction,
    params: In<*mut c_void>,
    extra: In<*mut c_void>,
) -> Answer {
    let config = config.get()?;
    let attributes = In::from_pointer(config.attrs.cast_const());
    let mut cooperative = false;
    for index in 0..config.numAttrs as usize {
        let attribute = attributes.at(index)?;
        match attribute.id {
            // Hints, and what changes no result here.
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_IGNORE
            | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
            | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY
            | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP
            | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN
            | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {}
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => {
                // SAFETY: an attribute of that name has this value.
                cooperative = unsafe { attribute.value.cooperative } != 0;
            }
            other => {
                let message = format!(
                    "{}: the launch attribute {other:?} is not implemented",
                    call.symbol
                );
                call.instance.unsupported.lock().push(message.clone());
                call.instance.add_report(Report::new(
                    ReportKind::Unsupported,
                    message,
                    call.number,
                ));
                return Err(code::NOT_SUPPORTED);
            }
        }
    }
    let shape = Shape {
        grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
        block: [config.blockDimX, config.blockDimY, config.blockDimZ],
        shared: config.sharedMemBytes,
        cooperative,
    };
    launch(call, function, shape, config.hStream, params, extra)
}

fn launch(
    call: &Call<'_>,
    function: CUfunction,
    shape: Shape,
    stream: CUstream,
    params: In<*mut c_void>,
    extra: In<*mut c_void>,
) -> Answer {
    let mut state = call.state();
    let handle = number(function);
    let kernel = state.kernels.get(handle).is_ok();
    if !kernel {
        state.function(handle)?;
    }
    let target = target(call, &mut state, call.stream(stream))?;
    let handle = state.function_in(handle, Ok(target.stream.context), call.number)?;
    let function = state.function(handle)?;
    if function.context != target.stream.context {
        return Err(code::INVALID_HANDLE);
    }
    check_shape(&state.facts(function)?, &shape)?;
    let kernel = function.kernel()?;
    if let Some(what) = kernel.unsupported() {
        let message = format!("kernel `{}` cannot run: {what}", kernel.name());
        let mut report = Report::new(ReportKind::Unsupported, message.clone(), call.number);
        report.kernel = Some(kernel.name().to_owned());
        report.line = Some(what.line);
        report.instruction = Some(what.text.clone());
        state.add_report(report);
        call.instance.unsupported.lock().push(message);
        return Err(code::NOT_SUPPORTED);
    }
    let params = read_params(function, params, extra)?;
    let context = function.context;
    if shape.cooperative {
        let threads = shape.block.iter().product();
        let fitting = blocks_at_once(&state, function, threads, shape.shared)?;
        let blocks = shape.grid.iter().map(|it| u64::from(*it)).product::<u64>();
        if blocks > fitting {
            return Err(code::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
    }
    let work = KernelWork {
        module: std::sync::Arc::clone(&function.loaded),
        kernel: function.kernel,
        grid: shape.grid,
        block: shape.block,
        dynamic_shared: shape.shared,
        params,
        workspace: 0,
    };
    let workspace = if shape.cooperative {
        state.workspace(context, call.number)?
    } else {
        0
    };
    let work = KernelWork { workspace, ..work };
    enqueue(call, &mut state, &target, Work::Kernel(Box::new(work))).map(|_| ())
}

/// Compares a launch with the limits of device and kernel.
fn check_shape(facts: &Facts<'_>, shape: &Shape) -> Answer {
    let within = |extents: &[u32; 3], first: u32| {
        extents
            .iter()
            .zip(first..)
            .all(|(extent, number)| *extent > 0 && *extent <= facts.limit(number))
    };
    let threads = volume(shape.block);
    let fits = within(&shape.block, 2)
        && within(&shape.grid, 5)
        && threads <= facts.limit(1)
        && shape.shared <= facts.max_dynamic_shared();
    let kernel = facts.kernel;
    let required = kernel.req_ntid().is_none_or(|only| only == shape.block);
    let declared = kernel.max_ntid().is_none_or(|most| threads <= volume(most));
    if !fits || !required || !declared {
        return Err(code::INVALID_VALUE);
    }
    if threads > facts.max_threads() {
        return Err(code::LAUNCH_OUT_OF_RESOURCES);
    }
    Ok(())
}

/// `CU_LAUNCH_PARAM_BUFFER_POINTER` and `CU_LAUNCH_PARAM_BUFFER_SIZE`; 0 ends the list.
const BUFFER_POINTER: u64 = 1;
const BUFFER_SIZE: u64 = 2;

/// The kernel's parameters from whichever form they were passed in.
fn read_params(
    function: &Function,
    params: In<*mut c_void>,
    extra: In<*mut c_void>,
) -> Result<Vec<u8>, CUresult> {
    let kernel = function.kernel()?;
    let mut bytes = vec![0; kernel.params_size()];
    if !params.is_null() {
        if !extra.is_null() && !kernel.params().is_empty() {
            return Err(code::INVALID_VALUE);
        }
        for (index, param) in kernel.params().iter().enumerate() {
            let source = In::from_pointer(params.at(index)?.cast::<u8>().cast_const());
            let place = bytes
                .get_mut(param.offset..param.offset + param.size)
                .ok_or(code::INVALID_VALUE)?;
            for (offset, byte) in place.iter_mut().enumerate() {
                *byte = source.at(offset)?;
            }
        }
        return Ok(bytes);
    }
    if extra.is_null() {
        return if kernel.params().is_empty() {
            Ok(bytes)
        } else {
            Err(code::INVALID_VALUE)
        };
    }
    let (mut buffer, mut size) = (None, None);
    let mut index = 0;
    loop {
        match number(extra.at(index)?) {
            0 => break,
            BUFFER_POINTER => {
                buffer = Some(In::from_pointer(
                    extra.at(index + 1)?.cast::<u8>().cast_const(),
                ))
            }
            BUFFER_SIZE => {
                size = Some(
                    In::from_pointer(extra.at(index + 1)?.cast::<usize>().cast_const()).get()?,
                )
            }
            _ => return Err(code::INVALID_VALUE),
        }
        index += 2;
    }
    let (Some(buffer), Some(size)) = (buffer, size) else {
        return Err(code::INVALID_VALUE);
    };
    if size > bytes.len() {
        return Err(code::LAUNCH_OUT_OF_RESOURCES);
    }
    // A shorter buffer is accepted, and what is missing is zero here.
    for (offset, byte) in bytes.iter_mut().take(size).enumerate() {
        *byte = buffer.at(offset)?;
    }
    Ok(bytes)
}
