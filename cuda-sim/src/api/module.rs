//! Modules: `CUDA_MODULE`.

use std::ffi::CStr;
use std::path::Path;
use std::sync::Arc;

use cuda_sim_machine::Program;
use cuda_sys::{CUdeviceptr, CUfunction, CUjit_option, CUmodule, CUmoduleLoadingMode};

use super::prelude::*;
use crate::image::{self, Refusal, Source};
use crate::jit::Options;
use crate::state::schedule;

built! {
    cuModuleLoad => load, (module: Out<CUmodule>, path: Text);
    cuModuleLoadData => load_data, (module: Out<CUmodule>, image: In<c_void>);
    cuModuleLoadDataEx => load_data_ex, (
        module: Out<CUmodule>, image: In<c_void>, count: c_uint, options: In<CUjit_option>, values: In<*mut c_void>
    );
    cuModuleLoadFatBinary => load_data, (module: Out<CUmodule>, image: In<c_void>);
    cuModuleUnload => unload, (module: CUmodule);
    cuModuleGetFunction => function, (function: Out<CUfunction>, module: CUmodule, name: Text);
    cuModuleGetGlobal_v2 => global, (address: Out<CUdeviceptr>, size: Out<usize>, module: CUmodule, name: Text);
    cuModuleGetFunctionCount => function_count, (count: Out<c_uint>, module: CUmodule);
    cuModuleEnumerateFunctions => functions, (functions: Out<CUfunction>, count: c_uint, module: CUmodule);
    cuModuleGetLoadingMode => loading_mode, (mode: Out<CUmoduleLoadingMode>);
}

fn load(call: &Call<'_>, module: Out<CUmodule>, path: Text) -> Answer {
    let module = module.check()?;
    let path = path.get()?;
    call.state().current(call.thread)?;
    let path = path.to_str().map_err(|_| code::FILE_NOT_FOUND)?;
    let bytes = std::fs::read(Path::new(path)).map_err(|_| code::FILE_NOT_FOUND)?;
    let options = Options::default();
    match Source::of_bytes(&bytes) {
        Ok(source) => load_image(call, module, source, &options),
        Err(refusal) => Err(refuse(call, &refusal, &options)),
    }
}

fn load_data(call: &Call<'_>, module: Out<CUmodule>, image: In<c_void>) -> Answer {
    load_data_ex(
        call,
        module,
        image,
        0,
        In::from_pointer(std::ptr::null()),
        In::from_pointer(std::ptr::null()),
    )
}

fn load_data_ex(
    call: &Call<'_>,
    module: Out<CUmodule>,
    image: In<c_void>,
    count: c_uint,
    options: In<CUjit_option>,
    values: In<*mut c_void>,
) -> Answer {
    let module = module.check()?;
    if image.is_null() {
        return Err(code::INVALID_VALUE);
    }
    call.state().current(call.thread)?;
    let options = Options::read(count as usize, options, values)?;
    let image = image::registered(image);
    match Source::of_pointer(&image) {
        Ok(source) => load_image(call, module, source, &options),
        Err(refusal) => Err(refuse(call, &refusal, &options)),
    }
}

/// Writes the log of a refused image, and keeps the reason.
fn refuse(call: &Call<'_>, refusal: &Refusal, options: &Options) -> CUresult {
    options.write_error(&refusal.message);
    if refusal.result == code::NOT_SUPPORTED {
        call.instance
            .unsupported
            .lock()
            .push(refusal.message.clone());
    }
    refusal.result
}

fn load_image(
    call: &Call<'_>,
    module: Out<CUmodule>,
    source: Source<'_>,
    options: &Options,
) -> Answer {
    let (driver_version, capability) = {
        let state = call.state();
        let context = state.current(call.thread)?;
        let device = state
            .devices
            .get(state.device_of(context))
            .ok_or(code::INVALID_CONTEXT)?;
        (state.driver_version, device.config.compute_capability)
    };
    let device = capability.0 * 10 + capability.1;
    let text =
        image::ptx_text(source, device).map_err(|refusal| refuse(call, &refusal, options))?;
    let parsed = image::parse(&text, driver_version, capability)
        .map_err(|refusal| refuse(call, &refusal, options))?;
    let target = image::target_number(parsed.target()).unwrap_or(0);
    let program = Arc::new(Program::new(&parsed));
    // The instance is not locked while a module is decoded; the context may have gone meanwhile.
    let mut state = call.state();
    let context = state.current(call.thread)?;
    let loaded = state.load_module(context, program, target, call.number)?;
    options.write_info(&format!(
        "cuda-sim: {} kernels decoded for interpretation",
        parsed.entries().count()
    ));
    module.set(handle(loaded));
    Ok(())
}

fn unload(call: &Call<'_>, module: CUmodule) -> Answer {
    let mut state = call.state();
    let module = number(module);
    let context = state.modules.get(module)?.context;
    state.healthy(context)?;
    state.check_captures(call.thread)?;
    // The real call waits for the context, although nothing promises it.
    schedule::run_context(call.instance, &mut state, context)?;
    state.healthy(context)?;
    state.unload_module(module, call.number);
    Ok(())
}

fn function(call: &Call<'_>, function: Out<CUfunction>, module: CUmodule, name: Text) -> Answer {
    let function = function.check()?;
    let name = name.get()?;
    let state = call.state();
    let module = state.modules.get(number(module))?;
    state.healthy(module.context)?;
    if name.is_empty() {
        return Err(code::INVALID_VALUE);
    }
    let wanted = |kernel: &cuda_sim_machine::Kernel| kernel.name().as_bytes() == name.to_bytes();
    let position = module
        .loaded
        .program
        .kernels()
        .iter()
        .position(wanted)
        .ok_or(code::NOT_FOUND)?;
    function.set(handle(
        *module.functions.get(position).ok_or(code::NOT_FOUND)?,
    ));
    Ok(())
}

fn global(
    call: &Call<'_>,
    address: Out<CUdeviceptr>,
    size: Out<usize>,
    module: CUmodule,
    name: Text,
) -> Answer {
    let name: &CStr = name.get()?;
    if address.is_null() && size.is_null() {
        return Err(code::INVALID_VALUE);
    }
    let state = call.state();
    let module = state.modules.get(number(module))?;
    state.healthy(module.context)?;
    let globals = module.loaded.program.globals();
    let position = globals
        .iter()
        .position(|global| global.name.as_bytes() == name.to_bytes())
        .ok_or(code::NOT_FOUND)?;
    let (global, found) = globals
        .get(position)
        .zip(module.loaded.globals.get(position))
        .ok_or(code::NOT_FOUND)?;
    address.set(*found);
    size.set(global.size);
    Ok(())
}

fn function_count(call: &Call<'_>, count: Out<c_uint>, module: CUmodule) -> Answer {
    let count = count.check()?;
    let state = call.state();
    count.set(state.modules.get(number(module))?.functions.len() as c_uint);
    Ok(())
}

fn functions(
    call: &Call<'_>,
    functions: Out<CUfunction>,
    count: c_uint,
    module: CUmodule,
) -> Answer {
    let functions = functions.check()?;
    let state = call.state();
    let module = state.modules.get(number(module))?;
    for (index, function) in module.functions.iter().take(count as usize).enumerate() {
        functions.set_at(index, handle(*function));
    }
    Ok(())
}

fn loading_mode(_: &Call<'_>, mode: Out<CUmoduleLoadingMode>) -> Answer {
    const LAZY: CUmoduleLoadingMode = CUmoduleLoadingMode::CU_MODULE_LAZY_LOADING;
    mode.check()?.set(LAZY);
    Ok(())
}
