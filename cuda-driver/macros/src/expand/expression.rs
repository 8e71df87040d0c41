//! Expressions as code.

use proc_macro2::TokenStream;
use quote::quote;

use super::len_of;
use crate::syntax::{Expression, Operation};

/// Code of type `Option<u128>`.
pub(super) fn value(expression: &Expression) -> TokenStream {
    match expression {
        Expression::Integer(value) => quote!(::core::option::Option::Some(#value)),
        Expression::Len(name) => {
            let len = len_of(name);
            quote!(::core::option::Option::Some(#len as u128))
        }
        Expression::Name(name) => quote!(p::Integer::to_u128(#name)),
        Expression::Binary(operation, sides) => {
            let (left, right) = (value(&sides.0), value(&sides.1));
            let function = match operation {
                Operation::Add => quote!(add),
                Operation::Subtract => quote!(subtract),
                Operation::Multiply => quote!(multiply),
                Operation::Divide => quote!(divide),
                Operation::Remainder => quote!(remainder),
                Operation::DivideUp => quote!(divide_up),
                Operation::Smaller => quote!(smaller),
                Operation::Larger => quote!(larger),
            };
            quote!(p::#function(#left, #right))
        }
    }
}

/// Code of type `u32` that may return an error from the method.
pub(super) fn number(kernel: &str, place: &str, expression: &Expression) -> TokenStream {
    if let Some(Ok(constant)) = expression.constant().map(u32::try_from) {
        return quote!(#constant);
    }
    let (value, text) = (value(expression), expression.to_string());
    quote!(p::number(&(#kernel, #place, #text), #value)?)
}
