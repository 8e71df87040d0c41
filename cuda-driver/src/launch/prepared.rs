//! Launches whose configuration is checked once.

use std::fmt;

use super::any_config::AnyLaunchConfig;
use super::arguments::KernelArguments;
use super::config::LaunchConfig;
use super::limits::Limits;
use super::{after_failure, launch_carefully, launch_through_host};
use crate::error::{Doing, Result};
use crate::function::Function;
use crate::order::Queue;
use crate::stream::AnyStream;

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
        let (function, stream) = (self.function.core(), stream.stream_core());
        if A::STAGED {
            // SAFETY: the caller's promise.
            return unsafe { launch_through_host(function, stream, &self.config, arguments) };
        }
        if function.is_ready_for(stream, A::SHAPE) && arguments.are_at_home(stream.number()) {
            let slots = arguments.slots();
            let mut pointers = arguments.pointers(&slots);
            let pointers = pointers.as_mut();
            // SAFETY: the caller vouches for the kernel, the pointers are to values of the sizes that it takes, and what
            // the arguments borrow is marked right after.
            let result = unsafe {
                self.config
                    .enqueue_ready(&self.ready, function, stream, pointers)
            };
            return match result {
                Ok(()) => {
                    arguments.mark_home();
                    stream.recent_launches().note(function.number());
                    Ok(())
                }
                Err(error) => {
                    // SAFETY: the caller's promise.
                    unsafe { after_failure(function, stream, &self.config, arguments, error) }
                }
            };
        }
        // SAFETY: the caller's promise.
        unsafe { launch_carefully(function, stream, &self.config, arguments) }
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

impl<C: AnyLaunchConfig> fmt::Debug for PreparedLaunch<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedLaunch")
            .field("function", &self.function.name())
            .field("config", &self.config.config())
            .field("attributes", &self.config.attributes())
            .finish_non_exhaustive()
    }
}
