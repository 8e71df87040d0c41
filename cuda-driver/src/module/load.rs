//! Loading an image with the compiler's logs.

use std::sync::Arc;
use std::time::Duration;

use cuda_sys::{CUjit_option, CUmodule};

use super::diagnosis;
use super::image::Image;
use super::jit::{Encoded, JitOptions};
use crate::call;
use crate::context::ContextCore;
use crate::error::Result;

/// A module that was just loaded, and what the compiler reported about it.
pub(super) struct Loaded {
    pub(super) raw: CUmodule,
    pub(super) info_log: String,
    pub(super) wall_time: Option<Duration>,
}

/// Bytes for each log at first.
const SHORT: usize = 8 << 10;
/// Bytes for each log at first when it is known to be long.
const LONG: usize = 1 << 20;
/// Beyond this many bytes, a log stays truncated.
const LONGEST: usize = 4 << 20;

/// Loads the image; once more with more room where the log of a failure did not fit.
///
/// After a success it is not tried again: the compiler would take the code from its cache, and say nothing.
pub(super) fn load(
    context: &Arc<ContextCore>,
    image: &Image<'_>,
    options: &JitOptions,
) -> Result<Loaded> {
    let _current = context.push()?;
    let mut capacity = if options.has_verbose_log() {
        LONG
    } else {
        SHORT
    };
    let mut attempt = Attempt::make(context, image, options, capacity)?;
    while attempt.result.is_err() && attempt.error.is_full() && capacity < LONGEST {
        capacity *= 8;
        attempt = Attempt::make(context, image, options, capacity)?;
    }
    match attempt.result {
        Ok(raw) => Ok(Loaded {
            raw,
            info_log: attempt.info.text(),
            wall_time: attempt.wall_time,
        }),
        Err(error) => {
            let log = attempt.error.text();
            let error = diagnosis::explain(error, context, image, &attempt.options);
            let error = match image.text() {
                Some(source) => error.with_log(diagnosis::with_source(log, &source)),
                None => error.with_log(log),
            };
            context.watch(Err(error))
        }
    }
}

/// One call of the driver.
struct Attempt {
    result: Result<CUmodule>,
    info: LogBuffer,
    error: LogBuffer,
    wall_time: Option<Duration>,
    /// What was asked for beside the logs.
    options: Vec<CUjit_option>,
}

impl Attempt {
    /// Calls the driver, with the context current.
    fn make(
        context: &ContextCore,
        image: &Image<'_>,
        options: &JitOptions,
        capacity: usize,
    ) -> Result<Self> {
        let mut encoded = options.encode()?;
        let asked = encoded.options().to_vec();
        let mut info = LogBuffer::new(capacity);
        let mut error = LogBuffer::new(capacity);
        info.announce(
            &mut encoded,
            CUjit_option::CU_JIT_INFO_LOG_BUFFER,
            CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        );
        error.announce(
            &mut encoded,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        );
        let time = encoded.push_number(CUjit_option::CU_JIT_WALL_TIME, 0);
        let count = u32::try_from(encoded.len())?;
        let (keys, values) = encoded.as_mut_ptrs();
        let mut raw = std::ptr::null_mut();
        let out = &raw mut raw;
        let data = image.as_ptr();
        // SAFETY: by the image's invariant the driver finds its end within it, and it is aligned; each list has `count`
        // items; the buffers that they name live until the call returns and have the sizes that they name.
        let result = unsafe {
            call!(
                context.driver(),
                cuModuleLoadDataEx(out, data, count, keys, values)
            )
        };
        // The driver gives milliseconds, and leaves the zero where it compiled nothing.
        let milliseconds = f32::from_bits(encoded.written(time));
        let wall_time = Duration::try_from_secs_f32(milliseconds / 1e3).ok();
        Ok(Self {
            result: result.map(|()| raw),
            info,
            error,
            wall_time: wall_time.filter(|time| !time.is_zero()),
            options: asked,
        })
    }
}

/// Where the driver writes a log: text up to a NUL.
struct LogBuffer(Vec<u8>);

impl LogBuffer {
    fn new(capacity: usize) -> Self {
        Self(vec![0; capacity])
    }

    /// Adds the buffer and its size to the options.
    fn announce(&mut self, encoded: &mut Encoded, buffer: CUjit_option, size: CUjit_option) {
        encoded.push(buffer, self.0.as_mut_ptr().cast());
        encoded.push_number(size, self.0.len());
    }

    fn len(&self) -> usize {
        let end = self.0.iter().position(|&byte| byte == 0);
        end.unwrap_or(self.0.len())
    }

    fn is_full(&self) -> bool {
        self.len() + 1 >= self.0.len()
    }

    fn text(&self) -> String {
        let bytes = self.0.get(..self.len()).unwrap_or(&[]);
        let mut text = String::from_utf8_lossy(bytes).trim().to_owned();
        if self.is_full() {
            text.push_str("\n… (the log is longer)");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_did_not_fit_says_so() {
        let mut buffer = LogBuffer::new(16);
        buffer.0[..5].copy_from_slice(b"short");
        assert!(!buffer.is_full());
        assert_eq!(buffer.text(), "short");
        for used in [15, 16] {
            buffer.0[..used].fill(b'x');
            assert!(buffer.is_full());
            assert!(buffer.text().ends_with("x\n… (the log is longer)"));
        }
    }
}
