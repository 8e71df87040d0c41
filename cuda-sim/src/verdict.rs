//! What a test asks at its end: whether the program made any mistake.

use std::fmt;

use crate::leak::Leak;
use crate::report::Report;
use crate::simulator::Simulator;

/// All that a correct program leaves empty, as values and as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// What the checks found.
    pub reports: Vec<Report>,
    /// What was never released.
    pub leaks: Vec<Leak>,
    /// Functions and instructions that were needed and that the software driver does not have.
    pub unsupported: Vec<String>,
}

impl Verdict {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.reports.is_empty() && self.leaks.is_empty() && self.unsupported.is_empty()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} reports, {} leaks, {} things that the software driver does not have",
            self.reports.len(),
            self.leaks.len(),
            self.unsupported.len()
        )?;
        for report in &self.reports {
            write!(f, "\n- {report:#}")?;
        }
        for leak in &self.leaks {
            write!(f, "\n- {leak}")?;
        }
        for name in &self.unsupported {
            write!(f, "\n- not supported: {name}")?;
        }
        Ok(())
    }
}

impl Simulator {
    /// Executes what is still enqueued, and gathers everything that a correct program leaves empty.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.run_all();
        Verdict {
            reports: self.reports(),
            leaks: self.leaks(),
            unsupported: self.unsupported_calls(),
        }
    }

    /// Demands that the program made no mistake that the software driver knows of; the last line of a test, when what it made is released.
    ///
    /// ```
    /// let simulator = cuda_sim::Simulator::new();
    /// // … the program …
    /// simulator.assert_clean();
    /// ```
    ///
    /// # Panics
    /// With all reports and leaks, when there are any.
    #[track_caller]
    pub fn assert_clean(&self) {
        let verdict = self.verdict();
        assert!(verdict.is_clean(), "{verdict}");
    }
}
