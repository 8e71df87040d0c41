//! Operations that are compiled more than once: for every processor of the architecture, and for those that can do more.

use crate::code::Access;
use crate::ops::map::Entry;
use crate::ops::matrix::{Form, multiply};
use crate::ops::memory::Element;
use crate::ops::{float, integer, memory};

/// The processor of the host for which a program is decoded: which of the compiled operations its instructions run.
///
/// Results are the same for all of them, to the bit.
#[derive(Debug, Clone, Copy)]
pub struct Processor {
    /// What it is called.
    pub(crate) name: &'static str,
    /// The forms that are compiled for it in particular, by mnemonic.
    pub(crate) lookup: fn(&[&str]) -> Option<Entry>,
    /// [`memory::portable::load`]
    pub(crate) load: fn(Element, u32, usize) -> Option<Access>,
    /// [`memory::portable::store`]
    pub(crate) store: fn(Element, bool, usize) -> Option<Access>,
    /// [`multiply::portable::multiply`]
    pub(crate) multiply: fn(&Form) -> Option<Access>,
}

impl Processor {
    /// Any processor of the architecture.
    pub const PORTABLE: Self = Self {
        name: "portable",
        lookup: |mnemonic| {
            integer::portable::lookup(mnemonic).or_else(|| float::portable::lookup(mnemonic))
        },
        load: memory::portable::load,
        store: memory::portable::store,
        multiply: multiply::portable::multiply,
    };

    /// One with AVX2 and fused multiplication and addition.
    ///
    /// Outside code that is itself compiled for those two features, the call is `unsafe`.
    ///
    /// # Safety
    /// The host is such a processor.
    ///
    /// ```
    /// use cuda_sim_machine::Processor;
    ///
    /// let mut processor = Processor::PORTABLE;
    /// #[cfg(target_arch = "x86_64")]
    /// if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
    ///     // SAFETY: the processor has both features.
    ///     processor = unsafe { Processor::avx2() };
    /// }
    /// println!("{}", processor.name());
    /// ```
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    #[must_use]
    pub fn avx2() -> Self {
        // What is compiled for the features of this function becomes an ordinary function pointer here.
        Self {
            name: "AVX2 and FMA",
            lookup: |mnemonic| {
                integer::avx2::lookup(mnemonic).or_else(|| float::avx2::lookup(mnemonic))
            },
            load: memory::avx2::load,
            store: memory::avx2::store,
            multiply: multiply::avx2::multiply,
        }
    }

    /// What it is called, for people.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

/// `a · b + c` rounded once, where the processor need not have an instruction for it.
pub(crate) mod portable {
    use crate::ops::float::sum_to_odd;

    #[inline(always)]
    pub(crate) fn fused32(a: f32, b: f32, c: f32) -> f32 {
        if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
            return a.mul_add(b, c);
        }
        // The product is exact in double precision; rounding its sum to odd there leaves the last rounding correct.
        sum_to_odd(f64::from(a) * f64::from(b), c.into()) as f32
    }
}

/// `a · b + c` rounded once, by the instruction.
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2 {
    #[inline(always)]
    pub(crate) fn fused32(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

/// Compiles lists of forms once for each kind of processor, in a module named after it. `fused32` is the processor's own there.
macro_rules! for_each_processor {
    ($($(#[$attribute:meta])* $visibility:vis fn $name:ident($($argument:ident: $ty:ty),*) -> $result:ty $body:block)*) => {
        /// For every processor of the architecture.
        pub(crate) mod portable {
            #[allow(unused_imports, reason = "not every list multiplies and adds")]
            use crate::processor::portable::fused32;
            use super::*;

            $($(#[$attribute])* $visibility fn $name($($argument: $ty),*) -> $result $body)*
        }

        /// For processors with AVX2 and FMA.
        #[cfg(target_arch = "x86_64")]
        pub(crate) mod avx2 {
            #[allow(unused_imports, reason = "not every list multiplies and adds")]
            use crate::processor::avx2::fused32;
            use super::*;

            $(
                $(#[$attribute])*
                #[target_feature(enable = "avx2,fma")]
                $visibility fn $name($($argument: $ty),*) -> $result $body
            )*
        }
    };
}
pub(crate) use for_each_processor;
