//! The options of `cuModuleLoadDataEx`.

use std::ffi::c_void;

use cuda_sys::{CUjit_option, CUresult};

use crate::args::{In, Out};
use crate::call::Call;
use crate::code;
use crate::image::Refusal;

/// A buffer for a log.
#[derive(Debug, Clone, Copy)]
struct Log {
    buffer: Out<std::ffi::c_char>,
    size: usize,
    /// Where the length that was written goes: the place of the option's value.
    length: Out<usize>,
}

/// What a caller asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    info: Option<Log>,
    error: Option<Log>,
}

impl Options {
    /// Reads the options. Those that guide a compiler are accepted and without effect.
    ///
    /// # Errors
    /// `INVALID_VALUE` for options without values and for numbers that no option has.
    pub(crate) fn read(
        count: usize,
        options: In<CUjit_option>,
        values: In<*mut c_void>,
    ) -> Result<Self, CUresult> {
        let (mut buffers, mut sizes) = ([None; 2], [(0, None); 2]);
        for index in 0..count {
            let (option, value) = (options.at(index)?, values.at(index)?);
            let place = values.place(index);
            match option {
                CUjit_option::CU_JIT_INFO_LOG_BUFFER => buffers[0] = Some(value),
                CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES => {
                    sizes[0] = (value.addr() as u32 as usize, Some(place))
                }
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER => buffers[1] = Some(value),
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => {
                    sizes[1] = (value.addr() as u32 as usize, Some(place))
                }
                // A time in milliseconds, as a float in the place of the value.
                CUjit_option::CU_JIT_WALL_TIME => place.cast::<f32>().set(0.0),
                _ if option.0 < CUjit_option::CU_JIT_NUM_OPTIONS.0 => {}
                _ => return Err(code::INVALID_VALUE),
            }
        }
        for (buffer, (_, place)) in buffers.iter().zip(&sizes) {
            let useless = |buffer: *mut c_void| buffer.is_null() || place.is_none();
            if buffer.is_some_and(useless) {
                return Err(code::INVALID_VALUE);
            }
        }
        let log = |which: usize| {
            let (size, length) = *sizes.get(which)?;
            let buffer = (*buffers.get(which)?)?;
            Some(Log {
                buffer: Out::from_pointer(buffer.cast()),
                size,
                length: length?.cast(),
            })
        };
        Ok(Self {
            info: log(0),
            error: log(1),
        })
    }

    /// Writes the log of a refused image, and keeps the reason where something is not built.
    pub(crate) fn refuse(&self, call: &Call<'_>, refusal: &Refusal) -> CUresult {
        self.write_error(&refusal.message);
        if refusal.result == code::NOT_SUPPORTED {
            call.instance
                .unsupported
                .lock()
                .push(refusal.message.clone());
        }
        refusal.result
    }

    /// Writes the error log, if it was asked for.
    pub(crate) fn write_error(&self, text: &str) {
        write(self.error, text);
        write(self.info, "");
    }

    /// Writes the information log, if it was asked for.
    pub(crate) fn write_info(&self, text: &str) {
        write(self.info, text);
        write(self.error, "");
    }
}

fn write(log: Option<Log>, text: &str) {
    let Some(log) = log.filter(|log| log.size > 0) else {
        return;
    };
    crate::args::copy_text(log.buffer, log.size, text);
    log.length.set(text.len().min(log.size - 1));
}
