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
    /// What is not released although it could be.
    pub leaks: Vec<Leak>,
    /// How many objects are left on a device that is in error since a fault, and can therefore not be released; they are no mistake.
    pub lost: usize,
    /// Functions and instructions that were needed and that the software driver does not have.
    pub unsupported: Vec<String>,
}

impl Verdict {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.reports.is_empty() && self.leaks.is_empty() && self.unsupported.is_empty()
    }

    /// Whether there are calls to be found in the program, and none with its line.
    fn lacks_sites(&self) -> bool {
        let reports = self.reports.iter().map(|it| (it.call, it.site.is_some()));
        let leaks = self.leaks.iter().map(|it| (it.call, it.site.is_some()));
        let mut calls = reports.chain(leaks).filter(|(call, _)| *call > 0);
        let first = calls.next();
        first.is_some_and(|(_, known)| !known) && calls.all(|(_, known)| !known)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() {
            f.write_str("no mistakes")?;
        }
        let counts = [
            (self.reports.len(), "report", "reports"),
            (self.leaks.len(), "leak", "leaks"),
            (
                self.unsupported.len(),
                "thing that the software driver does not have",
                "things that the software driver does not have",
            ),
        ];
        let found = counts.iter().filter(|(number, ..)| *number > 0);
        for (index, (number, one, many)) in found.enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{}", counted(*number, one, many))?;
        }
        for report in &self.reports {
            write!(f, "\n- {report:#}")?;
        }
        for leak in &self.leaks {
            write!(f, "\n- {leak}")?;
        }
        for name in &self.unsupported {
            write!(f, "\n- not supported: {name}")?;
        }
        if !self.leaks.is_empty() {
            f.write_str("\ndrop what uses the simulator before `assert_clean`")?;
        }
        if self.lost > 0 {
            let left = counted(self.lost, "object was", "objects were");
            write!(f, "\n{left} left because the context is lost")?;
        }
        if self.lacks_sites() {
            f.write_str("\n(`Builder::call_sites(true)` names the lines)")?;
        }
        Ok(())
    }
}

/// A number with the word for one or for several.
pub(crate) fn counted(number: usize, one: &str, many: &str) -> String {
    let word = if number == 1 { one } else { many };
    format!("{number} {word}")
}

impl Simulator {
    /// Executes what is still enqueued, and gathers everything that a correct program leaves empty.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.run_all();
        let (lost, leaks): (Vec<Leak>, _) = self.leaks().into_iter().partition(|it| it.is_lost);
        Verdict {
            reports: self.reports(),
            leaks,
            lost: lost.len(),
            unsupported: self.unsupported_calls(),
        }
    }

    /// Demands that the program made no mistake that the software driver knows of; the last line of a test, when what it made is dropped.
    /// After a fault, what is on that device cannot be released and counts for no leak.
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
