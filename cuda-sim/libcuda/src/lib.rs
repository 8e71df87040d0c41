//! The software driver as `libcuda.so.1`: programs in any language that use the CUDA driver run on it unchanged.
//!
//! ```sh
//! cargo run --release -p cuda-sim-libcuda -- ./program argument   # builds it, and runs the program on it
//! cargo build --release -p cuda-sim-libcuda                       # builds target/release/libcuda.so alone
//! ```
//! The first command makes the directory `target/release/cuda-sim` with the library under the names `libcuda.so.1`, which programs ask
//! for, and `libcuda.so`, which `-lcuda` finds; without a program it prints that directory, for use in `LD_LIBRARY_PATH`:
//!
//! ```sh
//! export LD_LIBRARY_PATH=$(cargo run --release -p cuda-sim-libcuda)
//! ```
//! The directory holds nothing else, because the library takes the place of the real driver for every program that searches it.
//!
//! # What a program sees
//! One instance of the software driver for the process, made at the first call of a driver function. It exports what a driver of
//! CUDA 13.0 exports on Linux, and nothing but that; `cuGetProcAddress` answers for the version that the environment chose. Functions that
//! the software driver does not have return `CUDA_ERROR_NOT_SUPPORTED` and are reported. The library has nothing to do with the C++
//! runtime library, and is never unloaded.
//!
//! A child that was forked after `cuInit` gets `CUDA_ERROR_NOT_INITIALIZED` from every call, as from a real driver. When the program ends,
//! calls that come after the driver's own end give `CUDA_ERROR_DEINITIALIZED`.
//!
//! # Environment
//! The devices and the driver are described as [`cuda_sim::Builder::from_environment`] says. Besides:
//!
//! | variable | values | meaning |
//! |---|---|---|
//! | `CUDA_SIM_REPORT` | `stderr` (default), `0`, or a file | where each report is written as soon as it is found; it is added to what the file has, and `%p` in its name stands for the process's number |
//! | `CUDA_SIM_LEAKS` | `0` (default) or `1` | whether what was never released is reported at exit |
//! | `CUDA_SIM_FAIL` | `1` to `255` | the program's exit status when there were reports, whatever its own is; then functions that it registered with `atexit` before its first call of the driver do not run |
//!
//! A variable that cannot be understood is named on standard error, and every function returns `CUDA_ERROR_SYSTEM_NOT_READY`.

mod ending;
mod environment;
mod export;
mod journal;
mod process;
