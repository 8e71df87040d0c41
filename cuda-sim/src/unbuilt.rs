//! Functions that a driver exports and this one does not have: they say so, and their name is kept.
//!
//! Such a function is needed for each name and instance, but few are ever asked for: a pool of small functions is handed out, one to each
//! name that an instance resolves.

use std::ffi::c_void;
use std::ptr::NonNull;

use cuda_sys::CUresult;
use parking_lot::Mutex;

use crate::code;
use crate::fault::CallInfo;
use crate::report::{Report, ReportKind};
use crate::trace::TraceEntry;

/// Stubs of all instances together.
const STUBS: usize = 1024;

/// Whom each stub serves: slot and symbol.
static ASSIGNED: Mutex<Vec<Option<(usize, &'static str)>>> = Mutex::new(Vec::new());

/// A function without parameters, which stands for one with some.
///
/// The C calling conventions of the supported 64-bit targets let the caller remove the arguments, so a callee that reads none of them
/// returns correctly whatever was passed.
extern "system" fn stub<const NUMBER: usize>() -> CUresult {
    called(NUMBER)
}

fn called(number: usize) -> CUresult {
    let assigned = ASSIGNED.lock().get(number).copied().flatten();
    let Some((slot, symbol)) = assigned else {
        return code::NOT_SUPPORTED;
    };
    let Some(instance) = crate::slot::instance(slot) else {
        return code::DEINITIALIZED;
    };
    if !instance.serves_this_process() {
        return code::NOT_INITIALIZED;
    }
    let call = instance.count(symbol);
    instance.sites.note(call);
    instance.note_unsupported(symbol.to_owned());
    let message = format!("{symbol} is not implemented by the software driver");
    instance.add_report(Report::new(ReportKind::Unsupported, message, call));
    let planned = instance.faults.lock().next(&CallInfo {
        number: call,
        symbol,
        arguments: &[],
    });
    let result = planned.map_or(code::NOT_SUPPORTED, |fault| fault.result);
    if let Some(trace) = instance.trace.lock().as_mut() {
        let entry = TraceEntry {
            number: call,
            thread: crate::call::thread_number(),
            symbol,
            result,
        };
        trace.add(entry, &[], &[]);
    }
    result
}

/// The address of a stub for `symbol` in `slot`. When all are taken it is one that says no without keeping the name.
pub(crate) fn stub_for(slot: usize, symbol: &'static str) -> Option<NonNull<c_void>> {
    let mut assigned = ASSIGNED.lock();
    let wanted = Some((slot, symbol));
    let known = assigned.iter().position(|entry| *entry == wanted);
    let index = match known.or_else(|| assigned.iter().position(Option::is_none)) {
        Some(index) => index,
        None => {
            // The last stub serves nobody.
            if assigned.len() < STUBS - 1 {
                assigned.push(None);
                assigned.len() - 1
            } else {
                STUBS - 1
            }
        }
    };
    if let Some(entry) = assigned.get_mut(index) {
        *entry = wanted;
    }
    let function = STUB_TABLE
        .get(index / 256)?
        .get(index % 256 / 16)?
        .get(index % 16)?;
    NonNull::new(*function as *mut c_void)
}

/// Gives back the stubs of a slot.
pub(crate) fn release(slot: usize) {
    for entry in ASSIGNED.lock().iter_mut() {
        if entry.is_some_and(|(owner, _)| owner == slot) {
            *entry = None;
        }
    }
}

type Stub = extern "system" fn() -> CUresult;

macro_rules! sixteen {
    ($base:expr) => {
        [
            stub::<{ $base }>,
            stub::<{ $base + 1 }>,
            stub::<{ $base + 2 }>,
            stub::<{ $base + 3 }>,
            stub::<{ $base + 4 }>,
            stub::<{ $base + 5 }>,
            stub::<{ $base + 6 }>,
            stub::<{ $base + 7 }>,
            stub::<{ $base + 8 }>,
            stub::<{ $base + 9 }>,
            stub::<{ $base + 10 }>,
            stub::<{ $base + 11 }>,
            stub::<{ $base + 12 }>,
            stub::<{ $base + 13 }>,
            stub::<{ $base + 14 }>,
            stub::<{ $base + 15 }>,
        ]
    };
}

macro_rules! rows {
    ($base:expr) => {
        [
            sixteen!($base),
            sixteen!($base + 16),
            sixteen!($base + 32),
            sixteen!($base + 48),
            sixteen!($base + 64),
            sixteen!($base + 80),
            sixteen!($base + 96),
            sixteen!($base + 112),
            sixteen!($base + 128),
            sixteen!($base + 144),
            sixteen!($base + 160),
            sixteen!($base + 176),
            sixteen!($base + 192),
            sixteen!($base + 208),
            sixteen!($base + 224),
            sixteen!($base + 240),
        ]
    };
}

static STUB_TABLE: [[[Stub; 16]; 16]; 4] = [rows!(0), rows!(256), rows!(512), rows!(768)];
