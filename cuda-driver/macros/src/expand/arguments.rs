//! What the methods of a kernel take, what they check of it, and what the launch gets.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};

use super::{expression, len_of, local};
use crate::check;
use crate::syntax::{Expression, Kernel, Kind, Parameter};

/// The arguments of a kernel as code.
pub(super) struct Arguments {
    /// Each as a method takes it.
    pub(super) takes: Vec<TokenStream>,
    /// The lengths, what is filled in, and the checks.
    pub(super) checks: TokenStream,
    /// All that the kernel takes.
    pub(super) tuple: TokenStream,
}

impl Arguments {
    pub(super) fn of(kernel: &Kernel, krate: &TokenStream) -> Self {
        let takes = kernel.parameters.iter().filter_map(|it| taken(it, krate));
        let lens = kernel.parameters.iter().filter_map(len);
        // The order was found before.
        let filled = check::order(kernel).unwrap_or_default();
        let filled = filled.into_iter().filter_map(|it| fill(kernel, it));
        let checks = kernel
            .parameters
            .iter()
            .filter_map(|it| require_len(kernel, it));
        let arguments = kernel.parameters.iter().map(|it| {
            let name = &it.name;
            match it.kind {
                Kind::Memory {
                    is_nullable: true, ..
                } => quote!(p::Nullable::into_argument(#name)),
                _ => quote!(#name),
            }
        });
        Self {
            takes: takes.collect(),
            checks: quote! {
                #(#lens)*
                #(#filled)*
                #(#checks)*
            },
            tuple: quote!((#(#arguments,)*)),
        }
    }
}

/// The argument as the method takes it; nothing for what is filled in.
fn taken(parameter: &Parameter, krate: &TokenStream) -> Option<TokenStream> {
    let name = &parameter.name;
    let ty = match &parameter.kind {
        Kind::Value {
            filled: Some(_), ..
        } => return None,
        Kind::Value { ty, .. } => ty.to_token_stream(),
        Kind::Memory {
            element,
            is_written,
            is_nullable,
            ..
        } => {
            let of = match (is_nullable, is_written) {
                (false, false) => quote!(ReadArgument),
                (false, true) => quote!(WriteArgument),
                (true, false) => quote!(NullableReadArgument),
                (true, true) => quote!(NullableWriteArgument),
            };
            quote!(impl #krate::kernels::#of<#element>)
        }
    };
    Some(quote!(#name: #ty))
}

/// A variable with the length of a slice; that of null is 0.
fn len(parameter: &Parameter) -> Option<TokenStream> {
    let Kind::Memory { is_nullable, .. } = parameter.kind else {
        return None;
    };
    let (name, len) = (&parameter.name, len_of(&parameter.name));
    let count = match is_nullable {
        false => quote!(p::Len::element_count(&#name)),
        true => quote!(p::Nullable::element_count(&#name).unwrap_or(0)),
    };
    Some(quote! {
        #[allow(unused_variables)]
        let #len: usize = #count;
    })
}

/// A variable with a value that the declaration says.
fn fill(kernel: &Kernel, parameter: &Parameter) -> Option<TokenStream> {
    let Kind::Value {
        ty,
        filled: Some(expression),
    } = &parameter.kind
    else {
        return None;
    };
    let name = &parameter.name;
    let (title, text) = (kernel.name.to_string(), expression.to_string());
    let place = format!("`{name}: {}`", parameter.text);
    // In one step where it is one length.
    let converted = match expression {
        Expression::Len(slice) => {
            let len = len_of(slice);
            quote_spanned!(parameter.span=> p::filled::<#ty, usize>(#len))
        }
        _ => {
            let value = expression::value(expression);
            let convert = quote_spanned!(parameter.span=> p::filled::<#ty, u128>(value));
            quote! {
                match #value {
                    ::core::option::Option::Some(value) => #convert,
                    ::core::option::Option::None => ::core::option::Option::None,
                }
            }
        }
    };
    Some(quote! {
        let #name = match #converted {
            ::core::option::Option::Some(#name) => #name,
            ::core::option::Option::None => {
                return ::core::result::Result::Err(p::wrong_number(&(#title, #place, #text)));
            }
        };
    })
}

/// That a slice is as long as it is declared to be.
fn require_len(kernel: &Kernel, parameter: &Parameter) -> Option<TokenStream> {
    let Kind::Memory {
        is_nullable,
        len: Some(length),
        ..
    } = &parameter.kind
    else {
        return None;
    };
    let (name, own) = (&parameter.name, len_of(&parameter.name));
    let (at_least, expression) = (length.at_least, &length.expression);
    let (title, parameter, text) = (
        kernel.name.to_string(),
        name.to_string(),
        expression.to_string(),
    );
    let is_null = is_nullable.then(|| quote!(p::Nullable::element_count(&#name).is_some() &&));
    let (wanted, differs) = match expression {
        Expression::Len(slice) => {
            let wanted = len_of(slice);
            let differs = match at_least {
                true => quote!(#own < #wanted),
                false => quote!(#own != #wanted),
            };
            (
                quote!(::core::option::Option::Some(#wanted as u128)),
                differs,
            )
        }
        _ => {
            let value = expression::value(expression);
            let wanted = local("wanted");
            let fits = match at_least {
                true => quote!(<=),
                false => quote!(==),
            };
            let differs = quote!(!#wanted.is_some_and(|wanted| wanted #fits #own as u128));
            return Some(quote! {
                let #wanted: ::core::option::Option<u128> = #value;
                if #is_null #differs {
                    return ::core::result::Result::Err(
                        p::wrong_len(&(#title, #parameter, #text), #own, #wanted, #at_least),
                    );
                }
            });
        }
    };
    Some(quote! {
        if #is_null #differs {
            return ::core::result::Result::Err(
                p::wrong_len(&(#title, #parameter, #text), #own, #wanted, #at_least),
            );
        }
    })
}
