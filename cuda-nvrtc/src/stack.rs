//! Stack enough for a compiler.

use std::io;
use std::thread;

use crate::error::{Error, ErrorKind, Result};

/// Stack for the compiler at least, in bytes. It descends into nested code; the 2 MiB of an ordinary thread end at a
/// thousand parentheses, and with them the process.
const STACK: usize = 256 << 20;
/// Stack for each byte of source beyond that: one level of nesting takes less than 3 KiB, and at least one byte of source.
const STACK_PER_BYTE: usize = 4 << 10;
/// Stack at most, in bytes; only what is touched is ever backed by memory.
const MOST_STACK: usize = 16 << 30;
/// Runs `work`, which reads so many bytes of source, on a thread of its own with a large stack.
pub(crate) fn run<T: Send>(source: usize, work: &(dyn Fn() -> T + Sync)) -> Result<T> {
    let needed = source.saturating_mul(STACK_PER_BYTE);
    on_stack_of(needed.clamp(STACK, MOST_STACK), work).map_err(|error| {
        let reason = format!("no thread can be started for the compiler: {error}");
        Error::new(ErrorKind::OutOfMemory, reason)
    })
}

/// Runs `work` on a thread with that much stack, or with as much as the system gives.
fn on_stack_of<T: Send>(mut stack: usize, work: &(dyn Fn() -> T + Sync)) -> io::Result<T> {
    loop {
        let done = thread::scope(|scope| {
            let builder = thread::Builder::new()
                .name("cuda-nvrtc".into())
                .stack_size(stack);
            let thread = builder.spawn_scoped(scope, work)?;
            thread
                .join()
                .map_err(|_| io::Error::other("the thread of the compiler panicked"))
        });
        match done {
            Err(error) if stack > STACK / 32 && error.kind() != io::ErrorKind::Other => stack /= 2,
            done => return done,
        }
    }
}
