//! The process's software driver.

use std::error::Error;
use std::sync::{Arc, OnceLock};

use cuda_sim::{Builder, Simulator};
use cuda_sys::Library;

use crate::ending;
use crate::journal::Journal;

static PROCESS: OnceLock<Option<Process>> = OnceLock::new();

/// The software driver of a process.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) simulator: Simulator,
    pub(crate) journal: Arc<Journal>,
    library: Library,
}

/// The functions of the process's software driver, which is made when they are first asked for; none where the environment asks for
/// what cannot be.
#[inline]
pub(crate) fn library() -> Option<&'static Library> {
    let process = PROCESS.get_or_init(start).as_ref()?;
    Some(&process.library)
}

/// The process's software driver, if it has made one.
pub(crate) fn started() -> Option<&'static Process> {
    PROCESS.get()?.as_ref()
}

#[cold]
fn start() -> Option<Process> {
    match make() {
        Ok(process) => Some(process),
        Err(error) => {
            crate::journal::warn(&*error);
            None
        }
    }
}

fn make() -> Result<Process, Box<dyn Error>> {
    let journal = Arc::new(Journal::from_environment()?);
    let builder = Builder::from_environment()?;
    let listener = Arc::clone(&journal);
    let simulator = builder
        .on_report(move |report| listener.report(report))
        .build()?;
    simulator.set_trace(journal.traces());
    ending::announce()?;
    Ok(Process {
        library: simulator.library(),
        simulator,
        journal,
    })
}
