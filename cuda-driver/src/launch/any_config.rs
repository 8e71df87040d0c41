//! What a launch can be configured with, and the driver call that each makes.

use std::ffi::c_void;

use cuda_sys::CUlaunchConfig;

use super::attributes::{Encoded, LaunchAttributes};
use super::config::LaunchConfig;
use super::extended::ExtendedLaunchConfig;
use crate::call;
use crate::error::Result;
use crate::function::FunctionCore;
use crate::stream::StreamCore;

/// What a launch can be configured with: a [`LaunchConfig`], or one with attributes, [`ExtendedLaunchConfig`].
///
/// Implemented by these two, and by nothing else.
pub trait AnyLaunchConfig: Copy + sealed::Sealed {
    /// Grid, block and dynamic shared memory.
    fn config(&self) -> LaunchConfig;

    /// What else is asked for.
    fn attributes(&self) -> LaunchAttributes;
}

impl AnyLaunchConfig for LaunchConfig {
    #[inline]
    fn config(&self) -> LaunchConfig {
        *self
    }

    #[inline]
    fn attributes(&self) -> LaunchAttributes {
        LaunchAttributes::NONE
    }
}

impl AnyLaunchConfig for ExtendedLaunchConfig {
    #[inline]
    fn config(&self) -> LaunchConfig {
        self.config
    }

    #[inline]
    fn attributes(&self) -> LaunchAttributes {
        self.attributes
    }
}

pub(crate) mod sealed {
    use super::{ExtendedLaunchConfig, FunctionCore, Result, StreamCore, c_void};

    /// What a launch needs of its configuration.
    pub trait Sealed {
        /// The whole of it, for messages.
        #[doc(hidden)]
        fn extended(&self) -> ExtendedLaunchConfig;

        /// Calls the driver, once.
        ///
        /// # Safety
        /// As [`Function::launch`](crate::Function::launch); `pointers` are to values of the sizes that the kernel takes.
        #[doc(hidden)]
        #[expect(private_interfaces, reason = "nobody else calls it")]
        unsafe fn enqueue(
            &self,
            function: &FunctionCore,
            stream: &StreamCore,
            pointers: &mut [*mut c_void],
        ) -> Result<()>;
    }
}

impl sealed::Sealed for LaunchConfig {
    fn extended(&self) -> ExtendedLaunchConfig {
        (*self).into()
    }

    #[inline(always)]
    #[expect(private_interfaces, reason = "nobody else calls it")]
    unsafe fn enqueue(
        &self,
        function: &FunctionCore,
        stream: &StreamCore,
        pointers: &mut [*mut c_void],
    ) -> Result<()> {
        let LaunchConfig { grid, block, .. } = *self;
        let raw = function.as_raw();
        let arguments = pointers.as_mut_ptr();
        let extra = std::ptr::null_mut();
        // SAFETY: the function and the stream are live as long as their owners; the rest is the caller's promise.
        unsafe {
            call!(
                stream.driver(),
                cuLaunchKernel(
                    raw,
                    grid.x,
                    grid.y,
                    grid.z,
                    block.x,
                    block.y,
                    block.z,
                    self.dynamic_shared_bytes,
                    stream.as_raw(),
                    arguments,
                    extra,
                )
            )
        }
    }
}

impl sealed::Sealed for ExtendedLaunchConfig {
    fn extended(&self) -> ExtendedLaunchConfig {
        *self
    }

    #[expect(private_interfaces, reason = "nobody else calls it")]
    unsafe fn enqueue(
        &self,
        function: &FunctionCore,
        stream: &StreamCore,
        pointers: &mut [*mut c_void],
    ) -> Result<()> {
        let driver = stream.driver();
        if self.attributes.is_empty() {
            // SAFETY: the caller's promise.
            return unsafe { self.config.enqueue(function, stream, pointers) };
        }
        if self.attributes.are_only_cooperative() {
            // SAFETY: the caller's promise.
            return unsafe { enqueue_cooperative(&self.config, function, stream, pointers) };
        }
        self.attributes.require_support(driver)?;
        let mut attributes = Encoded::new(&self.attributes);
        let config = raw_config(&self.config, stream, &mut attributes);
        let config = &raw const config;
        let raw = function.as_raw();
        let arguments = pointers.as_mut_ptr();
        let extra = std::ptr::null_mut();
        // SAFETY: the function and the stream are live as long as their owners, configuration and attributes until the
        // return; the rest is the caller's promise.
        unsafe { call!(driver, cuLaunchKernelEx(config, raw, arguments, extra)) }
    }
}

/// The configuration as the driver takes it; it points to the attributes.
fn raw_config(
    config: &LaunchConfig,
    stream: &StreamCore,
    attributes: &mut Encoded,
) -> CUlaunchConfig {
    let LaunchConfig { grid, block, .. } = *config;
    CUlaunchConfig {
        gridDimX: grid.x,
        gridDimY: grid.y,
        gridDimZ: grid.z,
        blockDimX: block.x,
        blockDimY: block.y,
        blockDimZ: block.z,
        sharedMemBytes: config.dynamic_shared_bytes,
        hStream: stream.as_raw(),
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.count(),
    }
}

/// The way of cooperative launches without other attributes, which drivers have that know no attributes.
///
/// # Safety
/// As [`sealed::Sealed::enqueue`].
unsafe fn enqueue_cooperative(
    config: &LaunchConfig,
    function: &FunctionCore,
    stream: &StreamCore,
    pointers: &mut [*mut c_void],
) -> Result<()> {
    let LaunchConfig { grid, block, .. } = *config;
    let raw = function.as_raw();
    let arguments = pointers.as_mut_ptr();
    // SAFETY: the function and the stream are live as long as their owners; the rest is the caller's promise.
    unsafe {
        call!(
            stream.driver(),
            cuLaunchCooperativeKernel(
                raw,
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                config.dynamic_shared_bytes,
                stream.as_raw(),
                arguments,
            )
        )
    }
}
