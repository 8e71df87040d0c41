//! How long a launch has run: when to say so, and when to give it up.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::Limits;

/// What a launch of that age needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    Young,
    /// Somebody should be told that it still runs.
    Tell(Duration),
    /// It has had its time.
    Over,
}

/// The clock of a launch, for all threads that run it.
#[derive(Debug)]
pub(super) struct Patience {
    start: Instant,
    /// The age at which it is told of next, in milliseconds; never 0.
    next: AtomicU64,
    limit: Option<Duration>,
}

impl Patience {
    pub(super) fn new(limits: &Limits) -> Self {
        let millis = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
        Self {
            start: Instant::now(),
            next: AtomicU64::new(limits.notice.map_or(u64::MAX, millis).max(1)),
            limit: limits.time,
        }
    }

    /// Asked after each turn. Whoever is asked to tell is the only one; the next time comes at twice the age.
    pub(super) fn look(&self) -> Age {
        let next = self.next.load(Relaxed);
        if next == u64::MAX && self.limit.is_none() {
            return Age::Young;
        }
        let age = self.start.elapsed();
        if self.limit.is_some_and(|limit| age > limit) {
            return Age::Over;
        }
        if age.as_millis() < u128::from(next) {
            return Age::Young;
        }
        let later = next.saturating_mul(2);
        match self.next.compare_exchange(next, later, Relaxed, Relaxed) {
            Ok(_) => Age::Tell(age),
            Err(_) => Age::Young,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_long_is_told_of_at_each_doubling_of_its_age() {
        let limits = Limits {
            notice: Some(Duration::ZERO),
            ..Limits::DEFAULT
        };
        let patience = Patience::new(&limits);
        std::thread::sleep(Duration::from_millis(20));
        let told = (0..100).filter(|_| matches!(patience.look(), Age::Tell(_)));
        // At 1, 2, 4, 8 and 16 milliseconds, and a few times more where the machine is busy.
        assert!((5..16).contains(&told.count()));
        assert_eq!(Patience::new(&Limits::DEFAULT).look(), Age::Young);
    }
}
