//! Modules: `CUDA_MODULE`.

use std::ffi::CStr;
use std::path::Path;

use cuda_sys::{
    CUdeviceptr, CUfunction, CUjit_option, CUmodule, CUmoduleLoadingMode, CUsurfref, CUtexref,
};

use super::prelude::*;
use crate::image::{self, Source};
use crate::jit::Options;
use crate::state::schedule;

built! {
    cuModuleLoad => load, (module: Out<CUmodule>, path: Text);
    cuModuleLoadData => load_data, (module: Out<CUmodule>, image: In<c_void>);
    cuModuleLoadDataEx => load_data_ex, (
        module: Out<CUmodule>, image: In<c_void>, count: c_uint, options: In<CUjit_option>, values: In<*mut c_void>
    );
    cuModuleLoadFatBinary => load_fat_binary, (module: Out<CUmodule>, image: In<c_void>);
    cuModuleUnload => unload, (module: CUmodule);
    cuModuleGetFunction => function, (function: Out<CUfunction>, module: CUmodule, name: Text);
    cuModuleGetGlobal_v2 => global, (address: Out<CUdeviceptr>, size: Out<usize>, module: CUmodule, name: Text);
    cuModuleGetTexRef => texture, (texture: Out<CUtexref>, module: CUmodule, name: Text);
    cuModuleGetSurfRef => surface, (surface: Out<CUsurfref>, module: CUmodule, name: Text);
    cuModuleGetFunctionCount => function_count, (count: Out<c_uint>, module: CUmodule);
    cuModuleEnumerateFunctions => functions, (functions: Out<CUfunction>, count: c_uint, module: CUmodule);
    cuModuleGetLoadingMode => loading_mode, (mode: Out<CUmoduleLoadingMode>);
}

fn load(call: &Call<'_>, module: Out<CUmodule>, path: Text) -> Answer {
    let module = module.check()?;
    let path = path.get()?;
    call.state().current(call.thread)?;
    if path.is_empty() {
        return Err(code::INVALID_VALUE);
    }
    let path = path.to_str().map_err(|_| code::FILE_NOT_FOUND)?;
    let bytes = std::fs::read(Path::new(path)).map_err(|_| code::FILE_NOT_FOUND)?;
    let options = Options::default();
    match Source::of_bytes(&bytes) {
        Ok(source) => load_image(call, module, source, &options),
        Err(refusal) => Err(options.refuse(call, &refusal)),
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

fn load_fat_binary(call: &Call<'_>, module: Out<CUmodule>, image: In<c_void>) -> Answer {
    load_data(call, module, image::registered(image))
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
    let image = image.cast();
    match Source::of_pointer(&image) {
        Ok(source) => load_image(call, module, source, &options),
        Err(refusal) => Err(options.refuse(call, &refusal)),
    }
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
    let decoded = options
        .check_target(capability.0 * 10 + capability.1)
        .and_then(|()| image::decode(source, driver_version, capability, options.max_registers()))
        .map_err(|refusal| options.refuse(call, &refusal))?;
    // The instance is not locked while a module is decoded; the context may have gone meanwhile.
    let mut state = call.state();
    let context = state.current(call.thread)?;
    let loaded = state.load_module(context, &decoded, call.number)?;
    let kernels = decoded.program.kernels().len();
    options.write(
        "",
        &format!("cuda-sim: {kernels} kernels decoded for interpretation"),
    );
    module.set(handle(loaded));
    Ok(())
}

fn unload(call: &Call<'_>, module: CUmodule) -> Answer {
    let mut state = call.state();
    let module = number(module);
    let context = state.modules.get(module)?.context;
    state.healthy(context)?;
    if state.modules.get(module)?.library.is_some() {
        return Err(code::NOT_PERMITTED);
    }
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
    let module = number(module);
    state.healthy(state.modules.get(module)?.context)?;
    if name.is_empty() {
        return Err(code::INVALID_VALUE);
    }
    let found = state.function_of_module(module, name.to_bytes());
    function.set(handle(found.ok_or(code::NOT_FOUND)?));
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
    let module = number(module);
    state.healthy(state.modules.get(module)?.context)?;
    // The name of a kernel is refused in another way than one that nothing has.
    if name.is_empty() || state.function_of_module(module, name.to_bytes()).is_some() {
        return Err(code::INVALID_VALUE);
    }
    let (found, bytes) = state
        .global_of_module(module, name.to_bytes())
        .ok_or(code::NOT_FOUND)?;
    address.set(found);
    size.set(bytes);
    Ok(())
}

/// No module has a texture reference that is bound by name: the compilers of today make none.
fn texture(call: &Call<'_>, texture: Out<CUtexref>, module: CUmodule, name: Text) -> Answer {
    texture.check()?;
    no_reference(call, module, name)
}

/// No module has a surface reference that is bound by name.
fn surface(call: &Call<'_>, surface: Out<CUsurfref>, module: CUmodule, name: Text) -> Answer {
    surface.check()?;
    no_reference(call, module, name)
}

fn no_reference(call: &Call<'_>, module: CUmodule, name: Text) -> Answer {
    name.get()?;
    let state = call.state();
    state.healthy(state.modules.get(number(module))?.context)?;
    Err(code::NOT_FOUND)
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
