//! How a library is loaded.

use crate::JitOptions;

/// How a library is loaded.
///
/// ```
/// use cuda_driver::{JitOptions, LibraryOptions};
///
/// let options = LibraryOptions::new().jit(JitOptions::new().max_registers(32)).preserve_image();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LibraryOptions {
    pub(super) jit: JitOptions,
    pub(super) preserve: bool,
}

impl LibraryOptions {
    /// No option set.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            jit: JitOptions::new(),
            preserve: false,
        }
    }

    /// How PTX is compiled.
    #[must_use]
    pub fn jit(mut self, options: JitOptions) -> Self {
        self.jit = options;
        self
    }

    /// Lets the driver read the image as long as the library is loaded, so that it need not make a copy. This crate keeps
    /// the image meanwhile; the caller's slice is free.
    #[must_use]
    #[doc(alias = "CU_LIBRARY_BINARY_IS_PRESERVED")]
    pub const fn preserve_image(mut self) -> Self {
        self.preserve = true;
        self
    }
}
