//! Local memory: what each thread has for itself.

use crate::WARP_SIZE;

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
        self.bytes.fill(0);
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
