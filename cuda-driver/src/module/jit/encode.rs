//! JIT options as the driver takes them: a list of options, and a list with one value for each of them.
//!
//! Every option has its place in the list of values, whether it takes a value or not; numbers stand there themselves, not
//! by address. Some values the driver overwrites with what it found out.

use std::ffi::c_void;
use std::ptr;
use std::time::Duration;

use cuda_sys::{CUjit_cacheMode, CUjit_fallback, CUjit_option};

use super::{JitCacheMode, JitFallback, JitOptions, Target};
use crate::error::{Error, Result};

/// # Invariants
/// The lists are of one length.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    options: Vec<CUjit_option>,
    values: Vec<*mut c_void>,
}

impl Encoded {
    /// Adds an option with its value; returns the value's place.
    pub(crate) fn push(&mut self, option: CUjit_option, value: *mut c_void) -> usize {
        self.options.push(option);
        self.values.push(value);
        self.values.len() - 1
    }

    /// Adds an option whose value is a number.
    pub(crate) fn push_number(&mut self, option: CUjit_option, value: usize) -> usize {
        self.push(option, ptr::without_provenance_mut(value))
    }

    pub(crate) fn len(&self) -> usize {
        self.options.len()
    }

    pub(crate) fn options(&self) -> &[CUjit_option] {
        &self.options
    }

    pub(crate) fn as_mut_ptrs(&mut self) -> (*mut CUjit_option, *mut *mut c_void) {
        (self.options.as_mut_ptr(), self.values.as_mut_ptr())
    }

    /// The time that the driver left at a place, which it gives in milliseconds; `None` for the zero that stands there where
    /// it compiled nothing.
    pub(crate) fn wall_time(&self, place: usize) -> Option<Duration> {
        let milliseconds = f32::from_bits(self.written(place));
        let time = Duration::try_from_secs_f32(milliseconds / 1e3).ok();
        time.filter(|time| !time.is_zero())
    }

    /// The 32 bits that the driver left at a place, as it writes no more than these.
    pub(crate) fn written(&self, place: usize) -> u32 {
        let value = self.values.get(place).map_or(0, |value| value.addr());
        let [a, b, c, d, ..] = value.to_ne_bytes();
        u32::from_ne_bytes([a, b, c, d])
    }
}

impl JitFallback {
    const fn value(self) -> u32 {
        match self {
            Self::PreferPtx => CUjit_fallback::CU_PREFER_PTX.0,
            Self::PreferBinary => CUjit_fallback::CU_PREFER_BINARY.0,
        }
    }
}

impl JitCacheMode {
    const fn value(self) -> u32 {
        match self {
            Self::Unspecified => CUjit_cacheMode::CU_JIT_CACHE_OPTION_NONE.0,
            Self::L2 => CUjit_cacheMode::CU_JIT_CACHE_OPTION_CG.0,
            Self::L1AndL2 => CUjit_cacheMode::CU_JIT_CACHE_OPTION_CA.0,
        }
    }
}

/// The options that a load sets for itself.
const OURS: [CUjit_option; 5] = [
    CUjit_option::CU_JIT_INFO_LOG_BUFFER,
    CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
    CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
    CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    CUjit_option::CU_JIT_WALL_TIME,
];

impl JitOptions {
    /// Whether a long log is to be expected.
    pub(crate) fn has_verbose_log(&self) -> bool {
        self.verbose_log
    }

    /// The options in the driver's form.
    pub(crate) fn encode(&self) -> Result<Encoded> {
        use CUjit_option as Option;
        let level = self.optimization_level;
        if let Some(level) = level.filter(|&level| level > 4) {
            return Err(Error::invalid(format!(
                "the optimization level {level} is not one of 0 to 4"
            )));
        }
        let capability = matches!(self.target, Some(Target::Capability(_)));
        if capability && self.min_threads_per_block.is_some() {
            let reason = "a target and min_threads_per_block exclude each other";
            return Err(Error::invalid(reason));
        }
        let switch = |on: bool| on.then_some(1);
        let fallback = self.fallback.map(JitFallback::value);
        let cache_mode = self.cache_mode.map(JitCacheMode::value);
        let target = self.target.map(|target| match target {
            // The driver takes no value here and ignores what stands in its place.
            Target::Context => (Option::CU_JIT_TARGET_FROM_CUCONTEXT, 0),
            Target::Capability(it) => {
                let number = it.major.saturating_mul(10).saturating_add(it.minor);
                (Option::CU_JIT_TARGET, number)
            }
        });
        let numbers = [
            (Option::CU_JIT_MAX_REGISTERS, self.max_registers),
            (Option::CU_JIT_THREADS_PER_BLOCK, self.min_threads_per_block),
            (
                Option::CU_JIT_MAX_THREADS_PER_BLOCK,
                self.max_threads_per_block,
            ),
            (
                Option::CU_JIT_MIN_CTA_PER_SM,
                self.min_blocks_per_multiprocessor,
            ),
            (
                Option::CU_JIT_OVERRIDE_DIRECTIVE_VALUES,
                switch(self.override_directives),
            ),
            (Option::CU_JIT_OPTIMIZATION_LEVEL, level),
            (Option::CU_JIT_FALLBACK_STRATEGY, fallback),
            (Option::CU_JIT_CACHE_MODE, cache_mode),
            (Option::CU_JIT_GENERATE_DEBUG_INFO, switch(self.debug_info)),
            (Option::CU_JIT_GENERATE_LINE_INFO, switch(self.line_info)),
            (Option::CU_JIT_LOG_VERBOSE, switch(self.verbose_log)),
            (
                Option::CU_JIT_POSITION_INDEPENDENT_CODE,
                switch(self.position_independent_code),
            ),
        ];
        let mut encoded = Encoded::default();
        for (option, value) in numbers
            .into_iter()
            .chain(target.map(|(option, value)| (option, Some(value))))
        {
            if let Some(value) = value {
                encoded.push_number(option, usize::try_from(value)?);
            }
        }
        for &(option, value) in &self.raw {
            if OURS.contains(&option) || encoded.options.contains(&option) {
                return Err(Error::invalid(format!(
                    "{option:?} is set twice: raw, and by what it has a method or accessor for"
                )));
            }
            encoded.push(option, ptr::with_exposed_provenance_mut(value));
        }
        Ok(encoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::ComputeCapability;

    fn encoded(options: &JitOptions) -> Result<Vec<(CUjit_option, usize)>> {
        let encoded = options.encode()?;
        assert_eq!(encoded.options.len(), encoded.values.len());
        let values = encoded.values.iter().map(|value| value.addr());
        Ok(encoded.options.iter().copied().zip(values).collect())
    }

    #[test]
    fn nothing_is_set_unless_asked_for() -> Result<()> {
        assert_eq!(encoded(&JitOptions::new())?, []);
        assert_eq!(JitOptions::new(), JitOptions::default());
        Ok(())
    }

    #[test]
    fn numbers_stand_in_the_list_of_values_themselves() -> Result<()> {
        let options = JitOptions::new()
            .max_registers(32)
            .generate_line_info()
            .cache_mode(JitCacheMode::L1AndL2)
            .target(ComputeCapability::new(9, 0));
        let expected = [
            (CUjit_option::CU_JIT_MAX_REGISTERS, 32),
            (CUjit_option::CU_JIT_CACHE_MODE, 2),
            (CUjit_option::CU_JIT_GENERATE_LINE_INFO, 1),
            (CUjit_option::CU_JIT_TARGET, 90),
        ];
        assert_eq!(encoded(&options)?, expected);
        Ok(())
    }

    #[test]
    fn an_option_without_a_value_has_its_place_all_the_same() -> Result<()> {
        let options = JitOptions::new().target_from_context();
        // SAFETY: fast compilation takes a number.
        let options = unsafe { options.raw(CUjit_option::CU_JIT_FAST_COMPILE, 1) };
        let expected = [
            (CUjit_option::CU_JIT_TARGET_FROM_CUCONTEXT, 0),
            (CUjit_option::CU_JIT_FAST_COMPILE, 1),
        ];
        assert_eq!(encoded(&options)?, expected);
        Ok(())
    }

    #[test]
    fn contradictions_are_refused() {
        let level = JitOptions::new().optimization_level(5).encode();
        assert!(level.is_err_and(|error| error.to_string().contains("level 5")));
        let both = JitOptions::new()
            .min_threads_per_block(64)
            .target(ComputeCapability::new(8, 0));
        assert!(both.encode().is_err());
        // SAFETY: the options are refused before the driver sees them.
        let log = unsafe { JitOptions::new().raw(CUjit_option::CU_JIT_INFO_LOG_BUFFER, 0) };
        assert!(
            log.encode()
                .is_err_and(|error| error.to_string().contains("INFO_LOG"))
        );
        let twice = JitOptions::new().max_registers(8);
        // SAFETY: as above.
        let twice = unsafe { twice.raw(CUjit_option::CU_JIT_MAX_REGISTERS, 9) };
        assert!(twice.encode().is_err());
    }

    #[test]
    fn what_the_driver_writes_is_read_from_its_place() {
        let mut encoded = Encoded::default();
        let place = encoded.push_number(CUjit_option::CU_JIT_WALL_TIME, 0);
        let (_, values) = encoded.as_mut_ptrs();
        // SAFETY: the value has at least four bytes.
        unsafe { values.cast::<f32>().write(1.5) };
        assert_eq!(f32::from_bits(encoded.written(place)), 1.5);
    }
}
