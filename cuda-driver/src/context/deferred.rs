//! Owners whose last use may still be running: they are dropped when it is done.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use super::ContextCore;
use super::events::RawEvent;
use crate::process;

/// Something to drop once an event is done.
pub(crate) struct Deferred {
    /// Recorded behind the last use; nobody else refers to it.
    event: RawEvent,
    owner: Box<dyn Any + Send>,
}

impl Deferred {
    pub(crate) fn new(event: RawEvent, owner: Box<dyn Any + Send>) -> Self {
        Self { event, owner }
    }

    /// Drops the owner, whatever its destructor does.
    fn finish(self, context: &ContextCore) {
        context.put_event(self.event);
        drop_owner(self.owner);
        context.deferred_count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Drops the owner of external memory; a panic in its destructor is reported and goes no further.
pub(crate) fn drop_owner(owner: Box<dyn Any + Send>) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(owner))) {
        // Its own destructor might panic too.
        std::mem::forget(panic);
        log::error!("the owner of external memory panicked when it was dropped");
    }
}

impl ContextCore {
    fn deferred(&self) -> MutexGuard<'_, Vec<Deferred>> {
        self.deferred.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the owner until its event is done.
    pub(crate) fn defer(&self, deferred: Deferred) {
        self.deferred_count.fetch_add(1, Ordering::Relaxed);
        self.deferred().push(deferred);
    }

    /// Drops every deferred owner whose work is done, if there are any; what ordinary calls do in passing.
    #[inline]
    pub(crate) fn collect_in_passing(&self) {
        if self.deferred_count.load(Ordering::Relaxed) != 0 {
            self.collect();
        }
    }

    /// Drops every deferred owner whose work is done; returns how many are left.
    #[cold]
    pub(crate) fn collect(&self) -> usize {
        // A forked child must not wait for a lock, and a host function must not ask the driver.
        if process::permit().is_err() || self.is_poisoned() {
            return self.deferred_count.load(Ordering::Relaxed);
        }
        let mut waiting = std::mem::take(&mut *self.deferred());
        let mut done = Vec::new();
        crate::stream::relaxed(&self.driver, || {
            let mut index = 0;
            while index < waiting.len() {
                if waiting[index].event_is_done(self) {
                    done.push(waiting.swap_remove(index));
                } else {
                    index += 1;
                }
            }
        });
        self.deferred().append(&mut waiting);
        for item in done {
            item.finish(self);
        }
        self.deferred_count.load(Ordering::Relaxed)
    }

    /// Waits for every deferred owner and drops it; leaks those whose work can never be proved done.
    pub(super) fn collect_all(&mut self) {
        let items = std::mem::take(
            self.deferred
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner),
        );
        for item in items {
            let done = self.may_release()
                && crate::stream::relaxed(&self.driver, || {
                    self.event_synchronize(&item.event).is_ok()
                });
            if done {
                item.finish(self);
            } else {
                log::error!(
                    "the owner of external memory is leaked: its last use cannot be awaited"
                );
                std::mem::forget(item);
            }
        }
    }
}

impl Deferred {
    fn event_is_done(&self, context: &ContextCore) -> bool {
        context.event_is_complete(&self.event).unwrap_or(false)
    }
}
