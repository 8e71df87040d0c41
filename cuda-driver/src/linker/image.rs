//! What a linker makes.

use std::ffi::c_void;
use std::fmt;
use std::time::Duration;

use crate::context::Context;
use crate::driver::Driver;
use crate::error::{Doing, Result};
use crate::library::{Library, LibraryOptions};
use crate::module::{Image, Module};
use crate::{JitOptions, process};

/// A linked image, which contexts can load.
///
/// # Invariants
/// It is what a driver's linker made, unchanged.
#[derive(Clone)]
pub struct LinkedImage {
    words: Vec<u64>,
    len: usize,
    info_log: String,
    time: Option<Duration>,
}

impl LinkedImage {
    /// Copies what a linker made.
    ///
    /// # Safety
    /// `size` bytes are at `start`, from a driver's linker.
    pub(super) unsafe fn copy(
        start: *const c_void,
        size: usize,
        info_log: String,
        time: Option<Duration>,
    ) -> Self {
        let mut words = vec![0_u64; size.div_ceil(size_of::<u64>())];
        if size != 0 {
            let to = words.as_mut_ptr().cast();
            // SAFETY: both have that many bytes, by the caller's promise and by the line above, and do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(start.cast::<u8>(), to, size) };
        }
        Self {
            words,
            len: size,
            info_log,
            time,
        }
    }

    /// The image: a cubin, from all drivers so far.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let bytes: &[u8] = bytemuck::cast_slice(&self.words);
        bytes.get(..self.len).unwrap_or(bytes)
    }

    /// What the compiler and the linker remarked.
    #[must_use]
    pub fn info_log(&self) -> &str {
        &self.info_log
    }

    /// How long compiler and linker took, where the driver says.
    #[doc(alias = "CU_JIT_WALL_TIME")]
    #[must_use]
    pub fn link_time(&self) -> Option<Duration> {
        self.time
    }
}

impl Context {
    /// Loads what a linker made; the inputs were vouched for when they were added.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidImage`](crate::ErrorKind::InvalidImage) if it was linked for another device; what else the
    /// driver returns.
    #[doc(alias = "cuModuleLoadData")]
    pub fn load_linked(&self, image: &LinkedImage) -> Result<Module> {
        let doing = || "load a linked image";
        process::drop_postponed();
        let image = Image::detect(image.as_bytes()).doing(doing)?;
        let variables = image.variables().into();
        Module::load(self, &image, &JitOptions::new(), None, variables).doing(doing)
    }
}

impl Driver {
    /// Loads what a linker made for every context of this driver; the inputs were vouched for when they were added.
    ///
    /// # Errors
    /// As [`Context::load_linked`], or when a context first asks for something of it.
    #[doc(alias = "cuLibraryLoadData")]
    pub fn load_library_linked(&self, image: &LinkedImage) -> Result<Library> {
        let doing = || "load a linked image as a library";
        let image = Image::detect(image.as_bytes()).doing(doing)?;
        self.load_library(image, &LibraryOptions::new())
            .doing(doing)
    }
}

impl fmt::Debug for LinkedImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkedImage")
            .field("size_in_bytes", &self.len)
            .field("link_time", &self.time)
            .finish_non_exhaustive()
    }
}
