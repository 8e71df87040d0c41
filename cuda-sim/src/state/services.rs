//! What a running kernel asks of the driver beside memory: `printf`, `assert`, `malloc` and `free`.

use std::collections::VecDeque;
use std::io::Write;

use cuda_sim_machine::{Finding, Output, Services, StillRunning};
use parking_lot::Mutex;

use crate::report::call_at;
use crate::site::Sites;
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
    /// The call that launched it, and where calls were made.
    call: (u64, &'a Sites),
    printed: Mutex<Printed>,
    found: Mutex<Vec<Finding>>,
}

/// What a launch has printed, the oldest first: no more than is kept in the end, however long the kernel runs.
#[derive(Debug, Default)]
struct Printed {
    chunks: VecDeque<(Output, Vec<u8>)>,
    bytes: usize,
}

/// Bytes from which on a chunk takes no further text.
const CHUNK: usize = 64 << 10;

impl Printed {
    fn add(&mut self, output: Output, text: &[u8]) {
        self.bytes += text.len();
        match self.chunks.back_mut() {
            Some((last, chunk)) if *last == output && chunk.len() < CHUNK => {
                chunk.extend_from_slice(text);
            }
            _ => self.chunks.push_back((output, text.to_vec())),
        }
        while self.bytes > KEPT_PRINTED + CHUNK
            && let Some((_, oldest)) = self.chunks.pop_front()
        {
            self.bytes -= oldest.len();
        }
    }
}

impl<'a> KernelServices<'a> {
    pub(crate) fn new(space: &'a Space, heap: Option<u64>, call: (u64, &'a Sites)) -> Self {
        Self {
            space,
            heap,
            call,
            printed: Mutex::new(Printed::default()),
            found: Mutex::new(Vec::new()),
        }
    }

    /// What was printed (of very much, the last), and what the checks found, in order.
    pub(crate) fn into_parts(self) -> (VecDeque<(Output, Vec<u8>)>, Vec<Finding>) {
        (self.printed.into_inner().chunks, self.found.into_inner())
    }
}

impl Services for KernelServices<'_> {
    fn print(&self, output: Output, text: &[u8]) {
        self.printed.lock().add(output, text);
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

    fn still_running(&self, launch: &StillRunning<'_>) {
        let (call, sites) = self.call;
        let from = call_at(call, sites.of(call).as_ref());
        // Past the macros, whose output test harnesses keep until a test ends: this one may not.
        writeln!(std::io::stderr(), "{}", notice(launch, &from)).ok();
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

/// What is said about a launch that takes long.
fn notice(launch: &StillRunning<'_>, from: &str) -> String {
    let place = launch
        .place
        .map_or_else(String::new, |place| format!(", now at {place}"));
    format!(
        "cuda-sim: kernel `{}` (from {from}) still runs after {} seconds and {} million instructions{place}. If it does not end, give it a \
         limit: `Builder::time_limit` or `instruction_limit`, or CUDA_SIM_TIME_LIMIT=<seconds> or CUDA_SIM_INSTRUCTION_LIMIT=<number> in \
         the environment; it is then reported with its place.",
        launch.kernel,
        launch.age.as_secs(),
        launch.instructions / 1_000_000,
    )
}

impl State {
    /// Keeps what a kernel printed, and passes it on to the process's own output.
    pub(crate) fn keep_printed(&mut self, printed: VecDeque<(Output, Vec<u8>)>) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_says_what_runs_since_when_and_what_to_do() {
        let launch = StillRunning {
            kernel: "spin",
            place: None,
            instructions: 2_000_000,
            age: std::time::Duration::from_secs(30),
        };
        let text = notice(&launch, "call 7 at src/a.rs:3:4");
        let start = "cuda-sim: kernel `spin` (from call 7 at src/a.rs:3:4) still runs after 30 seconds and 2 million instructions. If";
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains("CUDA_SIM_TIME_LIMIT") && !text.contains('\n'));
    }

    #[test]
    fn of_very_much_text_the_last_is_kept() {
        let mut printed = Printed::default();
        let line = [b'x'; 99];
        for _ in 0..200_000 {
            printed.add(Output::Standard, &line);
        }
        printed.add(Output::Error, b"end");
        let held: usize = printed.chunks.iter().map(|(_, text)| text.len()).sum();
        assert_eq!(held, printed.bytes);
        assert!((KEPT_PRINTED - CHUNK..KEPT_PRINTED + 2 * CHUNK).contains(&held));
        assert_eq!(
            printed.chunks.back(),
            Some(&(Output::Error, b"end".to_vec()))
        );
    }
}
