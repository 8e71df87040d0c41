//! The current context of a thread, as a guard that pops what it pushed.

use std::marker::PhantomData;

use cuda_sys::CUcontext;

use crate::call;
use crate::driver::Driver;
use crate::error::{Doing, Result};

/// A context that is current on this thread as long as the guard lives.
///
/// Guards end in the reverse of the order in which they began, as they do when they are not moved about; a guard that is
/// dropped before a later one pops the later one's context.
///
/// # Invariants
/// The context was pushed on this thread by the guard's maker and was not popped yet.
#[must_use = "the context is popped when the guard is dropped"]
#[derive(Debug)]
pub struct CurrentContext<'a> {
    driver: &'a Driver,
    // Which context is current belongs to the thread.
    thread: PhantomData<*const ()>,
}

impl<'a> CurrentContext<'a> {
    #[doc(alias = "cuCtxPushCurrent")]
    pub(crate) fn push_raw(driver: &'a Driver, raw: CUcontext) -> Result<Self> {
        // SAFETY: an invalid handle is refused by the driver.
        unsafe { call!(driver, cuCtxPushCurrent_v2(raw)) }.doing(|| "make the context current")?;
        Ok(Self {
            driver,
            thread: PhantomData,
        })
    }
}

impl Drop for CurrentContext<'_> {
    #[doc(alias = "cuCtxPopCurrent")]
    fn drop(&mut self) {
        let mut popped = std::ptr::null_mut();
        // SAFETY: the pointer is to a live handle; by the invariant there is a context to pop.
        let result = unsafe { call!(self.driver, cuCtxPopCurrent_v2(&raw mut popped)) };
        if let Err(error) = result {
            log::error!("cannot restore the current context: {error}");
        }
    }
}
