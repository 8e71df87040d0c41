//! For `build.rs`: finds `nvcc`, compiles `.cu` files in parallel, and declares their kernels in Rust.
//!
//! ```no_run
//! // build.rs, with `cuda-build` under `[build-dependencies]` and `cuda-driver` under `[dependencies]`
//! use cuda_build::{Build, Kernel, Source};
//!
//! fn main() {
//!     let vector_add = Kernel::new("vector_add")
//!         .len("b", "len(a)")
//!         .len("sum", "len(a)")
//!         .value("n", "len(a)")
//!         .vouch("for_len(sum), block <= 1024");
//!     Build::new()
//!         .file(Source::new("kernels/vector_add.cu").kernel(vector_add))
//!         .file("kernels/physics.cu")
//!         .include("kernels/include")
//!         .rust_type("Particle", "crate::Particle")
//!         .committed("kernels/ptx")
//!         .run();
//! }
//! ```
//! ```ignore
//! // src/lib.rs
//! include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
//!
//! let kernels = VectorAdd::load(&context)?;
//! kernels.vector_add(&stream, &a, &b, &mut sum)?;
//! ```
//!
//! # What is declared
//! Each source becomes one `kernels!` declaration, named after its file, and one constant with the image (`VECTOR_ADD_PTX`). Each kernel
//! becomes a method:
//! - **Types** come from the kernel: `const float *a` is `a: &[f32]`, `float *` is `&mut [f32]`, `unsigned` is `u32`, `float4` is
//!   `[f32; 4]`, `__half` is `u16`. Structs are bytes unless [`Build::rust_type`] names their type in Rust; so are `__half` and `float4`
//!   given another one.
//! - **Names** of parameters come from the source's text, in the style of Rust; `p0`, `p1` … where it names none.
//! - Kernels with **C linkage** have their types too: the compiler is asked a second time, by a source that includes the first. Where it
//!   cannot tell, integers are unsigned, and one of 8 bytes is an address if the kernel's PTX takes it for one: `&[T]` if it writes
//!   nothing there, else `&mut [T]`, of the elements that all accesses agree on, or of `u8`; else it is `u64`. So it is for all of a
//!   source's kernels with C linkage when one of them is within a namespace.
//! - Each instance of a **template** is a method: `scale<float, 4>` is `scale_float_4`.
//! - Methods are **`unsafe fn`**. A kernel for which the build script vouches ([`Kernel::vouch`]) is a `safe fn`, with the lengths and the
//!   launch that it states.
//!
//! The same source gives the same text, whatever the compiler.
//!
//! # Without a compiler
//! [`Build::committed`] names a folder with PTX to be committed. It is written only when asked for:
//!
//! | `CUDA_BUILD_COMMITTED` | |
//! |---|---|
//! | `update` | compiles everything, and writes what is to be committed |
//! | `check` | fails if what is committed was not made of its sources as they are; needs no compiler, so it fits any CI |
//! | `ignore` | compiles everything |
//! | not set | takes what is committed while it fits; else compiles, and says that it is not up to date |
//!
//! So only those who change a kernel need `nvcc`. Where there is none, PTX that is not up to date is taken with a warning. Whether it is
//! comes from its head, which has a fingerprint of the source, its headers in the package, the options, and the PTX itself; it does not
//! depend on the compiler. Cubins and fatbins are not committed: PTX takes their place where there is no compiler.
//!
//! # What is built again
//! Cargo runs the build script again when a source changes, a header that was read (the compiler says which), the compiler, or a variable
//! of the environment that was asked for; or anything in a folder of the package from which headers come, be it one that is new and
//! hides another one further along the search path. (The package's own folder is not watched, nor one that holds what is built: put
//! kernels into a folder of their own.) Of the sources only those are compiled again whose own inputs, options or compiler have changed, by
//! content, or for which other files would be found first. Committed PTX fits as long as the files that it was made of do.
//!
//! Sources are compiled side by side, within the limit that Cargo shares between all processes of a build.
//!
//! # Where the compiler is searched
//! [`Build::nvcc`], then as [`Nvcc::find`] says: any toolkit from CUDA 11.0 on, or pip's packages of CUDA 13: `nvidia-cuda-nvcc` with
//! `nvidia-nvvm`, `nvidia-cuda-crt`, `nvidia-cuda-runtime` and `nvidia-cuda-cccl`, all of one version. `nvcc` needs a C++ compiler too,
//! which [`Build::host_compiler`] or `NVCC_CCBIN` names.
//!
//! PTX is of the version of its toolkit, and a driver takes it if it is at least as new: committed PTX is best made with an old toolkit.
//! [`Build::oldest_driver`] watches over that.

mod architecture;
mod build;
mod committed;
mod compile;
mod declare;
mod environment;
mod error;
mod fingerprint;
mod generate;
#[cfg(test)]
mod hostile_tests;
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

// The program of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
