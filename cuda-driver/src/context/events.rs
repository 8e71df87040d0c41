//! Events of our own that carry the ordering between streams, from a pool of each context.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cuda_sys::{CUevent, CUevent_flags, CUresult, CUstream};

use super::ContextCore;
use crate::call;
use crate::error::{Doing, Result};
use crate::process;
use crate::stream::relaxed;

/// A live event without timing of some context's pool.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RawEvent(CUevent);

// SAFETY: a CUevent may be used from any thread.
unsafe impl Send for RawEvent {}
// SAFETY: as for `Send`; the driver synchronises calls on one event.
unsafe impl Sync for RawEvent {}

impl RawEvent {
    /// Records the event on a stream of the context it belongs to.
    pub(crate) fn record(&self, context: &ContextCore, stream: CUstream) -> Result<()> {
        // SAFETY: the event is live; an invalid stream is refused by the driver.
        unsafe { call!(context.driver(), cuEventRecord(self.0, stream)) }
    }

    fn synchronize(&self, context: &ContextCore) -> Result<()> {
        // It may happen behind the user's back, and must not end a capture of somebody else's.
        let wait = || {
            // SAFETY: the event is live.
            context.call(|| unsafe { call!(context.driver(), cuEventSynchronize(self.0)) })
        };
        relaxed(context.driver(), wait).doing(|| "wait for an event")
    }

    fn is_complete(&self, context: &ContextCore) -> Result<bool> {
        let query = || {
            // SAFETY: the event is live.
            context.call(|| unsafe { call!(context.driver(), cuEventQuery(self.0)) })
        };
        match relaxed(context.driver(), query) {
            Err(error) if error.is_status(CUresult::CUDA_ERROR_NOT_READY) => Ok(false),
            other => other.map(|()| true),
        }
    }
}

/// Events that are in no tracker.
///
/// # Invariants
/// Nobody else refers to any of them.
pub(super) struct EventPool {
    idle: Mutex<Vec<RawEvent>>,
}

impl EventPool {
    pub(super) const fn new() -> Self {
        Self {
            idle: Mutex::new(Vec::new()),
        }
    }

    fn put(&self, event: RawEvent) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(event);
    }

    pub(super) fn drain(&self) -> Vec<RawEvent> {
        std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ContextCore {
    /// Takes an idle event, or makes one.
    pub(crate) fn take_event(&self) -> Result<RawEvent> {
        let idle = self
            .events
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        match idle {
            Some(event) => Ok(event),
            None => self.create_event(),
        }
    }

    /// Gives an event back that nobody else refers to.
    pub(crate) fn put_event(&self, event: RawEvent) {
        self.events.put(event);
    }

    #[cold]
    fn create_event(&self) -> Result<RawEvent> {
        let _current = self.push()?;
        let mut raw = std::ptr::null_mut();
        let flags = CUevent_flags::CU_EVENT_DISABLE_TIMING.0;
        // SAFETY: the pointer is to a live handle, and the context is current.
        let result = unsafe { call!(self.driver(), cuEventCreate(&raw mut raw, flags)) };
        self.watch(result).doing(|| "create an event")?;
        Ok(RawEvent(raw))
    }

    /// Whether everything in front of an event of ours is done.
    pub(crate) fn event_is_complete(&self, event: &RawEvent) -> Result<bool> {
        event.is_complete(self)
    }

    /// Makes the host wait for an event of ours.
    pub(crate) fn event_synchronize(&self, event: &RawEvent) -> Result<()> {
        event.synchronize(self)
    }

    /// Destroys an event that nobody else refers to.
    pub(super) fn destroy_event(&self, event: RawEvent) {
        let RawEvent(raw) = event;
        // SAFETY: the event is live and nobody else refers to it.
        let destroy = || unsafe { call!(self.driver(), cuEventDestroy_v2(raw)) };
        if let Err(error) = self.call(destroy) {
            log::error!("cannot destroy an event: {error}");
        }
    }
}

/// An event that entries of trackers share; it goes back to the pool with the last of them.
#[derive(Clone)]
pub(crate) struct PooledEvent(Arc<Lease>);

struct Lease {
    /// There until the lease ends.
    event: Option<RawEvent>,
    context: Arc<ContextCore>,
}

impl PooledEvent {
    pub(crate) fn take(context: &Arc<ContextCore>) -> Result<Self> {
        Ok(Self(Arc::new(Lease {
            event: Some(context.take_event()?),
            context: Arc::clone(context),
        })))
    }

    #[inline]
    pub(crate) fn as_raw(&self) -> CUevent {
        self.0
            .event
            .as_ref()
            .map_or(std::ptr::null_mut(), |event| event.0)
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Makes the host wait until the event is done.
    pub(crate) fn synchronize(&self) -> Result<()> {
        match &self.0.event {
            Some(event) => event.synchronize(&self.0.context),
            None => Ok(()),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // In a forked child the pool's lock may be held for ever.
        if let Some(event) = self.event.take()
            && !process::is_forked()
        {
            self.context.put_event(event);
        }
    }
}

impl fmt::Debug for PooledEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PooledEvent").field(&self.0.event).finish()
    }
}
