//! Making streams, and the legacy default stream.

use std::sync::Arc;

use cuda_sys::CUstream_flags;

use super::core::{Kind, StreamCore, default_handle};
use super::{PerThreadStream, Stream};
use crate::call;
use crate::context::Context;
use crate::error::{Doing, Result};
use crate::process;

/// How a stream behaves towards the legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamFlags(u32);

impl StreamFlags {
    /// Work here and work on the legacy default stream wait for one another.
    #[doc(alias = "CU_STREAM_DEFAULT")]
    pub const BLOCKING: Self = Self(CUstream_flags::CU_STREAM_DEFAULT.0);
    /// Work here runs beside work on the legacy default stream.
    #[doc(alias = "CU_STREAM_NON_BLOCKING")]
    pub const NON_BLOCKING: Self = Self(CUstream_flags::CU_STREAM_NON_BLOCKING.0);

    /// From the driver's bits.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The driver's bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

impl Default for StreamFlags {
    fn default() -> Self {
        Self::NON_BLOCKING
    }
}

impl Context {
    /// A stream of its own, which does not wait for the legacy default stream, of default priority.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuStreamCreate")]
    pub fn create_stream(&self) -> Result<Stream> {
        self.create_stream_with(StreamFlags::NON_BLOCKING, 0)
    }

    /// A stream with flags and a priority; smaller numbers go first, and
    /// [`Context::stream_priority_range`] tells which there are. A priority outside it is clamped by the driver.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuStreamCreateWithPriority")]
    pub fn create_stream_with(&self, flags: StreamFlags, priority: i32) -> Result<Stream> {
        process::drop_postponed();
        self.core().collect_in_passing();
        let _current = self.push()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is to a live handle, and the context is current.
        let result = unsafe {
            call!(
                self.driver(),
                cuStreamCreateWithPriority(&raw mut raw, flags.bits(), priority)
            )
        };
        self.core().watch(result).doing(|| "create a stream")?;
        Ok(Stream::from_core(Arc::new(StreamCore::new(
            self.core(),
            raw,
            Kind::Owned,
        ))))
    }

    /// The legacy default stream, which all of the process shares and which streams with
    /// [`StreamFlags::BLOCKING`] wait for.
    #[doc(alias = "CU_STREAM_LEGACY")]
    #[must_use]
    pub fn legacy_stream(&self) -> Stream {
        let kind = Kind::Legacy;
        Stream::from_core(Arc::new(StreamCore::new(
            self.core(),
            default_handle(kind),
            kind,
        )))
    }

    /// The calling thread's own default stream.
    #[doc(alias = "CU_STREAM_PER_THREAD")]
    #[must_use]
    pub fn per_thread_stream(&self) -> PerThreadStream {
        let kind = Kind::PerThread;
        PerThreadStream::new(StreamCore::new(self.core(), default_handle(kind), kind))
    }
}
