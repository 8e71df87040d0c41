//! CUDA C++ compiled at run time: NVRTC and nvJitLink, loaded dynamically.
//!
//! ```
//! use cuda_driver::{Driver, LaunchConfig};
//! use cuda_nvrtc::{CompileCu, CompileOptions, ErrorKind, Program};
//!
//! let context = Driver::load_or_simulated()?.device(0)?.primary_context()?;
//! let program = Program::new("template<class T> __global__ void fill(T *x) { x[threadIdx.x] = VALUE; }")
//!     .instance("fill<float>");
//! let options = CompileOptions::new().define("VALUE", 7);
//! let module = match context.compile_cu_with(&program, &options) {
//!     Err(error) if error.kind() == ErrorKind::LibraryNotFound => return Ok(println!("{error}")),
//!     other => other?,
//! };
//!
//! let stream = context.create_stream()?;
//! let mut numbers = stream.zeroed::<f32>(4)?;
//! // SAFETY: each of the four threads writes one of the four numbers.
//! unsafe { module.function("fill<float>")?.launch(&stream, LaunchConfig::new(1, 4), (&mut numbers,)) }?;
//! assert_eq!(numbers.to_vec()?, [7.0; 4]);
//! # Ok::<(), cuda_nvrtc::Error>(())
//! ```
//!
//! # The objects
//!
//! | object | what it is |
//! |---|---|
//! | [`CompileCu`] | compiles and loads in one step: `context.compile_cu(source)` |
//! | [`Program`] | a source, its headers in memory, the instances of templates that are wanted |
//! | [`CompileOptions`] | how it is compiled: output, architecture, macros, include paths, … |
//! | [`Compiler`] | an NVRTC of this machine, from CUDA 11.2 on; [`Compiler::find`] has the order of the search |
//! | [`Compiled`], [`CompiledModule`] | the image with names and warnings; the same, loaded |
//! | [`Cache`] | where compiled programs are kept between runs |
//! | [`Linker`], [`LinkInput`], [`LinkOptions`], [`Linked`] | nvJitLink, from CUDA 12.0 on |
//!
//! # What is needed
//!
//! NVRTC: NVIDIA's toolkit, or `pip install nvidia-cuda-nvrtc` (`nvidia-cuda-nvrtc-cu12` for CUDA 12). For CUDA's own headers, such as
//! `cuda_fp16.h`, the toolkit, or the packages `nvidia-cuda-runtime`, `nvidia-cuda-crt` and `nvidia-cuda-cccl` beside it; NVRTC of
//! CUDA 13.3 and newer carries them. The library is loaded when something has to be compiled, and only then.
//!
//! | variable | meaning |
//! |---|---|
//! | `CUDA_NVRTC_PATH`, `CUDA_NVJITLINK_PATH` | the library or its directory |
//! | `CUDA_HOME`, `CUDA_PATH` | the toolkit |
//! | `CUDA_NVRTC_CACHE` | `0` disables the cache |
//! | `CUDA_NVRTC_CACHE_DIR`, `CUDA_NVRTC_CACHE_LIMIT` | its directory, and its size in bytes |
//!
//! # Safety
//!
//! Compiling and loading are safe: neither runs code of the program on the GPU; launching is where trust is needed. Compilers
//! are trusted that lie where NVIDIA's installers put them, or where the environment says; any other path is
//! [`unsafe`](Compiler::load_from). The cache is trusted as far as only the user can write to it, which is checked. Binaries of
//! others are [`unsafe`](LinkInput::cubin) to link. A source that is nested too deeply for any stack can end the process, as it
//! does the command line compilers; the compiler runs on a stack of at least 256 MiB.

#[allow(
    clippy::unnecessary_safety_comment,
    reason = "the lint takes the safety sentence of the example above for one of this item"
)]
mod architecture;
mod cache;
mod compiled;
mod compiler;
mod context;
mod diagnostic;
mod error;
mod headers;
mod includes;
mod link;
mod nvrtc;
mod options;
mod program;
mod search;
mod shared;
mod stack;

pub use architecture::Architecture;
pub use cache::Cache;
pub use compiled::{CacheUse, Compiled};
pub use compiler::Compiler;
pub use context::{CompileCu, CompiledModule};
pub use diagnostic::{Diagnostic, Severity};
pub use error::{Error, ErrorKind, Result};
pub use link::{LinkInput, LinkOptions, Linked, Linker};
pub use options::{CompileOptions, Output, Standard};
pub use program::Program;

// The program of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
