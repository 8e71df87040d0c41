//! Device memory for the time of one call, on any kind of stream.

use cuda_sys::CUdeviceptr;

use crate::call;
use crate::error::Result;
use crate::order::Queue;
use crate::stream::{StreamCore, relaxed};

/// Device memory that is used on one stream only, and freed in its order when this is dropped.
///
/// # Invariants
/// `address` is live memory until the drop, allocated on `stream`, or 0.
pub(crate) struct StreamMemory<'a> {
    stream: &'a StreamCore,
    address: CUdeviceptr,
    stream_ordered: bool,
}

impl<'a> StreamMemory<'a> {
    /// Memory of that many bytes, aligned as all allocations are; none for zero bytes.
    ///
    /// Whoever asked for a launch did not ask for memory: the capture of another thread must not refuse it, nor end by it.
    pub(crate) fn allocate(stream: &'a StreamCore, bytes: usize) -> Result<Self> {
        let mut memory = Self {
            stream,
            address: 0,
            stream_ordered: stream.context().has_stream_ordered_allocator()?,
        };
        if bytes != 0 {
            relaxed(stream.driver(), || memory.fill_in(bytes))?;
        }
        Ok(memory)
    }

    /// Allocates what there is none of yet.
    fn fill_in(&mut self, bytes: usize) -> Result<()> {
        let (stream, out) = (self.stream, &raw mut self.address);
        if self.stream_ordered {
            return stream.enqueue(|| {
                // SAFETY: the stream is live as long as its core, and the pointer is to a live address.
                unsafe {
                    call!(
                        stream.driver(),
                        cuMemAllocAsync(out, bytes, stream.as_raw())
                    )
                }
            });
        }
        let _current = stream.context().push()?;
        // SAFETY: the pointer is to a live address, and the context is current.
        let result = unsafe { call!(stream.driver(), cuMemAlloc_v2(out, bytes)) };
        stream.context().watch(result)
    }

    pub(crate) fn address(&self) -> CUdeviceptr {
        self.address
    }

    /// Sets bytes of the memory to zero, in stream order.
    pub(crate) fn zero(&self, address: CUdeviceptr, bytes: usize) -> Result<()> {
        let stream = self.stream;
        stream.enqueue(|| {
            // SAFETY: the bytes are of the memory, which is live until a later free on the same stream.
            unsafe {
                call!(
                    stream.driver(),
                    cuMemsetD8Async(address, 0, bytes, stream.as_raw())
                )
            }
        })
    }

    fn free(&self) -> Result<()> {
        let (stream, address) = (self.stream, self.address);
        if self.stream_ordered {
            return stream.enqueue(|| {
                // SAFETY: all use of the memory is in front of this on the same stream, and nothing refers to it any more.
                unsafe { call!(stream.driver(), cuMemFreeAsync(address, stream.as_raw())) }
            });
        }
        stream.finish()?;
        let _current = stream.context().push()?;
        // SAFETY: the stream is done with the memory, and nothing refers to it any more.
        unsafe { call!(stream.driver(), cuMemFree_v2(address)) }
    }
}

impl Drop for StreamMemory<'_> {
    fn drop(&mut self) {
        if self.address != 0 {
            self.stream
                .context()
                .release("free the memory of a launch", || self.free());
        }
    }
}
