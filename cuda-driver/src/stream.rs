//! Streams: queues of work that the device does in order.
//!
//! C group: stream management. [`Stream`] is what memory can be at home on; [`BorrowedStream`] and [`PerThreadStream`]
//! run operations only. All three are accepted wherever a function takes [`AnyStream`].

mod any;
mod core;
mod create;
mod foreign;
mod host_function;
mod queue;
mod relaxed;

use std::fmt;
use std::sync::Arc;

use cuda_sys::CUstream;

pub(crate) use self::core::{Kind, StreamCore};
pub use any::AnyStream;
pub(crate) use any::sealed;
pub use create::StreamFlags;
pub use foreign::{BorrowedStream, PerThreadStream};
pub(crate) use relaxed::relaxed;

use crate::call;
use crate::close::CloseError;
use crate::context::Context;
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::event::Event;
use crate::process;

/// A stream that is ours, or kept alive by us, so that memory can be at home on it; cheap to clone.
///
/// Streams of this crate do not wait for the legacy default stream unless made so
/// ([`StreamFlags::BLOCKING`]).
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// use cuda_driver::Driver;
///
/// let context = Driver::simulated()?.device(0)?.primary_context()?;
/// let stream = context.create_stream()?;
/// let zeros = stream.zeroed::<u32>(1000)?;
/// stream.synchronize()?;
/// assert!(stream.is_idle()?);
/// # drop(zeros);
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Stream {
    core: Arc<StreamCore>,
}

impl Stream {
    pub(crate) fn from_core(core: Arc<StreamCore>) -> Self {
        Self { core }
    }

    #[inline]
    pub(crate) fn core(&self) -> &Arc<StreamCore> {
        &self.core
    }

    /// Destroys the stream and reports what that returns, which `Drop` cannot.
    ///
    /// Work that was enqueued still runs.
    ///
    /// # Errors
    /// [`ErrorKind::StillShared`] with the handle while other handles or memory at home there exist.
    #[doc(alias = "cuStreamDestroy")]
    pub fn close(self) -> std::result::Result<(), CloseError<Self>> {
        if let Err(error) = process::permit() {
            return Err(CloseError::new(error.doing("close the stream"), Some(self)));
        }
        match Arc::try_unwrap(self.core) {
            Ok(mut core) => core.destroy().map_err(|error| CloseError::new(error, None)),
            Err(core) => Err(CloseError::new(
                Error::new(
                    ErrorKind::StillShared,
                    "other handles, or memory at home there, exist",
                )
                .doing("close the stream"),
                Some(Self { core }),
            )),
        }
    }

    /// Gives the raw stream away: it is the caller's to destroy.
    ///
    /// # Errors
    /// [`ErrorKind::StillShared`] with the handle while other handles or memory at home there exist, or if the stream is
    /// not ours to give away.
    pub fn into_raw(self) -> std::result::Result<CUstream, CloseError<Self>> {
        if self.core.kind() != Kind::Owned {
            let error = Error::invalid("the stream is not owned by this handle");
            return Err(CloseError::new(
                error.doing("give the stream away"),
                Some(self),
            ));
        }
        match Arc::try_unwrap(self.core) {
            Ok(mut core) => Ok(core.take_raw()),
            Err(core) => Err(CloseError::new(
                Error::new(
                    ErrorKind::StillShared,
                    "other handles, or memory at home there, exist",
                )
                .doing("give the stream away"),
                Some(Self { core }),
            )),
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.fmt(f)
    }
}

impl sealed::Sealed for Stream {
    #[inline]
    fn stream_core(&self) -> &StreamCore {
        &self.core
    }
}

impl AnyStream for Stream {}

/// The operations of [`AnyStream`] as methods of each stream's own, so that nothing must be imported to call them.
macro_rules! inherent {
    ($($stream:ty),*) => {$(
        impl $stream {
            /// Makes the host wait until everything enqueued here so far is done.
            ///
            /// # Errors
            /// What the driver returns, an error of an earlier operation included.
            #[doc(alias = "cuStreamSynchronize")]
            pub fn synchronize(&self) -> Result<()> {
                AnyStream::synchronize(self)
            }

            /// Whether everything enqueued here so far is done.
            ///
            /// # Errors
            /// What the driver returns, an error of an earlier operation included.
            #[doc(alias = "cuStreamQuery")]
            pub fn is_idle(&self) -> Result<bool> {
                AnyStream::is_idle(self)
            }

            /// Makes everything that is enqueued here from now on wait for what `event` was last recorded behind.
            ///
            /// # Errors
            /// [`ErrorKind::Mismatch`] for an event of another driver; what the driver returns.
            #[doc(alias = "cuStreamWaitEvent")]
            pub fn wait_for(&self, event: &Event) -> Result<()> {
                AnyStream::wait_for(self, event)
            }

            /// The context that the stream belongs to.
            #[must_use]
            pub fn context(&self) -> Context {
                AnyStream::context(self)
            }

            /// The raw stream, which stays with its owner.
            #[must_use]
            pub fn as_raw(&self) -> CUstream {
                AnyStream::as_raw(self)
            }

            /// Calls a closure on a thread of the driver's in stream order; see [`AnyStream::host_function`].
            ///
            /// # Errors
            /// What the driver returns.
            #[doc(alias = "cuLaunchHostFunc")]
            pub fn host_function(&self, body: impl FnOnce() + Send + 'static) -> Result<()> {
                AnyStream::host_function(self, body)
            }
        }
    )*};
}

inherent!(Stream, BorrowedStream, PerThreadStream);

/// What every kind of stream can do; see [`AnyStream`] for the operations.
pub(crate) fn synchronize(core: &StreamCore) -> Result<()> {
    wait(core).doing(|| "synchronize the stream")
}

/// Makes the host wait for the stream, for a reason that the caller gives.
pub(crate) fn wait(core: &StreamCore) -> Result<()> {
    let mark = core.recent_launches().mark();
    core.enqueue(|| {
        // SAFETY: the stream is live as long as its core.
        unsafe { call!(core.driver(), cuStreamSynchronize(core.as_raw())) }
    })?;
    core.recent_launches().complete(mark);
    Ok(())
}

pub(crate) fn is_idle(core: &StreamCore) -> Result<bool> {
    let mark = core.recent_launches().mark();
    let result = core.enqueue(|| {
        // SAFETY: the stream is live as long as its core.
        unsafe { call!(core.driver(), cuStreamQuery(core.as_raw())) }
    });
    match result {
        Ok(()) => {
            core.recent_launches().complete(mark);
            Ok(true)
        }
        Err(error) if error.is_status(cuda_sys::CUresult::CUDA_ERROR_NOT_READY) => Ok(false),
        Err(error) => Err(error.doing("query the stream")),
    }
}

pub(crate) fn wait_for(core: &StreamCore, event: &Event) -> Result<()> {
    core.require_driver("event", event.context().driver())?;
    core.enqueue(|| {
        // SAFETY: the stream and the event are live as long as their objects.
        unsafe {
            call!(
                core.driver(),
                cuStreamWaitEvent(core.as_raw(), event.as_raw(), 0)
            )
        }
    })
    .doing(|| "make a stream wait for an event")
}

pub(crate) fn priority(core: &StreamCore) -> Result<i32> {
    let mut priority = 0;
    core.enqueue(|| {
        let out = &raw mut priority;
        // SAFETY: the stream is live as long as its core, and the pointer is to a live integer.
        unsafe { call!(core.driver(), cuStreamGetPriority(core.as_raw(), out)) }
    })
    .doing(|| "read the stream's priority")?;
    Ok(priority)
}

pub(crate) fn flags(core: &StreamCore) -> Result<StreamFlags> {
    let mut flags = 0;
    core.enqueue(|| {
        let out = &raw mut flags;
        // SAFETY: the stream is live as long as its core, and the pointer is to a live integer.
        unsafe { call!(core.driver(), cuStreamGetFlags(core.as_raw(), out)) }
    })
    .doing(|| "read the stream's flags")?;
    Ok(StreamFlags::from_bits(flags))
}

pub(crate) fn context(core: &StreamCore) -> Context {
    Context::from_core(Arc::clone(core.context()))
}
