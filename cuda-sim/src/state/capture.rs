//! Stream capture, as far as other calls feel it: which streams are captured, and what kills a capture.

use cuda_sys::CUresult;

use crate::code;
use crate::state::State;

/// `CU_STREAM_CAPTURE_MODE_GLOBAL`: the default of threads and the strictest.
pub(crate) const GLOBAL: u32 = 0;
/// `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`
pub(crate) const THREAD_LOCAL: u32 = 1;
/// `CU_STREAM_CAPTURE_MODE_RELAXED`
pub(crate) const RELAXED: u32 = 2;

/// A capture in progress. What is enqueued on its streams is not executed.
#[derive(Debug)]
pub(crate) struct Capture {
    /// The thread that began it.
    pub(crate) thread: u64,
    pub(crate) mode: u32,
    /// Handle of the stream on which it began.
    pub(crate) origin: u64,
    /// Killed by a call that it does not allow.
    pub(crate) invalidated: bool,
}

impl State {
    /// Refuses a call that could disturb a capture, and kills the captures that it disturbs.
    ///
    /// In the thread's default mode these are all captures in global mode, and the thread's own ones in thread-local mode.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_UNSUPPORTED`
    pub(crate) fn check_captures(&mut self, thread: u64) -> Result<(), CUresult> {
        let mode = self
            .threads
            .get(&thread)
            .map_or(GLOBAL, |thread| thread.capture_mode);
        if mode == RELAXED {
            return Ok(());
        }
        let disturbed = |capture: &&mut Capture| {
            let own = capture.thread == thread;
            capture.mode != RELAXED && (own || mode == GLOBAL && capture.mode == GLOBAL)
        };
        let mut refused = false;
        for capture in self.captures.values_mut().filter(disturbed) {
            capture.invalidated = true;
            refused = true;
        }
        if refused {
            Err(code::STREAM_CAPTURE_UNSUPPORTED)
        } else {
            Ok(())
        }
    }

    /// Ends a capture: its streams execute again. Its events stay marked, for they were recorded in no stream.
    pub(crate) fn end_capture(&mut self, id: u64) {
        self.captures.remove(&id);
        for stream in self
            .streams
            .values_mut()
            .filter(|stream| stream.capture == Some(id))
        {
            stream.capture = None;
        }
    }

    /// Whether an operation on a stream with this capture is recorded instead of executed.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_INVALIDATED`
    pub(crate) fn is_captured(&self, capture: Option<u64>) -> Result<bool, CUresult> {
        match capture.and_then(|id| self.captures.get(&id)) {
            None => Ok(false),
            Some(capture) if capture.invalidated => Err(code::STREAM_CAPTURE_INVALIDATED),
            Some(_) => Ok(true),
        }
    }

    /// Refuses an operation on the legacy default stream while a blocking stream of the thread's is captured.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_IMPLICIT`
    pub(crate) fn check_implicit(
        &mut self,
        stream: &super::stream::StreamRef,
    ) -> Result<(), CUresult> {
        if stream.handle != super::stream::LEGACY {
            return Ok(());
        }
        let context = stream.context;
        let captured: Vec<u64> = self
            .streams
            .iter()
            .filter(|(_, other)| other.context == context && other.flags & 1 == 0)
            .filter_map(|(_, other)| other.capture)
            .collect();
        for id in &captured {
            if let Some(capture) = self.captures.get_mut(id) {
                capture.invalidated = true;
            }
        }
        if captured.is_empty() {
            Ok(())
        } else {
            Err(code::STREAM_CAPTURE_IMPLICIT)
        }
    }
}

impl State {
    /// Refuses to ask about the legacy default stream while a blocking stream is captured; the capture lives on.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_IMPLICIT`
    pub(crate) fn check_implicit_query(
        &self,
        stream: &super::stream::StreamRef,
    ) -> Result<(), CUresult> {
        let captured = |other: &super::stream::Stream| {
            other.context == stream.context && other.flags & 1 == 0 && other.capture.is_some()
        };
        if stream.handle == super::stream::LEGACY
            && self.streams.iter().any(|(_, other)| captured(other))
        {
            return Err(code::STREAM_CAPTURE_IMPLICIT);
        }
        Ok(())
    }
}
