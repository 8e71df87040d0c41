//! A stream as the ordering protocol sees it.

use std::sync::Arc;

use super::core::StreamCore;
use super::relaxed;
use crate::call;
use crate::context::{ContextCore, PooledEvent};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::order::Queue;

impl Queue for StreamCore {
    type Event = PooledEvent;
    type Error = Error;
    type Domain = Arc<ContextCore>;

    #[inline(always)]
    fn number(&self) -> u64 {
        self.number
    }

    #[inline]
    fn domain(&self) -> &Arc<ContextCore> {
        self.context()
    }

    fn reserve(&self) -> Result<PooledEvent> {
        PooledEvent::take(self.context())
    }

    fn record(&self, event: &PooledEvent) -> Result<()> {
        self.enqueue(|| {
            // SAFETY: the stream and the event are live as long as their owners.
            unsafe { call!(self.driver(), cuEventRecord(event.as_raw(), self.as_raw())) }
        })
        .doing(|| "record an event")
    }

    fn wait(&self, event: &PooledEvent) -> Result<()> {
        self.enqueue(|| {
            // SAFETY: the stream and the event are live as long as their owners.
            unsafe {
                call!(
                    self.driver(),
                    cuStreamWaitEvent(self.as_raw(), event.as_raw(), 0)
                )
            }
        })
        .doing(|| "make a stream wait for an event")
    }

    /// After a failure, or before memory goes: nobody has asked for the wait, so it must not end a capture of somebody else's.
    fn finish(&self) -> Result<()> {
        relaxed(self.driver(), || super::synchronize(self))
    }

    fn lost() -> Error {
        Error::new(
            ErrorKind::ContextLost,
            "an earlier operation on the memory failed in a way that leaves unknown whether it still runs",
        )
        .remedied_by("synchronize the context, or drop the memory, which leaks it")
    }

    fn is_refusal(error: &Error) -> bool {
        error.is_refusal()
    }
}
