//! The methods of a kernel.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};

use super::{declared, expression, launch, len_of, local, unsafe_block};
use crate::check;
use crate::compare::{Found, constant_block};
use crate::syntax::{Amount, Expression, Global, Kernel, Kind, Parameter, Set};

/// The kernel as an expression of `p::Kernel`.
pub(super) fn table_entry(kernel: &Kernel, found: Option<&Found>) -> TokenStream {
    let method = kernel.name.to_string();
    let name = match &kernel.image_name {
        Some((name, _)) => name.clone(),
        None => method.clone(),
    };
    let symbol = option(found.map(|it| &it.symbol));
    let globals = globals(kernel, found);
    let launch = kernel.launch.as_ref();
    let most_threads = launch.and_then(|it| {
        let shape = constant_block(&it.block)?;
        let product = shape.iter().try_fold(1_u128, |a, b| a.checked_mul(*b))?;
        u32::try_from(product).ok()
    });
    let shared = launch.and_then(|it| it.shared.as_ref());
    let shared = shared.and_then(|(Amount::Exactly(it) | Amount::AtMost(it))| it.constant());
    let shared = option(shared.and_then(|it| u32::try_from(it).ok()));
    let most_threads = option(most_threads);
    let parameters = kernel.parameters.iter().map(declared);
    quote! {
        p::Kernel {
            method: #method,
            name: #name,
            symbol: #symbol,
            parameters: &[#(#parameters),*],
            most_threads: #most_threads,
            shared_bytes: #shared,
            globals: #globals,
        }
    }
}

/// The variables that it touches; nothing if nobody says which.
fn globals(kernel: &Kernel, found: Option<&Found>) -> TokenStream {
    let listed: &[Global] = kernel.launch.as_ref().map_or(&[], |it| &it.globals);
    if listed.is_empty() && !kernel.is_safe {
        return option(None::<TokenStream>);
    }
    let names = listed.iter().enumerate().map(|(index, global)| {
        let found = found.and_then(|it| it.globals.get(index));
        let (name, is_written) = (found.unwrap_or(&global.name), global.is_written);
        quote!((#name, #is_written))
    });
    option(Some(quote!(&[#(#names),*])))
}

fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// The method that launches the kernel, the one with a configuration, and the one that gives its function.
pub(super) fn methods(set: &Set, kernel: &Kernel, krate: &TokenStream) -> TokenStream {
    let plain = kernel.launch.as_ref().map(|shape| {
        let config = launch::usual(kernel, shape, krate);
        method(
            set,
            kernel,
            krate,
            &kernel.name.to_token_stream(),
            None,
            &config,
        )
    });
    let config = local("config");
    let chosen = match &kernel.launch {
        None => {
            let name = kernel.name.to_token_stream();
            Some(method(
                set,
                kernel,
                krate,
                &name,
                Some(&config),
                &quote!(#config),
            ))
        }
        Some(shape) if launch::is_open(shape) => {
            let name = format_ident!("{}_with", kernel.name).to_token_stream();
            let bounds = launch::bounds(kernel, shape, krate);
            let title = kernel.name.to_string();
            let admitted = quote!(p::Bounds::admit(&#bounds, #title, &#config)?);
            Some(method(set, kernel, krate, &name, Some(&config), &admitted))
        }
        Some(_) => None,
    };
    let (name, visibility) = (&kernel.name, &kernel.visibility);
    let function = format_ident!("{}_function", name);
    let doc = format!("The function of [`{name}`](Self::{name}), to ask and set its attributes.");
    quote! {
        #plain
        #chosen

        #[doc = #doc]
        #[must_use]
        #visibility fn #function(&self) -> &#krate::Function {
            self.#name.function()
        }
    }
}

fn method(
    set: &Set,
    kernel: &Kernel,
    krate: &TokenStream,
    name: &TokenStream,
    chosen: Option<&syn::Ident>,
    config: &TokenStream,
) -> TokenStream {
    let Kernel {
        attributes,
        visibility,
        name: field,
        ..
    } = kernel;
    let stream = local("stream");
    let chosen = chosen.map(|config| quote!(#config: impl #krate::AnyLaunchConfig,));
    let (is_unsafe, safety) = match kernel.is_safe {
        true => (None, None),
        false => (Some(quote!(unsafe)), safety(kernel)),
    };
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
    let configuration = local("configuration");
    let launch = quote! {
        p::Declared::launch_declared(&self.#field, #stream, #configuration, (#(#arguments,)*))
    };
    let launch = unsafe_block(set.unsafe_token.span, &launch);
    let any_configuration = kernel.launch.is_none().then(|| {
        let text = format!(
            "What [`Function::launch`]({krate}::Function::launch) demands of the configuration holds here too, as of a programmatic \
             dependent launch."
        );
        quote! {
            #[doc = ""]
            #[doc = #text]
        }
    });
    // At the end of the safety section, the declaration's own or ours.
    let (behind_own, behind_ours) = match safety {
        None => (any_configuration, None),
        Some(_) => (None, any_configuration),
    };
    quote! {
        #(#attributes)*
        #behind_own
        #[doc = ""]
        #[doc = "# Errors"]
        #[doc = "An argument that is not as the declaration says, by its name; what the launch returns."]
        #safety
        #behind_ours
        #[inline]
        #visibility #is_unsafe fn #name(
            &self,
            #chosen
            #stream: &impl #krate::AnyStream,
            #(#takes),*
        ) -> #krate::Result<()> {
            #(#lens)*
            #(#filled)*
            #(#checks)*
            let #configuration = #config;
            #launch
        }
    }
}

/// What an unsafe kernel's caller must promise, if its documentation does not say so.
fn safety(kernel: &Kernel) -> Option<TokenStream> {
    let says = |it: &syn::Attribute| it.to_token_stream().to_string().contains("# Safety");
    let text = "With these arguments the kernel accesses only memory that they name, within their lengths, and writes only what \
                is passed as `&mut`.";
    (!kernel.attributes.iter().any(says)).then(|| {
        quote! {
            #[doc = ""]
            #[doc = "# Safety"]
            #[doc = #text]
        }
    })
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
