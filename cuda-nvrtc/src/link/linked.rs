//! What linking gave.

use std::fmt;

use cuda_driver::{Context, Module};

use crate::error::{Doing, Error, ErrorKind, Result};
use crate::options::Output;

/// Linked programs.
///
/// # Invariants
/// The image is what nvJitLink made, unchanged.
#[derive(Clone)]
pub struct Linked {
    output: Output,
    image: Vec<u8>,
    log: String,
}

impl Linked {
    pub(super) fn new(output: Output, image: Vec<u8>, log: String) -> Self {
        Self { output, image, log }
    }

    /// What was made: a cubin or PTX.
    #[must_use]
    pub fn output(&self) -> Output {
        self.output
    }

    /// The bytes: a cubin, or PTX without the NUL that C puts behind it.
    #[must_use]
    pub fn image(&self) -> &[u8] {
        &self.image
    }

    /// The text, if PTX was made.
    #[must_use]
    pub fn ptx(&self) -> Option<&str> {
        match self.output {
            Output::Ptx => std::str::from_utf8(&self.image).ok(),
            Output::Cubin | Output::LtoIr => None,
        }
    }

    /// What the linker remarked; mostly empty, unless it was asked to be [verbose](crate::LinkOptions::verbose).
    #[must_use]
    pub fn log(&self) -> &str {
        &self.log
    }

    /// Loads what was linked into a context.
    ///
    /// # Errors
    /// What the driver returns.
    pub fn load(&self, context: &Context) -> Result<Module> {
        let doing = || "load linked programs";
        let module = match (self.output, self.ptx()) {
            (Output::Ptx, Some(text)) => context.load_ptx(text),
            (Output::Ptx, None) => {
                return Err(
                    Error::new(ErrorKind::WrongOutput, "the PTX is not UTF-8").doing(doing())
                );
            }
            // SAFETY: by this type's invariants the image is what the linker for the GPU made, unchanged.
            _ => unsafe { context.load_binary(&self.image) },
        };
        module.map_err(Error::from).doing(doing)
    }
}

impl fmt::Debug for Linked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linked")
            .field("output", &self.output)
            .field("size_in_bytes", &self.image.len())
            .finish_non_exhaustive()
    }
}
