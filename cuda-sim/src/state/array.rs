//! CUDA arrays: boxes of elements, stored row by row. No texture or surface can be made of them.

use cuda_sys::CUresult;

use crate::code;
use crate::state::State;
use crate::state::context::ContextRef;
use crate::state::space::Origin;
use crate::state::transfer::{End, Extent, Place, Strides};

/// What a caller asks of an array, or is told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// In elements.
    pub(crate) width: usize,
    /// In rows; 0 for an array of one dimension.
    pub(crate) height: usize,
    /// In slices or layers; 0 for an array without.
    pub(crate) depth: usize,
    /// `CUarray_format`
    pub(crate) format: u32,
    pub(crate) channels: u32,
    pub(crate) flags: u32,
}

impl Shape {
    /// Bytes of an element; nothing for a format or a number of channels that arrays here do not have.
    pub(crate) fn element(&self) -> Option<usize> {
        element_size(self.format, self.channels)
    }

    /// All of it, in bytes, rows and slices; nothing where a row is too long to count.
    pub(crate) fn extent(&self) -> Option<Extent> {
        Some(Extent {
            width: self.width.checked_mul(self.element()?)?,
            height: self.height.max(1),
            depth: self.depth.max(1),
        })
    }
}

/// Bytes of an element of a `CUarray_format`; nothing for a format or a number of channels that arrays here do not have.
pub(crate) fn element_size(format: u32, channels: u32) -> Option<usize> {
    let channel = match format {
        1 | 8 => 1,
        2 | 9 | 0x10 => 2,
        3 | 10 | 0x20 => 4,
        _ => return None,
    };
    matches!(channels, 1 | 2 | 4).then_some(channel * channels as usize)
}

/// A `CUarray`.
#[derive(Debug)]
pub(crate) struct Array {
    pub(crate) context: ContextRef,
    pub(crate) shape: Shape,
    extent: Extent,
    /// Where its bytes are; no caller learns this.
    address: u64,
    /// Number of the call that made it.
    pub(crate) call: u64,
}

impl Array {
    /// Bytes that it takes.
    pub(crate) fn size(&self) -> usize {
        self.extent.bytes().unwrap_or(0)
    }

    /// A box in it, `offset` bytes, rows and slices from its start.
    ///
    /// # Errors
    /// `INVALID_VALUE` where the box is not inside of it.
    pub(crate) fn end(&self, offset: [usize; 3], extent: Extent) -> Result<End, CUresult> {
        let [x, y, z] = offset;
        let inside = |start: usize, len: usize, all: usize| {
            start.checked_add(len).is_some_and(|end| end <= all)
        };
        let fits = inside(x, extent.width, self.extent.width)
            && inside(y, extent.height, self.extent.height)
            && inside(z, extent.depth, self.extent.depth);
        if !fits {
            return Err(code::INVALID_VALUE);
        }
        let strides = Strides::dense(self.extent);
        let before = z * strides.slice + y * strides.row + x;
        Ok(End {
            place: Place::Device(self.address + before as u64),
            strides,
        })
    }
}

impl State {
    /// The array of a handle, in a healthy context.
    ///
    /// # Errors
    /// `INVALID_HANDLE`, or the error of its context.
    pub(crate) fn array(&self, handle: u64) -> Result<&Array, CUresult> {
        let array = self.arrays.get(handle)?;
        self.healthy(array.context)?;
        Ok(array)
    }

    /// Adds an array of a shape that was checked.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`
    pub(crate) fn create_array(
        &mut self,
        context: ContextRef,
        shape: Shape,
        call: u64,
    ) -> Result<u64, CUresult> {
        let extent = shape.extent().ok_or(code::OUT_OF_MEMORY)?;
        let size = extent.bytes().ok_or(code::OUT_OF_MEMORY)?;
        let address = self.allocate_device(context, size, Origin::Array, call)?;
        // No address leads to it.
        if let Some(block) = self.space.at_mut(address) {
            block.allocation = None;
        }
        Ok(self.arrays.insert(Array {
            context,
            shape,
            extent,
            address,
            call,
        }))
    }

    /// Removes an array. Nothing may use it any more.
    ///
    /// # Errors
    /// `INVALID_HANDLE`
    pub(crate) fn destroy_array(&mut self, handle: u64, call: u64) -> Result<(), CUresult> {
        let reuse = self.options.reuse_handles;
        let array = self.arrays.remove(handle, reuse)?;
        self.release_block(array.address, call);
        Ok(())
    }
}
