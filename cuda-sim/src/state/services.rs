//! What a running kernel asks of the driver beside memory: `printf`, `assert`, `malloc` and `free`.

use std::io::Write;

use cuda_sim_machine::{Finding, Output, Services};
use parking_lot::Mutex;

use crate::state::State;
use crate::state::space::{Data, Space};

/// Bytes of printed text that are kept, as in the buffer of a real driver; the oldest goes first.
const KEPT_PRINTED: usize = 8_650_752;

/// The driver's side of one launch.
#[derive(Debug)]
pub(crate) struct KernelServices<'a> {
    space: &'a Space,
    /// Address of the heap.
    heap: Option<u64>,
    printed: Mutex<Vec<(Output, Vec<u8>)>>,
    found: Mutex<Vec<Finding>>,
}

impl<'a> KernelServices<'a> {
    pub(crate) fn new(space: &'a Space, heap: Option<u64>) -> Self {
        Self {
            space,
            heap,
            printed: Mutex::new(Vec::new()),
            found: Mutex::new(Vec::new()),
        }
    }

    /// What was printed, and what the checks found, in order.
    pub(crate) fn into_parts(self) -> (Vec<(Output, Vec<u8>)>, Vec<Finding>) {
        (self.printed.into_inner(), self.found.into_inner())
    }
}

impl Services for KernelServices<'_> {
    fn print(&self, output: Output, text: &[u8]) {
        self.printed.lock().push((output, text.to_vec()));
    }

    fn allocate(&self, size: u64) -> u64 {
        let give = || {
            let address = self.heap?;
            let offset = self.space.heaps.get(&address)?.allocate(size)?;
            if let Data::Device(storage) = &self.space.at(address)?.data {
                storage.mark(offset, usize::try_from(size).ok()?, false);
            }
            Some(address + offset as u64)
        };
        give().unwrap_or(0)
    }

    fn found(&self, finding: Finding) {
        self.found.lock().push(finding);
    }

    fn free(&self, address: u64) -> Result<(), String> {
        let block = self.space.covering(address);
        let heap = block.and_then(|block| Some((block, self.space.heaps.get(&block.address)?)));
        match heap {
            Some((block, heap)) => heap.free((address - block.address) as usize),
            None => Err(String::from("it does not lie in the heap of kernels")),
        }
    }
}

impl State {
    /// Keeps what a kernel printed, and passes it on to the process's own output.
    pub(crate) fn keep_printed(&mut self, printed: Vec<(Output, Vec<u8>)>) {
        for (output, text) in printed {
            if self.options.echo_printf {
                echo(output, &text);
            }
            if output == Output::Standard {
                self.printed.extend_from_slice(&text);
            }
        }
        let excess = self.printed.len().saturating_sub(KEPT_PRINTED);
        self.printed.drain(..excess);
    }
}

/// Writes to standard output or standard error, so that the test harness can capture it; nobody hears of a failure, as with a real driver.
fn echo(output: Output, text: &[u8]) {
    let shown = String::from_utf8_lossy(text);
    // The macros panic where the output is closed.
    let written = std::panic::catch_unwind(|| match output {
        Output::Standard => print!("{shown}"),
        Output::Error => eprint!("{shown}"),
    });
    if written.is_ok() {
        // Before whatever the program itself prints next.
        std::io::stdout().flush().ok();
    }
}
