//! What a sweep found, as values and as text.

use std::fmt;

use super::{Failure, Run};
use crate::builder::BuildError;
use crate::leak::Leak;
use crate::report::Report;
use crate::verdict::counted;

/// What was wrong with a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mistake {
    /// The program panicked: by itself, or because a result that it took for right was wrong.
    Panic(String),
    /// The checks of the software driver found something.
    Reports(Vec<Report>),
    /// Something was never released.
    Leaks(Vec<Leak>),
    /// The program failed although no call did.
    Failed(String),
    /// No instance could be made.
    NoSimulator(BuildError),
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic(text) => write!(f, "panics: {text}"),
            Self::Reports(reports) => {
                f.write_str("is reported:")?;
                reports
                    .iter()
                    .try_for_each(|report| write!(f, "\n    {report}"))
            }
            Self::Leaks(leaks) => {
                f.write_str("leaks:")?;
                leaks.iter().try_for_each(|leak| write!(f, "\n    {leak}"))
            }
            Self::Failed(text) => write!(f, "fails although no call does: {text}"),
            Self::NoSimulator(error) => error.fmt(f),
        }
    }
}

/// A run that ended as it must not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The failure that it had to bear; none in the first run.
    pub failure: Option<Failure>,
    /// What was wrong.
    pub mistake: Mistake,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.failure {
            None => write!(f, "without any failure, the program {}", self.mistake),
            Some(failure) => write!(
                f,
                "when call {}, {}, fails with {:?} ({:?}), the program {}",
                failure.nth, failure.symbol, failure.code, failure.mode, self.mistake
            ),
        }
    }
}

/// What a sweep found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweepReport {
    /// Driver calls of the program.
    pub calls: u64,
    /// Runs with a failure.
    pub runs: u64,
    /// The runs that ended as they must not.
    pub findings: Vec<Finding>,
}

impl SweepReport {
    pub(super) fn add_start(&mut self, mistake: Mistake) {
        let failure = None;
        self.findings.push(Finding { failure, mistake });
    }

    pub(super) fn add(
        &mut self,
        failure: Failure,
        run: Run,
        leaks_allowed: fn(&Failure, &Leak) -> bool,
    ) {
        let mut mistakes = run.mistakes;
        let mut leaks = run.leaks;
        leaks.retain(|leak| !leaks_allowed(&failure, leak));
        if !leaks.is_empty() {
            mistakes.push(Mistake::Leaks(leaks));
        }
        self.findings
            .extend(mistakes.into_iter().map(|mistake| Finding {
                failure: Some(failure),
                mistake,
            }));
    }

    /// Whether every run ended well.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Demands that every run ended well.
    ///
    /// # Panics
    /// With all findings, when one did not.
    #[track_caller]
    pub fn assert_clean(&self) {
        assert!(self.is_clean(), "{self}");
    }
}

impl fmt::Display for SweepReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} calls, {} runs with a failure, {}",
            self.calls,
            self.runs,
            counted(self.findings.len(), "finding", "findings")
        )?;
        let mut findings = self.findings.iter();
        findings.try_for_each(|finding| write!(f, "\n- {finding}"))
    }
}
