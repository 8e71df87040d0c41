//! Functions: their attributes and parameters.

use cuda_sys::{CUfunc_cache, CUfunction, CUfunction_attribute, CUfunctionLoadingState, CUmodule};

use super::prelude::*;
use crate::state::module::Function;

built! {
    cuFuncGetAttribute => attribute, (value: Out<c_int>, attribute: CUfunction_attribute, function: CUfunction);
    cuFuncSetAttribute => set_attribute, (function: CUfunction, attribute: CUfunction_attribute, value: c_int);
    cuFuncSetCacheConfig => set_cache_config, (function: CUfunction, config: CUfunc_cache);
    cuFuncGetModule => module, (module: Out<CUmodule>, function: CUfunction);
    cuFuncGetName => name, (name: Out<*const c_char>, function: CUfunction);
    cuFuncGetParamInfo => param_info, (function: CUfunction, index: usize, offset: Out<usize>, size: Out<usize>);
    cuFuncGetParamCount => param_count, (function: CUfunction, count: Out<usize>);
    cuFuncLoad => load, (function: CUfunction);
    cuFuncIsLoaded => is_loaded, (state: Out<CUfunctionLoadingState>, function: CUfunction);
}

/// The most threads of a block that a kernel can be launched with.
pub(super) fn max_threads(state: &State, function: &Function) -> Result<u32, CUresult> {
    let device = state
        .devices
        .get(state.device_of(function.context))
        .ok_or(code::INVALID_HANDLE)?;
    let limit = device.config.attribute(1, 0).unwrap_or(1024).max(1) as u32;
    let registers_per_block = device.config.attribute(12, 0).unwrap_or(65536).max(1) as u32;
    let kernel = function.kernel()?;
    let volume = |shape: [u32; 3]| {
        shape
            .iter()
            .fold(1u32, |product, extent| product.saturating_mul(*extent))
    };
    let declared = kernel.max_ntid().map_or(limit, volume);
    // Registers are given to whole warps in pieces of 256.
    let per_warp = (kernel.registers().max(1) * 32).next_multiple_of(256);
    let by_registers = (registers_per_block / per_warp * 32).max(32);
    Ok(declared.min(limit).min(by_registers))
}

fn attribute(
    call: &Call<'_>,
    value: Out<c_int>,
    attribute: CUfunction_attribute,
    function: CUfunction,
) -> Answer {
    let value = value.check()?;
    let state = call.state();
    let function = state.function(number(function))?;
    let kernel = function.kernel()?;
    let constants = || {
        let globals = function.loaded.program.globals().iter();
        globals
            .filter(|global| global.space == cuda_sim_machine::GlobalSpace::Const)
            .map(|global| global.size as c_int)
            .sum()
    };
    value.set(match attribute {
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => {
            max_threads(&state, function)? as c_int
        }
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => {
            kernel.static_shared_bytes() as c_int
        }
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => constants(),
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => kernel.local_bytes() as c_int,
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS => kernel.registers() as c_int,
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION => function.target as c_int,
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION => {
            let device = state
                .devices
                .get(state.device_of(function.context))
                .ok_or(code::INVALID_HANDLE)?;
            let (major, minor) = device.config.compute_capability;
            (major * 10 + minor) as c_int
        }
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_CACHE_MODE_CA => 0,
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            function.max_dynamic_shared as c_int
        }
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
            function.carveout
        }
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => {
            function.non_portable_cluster
        }
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET
        | CUfunction_attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH
        | CUfunction_attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT
        | CUfunction_attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH
        | CUfunction_attribute::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => 0,
        _ => return Err(code::INVALID_VALUE),
    });
    Ok(())
}

fn set_attribute(
    call: &Call<'_>,
    function: CUfunction,
    attribute: CUfunction_attribute,
    value: c_int,
) -> Answer {
    let mut state = call.state();
    let handle = number(function);
    let function = state.function(handle)?;
    match attribute {
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            let device = state
                .devices
                .get(state.device_of(function.context))
                .ok_or(code::INVALID_HANDLE)?;
            let limit = device
                .config
                .shared_memory_per_block_optin
                .saturating_sub(function.kernel()?.static_shared_bytes());
            let value = u32::try_from(value)
                .ok()
                .filter(|value| *value <= limit)
                .ok_or(code::INVALID_VALUE)?;
            state.functions.get_mut(handle)?.max_dynamic_shared = value;
        }
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
            if !(-1..=100).contains(&value) {
                return Err(code::INVALID_VALUE);
            }
            state.functions.get_mut(handle)?.carveout = value;
        }
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => {
            state.functions.get_mut(handle)?.non_portable_cluster = c_int::from(value != 0);
        }
        // The others can be read only, or belong to clusters.
        _ => return Err(code::INVALID_VALUE),
    }
    Ok(())
}

fn set_cache_config(call: &Call<'_>, function: CUfunction, config: CUfunc_cache) -> Answer {
    call.state().function(number(function))?;
    if config.0 > 3 {
        Err(code::INVALID_VALUE)
    } else {
        Ok(())
    }
}

fn module(call: &Call<'_>, module: Out<CUmodule>, function: CUfunction) -> Answer {
    let module = module.check()?;
    module.set(handle(call.state().function(number(function))?.module));
    Ok(())
}

fn name(call: &Call<'_>, name: Out<*const c_char>, function: CUfunction) -> Answer {
    let name = name.check()?;
    name.set(call.state().function(number(function))?.name.as_ptr());
    Ok(())
}

fn param_info(
    call: &Call<'_>,
    function: CUfunction,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Answer {
    let offset = offset.check()?;
    let state = call.state();
    let function = state.function(number(function))?;
    let param = *function
        .kernel()?
        .params()
        .get(index)
        .ok_or(code::INVALID_VALUE)?;
    offset.set(param.offset);
    size.set(param.size);
    Ok(())
}

fn param_count(call: &Call<'_>, function: CUfunction, count: Out<usize>) -> Answer {
    let count = count.check()?;
    let state = call.state();
    let function = state.function(number(function))?;
    count.set(function.kernel()?.params().len());
    Ok(())
}

fn load(call: &Call<'_>, function: CUfunction) -> Answer {
    call.state().function(number(function)).map(|_| ())
}

fn is_loaded(call: &Call<'_>, loaded: Out<CUfunctionLoadingState>, function: CUfunction) -> Answer {
    let loaded = loaded.check()?;
    call.state().function(number(function))?;
    loaded.set(CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_LOADED);
    Ok(())
}
