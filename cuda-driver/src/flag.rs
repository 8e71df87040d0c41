//! Flags of which several are looked at with one test.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A flag that is mostly clear; once set, it stays.
pub(crate) struct Flag(AtomicUsize);

impl Flag {
    pub(crate) const fn new(set: bool) -> Self {
        Self(AtomicUsize::new(set as usize))
    }

    pub(crate) fn set(&self) {
        self.0.store(1, Ordering::SeqCst);
    }

    #[inline(always)]
    pub(crate) fn is_set(&self) -> bool {
        self.bits() != 0
    }

    /// Zero while it is clear. The bits of several flags, put together, say whether any is set.
    #[inline(always)]
    pub(crate) fn bits(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
}

impl std::fmt::Debug for Flag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.is_set().fmt(f)
    }
}
