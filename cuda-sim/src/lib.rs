//! The software driver: the CUDA driver API on the CPU.
