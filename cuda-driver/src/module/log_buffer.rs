//! Where the driver's compiler and linker write their logs.

use std::sync::atomic::{AtomicU8, Ordering};

use cuda_sys::CUjit_option;

use super::jit::{Encoded, JitOptions};

/// Bytes for a log.
const SHORT: usize = 8 << 10;
/// Bytes for a log that is known to be long.
const LONG: usize = 1 << 20;

/// A text up to a NUL. The driver may write to it whenever it likes, as long as it has the address.
#[derive(Debug)]
pub(crate) struct LogBuffer(Box<[AtomicU8]>);

impl LogBuffer {
    pub(crate) fn new(capacity: usize) -> Self {
        Self((0..capacity).map(|_| AtomicU8::new(0)).collect())
    }

    /// Bytes that suffice for most logs with these options.
    pub(crate) fn capacity_for(options: &JitOptions) -> usize {
        if options.has_verbose_log() {
            LONG
        } else {
            SHORT
        }
    }

    /// Adds the buffer and its size to the options, for what the compiler remarks.
    pub(crate) fn announce_for_information(&self, encoded: &mut Encoded) {
        let buffer = CUjit_option::CU_JIT_INFO_LOG_BUFFER;
        self.announce(
            encoded,
            buffer,
            CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        );
    }

    /// Adds the buffer and its size to the options, for what the compiler refuses.
    pub(crate) fn announce_for_errors(&self, encoded: &mut Encoded) {
        let buffer = CUjit_option::CU_JIT_ERROR_LOG_BUFFER;
        self.announce(
            encoded,
            buffer,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        );
    }

    fn announce(&self, encoded: &mut Encoded, buffer: CUjit_option, size: CUjit_option) {
        encoded.push(buffer, self.0.as_ptr().cast_mut().cast());
        encoded.push_number(size, self.0.len());
    }

    fn bytes(&self) -> Vec<u8> {
        let bytes = self.0.iter().map(|byte| byte.load(Ordering::Relaxed));
        bytes.take_while(|&byte| byte != 0).collect()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bytes().len() + 1 >= self.0.len()
    }

    pub(crate) fn text(&self) -> String {
        let bytes = self.bytes();
        let mut text = String::from_utf8_lossy(&bytes).trim().to_owned();
        if bytes.len() + 1 >= self.0.len() {
            text.push_str("\n… (the log is longer)");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(buffer: &LogBuffer, text: &[u8]) {
        for (place, &byte) in buffer.0.iter().zip(text) {
            place.store(byte, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_log_that_did_not_fit_says_so() {
        let buffer = LogBuffer::new(16);
        write(&buffer, b"short");
        assert!(!buffer.is_full());
        assert_eq!(buffer.text(), "short");
        for used in [15, 16] {
            write(&buffer, &[b'x'; 16][..used]);
            assert!(buffer.is_full());
            assert!(buffer.text().ends_with("x\n… (the log is longer)"));
        }
    }
}
