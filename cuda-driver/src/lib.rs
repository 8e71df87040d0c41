//! The CUDA driver API for Rust: memory-safe, with nothing to install but a driver.
//!
//! ```
//! # fn main() -> cuda_driver::Result<()> {
//! # #[cfg(feature = "simulator")] {
//! use cuda_driver::{Driver, LaunchConfig};
//!
//! let driver = Driver::load_or_simulated()?;
//! let context = driver.device(0)?.primary_context()?;
//! let stream = context.create_stream()?;
//!
//! let module = context.load_ptx(
//!     ".version 7.0
//!      .target sm_52
//!      .address_size 64
//!      .visible .entry twice(.param .u64 numbers) {
//!          .reg .b32 %r<3>;
//!          .reg .b64 %rd<4>;
//!          ld.param.u64 %rd1, [numbers];
//!          cvta.to.global.u64 %rd2, %rd1;
//!          mov.u32 %r1, %tid.x;
//!          mul.wide.u32 %rd3, %r1, 4;
//!          add.u64 %rd2, %rd2, %rd3;
//!          ld.global.u32 %r2, [%rd2];
//!          add.u32 %r2, %r2, %r2;
//!          st.global.u32 [%rd2], %r2;
//!          ret;
//!      }",
//! )?;
//! let twice = module.function("twice")?;
//!
//! let mut numbers = stream.upload(&[1_u32, 2, 3, 4])?;
//! // SAFETY: each of the four threads doubles one of the four numbers.
//! unsafe { twice.launch(&stream, LaunchConfig::new(1, 4), (&mut numbers,)) }?;
//! assert_eq!(numbers.to_vec()?, [2, 4, 6, 8]);
//! # }
//! # Ok(())
//! # }
//! ```
//!
//! # The objects
//!
//! | object | what it is | where it comes from |
//! |---|---|---|
//! | [`Driver`] | a loaded driver | [`Driver::load`], [`Driver::load_or_simulated`] |
//! | [`Device`] | a device, and what can be asked about it | [`Driver::device`] |
//! | [`Context`] | what a device is used through | [`Device::primary_context`] |
//! | [`Stream`] | work in order; the home of memory | [`Context::create_stream`] |
//! | [`Event`] | a mark in a stream, which measures time | [`Context::create_event`] |
//! | [`DeviceAllocation`] | device memory | [`Stream::upload`], [`Stream::zeroed`] |
//! | [`PinnedBuffer`] | page-locked host memory | [`Stream::pinned_zeroed`] |
//! | [`Module`], [`Function`] | loaded code, and a kernel in it | [`Context::load_ptx`], [`Module::function`] |
//! | [`Global`] | a global variable of a module | [`Module::global`] |
//! | [`Library`], [`Kernel`] | code for every context, and a kernel in it | [`Driver::load_library_ptx`], [`Library::kernel`] |
//!
//! # Three tiers
//!
//! The safe objects above; [`call!`], which calls any function of the driver with its status checked and its name kept;
//! and the raw table, [`Driver::library`]. Each object gives its raw handle (`as_raw`), so they can be mixed.
//!
//! # Safety
//!
//! What is safe here cannot cause undefined behaviour, whatever the order of calls, drops and threads:
//!
//! * **Order.** Memory has a home stream. Operations on it from other streams wait for exactly those that they conflict
//!   with, and the free waits for them all. Borrows are Rust's: what is read takes `&`, what is written `&mut`.
//! * **Host memory.** Slices are never in use by the device after a call returns; page-locked memory gives slices only
//!   after the copies in flight are done.
//! * **Lifetimes.** Every object keeps alive what it depends on. Any object can be used and dropped on any thread.
//! * **The surroundings.** The caller's current context is never changed. A stream that somebody else captures is refused,
//!   and what this crate does by itself (drops, waits, its own buffers) does not end captures of other threads. Host
//!   functions and forked children are refused before they reach the driver.
//! * **Failure.** An error never releases memory that may still be in use. After a kernel fault the context says so
//!   ([`Context::is_poisoned`]).
//!
//! What stays `unsafe`, each with a list of facts to check: launching a kernel ([`Function::launch`]), loading code of
//! unknown origin, taking in memory, streams and contexts of others, and handing ours out ([`Stream::with_raw`]).
//!
//! # Features
//!
//! `simulator` adds the software driver, which runs the same programs on the CPU ([`Driver::simulated`]). It is never
//! chosen silently.

#[allow(
    clippy::unnecessary_safety_comment,
    reason = "the lint takes the safety sentence of the example above for one of this item"
)]
mod call;
mod close;
mod context;
mod device;
mod driver;
mod error;
mod event;
mod function;
#[cfg(feature = "kernels")]
pub mod kernels;
mod launch;
mod library;
mod memory;
mod module;
mod order;
mod process;
mod stream;

pub use close::CloseError;
pub use context::{CacheConfig, Context, ContextFlags, CurrentContext, Limit, MemoryInfo};
pub use device::{
    ComputeCapability, ComputeMode, DecompressionAlgorithms, Device, NumaConfig, PciAddress,
    PciIdentifier, PeerLink, RdmaFlushOptions, RdmaWritesOrdering, ShareableHandleTypes, Uuid,
};
pub use driver::{Driver, Version};
pub use error::{Error, ErrorKind, Result};
pub use event::{Event, EventFlags};
pub use function::{
    Function, FunctionAttributes, OccupancyFlags, Parameter, PotentialBlockSize, SharedCarveout,
};
pub use launch::{
    AnyLaunchConfig, ClusterScheduling, DeviceMemory, DeviceMemoryMut, Dim3, DynamicArgument,
    ExtendedLaunchConfig, KernelArgument, KernelArguments, LaunchAttributes, LaunchConfig,
    MemorySyncDomain, MemorySyncDomainMap, Null, PreparedLaunch, RawParts,
};
pub use library::{Kernel, Library, LibraryOptions};
pub use memory::{
    CopyDestination, CopySource, Deallocation, DeviceAllocation, DeviceSlice, DeviceSliceMut,
    Lender, PinnedBuffer, PinnedSlice, PinnedSliceMut, RawAllocation,
};
pub use module::{
    Global, GlobalValue, JitCacheMode, JitFallback, JitOptions, Module, ModuleLoadingMode,
};
pub use stream::{AnyStream, BorrowedStream, PerThreadStream, Stream, StreamFlags};

#[cfg(feature = "kernels")]
pub use cuda_driver_macros::kernels;

/// The software driver: instances with settings, faults, reports and sweeps, for [`Driver::simulated_by`].
#[cfg(feature = "simulator")]
pub use cuda_sim as simulator;

/// What the macros of this crate expand to; not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::call::{check, function};
}

// The programs of the README, compiled and run with the other examples. There is no doc comment beside it, because paths in
// the programs would then be relative to this file.
#[cfg(all(doctest, feature = "simulator"))]
#[doc = include_str!("../../README.md")]
pub struct Readme;
