//! PTX as data: parser, entries and their parameters.

mod error;
mod module;

pub use error::ParseError;
pub use module::Module;
