//! For `build.rs`: finds `nvcc`, compiles `.cu` files in parallel, and makes the images available to the package.
//!
//! ```no_run
//! // build.rs
//! use cuda_build::{Architecture, Build};
//!
//! fn main() {
//!     Build::new()
//!         .file("kernels/vector_add.cu")
//!         .file("kernels/reduce.cu")
//!         .architecture(Architecture::AMPERE)
//!         .include("kernels/include")
//!         .run();
//! }
//! ```
//! The package includes the Rust file that is written:
//! ```ignore
//! mod kernels {
//!     include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
//! }
//! let module = context.load_ptx(kernels::VECTOR_ADD_PTX)?;
//! ```
//!
//! # What is built again
//! Cargo runs the build script again when a source changes, a header that was read (the compiler says which), the compiler, or a variable
//! of the environment that was asked for. Of the sources only those are compiled again whose own inputs, options or compiler have
//! changed, by content. A header that is new and hides another one further along the search path is not noticed.
//!
//! # Where the compiler is searched
//! [`Build::nvcc`], then as [`Nvcc::find`] says. pip's packages will do:
//! `pip install nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl nvidia-nvvm`. `nvcc` needs a C++ compiler too.

mod architecture;
mod build;
mod committed;
mod compile;
mod declare;
mod environment;
mod error;
mod fingerprint;
mod generate;
mod interface;
mod kernel;
mod messages;
mod nvcc;
mod options;
mod run;
#[cfg(test)]
mod scratch;
mod source;
mod unit;

pub use architecture::{Architecture, Format};
pub use build::{Build, Images};
pub use error::{Error, ErrorKind};
pub use kernel::Kernel;
pub use nvcc::{Nvcc, Version};
pub use options::Standard;
pub use source::Source;
