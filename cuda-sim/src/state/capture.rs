//! Stream capture, as far as other calls feel it: which streams are captured, and what kills a capture.

use std::collections::BTreeMap;

use cuda_sys::CUresult;

use crate::code;
use crate::state::State;

/// `CU_STREAM_CAPTURE_MODE_GLOBAL`: the default of threads and the strictest.
pub(crate) const GLOBAL: u32 = 0;
/// `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`
pub(crate) const THREAD_LOCAL: u32 = 1;
/// `CU_STREAM_CAPTURE_MODE_RELAXED`
pub(crate) const RELAXED: u32 = 2;

/// What comes before the next operation of a captured stream: of each stream, how many of its operations.
type Before = BTreeMap<u64, u64>;

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
    /// Its streams, by their handles.
    streams: BTreeMap<u64, Before>,
    /// The events recorded in it, by their handles.
    events: BTreeMap<u64, Before>,
}

impl Capture {
    pub(crate) fn new(thread: u64, mode: u32, origin: u64) -> Self {
        Self {
            thread,
            mode,
            origin,
            invalidated: false,
            streams: BTreeMap::new(),
            events: BTreeMap::new(),
        }
    }

    /// Notes that an operation was captured.
    fn add(&mut self, stream: u64) {
        let before = self.streams.entry(stream).or_default();
        *before.entry(stream).or_default() += 1;
    }

    /// Notes that an event was recorded.
    pub(crate) fn record(&mut self, stream: u64, event: u64) {
        let before = self.streams.get(&stream).cloned().unwrap_or_default();
        self.events.insert(event, before);
    }

    /// Notes that a stream waits for an event.
    fn wait(&mut self, stream: u64, event: u64) {
        let before = self.streams.entry(stream).or_default();
        for (other, count) in self.events.get(&event).into_iter().flatten() {
            let known = before.entry(*other).or_default();
            *known = (*known).max(*count);
        }
    }

    /// Whether operations were captured of which the stream where the capture began knows nothing.
    pub(crate) fn is_unjoined(&self) -> bool {
        let joined = self.streams.get(&self.origin);
        self.streams.iter().any(|(stream, before)| {
            let known = joined.and_then(|joined| joined.get(stream));
            before.get(stream) > known
        })
    }
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

    /// Notes an operation that is not executed because its stream is captured.
    pub(crate) fn note_captured(&mut self, stream: &super::stream::StreamRef) {
        if let Some(capture) = stream.capture.and_then(|id| self.captures.get_mut(&id)) {
            capture.add(stream.handle);
        }
    }

    /// Lets a stream wait for an event that was recorded in a capture, which draws the stream into it.
    ///
    /// # Errors
    /// `INVALID_VALUE` where that capture is over or dead, `STREAM_CAPTURE_MERGE` where the stream is in another one: both die.
    pub(crate) fn wait_in_capture(
        &mut self,
        stream: &super::stream::StreamRef,
        event: u64,
        id: u64,
    ) -> Result<(), CUresult> {
        if let Some(own) = stream.capture.filter(|own| *own != id)
            && self.captures.contains_key(&id)
        {
            for id in [own, id] {
                if let Some(capture) = self.captures.get_mut(&id) {
                    capture.invalidated = true;
                }
            }
            return Err(code::STREAM_CAPTURE_MERGE);
        }
        let capture = self.captures.get_mut(&id);
        let Some(capture) = capture.filter(|capture| !capture.invalidated) else {
            return Err(code::INVALID_VALUE);
        };
        capture.wait(stream.handle, event);
        self.streams.get_mut(stream.handle)?.capture = Some(id);
        Ok(())
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
