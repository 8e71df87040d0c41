//! Calls beside stream captures of others.

use cuda_sys::{CUresult, CUstreamCaptureMode, signatures};

use crate::driver::Driver;
use crate::process;

/// Runs `body` in a mode in which its calls neither fail because of, nor end, a stream capture of somebody else's.
#[inline]
pub(crate) fn relaxed<R>(driver: &Driver, body: impl FnOnce() -> R) -> R {
    struct Restore {
        exchange: signatures::cuThreadExchangeStreamCaptureMode,
        mode: CUstreamCaptureMode,
    }
    impl Drop for Restore {
        #[inline]
        fn drop(&mut self) {
            // SAFETY: the pointer is to a live value.
            unsafe { (self.exchange)(&raw mut self.mode) };
        }
    }
    // A driver without the function has no captures.
    let exchange = driver.library().cuThreadExchangeStreamCaptureMode();
    let (Ok(exchange), Ok(())) = (exchange, process::permit()) else {
        return body();
    };
    let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: the pointer is to a live value.
    let status = unsafe { exchange(&raw mut mode) };
    // After a failure the mode is what it was.
    let _restore = (status == CUresult::CUDA_SUCCESS).then_some(Restore { exchange, mode });
    body()
}
