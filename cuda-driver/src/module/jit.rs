//! Options of the driver's PTX compiler and linker.

mod encode;

use cuda_sys::CUjit_option;
pub(crate) use encode::Encoded;

use crate::device::ComputeCapability;

/// How the driver compiles PTX, and chooses among the code of a fat binary.
///
/// An option that is not set is left to the driver. What an option of a newer driver needs can be given
/// [raw](Self::raw).
///
/// ```
/// use cuda_driver::JitOptions;
///
/// const OPTIONS: JitOptions = JitOptions::new().max_registers(32).generate_line_info();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JitOptions {
    max_registers: Option<u32>,
    min_threads_per_block: Option<u32>,
    max_threads_per_block: Option<u32>,
    min_blocks_per_multiprocessor: Option<u32>,
    optimization_level: Option<u32>,
    target: Option<Target>,
    fallback: Option<JitFallback>,
    cache_mode: Option<JitCacheMode>,
    debug_info: bool,
    line_info: bool,
    verbose_log: bool,
    position_independent_code: bool,
    override_directives: bool,
    raw: Vec<(CUjit_option, usize)>,
}

/// What code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Context,
    Capability(ComputeCapability),
}

/// What the driver takes when a fat binary has no code that fits the device exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "CUjit_fallback")]
pub enum JitFallback {
    /// It compiles the PTX.
    PreferPtx,
    /// It takes code of an older device of the same generation, if there is any.
    PreferBinary,
}

/// Which caches loads from global memory go through, unless the PTX says so itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "CUjit_cacheMode")]
pub enum JitCacheMode {
    /// As the compiler chooses.
    Unspecified,
    /// L2 only (`.cg`).
    L2,
    /// L1 and L2 (`.ca`).
    L1AndL2,
}

impl JitOptions {
    /// No option set.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            max_registers: None,
            min_threads_per_block: None,
            max_threads_per_block: None,
            min_blocks_per_multiprocessor: None,
            optimization_level: None,
            target: None,
            fallback: None,
            cache_mode: None,
            debug_info: false,
            line_info: false,
            verbose_log: false,
            position_independent_code: false,
            override_directives: false,
            raw: Vec::new(),
        }
    }

    /// The most registers that a thread may take.
    #[must_use]
    #[doc(alias = "CU_JIT_MAX_REGISTERS")]
    pub const fn max_registers(mut self, registers: u32) -> Self {
        self.max_registers = Some(registers);
        self
    }

    /// A block size that must be possible: registers are limited so that a block of that many threads fits. Not together
    /// with a [`target`](Self::target).
    #[must_use]
    #[doc(alias = "CU_JIT_THREADS_PER_BLOCK")]
    pub const fn min_threads_per_block(mut self, threads: u32) -> Self {
        self.min_threads_per_block = Some(threads);
        self
    }

    /// The largest block that kernels are launched with, where the PTX does not say it; CUDA 12.4 and newer.
    #[must_use]
    #[doc(alias = "CU_JIT_MAX_THREADS_PER_BLOCK")]
    pub const fn max_threads_per_block(mut self, threads: u32) -> Self {
        self.max_threads_per_block = Some(threads);
        self
    }

    /// How many blocks are to fit on a multiprocessor, where the PTX does not say it; CUDA 12.4 and newer.
    #[must_use]
    #[doc(alias = "CU_JIT_MIN_CTA_PER_SM")]
    pub const fn min_blocks_per_multiprocessor(mut self, blocks: u32) -> Self {
        self.min_blocks_per_multiprocessor = Some(blocks);
        self
    }

    /// Puts these options before what the PTX says about the same things; CUDA 12.4 and newer.
    #[must_use]
    #[doc(alias = "CU_JIT_OVERRIDE_DIRECTIVE_VALUES")]
    pub const fn override_directives(mut self) -> Self {
        self.override_directives = true;
        self
    }

    /// How much the compiler optimises, from 0 to 4, which is what it does by itself.
    #[must_use]
    #[doc(alias = "CU_JIT_OPTIMIZATION_LEVEL")]
    pub const fn optimization_level(mut self, level: u32) -> Self {
        self.optimization_level = Some(level);
        self
    }

    /// Compiles for that compute capability, whose code must suit the context's device.
    #[must_use]
    #[doc(alias = "CU_JIT_TARGET")]
    pub const fn target(mut self, capability: ComputeCapability) -> Self {
        self.target = Some(Target::Capability(capability));
        self
    }

    /// Compiles for the context's device, which is also what happens without this.
    #[must_use]
    #[doc(alias = "CU_JIT_TARGET_FROM_CUCONTEXT")]
    pub const fn target_from_context(mut self) -> Self {
        self.target = Some(Target::Context);
        self
    }

    /// What to take when a fat binary has no code that fits exactly.
    #[must_use]
    #[doc(alias = "CU_JIT_FALLBACK_STRATEGY")]
    pub const fn fallback(mut self, fallback: JitFallback) -> Self {
        self.fallback = Some(fallback);
        self
    }

    /// Which caches loads go through.
    #[must_use]
    #[doc(alias = "CU_JIT_CACHE_MODE")]
    pub const fn cache_mode(mut self, mode: JitCacheMode) -> Self {
        self.cache_mode = Some(mode);
        self
    }

    /// Makes code for a debugger.
    #[must_use]
    #[doc(alias = "CU_JIT_GENERATE_DEBUG_INFO")]
    pub const fn generate_debug_info(mut self) -> Self {
        self.debug_info = true;
        self
    }

    /// Keeps line numbers, for profilers and memory checkers.
    #[must_use]
    #[doc(alias = "CU_JIT_GENERATE_LINE_INFO")]
    pub const fn generate_line_info(mut self) -> Self {
        self.line_info = true;
        self
    }

    /// Makes [`Module::info_log`](crate::Module::info_log) say what each kernel takes: registers, shared memory, spills.
    #[must_use]
    #[doc(alias = "CU_JIT_LOG_VERBOSE")]
    pub const fn verbose_log(mut self) -> Self {
        self.verbose_log = true;
        self
    }

    /// Makes code that works at any address.
    #[must_use]
    #[doc(alias = "CU_JIT_POSITION_INDEPENDENT_CODE")]
    pub const fn position_independent_code(mut self) -> Self {
        self.position_independent_code = true;
        self
    }

    /// Any other option with its value, as the driver takes it: a number as itself, a pointer by its exposed address.
    ///
    /// # Safety
    /// * The value is one that the driver documents for the option.
    /// * What it points to is valid, in each load with these options, for what the driver does with it.
    #[must_use]
    #[doc(alias = "CUjit_option")]
    pub unsafe fn raw(mut self, option: CUjit_option, value: usize) -> Self {
        self.raw.push((option, value));
        self
    }
}
