//! The software driver: the CUDA driver API on the CPU.
//!
//! A [`Simulator`] is an instance: devices, handles, addresses and reports of its own. Its [`library`](Simulator::library) is used like the
//! real driver's.
//!
//! ```
//! use cuda_sys::CUresult;
//!
//! let simulator = cuda_sim::Simulator::new();
//! let library = simulator.library();
//! // SAFETY: no pointers are passed.
//! assert_eq!(unsafe { library.cuInit()?(0) }, CUresult::CUDA_SUCCESS);
//! let mut count = 0;
//! // SAFETY: the count is written before the call returns.
//! assert_eq!(unsafe { library.cuDeviceGetCount()?(&raw mut count) }, CUresult::CUDA_SUCCESS);
//! assert_eq!(count, 1);
//! # Ok::<(), cuda_sys::MissingSymbol>(())
//! ```
//!
//! # Map
//! * `api`: the C functions, one file for each group; `table`, `slot` and `call` connect them with an instance.
//! * `state`: what a driver keeps: contexts, streams with their queues, events, modules, and the address space.
//! * `state::schedule` chooses the order of execution, `state::execute` executes, `state::access` is memory as kernels see it.
//! * `report`, `leak`, `trace`, `fault`: what tests ask for.

#[cfg(not(target_pointer_width = "64"))]
compile_error!("the software driver imitates drivers for 64-bit machines and needs one");

mod api;
mod args;
mod builder;
mod call;
mod code;
mod device;
mod error_text;
mod fault;
mod image;
mod instance;
mod jit;
mod leak;
mod options;
mod random;
mod report;
mod simulator;
mod slot;
mod state;
mod submit;
mod table;
mod trace;
mod unbuilt;

pub use builder::{BuildError, Builder};
pub use device::DeviceConfig;
pub use leak::{Leak, LeakKind};
pub use report::{Report, ReportKind};
pub use simulator::Simulator;
pub use trace::{Calls, TraceEntry};

/// The fault of a kernel, as the machine that executes it reports it.
pub use cuda_sim_machine as machine;
