//! Initialisation, version, error names, and entry points by name.

use cuda_sys::{CUdriverProcAddressQueryResult, StreamVariant, Symbol};

use super::prelude::*;
use crate::args::Out;
use crate::error_text;

built! {
    cuInit => init, (flags: c_uint);
    cuDriverGetVersion => driver_version, (version: Out<c_int>);
    cuGetErrorName => error_name, (error: CUresult, text: Out<*const c_char>);
    cuGetErrorString => error_string, (error: CUresult, text: Out<*const c_char>);
    cuGetProcAddress => proc_address, (name: Text, function: Out<*mut c_void>, version: c_int, flags: u64);
    cuGetProcAddress_v2 => proc_address_2, (
        name: Text, function: Out<*mut c_void>, version: c_int, flags: u64, status: Out<CUdriverProcAddressQueryResult>
    );
    cuProfilerStart => profiler, ();
    cuProfilerStop => profiler, ();
}

fn init(call: &Call<'_>, flags: c_uint) -> Answer {
    if flags != 0 {
        return Err(code::INVALID_VALUE);
    }
    let mut state = call.state();
    if state.devices.is_empty() {
        return Err(code::NO_DEVICE);
    }
    state.initialised = true;
    Ok(())
}

fn driver_version(call: &Call<'_>, version: Out<c_int>) -> Answer {
    version.check()?.set(call.state().driver_version);
    Ok(())
}

fn error_name(_: &Call<'_>, error: CUresult, text: Out<*const c_char>) -> Answer {
    give_text(text, error_text::name(error))
}

fn error_string(_: &Call<'_>, error: CUresult, text: Out<*const c_char>) -> Answer {
    give_text(text, error_text::description(error))
}

fn give_text(text: Out<*const c_char>, known: Option<&'static std::ffi::CStr>) -> Answer {
    let text = text.check()?;
    text.set(known.map_or(std::ptr::null(), std::ffi::CStr::as_ptr));
    known.map(|_| ()).ok_or(code::INVALID_VALUE)
}

fn proc_address(
    call: &Call<'_>,
    name: Text,
    function: Out<*mut c_void>,
    version: c_int,
    flags: u64,
) -> Answer {
    look_up(call, name, function, version, flags)
        .and_then(|found| found.map(|_| ()).ok_or(code::NOT_FOUND))
}

fn proc_address_2(
    call: &Call<'_>,
    name: Text,
    function: Out<*mut c_void>,
    version: c_int,
    flags: u64,
    status: Out<CUdriverProcAddressQueryResult>,
) -> Answer {
    let found = look_up(call, name, function, version, flags)?;
    let (result, answer) = match found {
        Some(()) => (
            CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS,
            Ok(()),
        ),
        None if is_known(name)? => (
            CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT,
            Err(code::NOT_FOUND),
        ),
        None => (
            CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
            Err(code::NOT_FOUND),
        ),
    };
    status.set(result);
    // Whoever asks for the status learns the failure from it.
    if status.is_null() { answer } else { Ok(()) }
}

fn is_known(name: Text) -> Result<bool, CUresult> {
    let name = name.get()?.to_bytes();
    Ok(cuda_sys::SYMBOLS
        .iter()
        .any(|symbol| symbol.base.as_bytes() == name))
}

/// The newest binary interface of the base name that `version` and the driver know.
fn look_up(
    call: &Call<'_>,
    name: Text,
    function: Out<*mut c_void>,
    version: c_int,
    flags: u64,
) -> Result<Option<()>, CUresult> {
    let name = name.get()?;
    let function = function.check()?;
    function.set(std::ptr::null_mut());
    let (driver_version, slot) = {
        let state = call.state();
        (state.driver_version, state.slot)
    };
    if version > driver_version || flags > 2 {
        return Err(code::INVALID_VALUE);
    }
    let per_thread = flags == 2;
    let candidates = cuda_sys::SYMBOLS.iter().filter(|symbol: &&Symbol| {
        symbol.base.as_bytes() == name.to_bytes()
            && i64::from(symbol.first_cuda) <= i64::from(version)
            && crate::table::is_exported(symbol, driver_version)
    });
    // A function without a variant for per-thread streams is the same for both.
    let best = candidates.max_by_key(|symbol| {
        (
            symbol.abi,
            (symbol.stream_variant != StreamVariant::Legacy) == per_thread,
        )
    });
    let Some(symbol) = best else { return Ok(None) };
    let address = match crate::table::find(symbol.as_str()) {
        Some(built) => built.pointers.get(slot).map(|pointer| pointer.0.cast_mut()),
        None => crate::unbuilt::stub_for(slot, symbol.as_str()).map(|stub| stub.as_ptr()),
    };
    if let Some(address) = address {
        function.set(address);
    }
    Ok(address.map(|_| ()))
}

fn profiler(call: &Call<'_>) -> Answer {
    call.state().current(call.thread).map(|_| ())
}
