//! Who is told of reports when they are found.

use std::fmt;

use crate::report::Report;

/// A function that is told of each report.
pub(crate) struct Listener(Box<dyn Fn(&Report) + Send + Sync>);

impl Listener {
    pub(crate) fn new(told: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        Self(Box::new(told))
    }

    pub(crate) fn tell(&self, report: &Report) {
        (self.0)(report);
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}
