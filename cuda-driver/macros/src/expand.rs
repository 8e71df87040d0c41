//! What a declaration becomes.

mod arguments;
mod expression;
mod kernel;
mod launch;
mod prepared;

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Error, Ident};

use crate::access::Number;
use crate::compare::{Found, FoundParameter, Kernels};
use crate::syntax::{ImageKind, Input, Kernel, Kind, Parameter, Set};
use crate::{check, image};

/// The whole expansion, or what is wrong.
pub(crate) fn input(input: &Input) -> TokenStream {
    let sets = input.sets.iter().map(|it| set(it, &input.krate));
    sets.collect()
}

fn set(set: &Set, krate: &TokenStream) -> TokenStream {
    let mut errors = check::set(set);
    if !errors.is_empty() {
        let (visibility, name) = (&set.visibility, &set.name);
        let errors = errors.iter().map(Error::to_compile_error);
        // The name stays known, so that the uses of it give no errors of their own.
        return quote! {
            #(#errors)*
            #[allow(missing_docs, missing_debug_implementations)]
            #visibility struct #name;
        };
    }
    let text = match &set.image {
        Some(image) => image::read(image),
        None => Ok(None),
    };
    // One error is enough for a file that is not there: the code has no text then, and never runs.
    let is_readable = text.is_ok();
    let text = text.unwrap_or_else(|error| {
        errors.push(error);
        None
    });
    let found = compare(set, text.as_deref(), &mut errors);
    let errors = errors.iter().map(Error::to_compile_error);
    let structure = structure(set, krate);
    let assertions = assertions(set, &found, krate);
    let implementation = implementation(set, &found, is_readable, krate);
    quote! {
        #(#errors)*
        #structure
        #assertions
        #implementation
    }
}

/// What the image has for each kernel, where it is PTX and there is such a kernel.
fn compare(set: &Set, text: Option<&str>, errors: &mut Vec<Error>) -> Vec<Option<Found>> {
    let nothing = || set.kernels.iter().map(|_| None).collect();
    let (Some(image), Some(text)) = (&set.image, text) else {
        return nothing();
    };
    match cuda_ptx::Module::parse_signatures(text) {
        Ok(module) => {
            let kernels = Kernels::new(&module);
            let all = set.kernels.iter().map(|it| kernels.compare(it, errors));
            all.collect()
        }
        Err(error) => {
            let text = format!("the file is no PTX: {error}");
            errors.push(Error::new(image.path.span, text));
            nothing()
        }
    }
}

fn structure(set: &Set, krate: &TokenStream) -> TokenStream {
    let Set {
        attributes,
        visibility,
        name,
        ..
    } = set;
    let fields = set.kernels.iter().map(|it| &it.name);
    let numbers = 0..set.kernels.len();
    let prepared = set
        .kernels
        .iter()
        .enumerate()
        .map(|(number, it)| prepared::structure(set, number, it, krate));
    quote! {
        #(#attributes)*
        #[derive(::core::clone::Clone)]
        #visibility struct #name {
            #(#fields: #krate::kernels::__private::Declared<Self, #numbers>,)*
        }

        #(#prepared)*
    }
}

/// A check by the compiler for each parameter whose type was found, in the place where the type is declared.
fn assertions(set: &Set, found: &[Option<Found>], krate: &TokenStream) -> TokenStream {
    let mut all = TokenStream::new();
    for (kernel, found) in set.kernels.iter().zip(found) {
        let Some(found) = found else {
            continue;
        };
        for (parameter, found) in kernel.parameters.iter().zip(&found.parameters) {
            let FoundParameter { size, ty, text, .. } = found;
            let declared = declared(parameter);
            let number = number(kernel, parameter, found);
            let is_char = ["char", "&[char", "&mut [char"]
                .iter()
                .any(|it| parameter.text.trim_start_matches("Option<").starts_with(it));
            let advice = match is_char && text.contains("char") {
                true => "; C's `char` is `i8` or `u8` in Rust",
                false => "",
            };
            let message = format!(
                "parameter `{}` of `{}` is declared `{}`, but the kernel takes {text}{advice}",
                parameter.name, kernel.name, parameter.text
            );
            // The panic has the place of the type, so the compiler shows it there.
            let panic = quote_spanned!(parameter.span=> ::core::panic!("{}", #message));
            all.extend(quote! {
                const _: () = {
                    use #krate::kernels::__private as p;
                    #[allow(unused_imports)]
                    use #krate::kernels::__private::Fallback as _;
                    const PARAMETER: p::Parameter = #declared;
                    const FOUND: p::Found<'static> = p::Found { size: #size, ty: #ty };
                    if !PARAMETER.fits(&FOUND) {
                        #panic;
                    }
                    #number
                };
            });
        }
    }
    all
}

/// The check of what the kernel computes with behind a parameter.
fn number(kernel: &Kernel, parameter: &Parameter, found: &FoundParameter) -> Option<TokenStream> {
    let Number { size, text } = found.number.as_ref()?;
    let message = format!(
        "parameter `{}` of `{}` is declared `{}`, but {text}",
        parameter.name, kernel.name, parameter.text
    );
    let panic = quote_spanned!(parameter.span=> ::core::panic!("{}", #message));
    Some(quote! {
        if !PARAMETER.may_hold_floats_of(#size) {
            #panic;
        }
    })
}

/// A parameter as an expression of `p::Parameter`.
fn declared(parameter: &Parameter) -> TokenStream {
    let (access, ty) = match &parameter.kind {
        Kind::Value { ty, .. } => (quote!(Value), ty),
        Kind::Memory {
            element,
            is_written: true,
            ..
        } => (quote!(Write), element),
        Kind::Memory { element, .. } => (quote!(Read), element),
    };
    let (name, text) = (parameter.name.to_string(), &parameter.text);
    let size = match &parameter.kind {
        // What else kernels can be given has other sizes than its own.
        Kind::Value { .. } => quote_spanned!(parameter.span=> p::size_of_value::<#ty>()),
        Kind::Memory { .. } => quote!(::core::mem::size_of::<#ty>()),
    };
    quote! {
        p::Parameter {
            name: #name,
            text: #text,
            access: p::Access::#access,
            size: #size,
            element: <p::Probe<#ty>>::TYPE,
        }
    }
}

fn implementation(
    set: &Set,
    found: &[Option<Found>],
    is_readable: bool,
    krate: &TokenStream,
) -> TokenStream {
    let (name, title) = (&set.name, set.name.to_string());
    let count = set.kernels.len();
    let table = set
        .kernels
        .iter()
        .zip(found)
        .map(|(kernel, found)| kernel::table_entry(kernel, found.as_ref()));
    let fields: Vec<&Ident> = set.kernels.iter().map(|it| &it.name).collect();
    let labels: Vec<String> = fields.iter().map(ToString::to_string).collect();
    let methods = set.kernels.iter().map(|it| kernel::methods(set, it, krate));
    let prepared = set
        .kernels
        .iter()
        .map(|it| prepared::implementation(set, it, krate));
    let is_compared = found.iter().all(Option::is_some);
    let loaders = loaders(set, is_compared, is_readable, krate);
    let module = local("module");
    let visibility = &set.visibility;
    let declared = fields.iter().map(|it| {
        // The caller's promise.
        unsafe_block(set.unsafe_token.span, &quote!(p::Declared::new(#it)))
    });
    let resolve = quote!(p::resolve(#title, #module, &__KERNELS, origin));
    let resolve = unsafe_block(set.unsafe_token.span, &resolve);
    let from_elsewhere = resolved(set, &quote!(Elsewhere));
    let contract = format!(
        "Takes the kernels from a module that was loaded otherwise, and compares them with their declarations.\n\n\
         # Errors\n[`ErrorKind::DeclarationMismatch`]({krate}::ErrorKind::DeclarationMismatch) with a table of everything that \
         differs.\n\n# Safety\nThe module's kernels do what the declarations of `{title}` say, as those of its image do.",
    );
    let set_attribute =
        quote!(#[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]);
    quote! {
        const _: () = {
            use #krate::kernels::__private as p;
            #[allow(unused_imports)]
            use #krate::kernels::__private::Fallback as _;

            static __KERNELS: [p::Kernel; #count] = [#(#table),*];

            #set_attribute
            impl #name {
                #loaders

                #[doc = #contract]
                #visibility unsafe fn from_module(#module: &#krate::Module) -> #krate::Result<Self> {
                    #from_elsewhere
                }

                /// The same kernels, unless nothing could compare one of them with its declaration.
                ///
                /// # Errors
                /// The names of those of which neither the driver nor the image tells the parameters.
                #visibility fn strict(self) -> #krate::Result<Self> {
                    p::require_verified(#title, &[#((#labels, self.#fields.function())),*])?;
                    ::core::result::Result::Ok(self)
                }

                // It vouches for the module, as `from_module` does: the code beside the declaration sees it too.
                unsafe fn __resolve(#module: &#krate::Module, origin: p::Origin) -> #krate::Result<Self> {
                    let [#(#fields),*] = #resolve?;
                    ::core::result::Result::Ok(Self { #(#fields: #declared),* })
                }

                #(#methods)*
            }

            #(#set_attribute #prepared)*

            impl ::core::fmt::Debug for #name {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.debug_struct(#title)#(.field(#labels, &self.#fields))*.finish()
                }
            }
        };
    }
}

/// `load` and `load_with`, for those with an image.
fn loaders(set: &Set, is_compared: bool, is_readable: bool, krate: &TokenStream) -> TokenStream {
    let Some(image) = &set.image else {
        return TokenStream::new();
    };
    let (context, options, visibility) = (local("context"), local("options"), &set.visibility);
    let module = local("module");
    let path = &image.path.tokens;
    let load = match image.kind {
        ImageKind::Ptx if !is_readable => quote! {
            #krate::Context::load_ptx_with(#context, "", #options)
        },
        ImageKind::Ptx => quote! {
            #krate::Context::load_ptx_with(#context, ::core::include_str!(#path), #options)
        },
        ImageKind::Cubin | ImageKind::Fatbin => {
            // Who writes `unsafe extern` vouches for the image too.
            let block = unsafe_block(
                set.unsafe_token.span,
                &quote!(#krate::Context::load_binary_with(#context, ::core::include_bytes!(#path), #options)),
            );
            quote!(#block)
        }
    };
    let origin = match is_compared {
        true => quote!(Compared),
        false => quote!(Embedded),
    };
    // The module is of the image that the declaration names.
    let resolved = resolved(set, &origin);
    quote! {
        /// Loads the image into the context, and compares all kernels with their declarations.
        ///
        /// # Errors
        /// What differs, in a table of all kernels; what loading the image returns.
        #visibility fn load(#context: &#krate::Context) -> #krate::Result<Self> {
            Self::load_with(#context, &#krate::JitOptions::new())
        }

        /// Loads the image into the context, with options, and compares all kernels with their declarations.
        ///
        /// # Errors
        /// What differs, in a table of all kernels; what loading the image returns.
        #visibility fn load_with(#context: &#krate::Context, #options: &#krate::JitOptions) -> #krate::Result<Self> {
            let #module = &#load?;
            #resolved
        }
    }
}

/// Takes the kernels of the variable `module`, which must be as declared.
fn resolved(set: &Set, origin: &TokenStream) -> TokenStream {
    let module = local("module");
    let call = quote!(Self::__resolve(#module, p::Origin::#origin));
    unsafe_block(set.unsafe_token.span, &call)
}

/// A name of ours that no parameter of the user's can take.
fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// The variable with the length of a slice.
fn len_of(parameter: &Ident) -> Ident {
    format_ident!("len_of_{}", parameter, span = Span::mixed_site())
}

/// A block that is unsafe by the declaration's `unsafe`: it stands there whole, so that `forbid(unsafe_code)` sees it.
fn unsafe_block(span: Span, body: &TokenStream) -> TokenStream {
    let keyword = syn::Token![unsafe](span);
    let mut block = Group::new(Delimiter::Brace, body.clone());
    block.set_span(span);
    quote!(#keyword #block)
}
