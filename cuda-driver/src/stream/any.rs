//! What every kind of stream can do.

use cuda_sys::CUstream;

use super::StreamFlags;
use super::core::StreamCore;
use crate::context::Context;
use crate::error::Result;
use crate::event::Event;

/// Any kind of stream: what operations are enqueued on.
///
/// Implemented by [`Stream`](crate::Stream), [`BorrowedStream`](crate::BorrowedStream) and
/// [`PerThreadStream`](crate::PerThreadStream), and by nothing else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no stream",
    note = "the first argument of a launch is a stream: `&stream`, which `context.create_stream()` creates"
)]
pub trait AnyStream: sealed::Sealed {
    /// Makes the host wait until everything enqueued here so far is done.
    ///
    /// # Errors
    /// What the driver returns, an error of an earlier operation included.
    #[doc(alias = "cuStreamSynchronize")]
    fn synchronize(&self) -> Result<()> {
        super::synchronize(self.stream_core())
    }

    /// Whether everything enqueued here so far is done.
    ///
    /// # Errors
    /// What the driver returns, an error of an earlier operation included.
    #[doc(alias = "cuStreamQuery")]
    fn is_idle(&self) -> Result<bool> {
        super::is_idle(self.stream_core())
    }

    /// Makes everything that is enqueued here from now on wait for what `event` was last recorded behind.
    ///
    /// An event that was never recorded is not waited for.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`](crate::ErrorKind::Mismatch) for an event of another driver; what the driver returns.
    #[doc(alias = "cuStreamWaitEvent")]
    fn wait_for(&self, event: &Event) -> Result<()> {
        super::wait_for(self.stream_core(), event)
    }

    /// The stream's priority; smaller numbers go first.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuStreamGetPriority")]
    fn priority(&self) -> Result<i32> {
        super::priority(self.stream_core())
    }

    /// The flags that the stream was made with.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuStreamGetFlags")]
    fn flags(&self) -> Result<StreamFlags> {
        super::flags(self.stream_core())
    }

    /// The context that the stream belongs to.
    fn context(&self) -> Context {
        super::context(self.stream_core())
    }

    /// The raw stream, which stays with its owner.
    fn as_raw(&self) -> CUstream {
        self.stream_core().as_raw()
    }

    /// Calls a closure on a thread of the driver's once everything enqueued here so far is done; what is enqueued later
    /// waits for it.
    ///
    /// The closure must not wait for work of this crate: every call of it fails there with
    /// [`ErrorKind::InHostFunction`](crate::ErrorKind::InHostFunction). A panic in it is reported to the log and goes no further. If the context is lost
    /// before, it never runs and is leaked.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuLaunchHostFunc")]
    fn host_function(&self, body: impl FnOnce() + Send + 'static) -> Result<()>
    where
        Self: Sized,
    {
        super::host_function::enqueue(self.stream_core(), body)
    }
}

pub(crate) mod sealed {
    /// Keeps [`AnyStream`](super::AnyStream) to the types of this crate.
    pub trait Sealed {
        #[doc(hidden)]
        fn stream_core(&self) -> &super::StreamCore;
    }
}

impl<S: AnyStream + ?Sized> sealed::Sealed for &S {
    #[inline]
    fn stream_core(&self) -> &StreamCore {
        (**self).stream_core()
    }
}

impl<S: AnyStream + ?Sized> AnyStream for &S {}
