//! Executes PTX kernels on the CPU, without unsafe code.
#![forbid(unsafe_code)]

mod code;
mod decode;
mod exec;
mod fault;
mod launch;
mod memory;
mod ops;
mod program;
mod registers;

pub use exec::run;
pub use fault::{Fault, FaultKind, Place, Unsupported, Window};
pub use launch::{Launch, Limits, Statistics};
pub use memory::{
    LOCAL_WINDOW, LaneFault, Lanes, Memory, MemoryFault, PARAM_WINDOW, SHARED_WINDOW, WARP_SIZE,
    WINDOW_SIZE,
};
pub use program::{Global, GlobalSpace, Kernel, KernelParam, Program, Relocation};
