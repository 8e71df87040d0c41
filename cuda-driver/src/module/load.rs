//! Loading an image with the compiler's logs.

use std::sync::Arc;
use std::time::Duration;

use cuda_sys::{CUjit_option, CUmodule};

use super::diagnosis::{self, Target};
use super::image::Image;
use super::jit::JitOptions;
use super::log_buffer::LogBuffer;
use crate::call;
use crate::context::ContextCore;
use crate::error::Result;

/// A module that was just loaded, and what the compiler reported about it.
pub(super) struct Loaded {
    pub(super) raw: CUmodule,
    pub(super) info_log: String,
    pub(super) wall_time: Option<Duration>,
}

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
    let mut capacity = LogBuffer::capacity_for(options);
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
            let target = Target {
                driver: context.driver(),
                device: Some(context.device()),
            };
            let error = diagnosis::explain(error, target, &image.facts(), &attempt.options);
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
        let info = LogBuffer::new(capacity);
        let error = LogBuffer::new(capacity);
        info.announce_for_information(&mut encoded);
        error.announce_for_errors(&mut encoded);
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
        Ok(Self {
            result: result.map(|()| raw),
            info,
            error,
            wall_time: encoded.wall_time(time),
            options: asked,
        })
    }
}
