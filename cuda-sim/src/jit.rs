//! The options of functions that compile: `CUjit_option`.

use std::ffi::c_void;

use cuda_sys::{CUjit_option, CUresult};

use crate::args::{In, Out};
use crate::call::Call;
use crate::code;
use crate::image::{Refusal, refuse};

/// A buffer for a log, which may stay with a linker for longer than one call.
#[derive(Debug, Clone, Copy)]
struct Log {
    buffer: Out<std::ffi::c_char>,
    size: usize,
    /// Where the length that was written goes: the place of the option's value.
    length: Out<usize>,
}

// SAFETY: the places are the caller's, who promised that they stay valid as long as the options are used: during a call, and of a linker until
// it is destroyed. They are written while the instance is locked, or by the call that they were passed to.
unsafe impl Send for Log {}

/// What a caller asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    info: Option<Log>,
    error: Option<Log>,
    /// `10 * major + minor` of the architecture to compile for, where it is not the context's.
    target: Option<u32>,
    max_registers: Option<u32>,
}

/// Options of drivers until 13.0; later ones are unknown to it.
const KNOWN: u32 = CUjit_option::CU_JIT_SPLIT_COMPILE.0;

/// A buffer and its size are two options, which come in any order.
#[derive(Debug, Default)]
struct Halves {
    buffer: Option<*mut c_void>,
    size: Option<(usize, Out<usize>)>,
}

impl Halves {
    /// The whole.
    ///
    /// # Errors
    /// `INVALID_VALUE` where one is missing, or the buffer is null.
    fn join(self) -> Result<Option<Log>, CUresult> {
        match (self.buffer, self.size) {
            (None, None) => Ok(None),
            (Some(buffer), Some((size, length))) if !buffer.is_null() => Ok(Some(Log {
                buffer: Out::from_pointer(buffer.cast()),
                size,
                length,
            })),
            _ => Err(code::INVALID_VALUE),
        }
    }
}

impl Options {
    /// Reads the options. Of those that guide a compiler, the target and the most registers count; the others are checked and without effect.
    ///
    /// # Errors
    /// `INVALID_VALUE` for options without values, numbers that no option has, values that the option cannot have, and options that
    /// exclude each other; `INVALID_IMAGE` for a small target that is no architecture.
    pub(crate) fn read(
        count: usize,
        options: In<CUjit_option>,
        values: In<*mut c_void>,
    ) -> Result<Self, CUresult> {
        type J = CUjit_option;
        let (mut info, mut error) = (Halves::default(), Halves::default());
        let (mut target, mut max_registers, mut threads) = (None, None, false);
        for index in 0..count {
            let (option, value) = (options.at(index)?, values.at(index)?);
            let place = values.place(index);
            let number = value.addr() as u32;
            let size = Some((number as usize, place.cast()));
            let within = |allowed: bool| {
                if allowed {
                    Ok(())
                } else {
                    Err(code::INVALID_VALUE)
                }
            };
            match option {
                J::CU_JIT_INFO_LOG_BUFFER => info.buffer = Some(value),
                J::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES => info.size = size,
                J::CU_JIT_ERROR_LOG_BUFFER => error.buffer = Some(value),
                J::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => error.size = size,
                // A time in milliseconds, as a float in the place of the value.
                J::CU_JIT_WALL_TIME => place.cast::<f32>().set(0.0),
                J::CU_JIT_MAX_REGISTERS => {
                    within(number > 0)?;
                    max_registers = Some(number);
                }
                J::CU_JIT_THREADS_PER_BLOCK => {
                    within(number > 0)?;
                    threads = true;
                }
                J::CU_JIT_TARGET => {
                    within_architectures(number)?;
                    target = Some(number);
                }
                J::CU_JIT_CACHE_MODE => within(number <= 2)?,
                J::CU_JIT_REFERENCED_KERNEL_NAMES | J::CU_JIT_REFERENCED_VARIABLE_NAMES => {
                    within(!value.is_null())?;
                }
                // Symbols that the caller places belong to linking, and come with their addresses and their number.
                J::CU_JIT_GLOBAL_SYMBOL_NAMES
                | J::CU_JIT_GLOBAL_SYMBOL_ADDRESSES
                | J::CU_JIT_GLOBAL_SYMBOL_COUNT => within(false)?,
                _ => within(option.0 <= KNOWN)?,
            }
        }
        if target.is_some() && threads {
            return Err(code::INVALID_VALUE);
        }
        Ok(Self {
            info: info.join()?,
            error: error.join()?,
            target,
            max_registers,
        })
    }

    /// Refuses a target that a module's device is not.
    ///
    /// # Errors
    /// `INVALID_SOURCE`, as a refusal.
    pub(crate) fn check_target(&self, device: u32) -> Result<(), Refusal> {
        match self.target {
            Some(target) if target != device => Err(refuse(
                code::INVALID_SOURCE,
                format!(
                    "the options ask for code for sm_{target}, which the device, an sm_{device}, cannot run"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// The architecture to compile for, where it is not the context's.
    pub(crate) fn target(&self) -> Option<u32> {
        self.target
    }

    /// The most registers of a thread in kernels that state no bound of their own.
    pub(crate) fn max_registers(&self) -> Option<u32> {
        self.max_registers
    }

    /// Writes the log of a refused image, and keeps the reason where something is not built.
    pub(crate) fn refuse(&self, call: &Call<'_>, refusal: &Refusal) -> CUresult {
        self.write(&refusal.message, "");
        refusal.note(call)
    }

    /// Writes the logs that were asked for.
    pub(crate) fn write(&self, error: &str, info: &str) {
        write(self.error, error);
        write(self.info, info);
    }
}

/// Refuses what is no architecture of a GPU.
fn within_architectures(number: u32) -> Result<(), CUresult> {
    match number {
        0..30 => Err(code::INVALID_IMAGE),
        30..130 => Ok(()),
        _ => Err(code::INVALID_VALUE),
    }
}

fn write(log: Option<Log>, text: &str) {
    let Some(log) = log else {
        return;
    };
    crate::args::copy_text(log.buffer, log.size, text);
    // A log that was cut has the length of its buffer.
    log.length.set(text.len().min(log.size));
}
