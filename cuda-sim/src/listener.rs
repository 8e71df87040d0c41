//! Who is told of reports when they are found.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::report::Report;

/// A function that is told of each report.
pub(crate) struct Listener(Box<dyn Fn(&Report) + Send + Sync>);

impl Listener {
    pub(crate) fn new(told: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        Self(Box::new(told))
    }

    /// A panic ends here, told of by the panic hook: reports are found in calls from C and in the middle of work.
    pub(crate) fn tell(&self, report: &Report) {
        catch_unwind(AssertUnwindSafe(|| (self.0)(report))).ok();
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}
