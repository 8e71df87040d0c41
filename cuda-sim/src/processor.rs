//! What the processor of the host can do.

use cuda_sim_machine::Processor;

/// The operations that this processor runs fastest.
pub(crate) fn host() -> Processor {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has both features.
        return unsafe { Processor::avx2() };
    }
    Processor::PORTABLE
}
