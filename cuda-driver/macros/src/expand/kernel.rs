//! The methods of a kernel.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};

use super::arguments::Arguments;
use super::{declared, launch, local, prepared, unsafe_block};
use crate::compare::{Found, constant_block};
use crate::syntax::{Amount, Global, Kernel, Set};

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
    let waits = launch.is_some_and(|it| it.waits.is_some());
    quote! {
        p::Kernel {
            method: #method,
            name: #name,
            symbol: #symbol,
            parameters: &[#(#parameters),*],
            most_threads: #most_threads,
            shared_bytes: #shared,
            globals: #globals,
            waits: #waits,
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

/// Whether the declaration says that it touches no variables.
pub(super) fn has_no_globals(kernel: &Kernel) -> bool {
    kernel.is_safe
        && kernel
            .launch
            .as_ref()
            .is_none_or(|it| it.globals.is_empty())
}

fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// The method that launches the kernel, those with a configuration, and the one that gives its function.
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
            let bounds = launch::bounds(kernel, shape, krate, None);
            let title = kernel.name.to_string();
            let admitted = quote!(p::Bounds::admit(&#bounds, #title, &#config)?);
            Some(method(set, kernel, krate, &name, Some(&config), &admitted))
        }
        Some(_) => None,
    };
    let prepare = prepared::method(set, kernel, krate);
    let (name, visibility) = (&kernel.name, &kernel.visibility);
    let function = format_ident!("{}_function", name);
    let doc = format!("The function of [`{name}`](Self::{name}), to ask and set its attributes.");
    quote! {
        #plain
        #chosen
        #prepare

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
    let (visibility, field) = (&kernel.visibility, &kernel.name);
    let stream = local("stream");
    let chosen = chosen.map(|config| quote!(#config: impl #krate::AnyLaunchConfig,));
    let is_unsafe = (!kernel.is_safe).then(|| quote!(unsafe));
    let Arguments {
        takes,
        checks,
        tuple,
    } = Arguments::of(kernel, krate);
    let configuration = local("configuration");
    let no_globals = has_no_globals(kernel);
    let launch = quote! {
        p::Declared::launch_declared::<#no_globals, _, _, _>(&self.#field, #stream, #configuration, #tuple)
    };
    let launch = unsafe_block(set.unsafe_token.span, &launch);
    let documentation = documentation(kernel, krate);
    quote! {
        #documentation
        #[inline]
        #visibility #is_unsafe fn #name(
            &self,
            #chosen
            #stream: &impl #krate::AnyStream,
            #(#takes),*
        ) -> #krate::Result<()> {
            #checks
            let #configuration = #config;
            #launch
        }
    }
}

/// The attributes and the documentation of a method that launches the kernel.
fn documentation(kernel: &Kernel, krate: &TokenStream) -> TokenStream {
    let attributes = &kernel.attributes;
    let safety = (!kernel.is_safe).then(|| safety(kernel)).flatten();
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
