//! Events: marks in streams, with the time at which they were reached.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use cuda_sys::CUresult;

use crate::code;
use crate::report::{Report, ReportKind};
use crate::state::State;
use crate::state::context::ContextRef;
use crate::state::order::clock::Clock;
use crate::state::queue::{OperationId, Stamp};

/// `CU_EVENT_DISABLE_TIMING`
pub(crate) const DISABLE_TIMING: u32 = 2;

/// What an event was last recorded as.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) operation: OperationId,
    pub(crate) stamp: Stamp,
    /// What comes before it.
    pub(crate) seen: Arc<Clock>,
}

impl Record {
    /// A time that is not reached yet.
    pub(crate) fn new_stamp() -> Stamp {
        Arc::new(AtomicU64::new(0))
    }
}

/// A `CUevent`.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) context: ContextRef,
    pub(crate) flags: u32,
    pub(crate) record: Option<Record>,
    /// The capture on which it was last recorded.
    pub(crate) capture: Option<u64>,
    /// Number of the call that made it.
    pub(crate) call: u64,
}

impl State {
    /// The event of a handle, in a healthy context.
    ///
    /// # Errors
    /// `INVALID_HANDLE`, or the error of its context.
    pub(crate) fn event(&mut self, handle: u64, call: u64) -> Result<&mut Event, CUresult> {
        if self.events.is_stale(handle) {
            let message =
                format!("the event handle {handle:#x} was destroyed; a real driver may crash here");
            self.add_report(Report::new(ReportKind::DestroyedHandle, message, call));
        }
        let context = self
            .events
            .get(handle)
            .map_err(|_| code::INVALID_HANDLE)?
            .context;
        self.healthy(context)?;
        self.events.get_mut(handle)
    }
}
