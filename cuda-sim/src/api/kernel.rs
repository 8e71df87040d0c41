//! Kernels of libraries, which belong to no context: the part of `CUDA_LIBRARY` that takes a `CUkernel`.

use cuda_sys::{CUdevice, CUfunc_cache, CUfunction, CUfunction_attribute, CUkernel, CUlibrary};

use super::prelude::*;

built! {
    cuKernelGetFunction => function, (function: Out<CUfunction>, kernel: CUkernel);
    cuKernelGetLibrary => library, (library: Out<CUlibrary>, kernel: CUkernel);
    cuKernelGetName => name, (name: Out<*const c_char>, kernel: CUkernel);
    cuKernelGetAttribute => attribute, (value: Out<c_int>, attribute: CUfunction_attribute, kernel: CUkernel, device: CUdevice);
    cuKernelSetAttribute => set_attribute, (attribute: CUfunction_attribute, value: c_int, kernel: CUkernel, device: CUdevice);
    cuKernelSetCacheConfig => set_cache_config, (kernel: CUkernel, config: CUfunc_cache, device: CUdevice);
    cuKernelGetParamInfo => param_info, (kernel: CUkernel, index: usize, offset: Out<usize>, size: Out<usize>);
    cuKernelGetParamCount => param_count, (kernel: CUkernel, count: Out<usize>);
}

fn function(call: &Call<'_>, function: Out<CUfunction>, kernel: CUkernel) -> Answer {
    let function = function.check()?;
    let mut state = call.state();
    state.kernels.get(number(kernel))?;
    let context = state.current(call.thread)?;
    let found = state.function_in(number(kernel), Ok(context), call.number)?;
    function.set(handle(found));
    Ok(())
}

fn library(call: &Call<'_>, library: Out<CUlibrary>, kernel: CUkernel) -> Answer {
    let library = library.check()?;
    library.set(handle(call.state().kernels.get(number(kernel))?.library));
    Ok(())
}

fn name(call: &Call<'_>, name: Out<*const c_char>, kernel: CUkernel) -> Answer {
    let name = name.check()?;
    name.set(call.state().kernels.get(number(kernel))?.name.as_ptr());
    Ok(())
}

fn attribute(
    call: &Call<'_>,
    value: Out<c_int>,
    attribute: CUfunction_attribute,
    kernel: CUkernel,
    device: CUdevice,
) -> Answer {
    let value = value.check()?;
    let state = call.state();
    state.kernels.get(number(kernel))?;
    let facts = state.kernel_facts(number(kernel), state.ordinal(device)?)?;
    value.set(facts.attribute(attribute)?);
    Ok(())
}

fn set_attribute(
    call: &Call<'_>,
    attribute: CUfunction_attribute,
    value: c_int,
    kernel: CUkernel,
    device: CUdevice,
) -> Answer {
    let mut state = call.state();
    let kernel = number(kernel);
    state.kernels.get(kernel)?;
    let ordinal = state.ordinal(device)?;
    let facts = state.kernel_facts(kernel, ordinal)?;
    let settings = facts.with_attribute(facts.settings, attribute, value)?;
    state.set_kernel_settings(kernel, ordinal, settings)
}

fn set_cache_config(
    call: &Call<'_>,
    kernel: CUkernel,
    config: CUfunc_cache,
    device: CUdevice,
) -> Answer {
    let state = call.state();
    state.kernels.get(number(kernel))?;
    state.ordinal(device)?;
    if config.0 > 3 {
        Err(code::INVALID_VALUE)
    } else {
        Ok(())
    }
}

/// The offsets and sizes of a kernel's parameters, as the current context's device has them.
fn params(call: &Call<'_>, kernel: CUkernel) -> Result<Vec<(usize, usize)>, CUresult> {
    let state = call.state();
    let kernel = number(kernel);
    state.kernels.get(kernel)?;
    let ordinal = state.device_of(state.current(call.thread)?);
    let facts = state.kernel_facts(kernel, ordinal)?;
    let params = facts.kernel.params().iter();
    Ok(params.map(|param| (param.offset, param.size)).collect())
}

fn param_info(
    call: &Call<'_>,
    kernel: CUkernel,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Answer {
    let offset = offset.check()?;
    let found = params(call, kernel)?;
    let (first, bytes) = *found.get(index).ok_or(code::INVALID_VALUE)?;
    offset.set(first);
    size.set(bytes);
    Ok(())
}

fn param_count(call: &Call<'_>, kernel: CUkernel, count: Out<usize>) -> Answer {
    let count = count.check()?;
    count.set(params(call, kernel)?.len());
    Ok(())
}
