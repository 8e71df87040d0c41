//! What all kinds of stream have in common: the raw handle, its number, and the way calls are made on it.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex};

use cuda_sys::{CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUresult, CUstream, CUstreamCaptureStatus};

use crate::call;
use crate::context::{ContextCore, drop_owner, next_stream_number};
use crate::driver::Driver;
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::flag::Flag;
use crate::launch::RecentLaunches;
use crate::memory::staging::Staging;
use crate::process;

/// Where a stream comes from, and so who destroys it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Ours to destroy.
    Owned,
    /// The legacy default stream of the context.
    Legacy,
    /// The default stream of one thread.
    PerThread,
    /// Somebody else's, kept alive by an owner that we hold.
    Kept,
    /// Somebody else's, alive as long as a closure runs.
    Borrowed,
}

/// # Invariants
/// * `raw` is a live stream of `context` until `destroy`.
/// * `number` belongs to this stream alone; for the legacy stream it is the context's.
/// * `special` is set whenever calls need more than the handle.
pub struct StreamCore {
    pub(super) number: u64,
    raw: CUstream,
    context: Arc<ContextCore>,
    kind: Kind,
    special: Flag,
    staging: Mutex<Staging>,
    owner: Mutex<Option<Box<dyn Any + Send>>>,
    recent_launches: Arc<RecentLaunches>,
}

// SAFETY: a CUstream may be used from any thread; the per-thread handle, which means another stream on each thread, is
// only in `PerThreadStream`, which is neither `Send` nor `Sync`.
unsafe impl Send for StreamCore {}
// SAFETY: as for `Send`; the driver synchronises calls on one stream, and all that changes is atomic or locked.
unsafe impl Sync for StreamCore {}

impl StreamCore {
    pub(crate) fn new(context: &Arc<ContextCore>, raw: CUstream, kind: Kind) -> Self {
        Self::with_owner(context, raw, kind, None)
    }

    pub(crate) fn with_owner(
        context: &Arc<ContextCore>,
        raw: CUstream,
        kind: Kind,
        owner: Option<Box<dyn Any + Send>>,
    ) -> Self {
        let number = match kind {
            Kind::Legacy => context.legacy_stream_number(),
            _ => next_stream_number(),
        };
        Self {
            number,
            raw,
            context: Arc::clone(context),
            kind,
            special: Flag::new(kind != Kind::Owned),
            staging: Mutex::new(Staging::new()),
            owner: Mutex::new(owner),
            recent_launches: context.launches().stream(number),
        }
    }

    #[inline]
    pub(crate) fn as_raw(&self) -> CUstream {
        self.raw
    }

    #[inline]
    pub(crate) fn context(&self) -> &Arc<ContextCore> {
        &self.context
    }

    #[inline]
    pub(crate) fn driver(&self) -> &Driver {
        self.context.driver()
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The launches that are not known to be complete.
    #[inline(always)]
    pub(crate) fn recent_launches(&self) -> &Arc<RecentLaunches> {
        &self.recent_launches
    }

    pub(crate) fn staging(&self) -> &Mutex<Staging> {
        &self.staging
    }

    /// Whether calls need nothing but the handle, as far as is known.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        !self.special.is_set()
    }

    /// Zero while the stream [is plain](Self::is_plain).
    #[inline(always)]
    pub(crate) fn special_bits(&self) -> usize {
        self.special.bits()
    }

    /// Refuses a part of an operation, such as memory, that is of another driver.
    pub(crate) fn require_driver(&self, part: &'static str, driver: &Driver) -> Result<()> {
        if self.driver().is_same(driver) {
            return Ok(());
        }
        let reason = format!("the {part} and the stream belong to different drivers");
        Err(Error::new(ErrorKind::Mismatch, reason))
    }

    /// Makes a call that carries the stream's handle, with all that its kind demands.
    #[inline]
    pub(crate) fn enqueue(&self, call: impl FnMut() -> Result<()>) -> Result<()> {
        let mut call = call;
        if !self.is_plain() {
            return self.enqueue_specially(&mut call);
        }
        match call() {
            Ok(()) => Ok(()),
            Err(error) => self.after_failure(error, &mut call),
        }
    }

    /// Deals with a failed call on the handle alone: older drivers may want the context to be current.
    #[cold]
    pub(crate) fn after_failure(
        &self,
        error: Error,
        call: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        if error.is_status(CUresult::CUDA_ERROR_INVALID_CONTEXT) {
            // Such a refusal proves that nothing was enqueued.
            self.special.set();
            return self.enqueue_specially(call);
        }
        self.context.watch(Err(error))
    }

    #[cold]
    pub(crate) fn enqueue_specially(&self, call: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let _current = self.context.push()?;
        if !matches!(self.kind, Kind::Owned | Kind::Legacy) {
            self.refuse_capture()?;
        }
        self.context.watch(call())
    }

    /// Refuses to touch a stream that somebody else is capturing into a graph.
    fn refuse_capture(&self) -> Result<()> {
        let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: the stream is live as long as the core, and the pointer is to a live value.
        unsafe {
            call!(
                self.driver(),
                cuStreamIsCapturing(self.raw, &raw mut status)
            )
        }
        .doing(|| "ask whether the stream is being captured")?;
        if status == CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Capture,
            "its owner is capturing the stream into a graph",
        )
        .doing("use the stream")
        .remedied_by("end the capture first, or use another stream"))
    }

    /// Takes the handle out, so that `Drop` leaves it alone.
    pub(super) fn take_raw(&mut self) -> CUstream {
        self.return_staging();
        std::mem::replace(&mut self.raw, std::ptr::null_mut())
    }

    /// Gives the staging memory back to the context, to be reused when what this stream enqueued is done.
    fn return_staging(&mut self) {
        let staging = std::mem::replace(&mut self.staging, Mutex::new(Staging::new()));
        let staging = staging
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        staging.retire(self);
    }

    pub(super) fn destroy(&mut self) -> Result<()> {
        if self.raw.is_null() {
            return Ok(());
        }
        self.return_staging();
        let raw = std::mem::replace(&mut self.raw, std::ptr::null_mut());
        if let Some(owner) = self
            .owner
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take()
        {
            drop_owner(owner);
        }
        if self.kind != Kind::Owned || !self.context.may_release() {
            return Ok(());
        }
        let destroy = || {
            // SAFETY: the stream is ours and live, and nothing uses the handle after this.
            unsafe { call!(self.context.driver(), cuStreamDestroy_v2(raw)) }
        };
        let result = match destroy() {
            Err(error) if error.is_status(CUresult::CUDA_ERROR_INVALID_CONTEXT) => {
                let _current = self.context.push()?;
                destroy()
            }
            other => other,
        };
        self.context.watch(result).doing(|| "destroy the stream")
    }
}

impl Drop for StreamCore {
    fn drop(&mut self) {
        if self.raw.is_null() {
            return;
        }
        if process::in_host_function() {
            let kind = self.kind;
            let owner = self
                .owner
                .get_mut()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .take();
            let mut remains = Self::with_owner(&self.context, self.raw, kind, owner);
            std::mem::swap(&mut remains.staging, &mut self.staging);
            self.raw = std::ptr::null_mut();
            process::postpone(Box::new(remains));
            return;
        }
        if let Err(error) = self.destroy()
            && !error.is_silent_in_drops()
        {
            log::error!("{error}");
        }
    }
}

/// The handles that mean a default stream of the current context.
pub(crate) fn default_handle(kind: Kind) -> CUstream {
    match kind {
        Kind::PerThread => CU_STREAM_PER_THREAD,
        _ => CU_STREAM_LEGACY,
    }
}

impl fmt::Debug for StreamCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("number", &self.number)
            .field("kind", &self.kind)
            .field("raw", &self.raw)
            .finish_non_exhaustive()
    }
}
