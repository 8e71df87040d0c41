//! The kinds of failure, and what each status means for the context it came from.

use cuda_sys::{CUresult, LoadError};

/// What kind of failure an [`Error`](crate::Error) is.
///
/// A program decides on this; a person reads the message. Statuses without a kind of their own are
/// [`ErrorKind::Driver`], and [`Error::status`](crate::Error::status) has the exact one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No driver library was found at any of the places searched.
    LibraryNotFound,
    /// The library found is the toolkit's stub, which only serves to link against.
    StubLibrary,
    /// A library was found but cannot be used.
    BrokenLibrary,
    /// The loaded driver does not have the function.
    MissingSymbol,
    /// The driver works, but there is no device that it can use.
    NoDevice,
    /// There is no device of that number or address.
    InvalidDevice,
    /// An argument is out of its range, refused by this crate or by the driver.
    InvalidArgument,
    /// Parts of one operation belong to different drivers, devices or contexts.
    Mismatch,
    /// A handle is no longer valid, or belongs to another context.
    InvalidHandle,
    /// The device or the host has not enough memory.
    OutOfMemory,
    /// A kernel, global variable or file of that name does not exist.
    NotFound,
    /// The module image is not what the driver or this device takes.
    InvalidImage,
    /// The driver or device does not support what was asked for.
    NotSupported,
    /// The kernel's arguments do not match its parameters.
    ArgumentMismatch,
    /// Declared kernels and those in the image differ.
    DeclarationMismatch,
    /// The launch asks for more than the device or the kernel allows.
    LaunchTooLarge,
    /// A kernel failed while it ran; the context is lost.
    KernelFault,
    /// The context is lost by an earlier error, or was destroyed by somebody else.
    ContextLost,
    /// The driver is shutting down, as at the end of the process.
    Deinitialized,
    /// A stream is being captured into a graph by somebody, and the call would break that capture.
    Capture,
    /// The driver was called from inside a host function, where that is not allowed.
    InHostFunction,
    /// The process was forked after the driver was loaded; the child cannot use it.
    ForkedProcess,
    /// The resource still has other owners, so it cannot be closed now.
    StillShared,
    /// Any other status of the driver.
    Driver,
}

impl ErrorKind {
    pub(super) fn from_status(status: CUresult) -> Self {
        match status {
            CUresult::CUDA_ERROR_NO_DEVICE => Self::NoDevice,
            CUresult::CUDA_ERROR_STUB_LIBRARY => Self::StubLibrary,
            CUresult::CUDA_ERROR_INVALID_DEVICE => Self::InvalidDevice,
            CUresult::CUDA_ERROR_INVALID_VALUE => Self::InvalidArgument,
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Self::OutOfMemory,
            CUresult::CUDA_ERROR_INVALID_HANDLE | CUresult::CUDA_ERROR_INVALID_CONTEXT => {
                Self::InvalidHandle
            }
            CUresult::CUDA_ERROR_NOT_FOUND | CUresult::CUDA_ERROR_FILE_NOT_FOUND => Self::NotFound,
            CUresult::CUDA_ERROR_INVALID_IMAGE
            | CUresult::CUDA_ERROR_INVALID_PTX
            | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
            | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUresult::CUDA_ERROR_INVALID_SOURCE => Self::InvalidImage,
            CUresult::CUDA_ERROR_NOT_SUPPORTED => Self::NotSupported,
            CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
            | CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
            | CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE => Self::LaunchTooLarge,
            CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED => Self::ContextLost,
            CUresult::CUDA_ERROR_DEINITIALIZED => Self::Deinitialized,
            CUresult(900..=908) => Self::Capture,
            _ if is_sticky(status) => Self::KernelFault,
            _ => Self::Driver,
        }
    }

    pub(super) fn from_load(error: &LoadError) -> Self {
        match error {
            LoadError::NotFound { .. } => Self::LibraryNotFound,
            LoadError::Stub { .. } => Self::StubLibrary,
            _ => Self::BrokenLibrary,
        }
    }
}

/// Whether every later call on the context returns this status too.
pub(super) fn is_sticky(status: CUresult) -> bool {
    matches!(
        status,
        CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
            | CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_ASSERT
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_EXTERNAL_DEVICE
            | CUresult::CUDA_ERROR_TENSOR_MEMORY_LEAK
    )
}

/// Whether the status says that the arguments were refused, so that certainly nothing was enqueued.
pub(super) fn is_refusal(status: CUresult) -> bool {
    matches!(
        status,
        CUresult::CUDA_ERROR_INVALID_VALUE
            | CUresult::CUDA_ERROR_INVALID_HANDLE
            | CUresult::CUDA_ERROR_INVALID_CONTEXT
            | CUresult::CUDA_ERROR_INVALID_DEVICE
            | CUresult::CUDA_ERROR_OUT_OF_MEMORY
            | CUresult::CUDA_ERROR_NOT_INITIALIZED
            | CUresult::CUDA_ERROR_DEINITIALIZED
            | CUresult::CUDA_ERROR_NOT_SUPPORTED
            | CUresult::CUDA_ERROR_NOT_FOUND
            | CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
            | CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
            | CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE
            | CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
            | CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
            | CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    )
}
