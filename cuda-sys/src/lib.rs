//! Raw bindings to the CUDA driver API, resolved at run time.

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
