//! Launching kernels: the configuration, the arguments, and the ways to give them.
//!
//! C group: execution control. A launch trusts code that Rust cannot see, so it is `unsafe`; the number and sizes of the
//! arguments are compared with the kernel's parameters all the same.

mod any_config;
mod argument;
mod arguments;
mod attributes;
mod cluster_limits;
mod config;
mod diagnosis;
mod dynamic;
mod extended;
mod fit;
mod host;
mod limits;
mod macros;
mod prepared;
mod raw;
mod recent;
mod shape;
mod staged;

use std::ffi::c_void;
use std::sync::Arc;

pub use any_config::AnyLaunchConfig;
pub(crate) use any_config::raw_config;
use any_config::sealed::Sealed as Config;
pub(crate) use argument::sealed as argument_parts;
pub use argument::{KernelArgument, Null};
pub use arguments::KernelArguments;
pub(crate) use attributes::Encoded;
pub use attributes::{ClusterScheduling, LaunchAttributes, MemorySyncDomain, MemorySyncDomainMap};
pub use config::{Dim3, LaunchConfig};
pub(crate) use dynamic::sealed as memory_parts;
pub use dynamic::{DeviceMemory, DeviceMemoryMut, DynamicArgument};
pub use extended::ExtendedLaunchConfig;
#[cfg(feature = "kernels")]
pub(crate) use host::HostRange;
pub use host::{In, InOut, Out};
pub use prepared::PreparedLaunch;
pub use raw::RawParts;
pub use recent::LaunchInFlight;
pub(crate) use recent::{LaunchLog, RecentLaunches, write_launches};
pub(crate) use shape::Shape;

use crate::error::{Doing, Error, ErrorKind, Result};
use crate::function::{Function, FunctionCore};
use crate::module::DeclaredGlobal;
use crate::order::{Access, Operation, Queue, Sound};
use crate::process;
use crate::stream::{AnyStream, StreamCore};

impl Function {
    /// Enqueues the kernel on `stream`.
    ///
    /// The arguments are a tuple of up to 16: `&memory` for what the kernel reads, `&mut memory` for what it writes (device
    /// allocations and slices), numbers and `repr(C)` structs by value ([`bytemuck::NoUninit`]), and [`Null`] for a null
    /// pointer. Memory that was last used on another stream is waited for first. Nothing is allocated.
    ///
    /// Slices of the host are arguments too: [`In`], [`Out`] and [`InOut`] are copied to memory of the device and from it, in
    /// the order of the stream. With one of the last two the launch waits for the kernel.
    ///
    /// The configuration is a [`LaunchConfig`], or one with attributes such as a cluster ([`LaunchConfig::with_cluster`]).
    ///
    /// # Errors
    /// [`ErrorKind::ArgumentMismatch`] if the number of arguments or the size of one differs from the kernel's
    /// parameters; [`ErrorKind::Mismatch`] if kernel, stream and memory do not belong together;
    /// [`ErrorKind::LaunchTooLarge`] and others with the limit that was exceeded.
    ///
    /// # Safety
    /// * The arguments are of the types that the kernel's parameters have, in their order.
    /// * With these arguments and this configuration the kernel accesses only memory that the arguments name, within
    ///   their lengths, and its module's globals; it writes only what is passed as `&mut`, and leaves valid elements there.
    /// * It keeps no address beyond its end, and races neither with itself nor, through globals, with other kernels.
    /// * If the configuration is [programmatic dependent](LaunchConfig::programmatic_dependent): each of its threads that
    ///   accesses memory, and at least one, executes `griddepcontrol.wait` (`cudaGridDependencySynchronize`) first; what a
    ///   kernel in front of it may write is not read by `ld.global.nc` (`__ldg`, `const … *__restrict__`), for the compiler may
    ///   move that to before the wait.
    /// * If it touches a global variable, no other thread asks for that one for the first time ([`Module::global`]) while this
    ///   call runs.
    ///
    /// [`Module::global`]: crate::Module::global
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # #[cfg(feature = "simulator")] {
    /// use cuda_driver::{Driver, LaunchConfig};
    ///
    /// let context = Driver::simulated()?.device(0)?.primary_context()?;
    /// let module = context.load_ptx(
    ///     ".version 7.0
    ///      .target sm_52
    ///      .address_size 64
    ///      .visible .entry answer(.param .u64 to) {
    ///          .reg .b64 %rd<3>;
    ///          ld.param.u64 %rd1, [to];
    ///          cvta.to.global.u64 %rd2, %rd1;
    ///          st.global.u32 [%rd2], 42;
    ///          ret;
    ///      }",
    /// )?;
    /// let answer = module.function("answer")?;
    /// let stream = context.create_stream()?;
    /// let mut to = stream.zeroed::<u32>(1)?;
    /// // SAFETY: the kernel writes one `u32` to where its only parameter points.
    /// unsafe { answer.launch(&stream, LaunchConfig::new(1, 1), (&mut to,)) }?;
    /// assert_eq!(to.to_vec()?, [42]);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "cuLaunchKernel")]
    #[doc(alias = "cuLaunchKernelEx")]
    #[doc(alias = "cuLaunchCooperativeKernel")]
    #[inline(always)]
    pub unsafe fn launch<S: AnyStream, C: AnyLaunchConfig, A: KernelArguments>(
        &self,
        stream: &S,
        config: C,
        arguments: A,
    ) -> Result<()> {
        let known = Known::by_shape::<A>(self);
        // SAFETY: the caller's promise.
        unsafe { launch(self, stream, &config, known, arguments) }
    }
}

/// What is known of a launch before.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    /// The arguments are as many and as large as the kernel's parameters.
    pub(crate) fits: bool,
    /// It needs no order with global variables, by its declaration.
    pub(crate) touches_no_globals: bool,
}

impl Known {
    #[inline(always)]
    fn by_shape<A: KernelArguments>(function: &Function) -> Self {
        Self {
            fits: function.core().shape().takes(A::SHAPE),
            touches_no_globals: false,
        }
    }
}

/// Every launch of a tuple of arguments.
///
/// # Safety
/// As [`Function::launch`].
#[inline(always)]
pub(crate) unsafe fn launch<S: AnyStream, C: Config, A: KernelArguments>(
    handle: &Function,
    any_stream: &S,
    config: &C,
    known: Known,
    arguments: A,
) -> Result<()> {
    if A::STAGED {
        // SAFETY: the caller's promise.
        return unsafe { launch_through_host(handle, any_stream, config, arguments) };
    }
    // The other ways get the handles: they have no need of registers in a launch that goes this way.
    let (function, stream) = (handle.core(), any_stream.stream_core());
    let symbols = match known.touches_no_globals {
        true => 0,
        false => function.symbol_bits(),
    };
    let is_ready = known.fits
        && function.is_of(stream.context())
        && stream.special_bits() | process::restrictions() | symbols == 0;
    if is_ready && arguments.are_at_home(stream.number()) {
        let slots = arguments.slots();
        let mut pointers = arguments.pointers(&slots);
        // SAFETY: the caller vouches for the kernel, the pointers are to values of the sizes that it takes, and what
        // the arguments borrow is marked right after.
        let result = unsafe { config.enqueue(function, stream, pointers.as_mut()) };
        return match result {
            Ok(()) => {
                arguments.mark_home();
                stream.recent_launches().note(function.number());
                Ok(())
            }
            // SAFETY: the caller's promise.
            Err(error) => unsafe { after_failure(handle, any_stream, config, arguments, error) },
        };
    }
    // SAFETY: the caller's promise.
    unsafe { launch_carefully(handle, any_stream, config, arguments) }
}

/// The greatest number of arguments that a tuple can have.
pub(crate) const MAX_ARGUMENTS: usize = 16;

/// A failed launch on the home path: once more with a current context where that was missing, else the diagnosis. What the
/// arguments borrow is marked at the end.
///
/// # Safety
/// As [`Function::launch`], which has failed; it is repeated only if nothing was enqueued.
//
// The arguments come by value, so that a launch that succeeds need not have them in memory.
#[cold]
#[inline(never)]
unsafe fn after_failure<S: AnyStream, A: KernelArguments>(
    handle: &Function,
    any_stream: &S,
    config: &dyn Config,
    arguments: A,
    error: Error,
) -> Result<()> {
    let (function, stream) = (handle.core(), any_stream.stream_core());
    let slots = arguments.slots();
    let mut pointers = arguments.pointers(&slots);
    // SAFETY: the caller's promise.
    let again = &mut || unsafe { config.enqueue(function, stream, pointers.as_mut()) };
    let result = stream.after_failure(error, again);
    // It may be enqueued only now, and the mark comes after that.
    arguments.mark_home();
    result.map_err(|error| diagnosis::diagnose(function, &config.extended(), error))
}

/// A launch that is refused, or of which something is not known to be as usual.
///
/// # Safety
/// As [`Function::launch`].
#[cold]
#[inline(never)]
unsafe fn launch_carefully<S: AnyStream, A: KernelArguments>(
    handle: &Function,
    any_stream: &S,
    config: &dyn Config,
    arguments: A,
) -> Result<()> {
    let (function, stream) = (handle.core(), any_stream.stream_core());
    process::permit().doing(|| format!("launch `{}`", function.name()))?;
    function.require_fit(stream, arguments.sizes().as_ref())?;
    let plain = stream.is_plain() && !function.touches_symbols();
    let unchecked = !stream.context().checks_launches();
    if plain && unchecked && arguments.are_at_home(stream.number()) {
        let slots = arguments.slots();
        let mut pointers = arguments.pointers(&slots);
        // SAFETY: the caller's promise; what the arguments borrow is marked right after.
        let result = unsafe { config.enqueue(function, stream, pointers.as_mut()) };
        return match result {
            Ok(()) => {
                arguments.mark_home();
                stream.recent_launches().note(function.number());
                Ok(())
            }
            // SAFETY: the caller's promise.
            Err(error) => unsafe { after_failure(handle, any_stream, config, arguments, error) },
        };
    }
    let slots = arguments.slots();
    let mut pointers = arguments.pointers(&slots);
    let mut uses: [Option<Access<'_, StreamCore>>; MAX_ARGUMENTS] = [None; MAX_ARGUMENTS];
    arguments.uses(&mut uses);
    launch_tracked(function, stream, config, pointers.as_mut(), &mut uses)
}

/// A launch with host memory among the arguments.
///
/// # Safety
/// As [`Function::launch`].
#[inline(never)]
unsafe fn launch_through_host<S: AnyStream, A: KernelArguments>(
    handle: &Function,
    any_stream: &S,
    config: &dyn Config,
    mut arguments: A,
) -> Result<()> {
    let (function, stream) = (handle.core(), any_stream.stream_core());
    process::permit().doing(|| format!("launch `{}`", function.name()))?;
    function.require_fit(stream, arguments.sizes().as_ref())?;
    let mut hosts = [None; MAX_ARGUMENTS];
    arguments.hosts(&mut hosts);
    let slots = arguments.slots();
    let mut pointers = arguments.pointers(&slots);
    let mut uses: [Option<Access<'_, StreamCore>>; MAX_ARGUMENTS] = [None; MAX_ARGUMENTS];
    arguments.uses(&mut uses);
    let pointers = pointers.as_mut();
    staged::launch_staged(function, stream, config, pointers, &mut uses, &hosts)
}

/// A launch of which an argument is not on the home path, or on a stream that needs more than its handle.
fn launch_tracked(
    function: &FunctionCore,
    stream: &StreamCore,
    config: &dyn Config,
    pointers: &mut [*mut c_void],
    uses: &mut [Option<Access<'_, StreamCore>>],
) -> Result<()> {
    let given: Vec<_> = uses.iter_mut().filter_map(Option::take).collect();
    let mut accesses: Vec<Access<'_, StreamCore>> = given;
    let undeclared;
    match function.declared_globals() {
        Some(declared) => accesses.extend(declared.iter().map(DeclaredGlobal::access)),
        None => {
            undeclared = function.module().touched_by_any();
            accesses.extend(undeclared.iter().map(|global| global.undeclared()));
        }
    }
    require_parts(stream, &accesses).doing(|| format!("launch `{}`", function.name()))?;
    Operation::run::<Sound, _>(stream, &mut accesses, || {
        // SAFETY: the caller of the launch vouches for the kernel, and the tracker has all accesses.
        stream.enqueue(|| unsafe { config.enqueue(function, stream, pointers) })
    })
    .map_err(|error| diagnosis::diagnose(function, &config.extended(), error))?;
    stream.recent_launches().note(function.number());
    if stream.context().checks_launches() {
        diagnosis::check(function, &config.extended(), stream)?;
    }
    Ok(())
}

/// Refuses memory that the stream's device cannot reach: another driver's, or another device's.
fn require_parts(stream: &StreamCore, accesses: &[Access<'_, StreamCore>]) -> Result<()> {
    let context = stream.context();
    for access in accesses {
        let memory = access.order.domain();
        if Arc::ptr_eq(memory, context) {
            continue;
        }
        stream.require_driver("memory", memory.driver())?;
        if memory.device().as_raw() != context.device().as_raw() {
            let reason = format!(
                "the memory is of device {} and the stream of device {}",
                memory.device().ordinal(),
                context.device().ordinal()
            );
            return Err(Error::new(ErrorKind::Mismatch, reason)
                .remedied_by("copy it to memory of the stream's device first"));
        }
    }
    Ok(())
}
