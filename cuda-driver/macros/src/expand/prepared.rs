//! Prepared launches of a kernel: a type of the name that `#[prepared(…)]` gives, and the method that makes it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::arguments::Arguments;
use super::launch::{self, Dependence};
use super::{kernel, local, unsafe_block};
use crate::syntax::{Grid, Kernel, Set};

/// The type.
pub(super) fn structure(
    set: &Set,
    number: usize,
    kernel: &Kernel,
    krate: &TokenStream,
) -> Option<TokenStream> {
    let name = kernel.prepared.as_ref()?;
    let (set, kernel, visibility) = (&set.name, &kernel.name, &kernel.visibility);
    let doc = format!(
        "Launches of [`{kernel}`]({set}::{kernel}) with one configuration, which has been checked; made by \
         [`{kernel}_prepare`]({set}::{kernel}_prepare). It keeps the kernel's module loaded."
    );
    Some(quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone)]
        #visibility struct #name {
            launch: #krate::kernels::__private::DeclaredLaunch<#set, #number>,
        }
    })
}

/// The method that prepares launches.
pub(super) fn method(set: &Set, kernel: &Kernel, krate: &TokenStream) -> Option<TokenStream> {
    let prepared = kernel.prepared.as_ref()?;
    let (field, visibility) = (&kernel.name, &kernel.visibility);
    let name = format_ident!("{}_prepare", kernel.name);
    let config = local("config");
    let admitted = match &kernel.launch {
        Some(shape) => {
            let bounds = launch::bounds(kernel, shape, krate, Some(&config));
            let title = kernel.name.to_string();
            quote!(p::Bounds::admit_prepared(&#bounds, #title, &#config)?)
        }
        None => quote! {
            #krate::ExtendedLaunchConfig {
                config: #krate::AnyLaunchConfig::config(&#config),
                attributes: #krate::AnyLaunchConfig::attributes(&#config),
            }
        },
    };
    let admitted_name = local("admitted");
    // The declaration lets it through.
    let launch = quote!(p::Declared::prepare(&self.#field, #admitted_name));
    let launch = unsafe_block(set.unsafe_token.span, &launch);
    let doc = format!(
        "Checks a configuration for many launches of [`{field}`](Self::{field}): against the declaration, the kernel and the device."
    );
    Some(quote! {
        #[doc = #doc]
        ///
        /// # Errors
        /// What the declaration does not leave open, or the limit that is exceeded.
        #visibility fn #name(
            &self,
            #config: impl #krate::AnyLaunchConfig,
        ) -> #krate::Result<#prepared> {
            let #admitted_name = #admitted;
            ::core::result::Result::Ok(#prepared { launch: #launch? })
        }
    })
}

/// What the type can do.
pub(super) fn implementation(
    set: &Set,
    kernel: &Kernel,
    krate: &TokenStream,
) -> Option<TokenStream> {
    let name = kernel.prepared.as_ref()?;
    let (title, visibility) = (name.to_string(), &kernel.visibility);
    let stream = local("stream");
    let Arguments {
        takes,
        checks,
        tuple,
    } = Arguments::of(kernel, krate);
    let require_grid = require_grid(kernel, krate);
    let no_globals = kernel::has_no_globals(kernel);
    let launch = quote! {
        p::DeclaredLaunch::launch_declared::<#no_globals, _, _>(&self.launch, #stream, #tuple)
    };
    let launch = unsafe_block(set.unsafe_token.span, &launch);
    let doc = format!(
        "Enqueues the kernel as [`{}`]({}::{0}) does.",
        kernel.name, set.name
    );
    let is_unsafe = (!kernel.is_safe).then(|| quote!(unsafe));
    let safety = (!kernel.is_safe).then(|| {
        let text = format!(
            "As [`{}`]({}::{0}), with the configuration of this.",
            kernel.name, set.name
        );
        quote! {
            #[doc = ""]
            #[doc = "# Safety"]
            #[doc = #text]
        }
    });
    Some(quote! {
        impl #name {
            #[doc = #doc]
            ///
            /// # Errors
            /// An argument that is not as the declaration says, by its name; arguments for which the declaration says another
            /// configuration; what the launch returns.
            #safety
            #[inline]
            #visibility #is_unsafe fn launch(
                &self,
                #stream: &impl #krate::AnyStream,
                #(#takes),*
            ) -> #krate::Result<()> {
                #checks
                #require_grid
                #launch
            }

            /// The configuration, with what the declaration adds.
            #[must_use]
            #visibility fn config(&self) -> #krate::ExtendedLaunchConfig {
                p::DeclaredLaunch::config(&self.launch)
            }

            /// The kernel's function, to ask and set its attributes.
            #[must_use]
            #visibility fn function(&self) -> &#krate::Function {
                p::DeclaredLaunch::function(&self.launch)
            }
        }

        impl ::core::fmt::Debug for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_tuple(#title).field(&self.launch).finish()
            }
        }
    })
}

/// That the arguments have the prepared configuration by the declaration, where that depends on them.
fn require_grid(kernel: &Kernel, krate: &TokenStream) -> Option<TokenStream> {
    let shape = kernel.launch.as_ref()?;
    let title = kernel.name.to_string();
    match (Dependence::of(shape), &shape.grid) {
        (Dependence::None, _) => None,
        (Dependence::Len, Grid::ForLen(len)) => {
            let text = launch::length_text(kernel, len);
            let (length, len) = (launch::length(kernel, len), local("len"));
            Some(quote! {
                let #len: usize = #length;
                if !p::DeclaredLaunch::is_for_len(&self.launch, #len) {
                    return ::core::result::Result::Err(
                        p::DeclaredLaunch::wrong_len(&self.launch, #title, #text, #len),
                    );
                }
            })
        }
        _ => {
            let bounds = launch::bounds(kernel, shape, krate, None);
            Some(quote! {
                p::Bounds::require(&#bounds, #title, &p::DeclaredLaunch::config(&self.launch))?;
            })
        }
    }
}
