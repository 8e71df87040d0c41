//! Where reports are written, and what they make of the program's exit status.

use std::error::Error;
use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{Write, stderr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use cuda_sim::Report;

use crate::environment;

/// Where reports go.
#[derive(Debug)]
enum Place {
    Nowhere,
    StandardError,
    File(File),
}

/// The reports of a process.
#[derive(Debug)]
pub(crate) struct Journal {
    place: Place,
    /// Whether what was never released is written at exit.
    pub(crate) leaks: bool,
    /// Where the calls are written at exit.
    trace: Option<File>,
    /// The program's exit status where there are reports.
    pub(crate) failure: Option<u8>,
    reports: AtomicU64,
}

impl Journal {
    /// As the environment asks for.
    ///
    /// # Errors
    /// A variable that cannot be understood, or a file that cannot be opened.
    pub(crate) fn from_environment() -> Result<Self, Box<dyn Error>> {
        let place = match environment::text("CUDA_SIM_REPORT")?.as_deref() {
            None | Some("stderr") => Place::StandardError,
            Some("0") => Place::Nowhere,
            Some(path) => Place::File(open("CUDA_SIM_REPORT", path)?),
        };
        Ok(Self {
            place,
            trace: environment::text("CUDA_SIM_TRACE")?
                .map(|path| open("CUDA_SIM_TRACE", &path))
                .transpose()?,
            leaks: environment::switch("CUDA_SIM_LEAKS")?,
            failure: environment::status("CUDA_SIM_FAIL")?,
            reports: AtomicU64::new(0),
        })
    }

    /// Whether calls are to be listed.
    pub(crate) fn traces(&self) -> bool {
        self.trace.is_some()
    }

    /// Writes the list of calls.
    pub(crate) fn trace(&self, lines: &str) {
        if let Some(mut file) = self.trace.as_ref() {
            // There is nobody to tell that it cannot be written.
            drop(file.write_all(lines.as_bytes()));
        }
    }

    /// Writes a report and counts it.
    pub(crate) fn report(&self, report: &Report) {
        self.count();
        self.line(report);
    }

    /// Counts a report.
    pub(crate) fn count(&self) {
        self.reports.fetch_add(1, Relaxed);
    }

    /// How many there are.
    pub(crate) fn reports(&self) -> u64 {
        self.reports.load(Relaxed)
    }

    /// Writes a line.
    pub(crate) fn line(&self, line: impl Display) {
        // In one piece, so that lines of several processes do not mix.
        let line = format!("cuda-sim: {line}\n");
        // There is nobody to tell that the report cannot be written.
        drop(match &self.place {
            Place::Nowhere => Ok(()),
            Place::StandardError => stderr().write_all(line.as_bytes()),
            Place::File(file) => (&*file).write_all(line.as_bytes()),
        });
    }
}

/// Opens a file that a variable names, to add to it.
///
/// # Errors
/// It cannot be opened.
fn open(variable: &str, path: &str) -> Result<File, String> {
    let path = path.replace("%p", &std::process::id().to_string());
    let opened = OpenOptions::new().create(true).append(true).open(&path);
    opened.map_err(|error| {
        format!("cannot open {variable}={path:?} for the software driver: {error}")
    })
}

/// Says on standard error why there is no software driver.
pub(crate) fn warn(why: &dyn Error) {
    drop(writeln!(stderr(), "cuda-sim: {why}"));
}
