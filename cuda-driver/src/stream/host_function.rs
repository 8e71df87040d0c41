//! Functions of the host that run in stream order, on a thread of the driver's.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use super::core::StreamCore;
use crate::call;
use crate::error::{Doing, Result};
use crate::order::Queue;
use crate::process;

/// What waits in the queue: whoever comes first takes the closure out.
type Task = Mutex<Option<Box<dyn FnOnce() + Send>>>;

pub(super) fn enqueue(core: &StreamCore, body: impl FnOnce() + Send + 'static) -> Result<()> {
    let task: Arc<Task> = Arc::new(Mutex::new(Some(Box::new(body))));
    let queued = Arc::into_raw(Arc::clone(&task)).cast_mut().cast::<c_void>();
    let result = core.enqueue(|| {
        // SAFETY: the stream is live as long as its core; `run` takes the reference that `queued` is, once.
        unsafe {
            call!(
                core.driver(),
                cuLaunchHostFunc(core.as_raw(), Some(run), queued)
            )
        }
    });
    if let Err(error) = &result
        && StreamCore::is_refusal(error)
    {
        // SAFETY: nothing was enqueued, so the reference is still ours.
        drop(unsafe { Arc::from_raw(queued.cast::<Task>().cast_const()) });
    }
    result.doing(|| "enqueue a host function")
}

unsafe extern "system" fn run(data: *mut c_void) {
    // SAFETY: `data` is the reference that `enqueue` made, and the driver calls once.
    let task: Arc<Task> = unsafe { Arc::from_raw(data.cast::<Task>().cast_const()) };
    let body = task.lock().unwrap_or_else(PoisonError::into_inner).take();
    process::host_function(|| {
        if let Some(body) = body
            && let Err(panic) = catch_unwind(AssertUnwindSafe(body))
        {
            // Its own destructor might panic too.
            std::mem::forget(panic);
            log::error!("a host function panicked");
        }
    });
}
