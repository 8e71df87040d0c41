//! Options of the compiler.

mod arguments;
mod cacheable;

use std::path::{Path, PathBuf};

use crate::architecture::Architecture;

/// What is made of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Output {
    /// Assembly text, which the driver compiles for its device.
    Ptx,
    /// Machine code for one architecture.
    Cubin,
    /// Intermediate code for the linker to optimise across programs; CUDA 12.0 and newer.
    LtoIr,
}

/// A dialect of C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Standard {
    /// C++11.
    Cpp11,
    /// C++14.
    Cpp14,
    /// C++17.
    Cpp17,
    /// C++20; CUDA 12.0 and newer.
    Cpp20,
    /// C++23; CUDA 13.5 and newer.
    Cpp23,
}

/// How a program is compiled. An option that is not set is left to the compiler.
///
/// ```
/// use cuda_nvrtc::{CompileOptions, Standard};
///
/// let options = CompileOptions::new()
///     .define("UNROLL", 4)
///     .include_path("kernels/include")
///     .standard(Standard::Cpp17)
///     .max_registers(64)
///     .line_info();
/// assert!(options.check().is_ok());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompileOptions {
    pub(crate) output: Option<Output>,
    pub(crate) architecture: Option<Architecture>,
    pub(crate) include_paths: Vec<PathBuf>,
    pub(crate) pre_includes: Vec<String>,
    /// Name and value, or no value for an undefined one.
    macros: Vec<(String, Option<String>)>,
    standard: Option<Standard>,
    fast_math: bool,
    flush_denormals: Option<bool>,
    precise_division: Option<bool>,
    precise_square_root: Option<bool>,
    fuse_multiply_add: Option<bool>,
    extra_vectorization: bool,
    pub(crate) debug_info: bool,
    pub(crate) line_info: bool,
    max_registers: Option<u32>,
    pub(crate) relocatable: bool,
    default_device: bool,
    restrict: bool,
    int128: bool,
    warnings_off: bool,
    warnings_are_errors: bool,
    pub(crate) cuda_headers: Option<bool>,
    pub(crate) raw: Vec<String>,
}

impl CompileOptions {
    /// No option set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What is made: by default a cubin where the program is compiled for a device, PTX for the software driver and where
    /// no device is known.
    #[must_use]
    pub fn output(mut self, output: Output) -> Self {
        self.output = Some(output);
        self
    }

    /// What the code is made for, instead of the device that it is compiled for.
    #[must_use]
    #[doc(alias = "gpu-architecture")]
    pub fn architecture(mut self, architecture: impl Into<Architecture>) -> Self {
        self.architecture = Some(architecture.into());
        self
    }

    /// Adds a directory in which `#include` looks, after the headers in memory.
    #[must_use]
    pub fn include_path(mut self, directory: impl AsRef<Path>) -> Self {
        self.include_paths.push(directory.as_ref().to_path_buf());
        self
    }

    /// Includes a header before the first line of the source.
    #[must_use]
    pub fn pre_include(mut self, header: impl Into<String>) -> Self {
        self.pre_includes.push(header.into());
        self
    }

    /// Defines a macro: `define("UNROLL", 4)`; a flag is `define("FLAG", "")`.
    #[must_use]
    pub fn define(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.macros.push((name.into(), Some(value.to_string())));
        self
    }

    /// Cancels the definition of a macro.
    #[must_use]
    pub fn undefine(mut self, name: impl Into<String>) -> Self {
        self.macros.push((name.into(), None));
        self
    }

    /// The dialect of C++.
    #[must_use]
    #[doc(alias = "std")]
    pub fn standard(mut self, standard: Standard) -> Self {
        self.standard = Some(standard);
        self
    }

    /// Trades accuracy of floating-point operations for speed: denormals are flushed, divisions and square roots are
    /// approximate, and multiplications and additions are fused.
    #[must_use]
    #[doc(alias = "use_fast_math")]
    pub fn fast_math(mut self) -> Self {
        self.fast_math = true;
        self
    }

    /// Whether denormal numbers of single precision are taken for zero.
    #[must_use]
    #[doc(alias = "ftz")]
    pub fn flush_denormals(mut self, flush: bool) -> Self {
        self.flush_denormals = Some(flush);
        self
    }

    /// Whether divisions of single precision are rounded as IEEE 754 demands.
    #[must_use]
    #[doc(alias = "prec-div")]
    pub fn precise_division(mut self, precise: bool) -> Self {
        self.precise_division = Some(precise);
        self
    }

    /// Whether square roots of single precision are rounded as IEEE 754 demands.
    #[must_use]
    #[doc(alias = "prec-sqrt")]
    pub fn precise_square_root(mut self, precise: bool) -> Self {
        self.precise_square_root = Some(precise);
        self
    }

    /// Whether a multiplication and an addition may become one operation that rounds once.
    #[must_use]
    #[doc(alias = "fmad")]
    pub fn fuse_multiply_add(mut self, fuse: bool) -> Self {
        self.fuse_multiply_add = Some(fuse);
        self
    }

    /// Lets the optimiser join loads and stores more aggressively.
    #[must_use]
    pub fn extra_vectorization(mut self) -> Self {
        self.extra_vectorization = true;
        self
    }

    /// Debug information, and no optimisation.
    #[must_use]
    #[doc(alias = "device-debug")]
    pub fn debug_info(mut self) -> Self {
        self.debug_info = true;
        self
    }

    /// Line numbers, for profilers and for reports of faults; the code stays as it is.
    #[must_use]
    #[doc(alias = "generate-line-info")]
    pub fn line_info(mut self) -> Self {
        self.line_info = true;
        self
    }

    /// The most registers that a thread may take.
    #[must_use]
    #[doc(alias = "maxrregcount")]
    pub fn max_registers(mut self, registers: u32) -> Self {
        self.max_registers = Some(registers);
        self
    }

    /// Code that calls, and is called by, other programs; it is linked before it is loaded.
    #[must_use]
    #[doc(alias = "device-c")]
    #[doc(alias = "relocatable-device-code")]
    pub fn relocatable(mut self) -> Self {
        self.relocatable = true;
        self
    }

    /// Functions without an annotation are `__device__` functions.
    #[must_use]
    #[doc(alias = "device-as-default-execution-space")]
    pub fn default_device(mut self) -> Self {
        self.default_device = true;
        self
    }

    /// Promises that no two pointer parameters of a kernel point to the same memory.
    #[must_use]
    pub fn restrict(mut self) -> Self {
        self.restrict = true;
        self
    }

    /// Permits the type `__int128`.
    #[must_use]
    #[doc(alias = "device-int128")]
    pub fn int128(mut self) -> Self {
        self.int128 = true;
        self
    }

    /// No warnings.
    #[must_use]
    #[doc(alias = "disable-warnings")]
    pub fn disable_warnings(mut self) -> Self {
        self.warnings_off = true;
        self
    }

    /// Every warning is an error; CUDA 11.8 and newer.
    #[must_use]
    #[doc(alias = "Werror")]
    pub fn warnings_are_errors(mut self) -> Self {
        self.warnings_are_errors = true;
        self
    }

    /// Whether the directories with CUDA's own headers (`cuda_fp16.h`, `cooperative_groups.h`) are searched after all
    /// others. By default they are when the program includes something that is found nowhere else.
    #[must_use]
    pub fn cuda_headers(mut self, search: bool) -> Self {
        self.cuda_headers = Some(search);
        self
    }

    /// Any other option, as it stands in the compiler's documentation; one argument each.
    ///
    /// It comes after the typed ones. A program with an option that may read or write files, or that this crate does not
    /// know, is not kept in the cache.
    #[must_use]
    pub fn raw(mut self, option: impl Into<String>) -> Self {
        self.raw.push(option.into());
        self
    }

    /// Whether the result names the working directory, as debug information does.
    pub(crate) fn names_directories(&self) -> bool {
        let raw = ["-G", "--device-debug", "-lineinfo", "--generate-line-info"];
        self.debug_info || self.line_info || self.raw.iter().any(|it| raw.contains(&it.as_str()))
    }
}
