//! Launches whose configuration is checked once.

use std::ffi::c_void;
use std::fmt;

use super::any_config::AnyLaunchConfig;
use super::any_config::sealed::Sealed;
use super::arguments::KernelArguments;
use super::config::LaunchConfig;
use super::limits::Limits;
use super::{ExtendedLaunchConfig, Known, launch};
use crate::error::{Doing, Result};
use crate::function::{Function, FunctionCore};
use crate::stream::{AnyStream, StreamCore};

/// A kernel with a configuration that device and kernel allow; made by [`Function::prepare`].
///
/// It can be launched many times, from any thread, with other arguments and on other streams of the context.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// # let context = cuda_driver::Driver::simulated()?.device(0)?.primary_context()?;
/// # let module = context.load_ptx(
/// #     ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry answer(.param .u64 to) {
/// #          .reg .b64 %rd<3>; ld.param.u64 %rd1, [to]; cvta.to.global.u64 %rd2, %rd1;
/// #          st.global.u32 [%rd2], 42; ret; }",
/// # )?;
/// use cuda_driver::LaunchConfig;
///
/// let stream = context.create_stream()?;
/// let answer = module.function("answer")?.prepare(LaunchConfig::new(1, 1))?;
/// let mut to = stream.zeroed::<u32>(1)?;
/// for _ in 0..10 {
///     // SAFETY: the kernel writes one `u32` to where its only parameter points.
///     unsafe { answer.launch(&stream, (&mut to,)) }?;
/// }
/// assert_eq!(to.to_vec()?, [42]);
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PreparedLaunch<C: AnyLaunchConfig = LaunchConfig> {
    function: Function,
    config: C,
    ready: C::Ready,
}

impl Function {
    /// Checks a configuration against kernel and device, for any number of launches.
    ///
    /// Dynamic shared memory beyond what the kernel is allowed is allowed to it; what other launches were allowed is never
    /// lowered.
    ///
    /// # Errors
    /// [`ErrorKind::LaunchTooLarge`](crate::ErrorKind::LaunchTooLarge) with the limit that the configuration exceeds:
    /// threads of a block, dimensions, shared memory, clusters, blocks of a cooperative launch;
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) for attributes that the driver is too old for.
    #[doc(alias = "cuFuncSetAttribute")]
    #[doc(alias = "cuOccupancyMaxActiveClusters")]
    pub fn prepare<C: AnyLaunchConfig>(&self, config: C) -> Result<PreparedLaunch<C>> {
        self.check(&config)
            .doing(|| format!("prepare a launch of `{}`", self.name()))?;
        Ok(PreparedLaunch {
            function: self.clone(),
            config,
            ready: config.ready(),
        })
    }

    fn check<C: AnyLaunchConfig>(&self, config: &C) -> Result<()> {
        let function = self.core();
        let (config, attributes) = (config.config(), config.attributes());
        attributes.require_support(function.context().driver())?;
        let limits = Limits { function };
        if let Some(excess) = limits.shape(&config)? {
            return Err(excess.into_error());
        }
        let asked = config.dynamic_shared_bytes;
        if i64::from(asked) > limits.most_dynamic_shared()? {
            return match limits.shared_memory(&config)? {
                Some(excess) => Err(excess.into_error()),
                None => Ok(()),
            };
        }
        function.raise_dynamic_shared_bytes(asked)?;
        match limits.residency(&config, &attributes)? {
            Some(excess) => Err(excess.into_error()),
            None => Ok(()),
        }
    }
}

impl<C: AnyLaunchConfig> PreparedLaunch<C> {
    /// Enqueues the kernel on `stream`; arguments and order are as for [`Function::launch`].
    ///
    /// # Errors
    /// As [`Function::launch`].
    ///
    /// # Safety
    /// As [`Function::launch`].
    #[doc(alias = "cuLaunchKernel")]
    #[inline(always)]
    pub unsafe fn launch<S: AnyStream, A: KernelArguments>(
        &self,
        stream: &S,
        arguments: A,
    ) -> Result<()> {
        let known = Known::by_shape::<A>(&self.function);
        // SAFETY: the caller's promise.
        unsafe { launch(&self.function, stream, self, known, arguments) }
    }

    /// The kernel.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> C {
        self.config
    }
}

/// A launch as it was made ready.
impl<C: AnyLaunchConfig> Sealed for PreparedLaunch<C> {
    fn extended(&self) -> ExtendedLaunchConfig {
        self.config.extended()
    }

    #[inline(always)]
    #[expect(private_interfaces, reason = "nobody else calls it")]
    unsafe fn enqueue(
        &self,
        function: &FunctionCore,
        stream: &StreamCore,
        pointers: &mut [*mut c_void],
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            self.config
                .enqueue_ready(&self.ready, function, stream, pointers)
        }
    }
}

impl<C: AnyLaunchConfig> fmt::Debug for PreparedLaunch<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedLaunch")
            .field("function", &self.function.name())
            .field("config", &self.config.config())
            .field("attributes", &self.config.attributes())
            .finish_non_exhaustive()
    }
}
