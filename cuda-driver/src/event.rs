//! Events: marks in a stream that other streams and the host can wait for, and that measure time.
//!
//! C group: event management.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cuda_sys::{CUevent, CUevent_flags, CUresult};

use crate::call;
use crate::close::CloseError;
use crate::context::{Context, ContextCore};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::process;
use crate::stream::AnyStream;

/// How an event is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventFlags(u32);

impl EventFlags {
    /// Measures time; waiting threads spin.
    #[doc(alias = "CU_EVENT_DEFAULT")]
    pub const TIMING: Self = Self(CUevent_flags::CU_EVENT_DEFAULT.0);
    /// Does not measure time, which makes recording and waiting cheaper.
    #[doc(alias = "CU_EVENT_DISABLE_TIMING")]
    pub const DISABLE_TIMING: Self = Self(CUevent_flags::CU_EVENT_DISABLE_TIMING.0);
    /// Waiting threads sleep.
    #[doc(alias = "CU_EVENT_BLOCKING_SYNC")]
    pub const BLOCKING_SYNC: Self = Self(CUevent_flags::CU_EVENT_BLOCKING_SYNC.0);

    /// The driver's bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    const fn measures_time(self) -> bool {
        self.0 & Self::DISABLE_TIMING.0 == 0
    }
}

impl Default for EventFlags {
    fn default() -> Self {
        Self::TIMING
    }
}

impl std::ops::BitOr for EventFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A mark in a stream.
///
/// Events are the user's own: the ordering that keeps memory safe has events of its own and does not depend on these.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// use cuda_driver::{Driver, EventFlags};
///
/// let context = Driver::simulated()?.device(0)?.primary_context()?;
/// let stream = context.create_stream()?;
/// let start = context.create_event(EventFlags::TIMING)?;
/// let end = context.create_event(EventFlags::TIMING)?;
/// start.record(&stream)?;
/// let zeros = stream.zeroed::<u8>(1 << 20)?;
/// end.record(&stream)?;
/// end.synchronize()?;
/// println!("zeroing took {:?}", end.elapsed_since(&start)?);
/// # drop(zeros);
/// # }
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
/// `raw` is a live event of `context` until `destroy`, and ours alone.
pub struct Event {
    raw: CUevent,
    context: Context,
    flags: EventFlags,
}

// SAFETY: a CUevent may be used from any thread.
unsafe impl Send for Event {}
// SAFETY: as for `Send`; the driver synchronises calls on one event.
unsafe impl Sync for Event {}

impl Context {
    /// An event that was not recorded yet.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuEventCreate")]
    pub fn create_event(&self, flags: EventFlags) -> Result<Event> {
        let _current = self.push()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is to a live handle, and the context is current.
        let result = unsafe { call!(self.driver(), cuEventCreate(&raw mut raw, flags.0)) };
        self.core().watch(result).doing(|| "create an event")?;
        Ok(Event {
            raw,
            context: self.clone(),
            flags,
        })
    }
}

impl Event {
    /// The context that the event belongs to.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The raw event, which stays ours.
    #[must_use]
    pub fn as_raw(&self) -> CUevent {
        self.raw
    }

    /// Gives the raw event away: it is the caller's to destroy.
    #[must_use]
    pub fn into_raw(mut self) -> CUevent {
        std::mem::replace(&mut self.raw, std::ptr::null_mut())
    }

    /// An event that somebody else made, and which is ours from now on.
    ///
    /// # Safety
    /// `raw` is an event of `context`, made with `flags`, and nobody else uses or destroys it any more.
    #[must_use]
    pub unsafe fn from_raw(context: &Context, raw: CUevent, flags: EventFlags) -> Self {
        Self {
            raw,
            context: context.clone(),
            flags,
        }
    }

    /// Records the event behind everything that was enqueued on `stream` so far; an earlier record is forgotten.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] if the stream is of another context; what the driver returns.
    #[doc(alias = "cuEventRecord")]
    pub fn record<S: AnyStream + ?Sized>(&self, stream: &S) -> Result<()> {
        let core = stream.stream_core();
        if !Arc::ptr_eq(core.context(), self.context.core()) {
            return Err(Error::new(
                ErrorKind::Mismatch,
                "the event and the stream belong to different contexts",
            )
            .doing("record an event"));
        }
        core.enqueue(|| {
            // SAFETY: the event and the stream are live as long as their objects.
            unsafe { call!(core.driver(), cuEventRecord(self.raw, core.as_raw())) }
        })
        .doing(|| "record an event")
    }

    /// Whether everything in front of the last record is done; an event that was never recorded is.
    ///
    /// # Errors
    /// What the driver returns, an error of an earlier operation included.
    #[doc(alias = "cuEventQuery")]
    pub fn is_complete(&self) -> Result<bool> {
        let core = self.core();
        // SAFETY: the event is live as long as the object.
        let result = core.call(|| unsafe { call!(core.driver(), cuEventQuery(self.raw)) });
        match result {
            Ok(()) => Ok(true),
            Err(error) if error.is_status(CUresult::CUDA_ERROR_NOT_READY) => Ok(false),
            Err(error) => Err(error.doing("query an event")),
        }
    }

    /// Makes the host wait until everything in front of the last record is done.
    ///
    /// # Errors
    /// What the driver returns, an error of an earlier operation included.
    #[doc(alias = "cuEventSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        let core = self.core();
        // SAFETY: the event is live as long as the object.
        core.call(|| unsafe { call!(core.driver(), cuEventSynchronize(self.raw)) })
            .doing(|| "wait for an event")
    }

    /// The time between an earlier event and this one, with a resolution of about half a microsecond.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if one of them does not measure time, was not recorded or is not done yet, or if
    /// this one was recorded before the other; [`ErrorKind::Mismatch`] if they belong to different drivers.
    #[doc(alias = "cuEventElapsedTime")]
    pub fn elapsed_since(&self, start: &Self) -> Result<Duration> {
        let invalid = |reason: &'static str| {
            Err(Error::invalid(reason).doing("measure the time between two events"))
        };
        if !self.flags.measures_time() || !start.flags.measures_time() {
            return invalid("both must be made with EventFlags::TIMING");
        }
        if !self.core().driver().is_same(start.core().driver()) {
            let reason = "the events belong to different drivers";
            return Err(Error::new(ErrorKind::Mismatch, reason)
                .doing("measure the time between two events"));
        }
        if !self.is_complete()? || !start.is_complete()? {
            return invalid("one of them is not done yet; synchronize it first");
        }
        let mut milliseconds = 0.0_f32;
        let core = self.core();
        let result = core.call(|| {
            let out = &raw mut milliseconds;
            // SAFETY: both events are live as long as their objects, and the pointer is to a live number.
            unsafe { call!(core.driver(), cuEventElapsedTime(out, start.raw, self.raw)) }
        });
        match result {
            Err(error) if error.is_status(CUresult::CUDA_ERROR_INVALID_HANDLE) => {
                return Err(error
                    .because("one of them was never recorded")
                    .doing("measure the time between two events"));
            }
            other => other.doing(|| "measure the time between two events")?,
        }
        Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).or_else(|_| {
            invalid("the event that should be the later one was recorded before the other")
        })
    }

    /// Destroys the event and reports what that returns, which `Drop` cannot.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuEventDestroy")]
    pub fn close(mut self) -> std::result::Result<(), CloseError<Self>> {
        if let Err(error) = process::permit() {
            return Err(CloseError::new(error.doing("destroy an event"), Some(self)));
        }
        self.destroy().map_err(|error| CloseError::new(error, None))
    }

    fn core(&self) -> &ContextCore {
        self.context.core()
    }

    fn destroy(&mut self) -> Result<()> {
        let raw = std::mem::replace(&mut self.raw, std::ptr::null_mut());
        if raw.is_null() || !self.core().may_release() {
            return Ok(());
        }
        let core = self.core();
        // SAFETY: the event is ours and live, and nothing uses the handle after this.
        core.call(|| unsafe { call!(core.driver(), cuEventDestroy_v2(raw)) })
            .doing(|| "destroy an event")
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if process::in_host_function() && !self.raw.is_null() {
            let raw = std::mem::replace(&mut self.raw, std::ptr::null_mut());
            process::postpone(Box::new(Self {
                raw,
                context: self.context.clone(),
                flags: self.flags,
            }));
            return;
        }
        if let Err(error) = self.destroy()
            && !error.is_silent_in_drops()
        {
            log::error!("{error}");
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("raw", &self.raw)
            .field("measures_time", &self.flags.measures_time())
            .finish_non_exhaustive()
    }
}
