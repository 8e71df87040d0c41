//! Libraries, which are loaded without a context and placed in each that uses them: `CUDA_LIBRARY`.

use std::collections::BTreeMap;
use std::path::Path;

use cuda_sys::{CUdeviceptr, CUjit_option, CUkernel, CUlibrary, CUlibraryOption, CUmodule};

use super::prelude::*;
use crate::image::{self, Refusal, Source};
use crate::jit::Options;
use crate::state::library::Variants;
use crate::state::schedule;

built! {
    cuLibraryLoadData => load_data, (
        library: Out<CUlibrary>, image: In<c_void>, jit_options: In<CUjit_option>, jit_values: In<*mut c_void>, jit_count: c_uint,
        options: In<CUlibraryOption>, values: In<*mut c_void>, count: c_uint
    );
    cuLibraryLoadFromFile => load_file, (
        library: Out<CUlibrary>, path: Text, jit_options: In<CUjit_option>, jit_values: In<*mut c_void>, jit_count: c_uint,
        options: In<CUlibraryOption>, values: In<*mut c_void>, count: c_uint
    );
    cuLibraryUnload => unload, (library: CUlibrary);
    cuLibraryGetKernel => kernel, (kernel: Out<CUkernel>, library: CUlibrary, name: Text);
    cuLibraryGetKernelCount => kernel_count, (count: Out<c_uint>, library: CUlibrary);
    cuLibraryEnumerateKernels => kernels, (kernels: Out<CUkernel>, count: c_uint, library: CUlibrary);
    cuLibraryGetModule => module, (module: Out<CUmodule>, library: CUlibrary);
    cuLibraryGetGlobal => global, (address: Out<CUdeviceptr>, size: Out<usize>, library: CUlibrary, name: Text);
    cuLibraryGetManaged => managed, (address: Out<CUdeviceptr>, size: Out<usize>, library: CUlibrary, name: Text);
    cuLibraryGetUnifiedFunction => unified_function, (address: Out<*mut c_void>, library: CUlibrary, name: Text);
}

/// Checks the options of a library; none changes what the software driver does.
fn check_options(options: In<CUlibraryOption>, values: In<*mut c_void>, count: c_uint) -> Answer {
    for index in 0..count as usize {
        let (option, _) = (options.at(index)?, values.at(index)?);
        if option.0 >= CUlibraryOption::CU_LIBRARY_NUM_OPTIONS.0 {
            return Err(code::INVALID_VALUE);
        }
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "the C function has them")]
fn load_data(
    call: &Call<'_>,
    library: Out<CUlibrary>,
    image: In<c_void>,
    jit_options: In<CUjit_option>,
    jit_values: In<*mut c_void>,
    jit_count: c_uint,
    options: In<CUlibraryOption>,
    values: In<*mut c_void>,
    count: c_uint,
) -> Answer {
    let library = library.check()?;
    if image.is_null() {
        return Err(code::INVALID_VALUE);
    }
    check_options(options, values, count)?;
    let options = Options::read(jit_count as usize, jit_options, jit_values)?;
    let image = image::registered(image).cast();
    load(call, library, Source::of_pointer(&image), &options)
}

#[expect(clippy::too_many_arguments, reason = "the C function has them")]
fn load_file(
    call: &Call<'_>,
    library: Out<CUlibrary>,
    path: Text,
    jit_options: In<CUjit_option>,
    jit_values: In<*mut c_void>,
    jit_count: c_uint,
    options: In<CUlibraryOption>,
    values: In<*mut c_void>,
    count: c_uint,
) -> Answer {
    let library = library.check()?;
    let path = path.get()?;
    check_options(options, values, count)?;
    let options = Options::read(jit_count as usize, jit_options, jit_values)?;
    let path = path.to_str().map_err(|_| code::FILE_NOT_FOUND)?;
    let bytes = std::fs::read(Path::new(path)).map_err(|_| code::FILE_NOT_FOUND)?;
    load(call, library, Source::of_bytes(&bytes), &options)
}

/// Decodes an image for every kind of device that there is. What is wrong with it is told when the library is used, as the driver does.
fn load(
    call: &Call<'_>,
    library: Out<CUlibrary>,
    source: Result<Source<'_>, Refusal>,
    options: &Options,
) -> Answer {
    let (driver_version, mut capabilities) = {
        let state = call.state();
        let devices = state.devices.iter();
        let capabilities: Vec<_> = devices
            .map(|device| device.config.compute_capability)
            .collect();
        (state.driver_version, capabilities)
    };
    capabilities.dedup();
    let mut variants: Variants = BTreeMap::new();
    // The instance is not locked while a module is decoded.
    for capability in capabilities {
        let decoded = match source {
            Ok(source) => {
                image::decode(source, driver_version, capability, options.max_registers())
            }
            Err(ref refusal) => Err(refusal.clone()),
        };
        variants
            .entry(capability)
            .or_insert(decoded.map_err(|refusal| options.refuse(call, &refusal)));
    }
    library.set(handle(call.state().load_library(variants, call.number)));
    Ok(())
}

fn unload(call: &Call<'_>, library: CUlibrary) -> Answer {
    let mut state = call.state();
    let library = number(library);
    let contexts = state.contexts_of_library(library)?;
    state.check_captures(call.thread)?;
    for context in contexts {
        // As with modules, the work that may use it is waited for; that of a context in error is passed over.
        schedule::run_context(call.instance, &mut state, context)?;
    }
    state.unload_library(library, call.number);
    Ok(())
}

fn kernel(call: &Call<'_>, kernel: Out<CUkernel>, library: CUlibrary, name: Text) -> Answer {
    let kernel = kernel.check()?;
    let name = name.get()?;
    let state = call.state();
    let library = state.libraries.get(number(library))?;
    library.usable()?;
    let found = library.kernels.iter().copied().find(|kernel| {
        state
            .kernels
            .get(*kernel)
            .is_ok_and(|kernel| kernel.name.as_c_str() == name)
    });
    kernel.set(handle(found.ok_or(code::NOT_FOUND)?));
    Ok(())
}

fn kernel_count(call: &Call<'_>, count: Out<c_uint>, library: CUlibrary) -> Answer {
    let count = count.check()?;
    let state = call.state();
    count.set(state.libraries.get(number(library))?.kernels.len() as c_uint);
    Ok(())
}

fn kernels(call: &Call<'_>, kernels: Out<CUkernel>, count: c_uint, library: CUlibrary) -> Answer {
    let kernels = kernels.check()?;
    let state = call.state();
    let library = state.libraries.get(number(library))?;
    for (index, kernel) in library.kernels.iter().take(count as usize).enumerate() {
        kernels.set_at(index, handle(*kernel));
    }
    Ok(())
}

/// The module of a library in the current context.
fn current_module(call: &Call<'_>, state: &mut State, library: CUlibrary) -> Result<u64, CUresult> {
    let library = number(library);
    state.libraries.get(library)?;
    let context = state.current(call.thread)?;
    state.library_module(library, context, call.number)
}

fn module(call: &Call<'_>, module: Out<CUmodule>, library: CUlibrary) -> Answer {
    let module = module.check()?;
    let mut state = call.state();
    module.set(handle(current_module(call, &mut state, library)?));
    Ok(())
}

fn global(
    call: &Call<'_>,
    address: Out<CUdeviceptr>,
    size: Out<usize>,
    library: CUlibrary,
    name: Text,
) -> Answer {
    let name = name.get()?;
    if address.is_null() && size.is_null() {
        return Err(code::INVALID_VALUE);
    }
    let mut state = call.state();
    let module = current_module(call, &mut state, library)?;
    let (found, bytes) = state
        .global_of_module(module, name.to_bytes())
        .ok_or(code::NOT_FOUND)?;
    address.set(found);
    size.set(bytes);
    Ok(())
}

/// A managed variable stands in each context's module for itself, so this needs a current context where a real driver needs none.
fn managed(
    call: &Call<'_>,
    address: Out<CUdeviceptr>,
    size: Out<usize>,
    library: CUlibrary,
    name: Text,
) -> Answer {
    let text = name.get()?.to_string_lossy();
    if address.is_null() && size.is_null() {
        return Err(code::INVALID_VALUE);
    }
    {
        let state = call.state();
        let known = state.libraries.get(number(library))?;
        known.usable()?;
        if !known.has_managed(&text) {
            return Err(code::NOT_FOUND);
        }
    }
    global(call, address, size, library, name)
}

/// No function has an address that both the processor and the device can call; the driver says so of every name.
fn unified_function(
    call: &Call<'_>,
    address: Out<*mut c_void>,
    library: CUlibrary,
    name: Text,
) -> Answer {
    address.check()?;
    name.get()?;
    call.state().libraries.get(number(library))?;
    Err(code::INVALID_VALUE)
}
