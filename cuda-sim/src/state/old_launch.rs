//! What the first launches kept in the function: `CUDA_EXEC_DEPRECATED`.

/// The shape and the parameters of the next such launch.
#[derive(Debug)]
pub(crate) struct OldLaunch {
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    /// Bytes of parameters.
    pub(crate) size: usize,
    /// What was set of them.
    pub(crate) bytes: Vec<u8>,
}

impl Default for OldLaunch {
    fn default() -> Self {
        Self {
            block: [1; 3],
            shared: 0,
            size: 0,
            bytes: Vec::new(),
        }
    }
}

/// Bytes of parameters that the largest kernel takes.
const LARGEST_BUFFER: usize = 32_764;

impl OldLaunch {
    /// Writes parameters; whether they are within what a kernel can take.
    pub(crate) fn set(&mut self, offset: usize, bytes: &[u8]) -> bool {
        let Some(end) = offset
            .checked_add(bytes.len())
            .filter(|end| *end <= LARGEST_BUFFER)
        else {
            return false;
        };
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        if let Some(place) = self.bytes.get_mut(offset..end) {
            place.copy_from_slice(bytes);
        }
        true
    }

    /// The parameter buffer.
    pub(crate) fn params(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes.resize(self.size.min(LARGEST_BUFFER), 0);
        bytes
    }
}
