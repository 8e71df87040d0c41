//! What surrounds every call: counting, injected failures, the checks that all functions share, and the barrier for panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use cuda_sys::{CUresult, CUstream};
use parking_lot::MutexGuard;

use crate::args::number;
use crate::code;
use crate::fault::CallInfo;
use crate::fault::FailureMode;
use crate::instance::Instance;
use crate::report::{Report, ReportKind};
use crate::state::State;
use crate::state::host_function;
use crate::trace::TraceEntry;
use crate::trace::argument::Named;

/// A call of a driver function while it runs.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) instance: &'a Arc<Instance>,
    /// The exact symbol.
    pub(crate) symbol: &'static str,
    /// Its number among the calls of the instance, from 1.
    pub(crate) number: u64,
    /// The calling thread.
    pub(crate) thread: u64,
}

impl Call<'_> {
    /// The instance's state, for this call alone.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.instance.state.lock()
    }

    /// The stream handle that the caller means: for the `_ptds` and `_ptsz` symbols 0 is the thread's own default stream.
    pub(crate) fn stream(&self, stream: CUstream) -> u64 {
        match number(stream) {
            0 if self.symbol.ends_with("_ptds") || self.symbol.ends_with("_ptsz") => 2,
            handle => handle,
        }
    }

    /// Refuses a call that a host function must not make.
    ///
    /// # Errors
    /// `NOT_PERMITTED`
    pub(crate) fn outside_host_function(&self) -> Result<(), CUresult> {
        if host_function::is_inside(self.instance.id) {
            Err(code::NOT_PERMITTED)
        } else {
            Ok(())
        }
    }
}

/// The calling thread's number, never reused.
pub(crate) fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Relaxed);
    }
    // A thread whose locals are gone shares number 0 with others like it.
    NUMBER.try_with(|number| *number).unwrap_or(0)
}

/// Functions that work before `cuInit`.
pub(crate) fn works_uninitialised(symbol: &str) -> bool {
    matches!(
        symbol,
        "cuInit" | "cuDriverGetVersion" | "cuGetErrorName" | "cuGetErrorString"
    ) || symbol.starts_with("cuGetProcAddress")
}

/// Functions that a host function may call; a real driver refuses all others there.
fn works_in_host_functions(symbol: &str) -> bool {
    const FAMILIES: [&str; 14] = [
        "cuInit",
        "cuDriverGetVersion",
        "cuGetError",
        "cuGetProcAddress",
        "cuThreadExchangeStreamCaptureMode",
        "cuStreamQuery",
        "cuStreamSynchronize",
        "cuStreamWaitEvent",
        "cuStreamIsCapturing",
        "cuStreamGet",
        "cuStreamDestroy",
        "cuEventRecord",
        "cuEventSynchronize",
        "cuLaunchHostFunc",
    ];
    let fill = symbol.starts_with("cuMemsetD") && symbol.contains("Async");
    FAMILIES.iter().any(|family| symbol.starts_with(family))
        || fill
        || matches!(
            symbol,
            "cuEventQuery" | "cuEventDestroy" | "cuEventDestroy_v2"
        )
}

/// Functions that an old driver, too, lets run without a current context.
fn needs_no_context(symbol: &str) -> bool {
    const FAMILIES: [&str; 8] = [
        "cuDevice",
        "cuCtx",
        "cuGet",
        "cuInit",
        "cuDriver",
        "cuThread",
        "cuLibrary",
        "cuKernel",
    ];
    FAMILIES.iter().any(|family| symbol.starts_with(family))
        && !matches!(
            symbol,
            "cuCtxSynchronize" | "cuCtxGetLimit" | "cuCtxSetLimit" | "cuCtxGetDevice"
        )
}

/// Runs a built function for the instance of `slot`.
pub(crate) fn enter(
    slot: usize,
    symbol: &'static str,
    run: &mut dyn FnMut(&Call<'_>) -> Result<(), CUresult>,
    arguments: &dyn Fn(&mut Vec<Named>, bool),
) -> CUresult {
    let Some(instance) = crate::slot::instance(slot) else {
        return code::DEINITIALIZED;
    };
    if !instance.serves_this_process() {
        return code::NOT_INITIALIZED;
    }
    let call_number = instance.count(symbol);
    instance.sites.note(call_number);
    let call = Call {
        instance: &instance,
        symbol,
        number: call_number,
        thread: thread_number(),
    };
    let traced = instance.trace.lock().is_some();
    let mut given = Vec::new();
    if traced || instance.faults.lock().wants_arguments() {
        arguments(&mut given, false);
    }
    // Names are those of the time before the call: what it releases has none afterwards.
    let given_json = if traced {
        instance.name(&given)
    } else {
        Vec::new()
    };
    let planned = instance.faults.lock().next(&CallInfo {
        number: call_number,
        symbol,
        arguments: &given,
    });
    let result = match planned {
        Some(fault) if fault.mode != FailureMode::AfterExecuting => fault.result,
        fault => {
            let result = guarded(&call, run);
            fault.map_or(result, |fault| fault.result)
        }
    };
    if traced {
        let mut stored = Vec::new();
        if result == code::SUCCESS {
            arguments(&mut stored, true);
        }
        let stored_json = instance.name(&stored);
        let entry = TraceEntry {
            number: call.number,
            thread: call.thread,
            symbol,
            result,
        };
        if let Some(trace) = instance.trace.lock().as_mut() {
            trace.add(entry, &given_json, &stored_json);
        }
    }
    result
}

fn guarded(call: &Call<'_>, run: &mut dyn FnMut(&Call<'_>) -> Result<(), CUresult>) -> CUresult {
    let checked = || {
        if host_function::is_inside(call.instance.id) && !works_in_host_functions(call.symbol) {
            return Err(code::NOT_PERMITTED);
        }
        let initialised = {
            let mut state = call.state();
            state.clock += 1_000;
            if state.options.old_driver && state.initialised && !needs_no_context(call.symbol) {
                state.current_unchecked(call.thread)?;
            }
            state.initialised
        };
        if initialised || works_uninitialised(call.symbol) {
            run(call)
        } else {
            Err(code::NOT_INITIALIZED)
        }
    };
    match catch_unwind(AssertUnwindSafe(checked)) {
        Ok(Ok(())) => code::SUCCESS,
        Ok(Err(result)) => result,
        Err(_) => {
            let message = format!(
                "a panic inside the software driver's {}: please report it",
                call.symbol
            );
            call.instance
                .add_report(Report::new(ReportKind::Internal, message, call.number));
            code::UNKNOWN
        }
    }
}
