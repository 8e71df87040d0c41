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
//! | [`Linker`] | images that become one | [`Context::create_linker`] |
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
//! `kernels`, on by default, is the macro [`kernels!`], which costs the build of a procedural macro.
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
mod flag;
mod function;
#[cfg(feature = "kernels")]
pub mod kernels;
mod launch;
mod library;
mod linker;
mod memory;
mod module;
mod order;
mod process;
mod stream;

pub use close::CloseError;
pub use context::{
    CacheConfig, Context, ContextFlags, CurrentContext, LaunchChecking, Limit, MemoryInfo,
};
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
    ExtendedLaunchConfig, In, InOut, KernelArgument, KernelArguments, LaunchAttributes,
    LaunchConfig, LaunchInFlight, MemorySyncDomain, MemorySyncDomainMap, Null, Out, PreparedLaunch,
    RawParts,
};
pub use library::{Kernel, Library, LibraryOptions};
pub use linker::{LinkedImage, Linker};
pub use memory::{
    CopyDestination, CopySource, Deallocation, DeviceAllocation, DeviceSlice, DeviceSliceMut,
    Lender, PinnedBuffer, PinnedSlice, PinnedSliceMut, RawAllocation,
};
/// Whether binaries are whole, by their headers: what linkers other than the driver's are to be asked before.
#[doc(hidden)]
pub mod image {
    pub use crate::module::{check_archive, check_cubin, check_fatbin, check_object};
}
pub use module::{
    Global, GlobalValue, JitCacheMode, JitFallback, JitOptions, Module, ModuleLoadingMode,
};
pub use stream::{AnyStream, BorrowedStream, PerThreadStream, Stream, StreamFlags};

/// Declares kernels, so that launching them is calling a method.
///
/// The trust in a kernel, which Rust cannot see, is stated once, where it is declared, as in Rust's own `unsafe extern` blocks.
/// Everything else is checked: when the program is compiled, the declaration is compared with the PTX (names, number, sizes and
/// types of parameters, launch bounds, global variables); when the module is loaded, with what the driver tells; at each call,
/// the arguments with the declaration.
///
/// ```
/// use cuda_driver::kernels;
///
/// kernels! {
///     /// Kernels of `vector_add.cu`.
///     pub unsafe extern VectorKernels from ptx concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/kernels/vector_add.ptx") {
///         /// `sum[i] = a[i] + b[i]`
///         #[launch(for_len(sum), block <= 1024)]
///         pub safe fn vector_add(a: &[f32], b: &[f32; len(a)], sum: &mut [f32; len(a)], n: u32 = len(a));
///     }
/// }
///
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// # let context = cuda_driver::Driver::simulated()?.device(0)?.primary_context()?;
/// let kernels = VectorKernels::load(&context)?;
/// let stream = context.create_stream()?;
/// let a = stream.upload(&[1.0, 2.0, 3.0])?;
/// let b = stream.upload(&[0.5; 3])?;
/// let mut sum = stream.zeroed::<f32>(3)?;
/// kernels.vector_add(&stream, &a, &b, &mut sum)?;
/// assert_eq!(sum.to_vec()?, [1.5, 2.5, 3.5]);
///
/// let mut short = stream.zeroed::<f32>(2)?;
/// let error = kernels.vector_add(&stream, &a, &b, &mut short).unwrap_err();
/// assert_eq!(error.to_string(), "cannot launch `vector_add`: `sum` has 2 elements where the kernel wants len(a) = 3");
/// # }
/// # Ok(())
/// # }
/// ```
///
/// # The image
///
/// `from ptx PATH`, `from cubin PATH` or `from fatbin PATH`; the path is a string, relative to the source file as
/// `include_str!` has it, `env!("…")`, or `concat!("…", env!("…"))`. The image is embedded. `load(&context)` loads it, `load_with`
/// takes [`JitOptions`]. Without an image, and to use another module, there is `unsafe fn from_module(&module)`.
///
/// A kernel has its method's name, in the image or in C++ without namespaces and template arguments if only one kernel has that
/// name; `#[name = "scale<float, 4>"]` or `#[name = "_Z5scale…"]` says another one.
///
/// `strict()` refuses kernels of which neither the driver nor the image tells the parameters; `Debug` shows these as unverified.
///
/// # Safe and unsafe kernels
///
/// `unsafe extern` is the author's word that the kernels do what their declarations say. A `safe fn` does nothing else, with any
/// arguments and configuration that the declaration lets through: it stays within the lengths of its slices, does not write what is
/// declared as read, leaves valid elements, keeps no address, touches no other global variable, does not race with itself, and
/// ends. Of an `unsafe fn` callers must promise more, which its documentation says; it may go without `#[launch]`, and takes the
/// configuration as its first argument then.
///
/// # Parameters
///
/// | declared | the kernel takes | the method takes |
/// |---|---|---|
/// | `a: &[T]` | `const T *` | `&allocation`, a [`DeviceSlice`], a reference to a slice, [`In`]`(&host)` |
/// | `a: &mut [T]` | `T *` | `&mut allocation`, a [`DeviceSliceMut`], a mutable reference to one, [`Out`]`(&mut host)`, [`InOut`]`(&mut host)` |
/// | `a: &[T; len(b)]`, `a: &mut [T; 2 * n..]` | the same | memory of exactly, of at least that many elements |
/// | `a: Option<&mut [T]>` | a pointer that may be null | the same, [`Null`], or an `Option` |
/// | `n: u32`, `p: Particle` | a value ([`bytemuck::NoUninit`]) | the value |
/// | `n: u32 = len(a)` | a value | nothing: it is filled in |
///
/// Lengths and values are computed of integers, `len(slice)` (0 for null), parameters that are integers, `+ - * / %`,
/// `min(a, b)`, `max(a, b)` and `div_ceil(a, b)`, with 128 bits; what overflows, is negative or does not fit is an error.
///
/// Types are compared where the mangled name or PTX tells them: numbers with numbers of the same kind and size, arrays with CUDA's
/// vectors, `&mut` with pointers that are not `const`, other types by size, and by name where they implement
/// [`KernelType`](crate::kernels::KernelType). In doubt a declaration is taken.
///
/// What a kernel does is compared too, where its PTX is known: each address is followed from the parameters on, through calls. Refused is
/// `&[T]` behind which the kernel certainly writes, in an `unsafe fn` too; elements of `f32` or `f64` that the kernel computes with as
/// floating-point numbers of another size, where no mangled name tells their type; and `waits` where a thread may touch memory, or call
/// what is not known, before it has waited, or where `ld.global.nc` is used. Wide copies, bytes and integers of any size, and addresses
/// that come from memory or may be one of several are taken. What else is right can be said so:
///
/// * memory that the kernel only writes for some values of its arguments, or by atomics that change nothing, is `&mut [T]`;
/// * elements that are other numbers to the kernel are integers or bytes, `&[u32]`, `&[u8]`;
/// * the address itself is a value in an `unsafe fn`: `u64`, or a struct of one where the kernel's name says that it is a pointer.
///
/// # `#[launch(…)]`
///
/// | | |
/// |---|---|
/// | `for_len(slice)`, `for_len(n)` | a thread for each element, in blocks of 256 unless `block` says otherwise; at least one block |
/// | `grid = n`, `grid = (x, y, z)` | that grid |
/// | `grid <= n` | callers may choose up to that many blocks, in as many dimensions as the usual grid; `for_len` is cut to as many |
/// | `block = n`, `block = (x, y, z)` | that block |
/// | `block <= n` | callers may choose up to that many threads in one dimension; otherwise 256 of them at most |
/// | `shared = bytes`, `shared <= bytes` | dynamic shared memory, fixed or up to the caller; otherwise none |
/// | `cluster = n`, `cluster = (x, y, z)` | thread block clusters |
/// | `cooperative` | all blocks run at the same time |
/// | `waits` | at least one thread, and each before it touches memory, executes `griddepcontrol.wait`, so callers may choose programmatic dependent launch; it reads nothing by `ld.global.nc` (`__ldg`, `const … *__restrict__`), which may come before the wait. Where PTX is known this is checked, but not that some thread waits |
/// | `globals(name, mut name)` | the global variables that the kernel reads, and those that it writes |
///
/// Where something is open, there is a second method, `vector_add_with(config, …)`; what is not declared stays fixed.
/// `vector_add_function()` gives the [`Function`].
///
/// # Prepared launches
///
/// `#[prepared(VectorAdd)]` names a type for launches with one configuration: `vector_add_prepare(config)` compares that with the
/// declaration, the kernel and the device ([`Function::prepare`]), and what it returns has a method `launch(&stream, arguments…)`, safe
/// where the kernel is, which only compares the arguments. It is cheap to clone, is used from any thread, and keeps the module loaded.
/// Where the declaration says the grid by the arguments, as `for_len` does, these must have the grid that was prepared: one for 4 blocks of
/// 256 takes 769 to 1024 elements, and others are an error.
///
/// ```
/// # cuda_driver::kernels! {
/// #     unsafe extern VectorKernels from ptx concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/kernels/vector_add.ptx") {
/// #         #[launch(for_len(sum), block <= 1024)]
/// #         #[prepared(VectorAdd)]
/// #         safe fn vector_add(a: &[f32], b: &[f32; len(a)], sum: &mut [f32; len(a)], n: u32 = len(a));
/// #     }
/// # }
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// # use cuda_driver::LaunchConfig;
/// # let context = cuda_driver::Driver::simulated()?.device(0)?.primary_context()?;
/// # let stream = context.create_stream()?;
/// # let a = stream.upload(&[0.5; 1000])?;
/// # let mut sum = stream.zeroed::<f32>(1000)?;
/// let kernels = VectorKernels::load(&context)?;
/// let add: VectorAdd = kernels.vector_add_prepare(LaunchConfig::for_len(sum.len()))?;
/// for _ in 0..10 {
///     add.launch(&stream, &a, &a, &mut sum)?;
/// }
/// # assert_eq!(sum.to_vec()?, [1.0; 1000]);
/// # }
/// # Ok(())
/// # }
/// ```
///
/// If this crate goes by another name, say so first: `kernels! { crate = my_gpu::cuda_driver; … }`.
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

// The program of this package's own README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct OwnReadme;
