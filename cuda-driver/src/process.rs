//! What forbids driver calls in a whole process or on one thread: a fork, and running host functions.
//!
//! A forked child shares nothing with the driver's threads, and a host function runs on a thread of the driver's that
//! must not call back. Both are rare, so the check on the way into every call is one load of one static.

use std::any::Any;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use crate::error::{Error, ErrorKind, Result};

/// Zero while nothing is forbidden: the top bit is set in a forked child, the lower half counts running host functions, the
/// rest contexts that check their launches.
static RESTRICTIONS: AtomicUsize = AtomicUsize::new(0);
const FORKED: usize = 1 << (usize::BITS - 1);
/// What each context counts that checks its launches: it forbids nothing, but launches look closer.
const CHECKING: usize = 1 << (usize::BITS / 2);

thread_local! {
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Zero while nothing is forbidden on any thread, so that [`permit`] need not be asked.
#[inline(always)]
pub(crate) fn restrictions() -> usize {
    RESTRICTIONS.load(Ordering::Relaxed)
}

/// Notes that a context checks its launches.
pub(crate) fn begin_checking() {
    RESTRICTIONS.fetch_add(CHECKING, Ordering::Relaxed);
}

/// Notes that a context checks its launches no more.
pub(crate) fn end_checking() {
    RESTRICTIONS.fetch_sub(CHECKING, Ordering::Relaxed);
}

/// Whether the driver may be called by this thread now.
#[inline]
pub(crate) fn permit() -> Result<()> {
    if restrictions() == 0 {
        Ok(())
    } else {
        permit_restricted()
    }
}

#[cold]
fn permit_restricted() -> Result<()> {
    if is_forked() {
        return Err(Error::new(
            ErrorKind::ForkedProcess,
            "this process was forked after the driver was loaded, and the driver does not survive that",
        )
        .remedied_by("start the child with exec, or load the driver after the fork"));
    }
    if in_host_function() {
        return Err(Error::new(
            ErrorKind::InHostFunction,
            "a host function must not call the driver",
        )
        .remedied_by("send the work to another thread"));
    }
    Ok(())
}

/// Whether this process is the child of a fork that happened after the driver was loaded.
#[inline]
pub(crate) fn is_forked() -> bool {
    RESTRICTIONS.load(Ordering::Relaxed) & FORKED != 0
}

/// Whether this thread is running a host function.
#[inline]
pub(crate) fn in_host_function() -> bool {
    RESTRICTIONS.load(Ordering::Relaxed) != 0 && this_thread_is_in_host_function()
}

#[cold]
fn this_thread_is_in_host_function() -> bool {
    IN_HOST_FUNCTION
        .try_with(Cell::get)
        // The thread is ending; a host function's thread does not end while the function runs.
        .unwrap_or(false)
}

/// Marks this thread as running a host function while `body` runs.
pub(crate) fn host_function<R>(body: impl FnOnce() -> R) -> R {
    struct Mark;
    impl Drop for Mark {
        fn drop(&mut self) {
            let _ = IN_HOST_FUNCTION.try_with(|flag| flag.set(false));
            RESTRICTIONS.fetch_sub(1, Ordering::Relaxed);
        }
    }
    RESTRICTIONS.fetch_add(1, Ordering::Relaxed);
    let _ = IN_HOST_FUNCTION.try_with(|flag| flag.set(true));
    let _mark = Mark;
    body()
}

/// What was dropped inside host functions, where it could not call the driver.
static POSTPONED: Mutex<Vec<Box<dyn Any + Send>>> = Mutex::new(Vec::new());
static ANY_POSTPONED: AtomicBool = AtomicBool::new(false);

/// Keeps something whose destructor calls the driver until an ordinary thread comes by.
#[cold]
pub(crate) fn postpone(remains: Box<dyn Any + Send>) {
    POSTPONED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(remains);
    ANY_POSTPONED.store(true, Ordering::Release);
}

/// Drops what host functions left behind; one load where there is nothing.
#[inline]
pub(crate) fn drop_postponed() {
    if ANY_POSTPONED.load(Ordering::Relaxed) {
        drop_postponed_now();
    }
}

#[cold]
fn drop_postponed_now() {
    if !in_host_function() && !is_forked() {
        ANY_POSTPONED.store(false, Ordering::Relaxed);
        let remains =
            std::mem::take(&mut *POSTPONED.lock().unwrap_or_else(PoisonError::into_inner));
        drop(remains);
    }
}

/// Watches for forks from now on. Called when a real driver is loaded.
pub(crate) fn watch_forks() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        #[cfg(unix)]
        {
            unsafe extern "C" fn in_child() {
                RESTRICTIONS.fetch_or(FORKED, Ordering::Relaxed);
            }
            unsafe extern "C" {
                fn pthread_atfork(
                    prepare: Option<unsafe extern "C" fn()>,
                    parent: Option<unsafe extern "C" fn()>,
                    child: Option<unsafe extern "C" fn()>,
                ) -> std::ffi::c_int;
            }
            // SAFETY: the handler is a static function that does one atomic operation, which is
            // allowed between fork and exec.
            if unsafe { pthread_atfork(None, None, Some(in_child)) } != 0 {
                log::warn!("cannot watch for forks: pthread_atfork failed");
            }
        }
    });
}
