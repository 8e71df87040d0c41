//! Options of the linker.

use crate::architecture::Architecture;
use crate::options::Output;

/// How programs are linked. An option that is not set is left to the linker.
///
/// ```
/// use cuda_nvrtc::{Architecture, LinkOptions};
///
/// let options = LinkOptions::new(Architecture::new(9, 0)).link_time_optimization().max_registers(64);
/// assert_eq!(options.architecture(), Architecture::new(9, 0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkOptions {
    architecture: Architecture,
    lto: bool,
    ptx: bool,
    debug_info: bool,
    line_info: bool,
    verbose: bool,
    optimization_level: Option<u32>,
    max_registers: Option<u32>,
    flush_denormals: Option<bool>,
    precise_division: Option<bool>,
    precise_square_root: Option<bool>,
    fuse_multiply_add: Option<bool>,
    kernels: Vec<String>,
    raw: Vec<String>,
}

impl LinkOptions {
    /// For an architecture, which the linker must know.
    #[must_use]
    pub fn new(architecture: Architecture) -> Self {
        Self {
            architecture,
            lto: false,
            ptx: false,
            debug_info: false,
            line_info: false,
            verbose: false,
            optimization_level: None,
            max_registers: None,
            flush_denormals: None,
            precise_division: None,
            precise_square_root: None,
            fuse_multiply_add: None,
            kernels: Vec::new(),
            raw: Vec::new(),
        }
    }

    /// What it is linked for.
    #[must_use]
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Optimises across all inputs; for inputs of LTO-IR it must be set.
    #[must_use]
    #[doc(alias = "lto")]
    pub fn link_time_optimization(mut self) -> Self {
        self.lto = true;
        self
    }

    /// PTX instead of a cubin; only together with [link-time optimisation](Self::link_time_optimization).
    #[must_use]
    pub fn ptx(mut self) -> Self {
        self.ptx = true;
        self
    }

    /// Debug information.
    #[must_use]
    pub fn debug_info(mut self) -> Self {
        self.debug_info = true;
        self
    }

    /// Line numbers.
    #[must_use]
    pub fn line_info(mut self) -> Self {
        self.line_info = true;
        self
    }

    /// What was done, in [`Linked::log`](crate::Linked::log).
    #[must_use]
    pub fn verbose(mut self) -> Self {
        self.verbose = true;
        self
    }

    /// The level of optimisation: 0 or 3.
    #[must_use]
    pub fn optimization_level(mut self, level: u32) -> Self {
        self.optimization_level = Some(level);
        self
    }

    /// The most registers that a thread may take.
    #[must_use]
    pub fn max_registers(mut self, registers: u32) -> Self {
        self.max_registers = Some(registers);
        self
    }

    /// Whether denormal numbers of single precision are taken for zero, in LTO-IR.
    #[must_use]
    pub fn flush_denormals(mut self, flush: bool) -> Self {
        self.flush_denormals = Some(flush);
        self
    }

    /// Whether divisions of single precision are rounded as IEEE 754 demands, in LTO-IR.
    #[must_use]
    pub fn precise_division(mut self, precise: bool) -> Self {
        self.precise_division = Some(precise);
        self
    }

    /// Whether square roots of single precision are rounded as IEEE 754 demands, in LTO-IR.
    #[must_use]
    pub fn precise_square_root(mut self, precise: bool) -> Self {
        self.precise_square_root = Some(precise);
        self
    }

    /// Whether a multiplication and an addition may become one operation that rounds once, in LTO-IR.
    #[must_use]
    pub fn fuse_multiply_add(mut self, fuse: bool) -> Self {
        self.fuse_multiply_add = Some(fuse);
        self
    }

    /// Names a kernel that is used; once any is named, all others may be left out.
    #[must_use]
    pub fn keep_kernel(mut self, name: impl Into<String>) -> Self {
        self.kernels.push(name.into());
        self
    }

    /// Any other option, as it stands in the linker's documentation.
    #[must_use]
    pub fn raw(mut self, option: impl Into<String>) -> Self {
        self.raw.push(option.into());
        self
    }

    pub(super) fn output(&self) -> Output {
        if self.ptx { Output::Ptx } else { Output::Cubin }
    }

    pub(super) fn arguments(&self) -> Vec<String> {
        let prefix = if self.ptx { "compute" } else { "sm" };
        let mut arguments = vec![format!("-arch={prefix}_{}", self.architecture)];
        for (wanted, option) in [
            (self.lto, "-lto"),
            (self.ptx, "-ptx"),
            (self.debug_info, "-g"),
            (self.line_info, "-lineinfo"),
            (self.verbose, "-verbose"),
        ] {
            if wanted {
                arguments.push(option.into());
            }
        }
        arguments.extend(self.optimization_level.map(|it| format!("-O{it}")));
        arguments.extend(self.max_registers.map(|it| format!("-maxrregcount={it}")));
        for (option, value) in [
            ("ftz", self.flush_denormals),
            ("prec-div", self.precise_division),
            ("prec-sqrt", self.precise_square_root),
            ("fma", self.fuse_multiply_add),
        ] {
            arguments.extend(value.map(|value| format!("-{option}={}", u8::from(value))));
        }
        arguments.extend(self.kernels.iter().map(|it| format!("-kernels-used={it}")));
        arguments.extend(self.raw.iter().cloned());
        arguments
    }
}
