//! Slots: which instance a C function pointer belongs to.
//!
//! A C function carries no data, so each built function exists once for each slot; an instance takes a slot for its lifetime.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, RwLock};

use crate::instance::Instance;

/// Instances that can live at the same time.
pub(crate) const SLOTS: usize = 32;

static INSTANCES: [RwLock<Option<Arc<Instance>>>; SLOTS] = [const { RwLock::new(None) }; SLOTS];
static TAKEN: Mutex<u32> = Mutex::new(0);
static RELEASED: Condvar = Condvar::new();

/// A slot that nobody else has.
#[derive(Debug)]
pub(crate) struct Slot(usize);

impl Slot {
    /// Takes the lowest free slot, waiting up to `patience` for another instance to end.
    pub(crate) fn take(patience: Duration) -> Option<Self> {
        // Too far away to be told: for ever.
        let deadline = Instant::now().checked_add(patience);
        let mut taken = TAKEN.lock();
        loop {
            let free = taken.trailing_ones() as usize;
            if free < SLOTS {
                *taken |= 1 << free;
                return Some(Self(free));
            }
            let Some(deadline) = deadline else {
                RELEASED.wait(&mut taken);
                continue;
            };
            if RELEASED.wait_until(&mut taken, deadline).timed_out() {
                return None;
            }
        }
    }

    pub(crate) fn number(&self) -> usize {
        self.0
    }

    /// Makes the slot's functions act on `instance`.
    pub(crate) fn bind(&self, instance: Arc<Instance>) {
        if let Some(entry) = INSTANCES.get(self.0) {
            *entry.write() = Some(instance);
        }
    }

    /// Makes the slot's functions act on nothing.
    pub(crate) fn unbind(&self) {
        // The instance is dropped outside the lock: its end may release other things.
        let instance = INSTANCES.get(self.0).and_then(|entry| entry.write().take());
        drop(instance);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.unbind();
        crate::unbuilt::release(self.0);
        *TAKEN.lock() &= !(1 << self.0);
        RELEASED.notify_one();
    }
}

/// The instance whose slot it is, if it still lives.
pub(crate) fn instance(slot: usize) -> Option<Arc<Instance>> {
    INSTANCES.get(slot).and_then(|entry| entry.read().clone())
}
