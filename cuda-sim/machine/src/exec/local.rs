//! Local memory: what each thread has for itself.

use crate::WARP_SIZE;

/// Makes all bytes zero. An empty slice is left alone: the C library's `memset` may store nothing to where it points, by an instruction
/// with an empty mask, and at an address where nothing is that takes hundreds of cycles.
pub(super) fn clear(bytes: &mut [u8]) {
    if !bytes.is_empty() {
        bytes.fill(0);
    }
}

/// Local memory of a warp, lane after lane.
#[derive(Debug, Default)]
pub(crate) struct LocalMemory {
    pub(super) bytes: Vec<u8>,
    /// Bytes of each lane.
    pub(super) stride: usize,
}

impl LocalMemory {
    /// Makes everything zero.
    pub(crate) fn clear(&mut self) {
        clear(&mut self.bytes);
    }

    /// Makes room for `stride` bytes in each lane; what is there stays.
    pub(crate) fn grow(&mut self, stride: usize) {
        if stride <= self.stride {
            return;
        }
        let stride = stride.next_power_of_two();
        let mut bytes = vec![0; stride * WARP_SIZE];
        if self.stride > 0 {
            for (new, old) in bytes
                .chunks_exact_mut(stride)
                .zip(self.bytes.chunks_exact(self.stride))
            {
                new[..self.stride].copy_from_slice(old);
            }
        }
        (self.bytes, self.stride) = (bytes, stride);
    }
}
