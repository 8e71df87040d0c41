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
//! # How work runs
//! A call that enqueues work only records it. Work is executed when a call waits for it or asks about it, one operation after the other, in
//! an order that streams, events and the default stream's rules allow; the [seed](Builder::seed) chooses among those. So a program that
//! forgets to order two operations sees a wrong result for some seeds, and the same one for the same seed as long as one thread makes the
//! calls. Host functions run on a thread of the instance's own; those that nobody waits for are brought about after a short while. Times
//! that events measure are those of a virtual clock.
//!
//! Kernels are executed by [`machine`], one after the other; the blocks of one run on [several threads](Builder::threads) where they cannot
//! influence each other, and with AVX2 and FMA where the processor has them, without any difference in the results. They can print, assert,
//! allocate, call through addresses, and wait for each other in cooperative launches.
//!
//! # What is checked
//! Memory is checked when it is accessed: bounds, release, stream order, alignment, and bytes that nothing had written. What is found is a
//! [`Report`]; a kernel's fault also fails later calls, as on a real device, for all contexts of the device. [`checks`] has the list of
//! all checks, what they cost and an example of each: races of operations and of a kernel's threads, releases, leaks, failures of
//! single calls and [sweeps](sweep()) over all of them.
//!
//! Host memory that an asynchronous copy has borrowed is [watched](Builder::watch_host): until the copy is executed its destination holds a
//! pattern, and changes to it or to the source are reported.
//!
//! # What loads
//! Modules and libraries load PTX, by itself or in a fatbin (plain, or compressed by LZ4 or zstd), of which the PTX for the latest architecture
//! that the device includes is taken; the linker makes one image of several. Machine code is refused with `NO_BINARY_FOR_GPU`.
//!
//! PTX is checked when it is loaded ([`cuda_ptx::Module::check`]): unknown names, wrong operands, instructions that PTX does not have or that
//! are newer than its `.version` and `.target` give `INVALID_PTX`, with line and column in the error log. The test `load` holds what a real
//! driver says to some 800 modules. What PTX has and the software driver does not fails the launch that needs it with `NOT_SUPPORTED`.
//!
//! # What differs from a real driver, knowingly
//! * Handles that were destroyed, null or never existed give an error where a real driver may crash; each use of a destroyed stream or event
//!   is reported besides.
//! * Waiting for a stream or event inside a host function gives `NOT_PERMITTED` and a report; a real driver waits for ever.
//! * Until an asynchronous copy to pinned memory is executed, the memory holds a [pattern](Builder::watch_host): a program that looks there
//!   without waiting finds neither the old contents nor the new.
//! * Textures and surfaces, mipmapped and sparse arrays, graphs, inter-process handles and cubins are missing, and
//!   the device's attributes say so. A captured stream's work is not kept: the graph is empty.
//! * A kernel launched with `PROGRAMMATIC_STREAM_SERIALIZATION` behind another one begins early or not, by the seed: ahead of all of the other
//!   one, never in its middle. What its threads do before they have waited (`griddepcontrol.wait`, or a barrier together with a thread that
//!   had) counts as unordered with that kernel, and, where that one began early too, with those before it, whether or not it had waited when
//!   it triggered its dependents. An event that a kernel triggers (`PROGRAMMATIC_EVENT`) is not there.
//! * A thread that waits at a cluster's barrier without having arrived, or arrives twice, is reported and ends the launch with `LAUNCH_FAILED`;
//!   an H200 goes on. A launch of clusters on a device without them gives `NOT_SUPPORTED`; what a real driver says there has not been seen. Which block is preferred for a
//!   cluster (`PREFERRED_CLUSTER_DIMENSION`, scheduling policies) is checked and without effect.
//! * Instructions for textures, sparse matrices, copies of tensors and the like are checked by their names only when a module is loaded.
//! * Copies of tensors (`cp.async.bulk.tensor`) are missing. `cp.async` of 4, 8 or 16 bytes copies at once; the bulk copies and the other
//!   asynchronous operations happen early or late, by the seed. What cannot be carried out gives `LAUNCH_FAILED` and a
//!   report: a set of blocks that the cluster does not have, a barrier in another block than the destination, a size that is no multiple
//!   of 16 and more bytes than a barrier counts. An H200 says so of the first only, and does something else than was asked for in the others.
//! * Kernels are loaded when their module is, and registers are an estimate. Of the options that guide a compiler, the target and the most
//!   registers have an effect.
//! * A linked image is PTX in a fatbin, and objects and libraries of the host cannot be linked. A library is decoded when it is loaded, for each kind of device; its mistakes are told
//!   when it is used. A managed variable of a library stands in each context for itself.
//! * `CUdevice` holds the instance besides the ordinal, which is also what attributes of pointers give; of the first instance they are equal.
//! * Memory of `cuMemAlloc` is never given out again while there are fresh addresses; an allocation fails as soon as the device's memory is
//!   used up to the byte.
//! * What stream-ordered memory held is gone with its release.
//! * Managed memory is memory of the host, of no device: it does not move, and there is no more of it than twice the device's memory. A
//!   program that touches it while a device works on it makes a mistake that is not found.
//! * Memory pools are of a device's memory only; none can be shared with another process.
//! * A stream that waits for a word which nothing writes is given up after a [while](Builder::wait_patience).
//!
//! # Programs in other languages
//! `cuda-sim/libcuda` builds this crate as a `libcuda.so.1`; [`Builder::from_environment`] has the variables that describe its instance.
//!
//! # Map
//! * `builder`, `environment`: how an instance is described; `simulator`: what can be asked of it.
//! * `image` reads what modules are loaded from, `link` makes one PTX text of several, `jit` reads the options of both.
//! * `api`: the C functions, one file for each group; `table`, `slot` and `call` connect them with an instance.
//! * `state`: what a driver keeps: contexts, streams with their queues, events, modules, libraries, and the address space with its memory:
//!   plain, of pools, managed, of the host, mapped.
//! * `state::schedule` chooses the order of execution, `state::execute` executes, `state::access` is memory as kernels see it.
//! * `state::order` knows which operations are ordered, and finds races; `state::watch` looks after borrowed memory of the host.
//! * `report`, `leak`, `site`, `trace`, `fault`, `sweep`, `verdict`: what tests ask for.

#[cfg(not(target_pointer_width = "64"))]
compile_error!("the software driver imitates drivers for 64-bit machines and needs one");

mod api;
mod args;
mod builder;
mod call;
pub mod checks;
mod code;
mod device;
mod environment;
mod error_text;
mod fault;
mod image;
mod instance;
mod jit;
mod leak;
mod link;
mod listener;
mod options;
mod processor;
mod random;
mod report;
mod simulator;
mod site;
mod slot;
mod state;
mod submit;
mod sweep;
mod table;
mod trace;
mod unbuilt;
mod verdict;

pub use builder::{BuildError, Builder};
pub use cuda_sim_machine::SourceLine;
pub use device::DeviceConfig;
pub use environment::EnvironmentError;
pub use fault::{CallInfo, FailureMode};
pub use leak::{Leak, LeakKind};
pub use report::{AccessKind, AllocationInfo, Race, RaceSide, Report, ReportKind};
pub use simulator::Simulator;
pub use site::CallSite;
pub use sweep::{Failure, Finding, Mistake, Sweep, SweepReport, sweep};
pub use trace::{Calls, TraceEntry};
pub use verdict::Verdict;

/// The fault of a kernel, as the machine that executes it reports it.
pub use cuda_sim_machine as machine;

// The program of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
