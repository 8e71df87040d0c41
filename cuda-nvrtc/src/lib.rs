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
