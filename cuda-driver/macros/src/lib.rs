//! The macro [`kernels!`] of `cuda-driver`, which exports it; nothing else needs this crate.
//!
//! A declaration is parsed (`syntax`), checked in itself (`check`), compared with the kernels of its image where that is PTX (`image`,
//! `compare`, `access`), and becomes a struct with a method for each kernel (`expand`).
#![forbid(unsafe_code)]

mod access;
mod check;
mod compare;
mod expand;
mod image;
mod syntax;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Declares kernels, so that launching them is calling a method; documented where `cuda-driver` exports it.
#[proc_macro]
pub fn kernels(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as syntax::Input);
    expand::input(&input).into()
}
