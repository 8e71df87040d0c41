//! The CUDA driver API for Rust: memory-safe, with nothing to install but a driver.
