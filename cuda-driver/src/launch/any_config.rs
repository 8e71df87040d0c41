//! What a launch can be configured with, and the driver call that each makes.

use std::ffi::c_void;

use cuda_sys::{CUlaunchAttribute, CUlaunchConfig, CUstream};

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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no launch configuration",
    note = "pass a `LaunchConfig`, such as `LaunchConfig::new(grid, block)`, or one with attributes"
)]
pub trait AnyLaunchConfig: Copy + sealed::Prepare {
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
        /// As [`Function::launch`](crate::Function::launch); `pointers` are to values of the sizes that the kernel takes, and
        /// this thread may call the driver.
        #[doc(hidden)]
        #[expect(private_interfaces, reason = "nobody else calls it")]
        unsafe fn enqueue(
            &self,
            function: &FunctionCore,
            stream: &StreamCore,
            pointers: &mut [*mut c_void],
        ) -> Result<()>;
    }

    /// What a prepared launch needs of its configuration.
    pub trait Prepare: Sealed {
        /// What is made ready once.
        #[doc(hidden)]
        type Ready: Clone + std::fmt::Debug + Send + Sync;

        #[doc(hidden)]
        fn ready(&self) -> Self::Ready;

        /// Calls the driver, once, with what [`Prepare::ready`] has returned.
        ///
        /// # Safety
        /// As [`Sealed::enqueue`].
        #[doc(hidden)]
        #[expect(private_interfaces, reason = "nobody else calls it")]
        unsafe fn enqueue_ready(
            &self,
            ready: &Self::Ready,
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
        let launch = function.plain_launch();
        let LaunchConfig { grid, block, .. } = *self;
        let extra = std::ptr::null_mut();
        // SAFETY: the function and the stream are live as long as their owners; the rest is the caller's promise.
        let status = unsafe {
            launch(
                function.as_raw(),
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                self.dynamic_shared_bytes,
                stream.as_raw(),
                pointers.as_mut_ptr(),
                extra,
            )
        };
        call::check("cuLaunchKernel", status)
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
        let encoded = Encoded::new(&self.attributes);
        // SAFETY: the caller's promise.
        unsafe { enqueue_extended(&self.config, encoded.as_slice(), function, stream, pointers) }
    }
}

impl sealed::Prepare for LaunchConfig {
    type Ready = ();

    fn ready(&self) {}

    #[inline(always)]
    #[expect(private_interfaces, reason = "nobody else calls it")]
    unsafe fn enqueue_ready(
        &self,
        (): &(),
        function: &FunctionCore,
        stream: &StreamCore,
        pointers: &mut [*mut c_void],
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { sealed::Sealed::enqueue(self, function, stream, pointers) }
    }
}

/// How a prepared launch is enqueued, by what its attributes say.
#[derive(Clone, Debug)]
pub enum ReadyAttributes {
    /// Without any.
    None,
    /// By a call of its own.
    Cooperative,
    /// By the call that takes attributes.
    Some(Box<[CUlaunchAttribute]>),
}

// SAFETY: no attribute that is made here has a pointer.
unsafe impl Send for ReadyAttributes {}
// SAFETY: as for `Send`; nothing in them changes.
unsafe impl Sync for ReadyAttributes {}

impl sealed::Prepare for ExtendedLaunchConfig {
    type Ready = ReadyAttributes;

    fn ready(&self) -> ReadyAttributes {
        let attributes = &self.attributes;
        if attributes.is_empty() {
            ReadyAttributes::None
        } else if attributes.are_only_cooperative() {
            ReadyAttributes::Cooperative
        } else {
            ReadyAttributes::Some(Encoded::new(attributes).as_slice().into())
        }
    }

    #[inline(always)]
    #[expect(private_interfaces, reason = "nobody else calls it")]
    unsafe fn enqueue_ready(
        &self,
        ready: &ReadyAttributes,
        function: &FunctionCore,
        stream: &StreamCore,
        pointers: &mut [*mut c_void],
    ) -> Result<()> {
        match ready {
            // SAFETY: the caller's promise.
            ReadyAttributes::None => unsafe {
                sealed::Sealed::enqueue(&self.config, function, stream, pointers)
            },
            // SAFETY: the caller's promise.
            ReadyAttributes::Cooperative => unsafe {
                enqueue_cooperative(&self.config, function, stream, pointers)
            },
            // SAFETY: the caller's promise.
            ReadyAttributes::Some(attributes) => unsafe {
                enqueue_extended(&self.config, attributes, function, stream, pointers)
            },
        }
    }
}

/// The call that takes attributes.
///
/// # Safety
/// As [`sealed::Sealed::enqueue`].
unsafe fn enqueue_extended(
    config: &LaunchConfig,
    attributes: &[CUlaunchAttribute],
    function: &FunctionCore,
    stream: &StreamCore,
    pointers: &mut [*mut c_void],
) -> Result<()> {
    let config = raw_config(config, stream.as_raw(), attributes);
    let config = &raw const config;
    let raw = function.as_raw();
    let arguments = pointers.as_mut_ptr();
    let extra = std::ptr::null_mut();
    // SAFETY: the function and the stream are live as long as their owners, configuration and attributes until the return;
    // the rest is the caller's promise.
    unsafe {
        call!(
            stream.driver(),
            cuLaunchKernelEx(config, raw, arguments, extra)
        )
    }
}

/// The configuration as the driver takes it; it points to the attributes, which the driver only reads.
pub(crate) fn raw_config(
    config: &LaunchConfig,
    stream: CUstream,
    attributes: &[CUlaunchAttribute],
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
        hStream: stream,
        attrs: attributes.as_ptr().cast_mut(),
        // There are a dozen kinds of attribute, each of which is there once.
        numAttrs: u32::try_from(attributes.len()).unwrap_or(0),
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
