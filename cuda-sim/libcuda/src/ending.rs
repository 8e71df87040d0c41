//! The end of the process: later calls are refused, and what is left to say is said.

use core::ffi::{c_int, c_void};
use std::panic::catch_unwind;
use std::time::Duration;

use crate::process::{self, Process};

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
    fn fflush(stream: *mut c_void) -> c_int;
    fn _exit(status: c_int) -> !;
}

/// How long the end waits for calls of other threads.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sees to it that the end is noticed.
///
/// # Errors
/// The system keeps no more functions for the end.
pub(crate) fn announce() -> Result<(), &'static str> {
    // SAFETY: the function lives as long as the process: the library is never unloaded.
    match unsafe { atexit(at_exit) } {
        0 => Ok(()),
        _ => Err("the system refuses to tell the software driver of the program's end"),
    }
}

extern "C" fn at_exit() {
    let failure = catch_unwind(|| process::started().and_then(finish));
    let Ok(Some(status)) = failure else { return };
    // SAFETY: null stands for all streams of the C library.
    unsafe { fflush(core::ptr::null_mut()) };
    // SAFETY: ends the process; what the program wrote is with the system by now.
    unsafe { _exit(c_int::from(status)) }
}

/// Writes what is left to say; the second value is the exit status that the environment asks for.
fn finish(process: &Process) -> Option<u8> {
    let (simulator, journal) = (&process.simulator, &process.journal);
    // What is forked has no software driver, and the parent speaks for itself.
    if !simulator.serves_this_process() {
        return None;
    }
    let quiet = simulator.shut_down(PATIENCE);
    if journal.traces() {
        journal.trace(&simulator.trace_json());
    }
    if journal.leaks && quiet {
        let (lost, leaks): (Vec<_>, Vec<_>) =
            simulator.leaks().into_iter().partition(|leak| leak.is_lost);
        for leak in leaks {
            journal.count();
            journal.line(leak);
        }
        match lost.len() {
            0 => {}
            1 => journal.line("1 object was left because the context is lost"),
            count => journal.line(format_args!(
                "{count} objects were left because the context is lost"
            )),
        }
    }
    let reports = journal.reports();
    (reports > 0).then_some(journal.failure).flatten()
}
