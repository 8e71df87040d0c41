//! Initialisation, version, error names, and entry points by name.

use cuda_sys::{CUdriverProcAddressQueryResult, CUuuid, StreamVariant, Symbol};

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
    cuGetExportTable => export_table, (table: Out<*const c_void>, id: In<CUuuid>);
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

fn error_name(call: &Call<'_>, error: CUresult, text: Out<*const c_char>) -> Answer {
    let known = error_text::name(error).filter(|_| is_known(call, error));
    give_text(text, known)
}

fn error_string(call: &Call<'_>, error: CUresult, text: Out<*const c_char>) -> Answer {
    let known = error_text::description(error).filter(|_| is_known(call, error));
    give_text(text, known)
}

/// Whether the driver is new enough for a code.
fn is_known(call: &Call<'_>, error: CUresult) -> bool {
    /// Codes that came after CUDA 13.0.
    const LATER: [u32; 5] = [47, 227, 917, 918, 919];
    call.state().driver_version > 13_000 || !LATER.contains(&error.0)
}

fn give_text(text: Out<*const c_char>, known: Option<&'static std::ffi::CStr>) -> Answer {
    let text = text.check()?;
    text.set(known.map_or(std::ptr::null(), std::ffi::CStr::as_ptr));
    known.map(|_| ()).ok_or(code::INVALID_VALUE)
}

/// What a name and a version lead to.
enum Found {
    Symbol(&'static Symbol),
    /// The driver has the function, but only for programs of a later version.
    TooOld,
    Unknown,
}

fn proc_address(
    call: &Call<'_>,
    name: Text,
    function: Out<*mut c_void>,
    version: c_int,
    flags: u64,
) -> Answer {
    match look_up(call, name, function, version, flags)? {
        Found::Symbol(_) => Ok(()),
        Found::TooOld | Found::Unknown => Err(code::NOT_FOUND),
    }
}

fn proc_address_2(
    call: &Call<'_>,
    name: Text,
    function: Out<*mut c_void>,
    version: c_int,
    flags: u64,
    status: Out<CUdriverProcAddressQueryResult>,
) -> Answer {
    // That nothing was found is no error: the address is null, and the status tells why.
    status.set(match look_up(call, name, function, version, flags)? {
        Found::Symbol(_) => CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS,
        Found::TooOld => CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT,
        Found::Unknown => CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
    });
    Ok(())
}

/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`
const PER_THREAD: u64 = 2;

/// Stores the address of the newest binary interface of a base name that `version` knows, or null.
fn look_up(
    call: &Call<'_>,
    name: Text,
    function: Out<*mut c_void>,
    version: c_int,
    flags: u64,
) -> Result<Found, CUresult> {
    let (name, function) = (name.get()?, function.check()?);
    let (driver_version, slot) = {
        let state = call.state();
        (state.driver_version, state.slot)
    };
    if version > driver_version || flags > 3 {
        return Err(code::INVALID_VALUE);
    }
    // A negative version counts as the latest.
    let version = u32::try_from(version).unwrap_or(u32::MAX);
    let found = newest(
        name.to_bytes(),
        version,
        flags & PER_THREAD != 0,
        driver_version,
    );
    let address = match found {
        Found::Symbol(symbol) => crate::table::address(slot, symbol),
        Found::TooOld | Found::Unknown => None,
    };
    function.set(address.map_or(std::ptr::null_mut(), std::ptr::NonNull::as_ptr));
    Ok(found)
}

fn newest(name: &[u8], version: u32, per_thread: bool, driver_version: i32) -> Found {
    let named = |symbol: &&Symbol| {
        symbol.base.as_bytes() == name && crate::table::is_exported(symbol, driver_version)
    };
    let is_per_thread = |symbol: &Symbol| symbol.stream_variant != StreamVariant::Legacy;
    let all: Vec<&Symbol> = cuda_sys::SYMBOLS.iter().filter(named).collect();
    // A function without a variant for per-thread streams is the same for both.
    let per_thread = per_thread && all.iter().any(|symbol| is_per_thread(symbol));
    let known = all
        .iter()
        .filter(|symbol| is_per_thread(symbol) == per_thread && symbol.first_cuda <= version);
    match known.max_by_key(|symbol| symbol.abi) {
        Some(symbol) => Found::Symbol(symbol),
        None if all.is_empty() => Found::Unknown,
        None => Found::TooOld,
    }
}

fn profiler(call: &Call<'_>) -> Answer {
    call.state().current(call.thread).map(|_| ())
}

/// The table that the CUDA runtime library cannot do without.
const RUNTIME_TABLE: [u8; 16] = [
    0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9,
];

/// Tables of functions that have no names: this driver has none. Libraries ask for some that they can do without, so that is no mistake to be reported.
fn export_table(call: &Call<'_>, table: Out<*const c_void>, id: In<CUuuid>) -> Answer {
    let table = table.check()?;
    table.set(std::ptr::null());
    if id.get()?.bytes.map(|byte| byte as u8) == RUNTIME_TABLE {
        let message = String::from(
            "the CUDA runtime library (libcudart) asks for interfaces of the driver that are not documented, and which the software driver \
             does not have: use the driver API, directly or through a library that does not need the runtime",
        );
        call.instance.add_report(crate::Report::new(
            crate::ReportKind::Unsupported,
            message,
            call.number,
        ));
        call.instance.note_unsupported(call.symbol.to_owned());
        return Err(code::NOT_SUPPORTED);
    }
    Err(code::INVALID_VALUE)
}
