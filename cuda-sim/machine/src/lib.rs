//! Executes PTX kernels on the CPU, without unsafe code.
