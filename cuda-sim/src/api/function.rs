//! Functions: their attributes and parameters.
//!
//! A library's kernel can be launched like a function, and occupancy can be asked of it; the functions here refuse it as the driver does.

use cuda_sys::{
    CUfunc_cache, CUfunction, CUfunction_attribute, CUfunctionLoadingState, CUmodule,
    CUsharedconfig,
};

use super::prelude::*;
use crate::state::kernel::Facts;

built! {
    cuFuncGetAttribute => attribute, (value: Out<c_int>, attribute: CUfunction_attribute, function: CUfunction);
    cuFuncSetAttribute => set_attribute, (function: CUfunction, attribute: CUfunction_attribute, value: c_int);
    cuFuncSetCacheConfig => set_cache_config, (function: CUfunction, config: CUfunc_cache);
    cuFuncSetSharedMemConfig => set_shared_config, (function: CUfunction, config: CUsharedconfig);
    cuFuncGetModule => module, (module: Out<CUmodule>, function: CUfunction);
    cuFuncGetName => name, (name: Out<*const c_char>, function: CUfunction);
    cuFuncGetParamInfo => param_info, (function: CUfunction, index: usize, offset: Out<usize>, size: Out<usize>);
    cuFuncGetParamCount => param_count, (function: CUfunction, count: Out<usize>);
    cuFuncLoad => load, (function: CUfunction);
    cuFuncIsLoaded => is_loaded, (state: Out<CUfunctionLoadingState>, function: CUfunction);
}

/// Runs `read` with what is known of a function.
fn facts<T>(
    call: &Call<'_>,
    function: CUfunction,
    read: impl FnOnce(&Facts<'_>) -> Result<T, CUresult>,
) -> Result<T, CUresult> {
    let state = call.state();
    read(&state.facts(state.function(number(function))?)?)
}

fn attribute(
    call: &Call<'_>,
    value: Out<c_int>,
    attribute: CUfunction_attribute,
    function: CUfunction,
) -> Answer {
    let value = value.check()?;
    value.set(facts(call, function, |facts| facts.attribute(attribute))?);
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
    let settings = state
        .facts(function)?
        .with_attribute(function.settings, attribute, value)?;
    state.functions.get_mut(handle)?.settings = settings;
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

fn set_shared_config(call: &Call<'_>, function: CUfunction, config: CUsharedconfig) -> Answer {
    call.state().function(number(function))?;
    if config.0 > 2 {
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
    let param = facts(call, function, |facts| facts.param(index))?;
    offset.set(param.0);
    size.set(param.1);
    Ok(())
}

fn param_count(call: &Call<'_>, function: CUfunction, count: Out<usize>) -> Answer {
    let count = count.check()?;
    count.set(facts(call, function, |facts| {
        Ok(facts.kernel.params().len())
    })?);
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
