//! The CUDA driver API for Rust: memory-safe, with nothing to install but a driver.

pub mod call;
mod context;
mod device;
mod driver;
mod error;
mod event;
mod function;
mod launch;
mod memory;
mod module;
mod order;
mod process;
mod stream;

pub use context::{
    CacheConfig, CloseError, Context, ContextFlags, CurrentContext, Limit, MemoryInfo,
};
pub use device::{
    ComputeCapability, ComputeMode, DecompressionAlgorithms, Device, NumaConfig, PciAddress,
    PciIdentifier, PeerLink, RdmaFlushOptions, RdmaWritesOrdering, ShareableHandleTypes, Uuid,
};
pub use driver::{Driver, Version};
pub use error::{Error, ErrorKind, Result};
pub use event::{Event, EventFlags};
pub use function::{Function, FunctionAttributes, Parameter, SharedCarveout};
pub use launch::{
    Dim3, DynamicArgument, KernelArgument, KernelArguments, LaunchConfig, Null, RawParts,
};
pub use memory::{
    CopyDestination, CopySource, Deallocation, DeviceAllocation, DeviceSlice, DeviceSliceMut,
    Lender, PinnedBuffer, PinnedSlice, PinnedSliceMut, RawAllocation,
};
pub use module::{JitCacheMode, JitFallback, JitOptions, Module, ModuleLoadingMode};
pub use stream::{AnyStream, BorrowedStream, PerThreadStream, Stream, StreamFlags};

/// What the macros of this crate expand to; not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::call::{check, function};
}
