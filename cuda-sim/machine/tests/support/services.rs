//! Services that keep what kernels ask for.

use std::sync::Mutex;

use cuda_sim_machine::{Fault, Launch, Output, Services, run};

use super::{Arena, program, thread_kernel};

/// Keeps what is printed, and gives out memory of an arena.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) printed: Mutex<String>,
    pub(crate) said: Mutex<String>,
    pub(crate) room: Mutex<Vec<u64>>,
    pub(crate) freed: Mutex<Vec<u64>>,
}

impl Services for Recorder {
    fn print(&self, output: Output, text: &[u8]) {
        let sink = match output {
            Output::Standard => &self.printed,
            Output::Error => &self.said,
        };
        sink.lock()
            .unwrap()
            .push_str(&String::from_utf8_lossy(text));
    }

    fn allocate(&self, size: u64) -> u64 {
        let given = self.room.lock().unwrap().pop();
        given.filter(|_| size <= 64).unwrap_or(0)
    }

    fn free(&self, address: u64) -> Result<(), String> {
        self.freed.lock().unwrap().push(address);
        if address == 5 {
            return Err(String::from("it is odd"));
        }
        Ok(())
    }
}

/// What the runtime's functions are declared as.
const DECLARED: &str = "
.extern .func (.param .b32 back) vprintf (.param .b64 format, .param .b64 list);
.extern .func __assertfail (.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function, .param .b64 size);
.extern .func (.param .b64 back) malloc (.param .b64 size);
.extern .func free (.param .b64 address);
";

/// A module variable with a text.
pub(crate) fn text(name: &str, text: &str) -> String {
    let bytes: Vec<String> = text
        .bytes()
        .chain([0])
        .map(|byte| byte.to_string())
        .collect();
    format!(
        ".global .b8 {name}[{}] = {{{}}};\n",
        bytes.len(),
        bytes.join(", ")
    )
}

/// Runs a kernel of one block; gives the result of each thread.
pub(crate) fn run_kernel(
    declared: &str,
    body: &str,
    threads: u32,
    services: &Recorder,
) -> Result<Vec<u32>, Fault> {
    let program = program(&thread_kernel(&format!("{DECLARED}{declared}"), body));
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None);
    let arena = Arena::new();
    let room = (0..40).map(|_| arena.place(&[0; 64]));
    services.room.lock().unwrap().extend(room);
    let out = arena.u32s(&vec![0; threads as usize]);
    let params = out.to_le_bytes();
    let globals: Vec<u64> = program
        .globals()
        .iter()
        .map(|it| arena.place(&it.bytes))
        .collect();
    let launch = Launch {
        globals: &globals,
        services,
        ..Launch::new([1, 1, 1], [threads, 1, 1], &params)
    };
    run(kernel, &program, &launch, &arena)?;
    Ok(arena.read_u32s(out, threads as usize))
}
