//! Raw bindings to the CUDA driver API, resolved at run time.
//!
//! Every type, constant and function of the driver API, for every exported version of its binary interface, and a loader. A
//! program that uses them needs no toolkit and no header when it is built, and no particular driver when it runs: it loads
//! whatever driver is there, from CUDA 11.4 to the newest, and learns for each function whether that driver has it.
//!
//! Nothing here is safe to call beyond the loader itself: the functions are the C functions. The crate `cuda-driver` is the
//! safe layer above.
//!
//! ```no_run
//! use cuda_sys::{CUresult, Library};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let library = Library::load()?;
//!     // SAFETY: `cuInit` takes flags, which must be 0.
//!     let status = unsafe { library.cuInit()?(0) };
//!     if status != CUresult::CUDA_SUCCESS {
//!         return Err(format!("cuInit: {status:?}").into());
//!     }
//!     let mut count = 0;
//!     // SAFETY: the function writes one `int`.
//!     let status = unsafe { library.cuDeviceGetCount()?(&raw mut count) };
//!     println!("{count} devices ({status:?}), driver for CUDA {:?}", library.driver_version());
//!     Ok(())
//! }
//! ```
//!
//! # Symbols, not names
//! Everything is keyed by the exact exported symbol, whose binary interface never changes: `cuMemAlloc_v2` is the function
//! that today's header calls `cuMemAlloc`, and `cuMemAlloc` is the 32 bit interface of CUDA 3.1. [`SYMBOLS`] lists all of
//! them with the CUDA version that brought each; [`signatures`] holds the type of each function, and [`for_each_symbol`]
//! hands the whole list to a macro of yours. `…_ptds` and `…_ptsz` are the variants for the per-thread default stream.
//!
//! # Loading
//! [`Library::load`] searches the system, [`Library::load_from`] takes a path, and [`Library::from_resolver`] takes functions
//! that the program itself supplies. The symbol is looked up at the first use of its accessor, afterwards an accessor costs
//! one atomic load and a test. Where a driver does not export a symbol it is asked with `cuGetProcAddress_v2`, for the version
//! that brought this very signature and only if it is that new. A shared library, once loaded, is never unloaded.
//!
//! # Errors
//! * [`LoadError::NotFound`]: no driver library, with every place that was tried and why it was not there.
//! * [`LoadError::Stub`]: only a toolkit's stub library, which exists for linking. It is recognised by its directory, `stubs`,
//!   and by `cuDriverGetVersion` returning [`CUresult::CUDA_ERROR_STUB_LIBRARY`].
//! * [`LoadError::MissingSymbol`]: a library of the driver's name that lacks what every driver has.
//! * [`MissingSymbol`]: one function that the driver does not have, with the CUDA version that brought it and the driver's.
//!
//! None of them panics, and each call tries anew.
//!
//! # Types
//! * Enumerations are newtypes with constants: a value that only a newer driver knows is a value, not undefined behaviour.
//!   `Debug` shows the C name. Those whose values are bits can be combined with `|`.
//! * Structs and unions are `Default`: all bytes zero, which is what drivers want in reserved fields. Fill them with
//!   `..Default::default()`.
//! * A struct or union declared within another is named after the outer one and its field (`CUDA_RESOURCE_DESC_res_linear`);
//!   a member without a name is called `anonymous`.
//! * OpenGL, EGL and VDPAU objects are the opaque handles or numbers that those libraries define. `cuWGLGetDevice`, which
//!   exists on Windows alone, is not bound.

#[allow(
    clippy::unnecessary_safety_comment,
    reason = "the comments above belong to the example"
)]
#[macro_use]
mod newtype;
#[macro_use]
mod zeroed;
#[macro_use]
#[rustfmt::skip]
mod functions;

mod entry_point;
mod error;
mod library;
mod origin;
mod search;
mod symbol;
mod table;
#[rustfmt::skip]
#[allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    clippy::upper_case_acronyms,
    reason = "generated"
)]
mod types;

pub use error::{Attempt, LoadError, MissingSymbol};
pub use library::Library;
pub use symbol::{StreamVariant, Symbol};
pub use table::{SYMBOLS, signatures};
pub use types::*;

// The program of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
