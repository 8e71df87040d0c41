//! Streams that are not ours: other libraries', and each thread's default stream.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use cuda_sys::{CU_STREAM_LEGACY, CUstream};

use super::Stream;
use super::any::{AnyStream, sealed};
use super::core::{Kind, StreamCore};
use crate::context::Context;

/// The default stream of the thread that asked for it.
///
/// It runs operations, but memory cannot be at home on it: the thread can end before the memory does.
#[derive(Debug)]
pub struct PerThreadStream {
    core: StreamCore,
    // The handle means another stream on every thread.
    thread: PhantomData<*const ()>,
}

impl PerThreadStream {
    pub(super) fn new(core: StreamCore) -> Self {
        Self {
            core,
            thread: PhantomData,
        }
    }
}

impl sealed::Sealed for PerThreadStream {
    fn stream_core(&self) -> &StreamCore {
        &self.core
    }
}

impl AnyStream for PerThreadStream {}

/// A stream of somebody else's, for as long as a closure runs; see [`Context::with_borrowed_stream`].
///
/// It runs operations, but memory cannot be at home on it. It stays on the thread that borrowed it, for its handle may be
/// that of the thread's default stream.
#[derive(Debug)]
pub struct BorrowedStream {
    core: StreamCore,
    thread: PhantomData<*const ()>,
}

impl sealed::Sealed for BorrowedStream {
    fn stream_core(&self) -> &StreamCore {
        &self.core
    }
}

impl AnyStream for BorrowedStream {}

impl Context {
    /// Runs `body` with a stream that somebody else made and keeps alive meanwhile.
    ///
    /// While its owner captures the stream into a graph, every operation on it is refused.
    ///
    /// # Safety
    /// `raw` is a stream of this context (or 0, 1 or 2 for a default stream), and stays alive until `body` returns.
    pub unsafe fn with_borrowed_stream<R>(
        &self,
        raw: CUstream,
        body: impl FnOnce(&BorrowedStream) -> R,
    ) -> R {
        let stream = BorrowedStream {
            core: StreamCore::new(self.core(), named(raw), Kind::Borrowed),
            thread: PhantomData,
        };
        body(&stream)
    }

    /// A stream that somebody else made, kept alive by `owner`, which is dropped with the last use of the stream.
    ///
    /// # Safety
    /// * `raw` is a stream of this context, and stays alive until `owner` is dropped.
    /// * It is not 2, the default stream of each thread; [`Context::per_thread_stream`] gives that.
    pub unsafe fn keep_stream(&self, raw: CUstream, owner: impl Any + Send) -> Stream {
        let owner: Box<dyn Any + Send> = Box::new(owner);
        Stream::from_core(Arc::new(StreamCore::with_owner(
            self.core(),
            named(raw),
            Kind::Kept,
            Some(owner),
        )))
    }

    /// A stream that somebody else made, and which is ours from now on.
    ///
    /// # Safety
    /// `raw` is a stream of this context that was created by somebody, and nobody else uses or destroys it any more.
    pub unsafe fn adopt_stream(&self, raw: CUstream) -> Stream {
        Stream::from_core(Arc::new(StreamCore::new(self.core(), raw, Kind::Owned)))
    }
}

/// The legacy default stream by its own handle, for null means it too.
fn named(raw: CUstream) -> CUstream {
    if raw.is_null() { CU_STREAM_LEGACY } else { raw }
}
