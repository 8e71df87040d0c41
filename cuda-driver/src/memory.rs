//! Memory: of the device, page-locked memory of the host, and the copies between them.
//!
//! C groups: memory management, stream-ordered allocation and unified addressing.

mod allocate;
mod allocation;
mod block;
mod copy;
mod element;
mod fill;
mod foreign;
mod host_wait;
mod owner;
mod pinned;
mod pinned_slice;
mod place;
mod raw_parts;
mod slice;
pub(crate) mod staging;
mod stream_memory;
mod transfer;

pub use allocation::DeviceAllocation;
pub(crate) use block::Block;
pub(crate) use copy::copy;
pub(crate) use element::{Element, bounds, offset, require_equal_len, size_in_bytes};
pub use foreign::Lender;
pub use pinned::PinnedBuffer;
pub use pinned_slice::{PinnedSlice, PinnedSliceMut};
pub(crate) use place::Place;
pub(crate) use place::sealed as place_sealed;
pub use place::{CopyDestination, CopySource};
pub use raw_parts::{Deallocation, RawAllocation};
pub use slice::{DeviceSlice, DeviceSliceMut};
pub(crate) use stream_memory::StreamMemory;
pub(crate) use transfer::{device_to_host, host_to_device};
