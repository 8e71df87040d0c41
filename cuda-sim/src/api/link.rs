//! Linking of images before they are loaded: the part of `CUDA_MODULE` that takes a `CUlinkState`.

use std::path::Path;

use cuda_sys::{CUjit_option, CUjitInputType, CUlinkState};

use super::prelude::*;
use crate::image::{self, Refusal, Source, fatbin, refuse};
use crate::jit::Options;
use crate::state::linker::LinkState;

built! {
    cuLinkCreate_v2 [cuLinkCreate] => create, (
        count: c_uint, options: In<CUjit_option>, values: In<*mut c_void>, state: Out<CUlinkState>
    );
    cuLinkAddData_v2 [cuLinkAddData] => add_data, (
        linker: CUlinkState, kind: CUjitInputType, data: In<c_void>, size: usize, name: Text, count: c_uint,
        options: In<CUjit_option>, values: In<*mut c_void>
    );
    cuLinkAddFile_v2 [cuLinkAddFile] => add_file, (
        linker: CUlinkState, kind: CUjitInputType, path: Text, count: c_uint, options: In<CUjit_option>, values: In<*mut c_void>
    );
    cuLinkComplete => complete, (linker: CUlinkState, image: Out<*mut c_void>, size: Out<usize>);
    cuLinkDestroy => destroy, (linker: CUlinkState);
}

fn create(
    call: &Call<'_>,
    count: c_uint,
    options: In<CUjit_option>,
    values: In<*mut c_void>,
    linker: Out<CUlinkState>,
) -> Answer {
    let linker = linker.check()?;
    let options = Options::read(count as usize, options, values)?;
    let mut state = call.state();
    let context = state.current(call.thread)?;
    let device = state
        .devices
        .get(state.device_of(context))
        .ok_or(code::INVALID_CONTEXT)?;
    let (major, minor) = device.config.compute_capability;
    let target = options.target().unwrap_or(major * 10 + minor);
    let made = LinkState::new(context, target, options, call.number);
    linker.set(handle(state.linkers.insert(made)));
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "the C function has them")]
fn add_data(
    call: &Call<'_>,
    linker: CUlinkState,
    kind: CUjitInputType,
    data: In<c_void>,
    size: usize,
    name: Text,
    count: c_uint,
    options: In<CUjit_option>,
    values: In<*mut c_void>,
) -> Answer {
    check_open(call, linker, kind)?;
    if data.is_null() || size == 0 {
        return Err(code::INVALID_VALUE);
    }
    let options = Options::read(count as usize, options, values)?;
    let name = name.get().map_or(String::from("input"), |name| {
        name.to_string_lossy().into_owned()
    });
    let data = data.cast::<u8>();
    add(call, linker, kind, data.bytes(size)?, &name, &options)
}

fn add_file(
    call: &Call<'_>,
    linker: CUlinkState,
    kind: CUjitInputType,
    path: Text,
    count: c_uint,
    options: In<CUjit_option>,
    values: In<*mut c_void>,
) -> Answer {
    check_open(call, linker, kind)?;
    let path = path.get()?;
    let options = Options::read(count as usize, options, values)?;
    let path = path.to_str().map_err(|_| code::FILE_NOT_FOUND)?;
    let bytes = std::fs::read(Path::new(path)).map_err(|_| code::FILE_NOT_FOUND)?;
    add(call, linker, kind, &bytes, path, &options)
}

/// Refuses what no input can be added to.
///
/// # Errors
/// `INVALID_HANDLE` for no linker, the error of its context, `INVALID_VALUE` for one that is complete and for kinds that no input has.
fn check_open(call: &Call<'_>, linker: CUlinkState, kind: CUjitInputType) -> Answer {
    let state = call.state();
    let linker = state.linkers.get(number(linker))?;
    state.healthy(linker.context)?;
    if linker.image.is_some() || kind.0 >= CUjitInputType::CU_JIT_NUM_INPUT_TYPES.0 {
        return Err(code::INVALID_VALUE);
    }
    Ok(())
}

/// What an input of a kind is.
fn source<'a>(kind: CUjitInputType, bytes: &'a [u8]) -> Result<Source<'a>, Refusal> {
    type K = CUjitInputType;
    let source = Source::of_bytes(bytes);
    match (kind, source) {
        (K::CU_JIT_INPUT_PTX | K::CU_JIT_INPUT_FATBINARY, source) => source,
        (_, Ok(source @ Source::Cubin)) => Ok(source),
        (K::CU_JIT_INPUT_CUBIN, _) => Err(refuse(
            code::INVALID_IMAGE,
            "error   : the input is no machine code of a GPU (a cubin)",
        )),
        (K::CU_JIT_INPUT_OBJECT | K::CU_JIT_INPUT_LIBRARY, _)
            if bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"!<arch>\n") =>
        {
            Err(refuse(
                code::NOT_SUPPORTED,
                "error   : the software driver does not link objects and libraries of the host; add their PTX or fatbin instead",
            ))
        }
        (K::CU_JIT_INPUT_OBJECT | K::CU_JIT_INPUT_LIBRARY, _) => Err(refuse(
            code::UNKNOWN,
            "fatal   : the input is neither an object nor a library",
        )),
        _ => Err(refuse(
            code::JIT_COMPILER_NOT_FOUND,
            "error   : there is no compiler for NVVM",
        )),
    }
}

fn add(
    call: &Call<'_>,
    linker: CUlinkState,
    kind: CUjitInputType,
    bytes: &[u8],
    name: &str,
    options: &Options,
) -> Answer {
    let mut state = call.state();
    let driver_version = state.driver_version;
    let linker = state.linkers.get_mut(number(linker))?;
    let target = linker.target;
    let text = source(kind, bytes).and_then(|source| image::ptx_text(source, target));
    let capability = (target / 10, target % 10);
    let parsed = text
        .as_ref()
        .map_err(Refusal::clone)
        .and_then(|text| image::parse(text, driver_version, capability));
    match parsed {
        Ok(module) => {
            // What is said of an input counts more than what is said of all.
            let most = options.max_registers().or(linker.options.max_registers());
            linker.linker.add(name, &module, most).map_err(|failure| {
                linker.log_error(&failure.lines.join("\n"));
                failure.result
            })
        }
        Err(refusal) => {
            linker.log_error(&refusal.message);
            Err(refusal.note(call))
        }
    }
}

fn complete(
    call: &Call<'_>,
    linker: CUlinkState,
    image: Out<*mut c_void>,
    size: Out<usize>,
) -> Answer {
    let image = image.check()?;
    let mut state = call.state();
    let handle = number(linker);
    state.healthy(state.linkers.get(handle)?.context)?;
    let linker = state.linkers.get_mut(handle)?;
    if linker.image.is_some() {
        return Err(code::INVALID_HANDLE);
    }
    let text = linker.linker.complete().map_err(|failure| {
        linker.log_error(&failure.lines.join("\n"));
        failure.result
    })?;
    linker.log_information(&format!("info    : {} bytes of PTX linked", text.len()));
    let linked = linker
        .image
        .insert(fatbin::of_ptx(&text, linker.target).into_boxed_slice());
    image.set(linked.as_mut_ptr().cast());
    size.set(linked.len());
    Ok(())
}

fn destroy(call: &Call<'_>, linker: CUlinkState) -> Answer {
    let mut state = call.state();
    let reuse = state.options.reuse_handles;
    state.linkers.remove(number(linker), reuse).map(drop)
}
