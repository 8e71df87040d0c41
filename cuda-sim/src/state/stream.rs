//! Streams: created ones by handle, and each context's default streams.

use cuda_sys::CUresult;

use crate::code;
use crate::report::{Report, ReportKind};
use crate::state::State;
use crate::state::context::ContextRef;
use crate::state::queue::StreamId;

/// Handle of the legacy default stream.
pub(crate) const LEGACY: u64 = 1;
/// Handle of the calling thread's own default stream.
pub(crate) const PER_THREAD: u64 = 2;

/// A created `CUstream`.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) context: ContextRef,
    pub(crate) id: StreamId,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    /// The capture that records what is enqueued.
    pub(crate) capture: Option<u64>,
    /// Number of the call that made it.
    pub(crate) call: u64,
}

/// A stream as an operation names it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamRef {
    pub(crate) context: ContextRef,
    pub(crate) id: StreamId,
    /// The handle, 1 or 2 for the default streams.
    pub(crate) handle: u64,
    pub(crate) capture: Option<u64>,
}

impl State {
    /// The stream that a caller means: a created one by its handle, or a default stream of the current context.
    ///
    /// # Errors
    /// `INVALID_HANDLE`; for the default streams `INVALID_CONTEXT` where no context is current; the context's error.
    pub(crate) fn stream(
        &mut self,
        thread: u64,
        handle: u64,
        call: u64,
    ) -> Result<StreamRef, CUresult> {
        match handle {
            0 | LEGACY => {
                let context = self.current(thread)?;
                let id = self.legacy_stream(context);
                Ok(StreamRef {
                    context,
                    id,
                    handle: LEGACY,
                    capture: None,
                })
            }
            PER_THREAD => {
                let context = self.current(thread)?;
                let known = self
                    .contexts
                    .get(context.handle)?
                    .per_thread
                    .get(&thread)
                    .copied();
                let id = known.unwrap_or_else(|| self.open_queue(context, false, true));
                if let Some(entry) = self.context_mut(context) {
                    entry.per_thread.insert(thread, id);
                }
                Ok(StreamRef {
                    context,
                    id,
                    handle: PER_THREAD,
                    capture: None,
                })
            }
            _ => {
                let Ok(stream) = self.streams.get(handle) else {
                    if self.streams.is_stale(handle) {
                        let message = format!(
                            "the stream handle {handle:#x} was destroyed; a real driver may crash here"
                        );
                        self.add_report(Report::new(ReportKind::DestroyedHandle, message, call));
                    }
                    return Err(code::INVALID_HANDLE);
                };
                let (context, id, capture) = (stream.context, stream.id, stream.capture);
                self.healthy(context)?;
                Ok(StreamRef {
                    context,
                    id,
                    handle,
                    capture,
                })
            }
        }
    }

    /// The legacy default stream of a context.
    pub(crate) fn legacy_stream(&mut self, context: ContextRef) -> StreamId {
        if let Some(id) = self
            .contexts
            .get(context.handle)
            .ok()
            .and_then(|entry| entry.legacy)
        {
            return id;
        }
        let id = self.open_queue(context, true, false);
        if let Some(entry) = self.context_mut(context) {
            entry.legacy = Some(id);
        }
        id
    }
}
