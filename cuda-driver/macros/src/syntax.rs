//! The syntax of declarations.

mod expression;
mod launch;
mod parameter;

pub(crate) use expression::{Expression, Operation};
pub(crate) use launch::{Amount, Block, Global, Grid, Launch};
pub(crate) use parameter::{Kind, Parameter};

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, Ident, Lit, LitStr, Meta, Path, Result, Token, Visibility};

/// All that is in the macro's braces.
pub(crate) struct Input {
    /// The path of `cuda-driver`.
    pub(crate) krate: TokenStream,
    pub(crate) sets: Vec<Set>,
}

/// `pub unsafe extern Name from ptx "path" { … }`
pub(crate) struct Set {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) unsafe_token: Token![unsafe],
    pub(crate) name: Ident,
    pub(crate) image: Option<Image>,
    pub(crate) kernels: Vec<Kernel>,
}

/// `from ptx PATH`
pub(crate) struct Image {
    pub(crate) kind: ImageKind,
    pub(crate) path: PathExpression,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImageKind {
    Ptx,
    Cubin,
    Fatbin,
}

/// What `include_str!` takes: a literal, `env!(…)`, or `concat!(…)` of these.
pub(crate) struct PathExpression {
    pub(crate) tokens: TokenStream,
    pub(crate) span: Span,
    pub(crate) parts: Vec<PathPart>,
}

pub(crate) enum PathPart {
    Text(String),
    Environment(String),
}

/// `pub safe fn name(…);`
pub(crate) struct Kernel {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) image_name: Option<(String, Span)>,
    pub(crate) launch: Option<Launch>,
    /// The type of its prepared launches.
    pub(crate) prepared: Option<Ident>,
    pub(crate) visibility: Visibility,
    pub(crate) is_safe: bool,
    pub(crate) name: Ident,
    pub(crate) parameters: Vec<Parameter>,
}

mod keyword {
    syn::custom_keyword!(from);
    syn::custom_keyword!(ptx);
    syn::custom_keyword!(cubin);
    syn::custom_keyword!(fatbin);
    syn::custom_keyword!(safe);
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let krate = if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            let path: Path = input.call(Path::parse_mod_style)?;
            input.parse::<Token![;]>()?;
            quote!(#path)
        } else {
            quote!(::cuda_driver)
        };
        let mut sets = Vec::new();
        while !input.is_empty() {
            sets.push(input.parse()?);
        }
        Ok(Self { krate, sets })
    }
}

impl Parse for Set {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if input.peek(Token![extern]) {
            return Err(input.error(
                "a declaration of kernels is `unsafe extern`: who writes it vouches for what the kernels do",
            ));
        }
        let unsafe_token = input.parse()?;
        input.parse::<Token![extern]>()?;
        if input.peek(LitStr) {
            return Err(input.error("there is no ABI here: write `unsafe extern NAME from ptx …`"));
        }
        let name = input.parse()?;
        let is_embedded = input.peek(keyword::from);
        let image = is_embedded.then(|| input.parse()).transpose()?;
        let content;
        syn::braced!(content in input);
        let mut kernels = Vec::new();
        while !content.is_empty() {
            kernels.push(content.parse()?);
        }
        Ok(Self {
            attributes,
            visibility,
            unsafe_token,
            name,
            image,
            kernels,
        })
    }
}

const IMAGE: &str = "the image is `from ptx PATH`, `from cubin PATH` or `from fatbin PATH`, and PATH is a string such as \
                     `\"blend.ptx\"`; a `.cu` is compiled by cuda-build or cuda-nvrtc";

impl Parse for Image {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        input.parse::<keyword::from>()?;
        let kind = if input.peek(keyword::ptx) {
            input.parse::<keyword::ptx>()?;
            ImageKind::Ptx
        } else if input.peek(keyword::cubin) {
            input.parse::<keyword::cubin>()?;
            ImageKind::Cubin
        } else if input.peek(keyword::fatbin) {
            input.parse::<keyword::fatbin>()?;
            ImageKind::Fatbin
        } else {
            return Err(input.error(IMAGE));
        };
        let path: PathExpression = input.parse()?;
        let is_source =
            matches!(path.parts.last(), Some(PathPart::Text(text)) if text.ends_with(".cu"));
        if is_source {
            return Err(syn::Error::new(path.span, IMAGE));
        }
        Ok(Self { kind, path })
    }
}

impl Parse for PathExpression {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let start = input.fork();
        let span = input.span();
        let mut parts = Vec::new();
        path_parts(input, &mut parts)?;
        let mut tokens = TokenStream::new();
        // One literal, or the three tokens of a macro call.
        let count = if start.peek(LitStr) { 1 } else { 3 };
        for _ in 0..count {
            tokens.extend([start.parse::<proc_macro2::TokenTree>()?]);
        }
        Ok(Self {
            tokens,
            span,
            parts,
        })
    }
}

fn path_parts(input: ParseStream<'_>, parts: &mut Vec<PathPart>) -> Result<()> {
    if input.peek(LitStr) {
        parts.push(PathPart::Text(input.parse::<LitStr>()?.value()));
        return Ok(());
    }
    let wrong = input
        .error("the path is a string such as `\"blend.ptx\"`, `env!(…)`, or `concat!(…)` of these");
    let name = Ident::parse_any(input).map_err(|_| wrong.clone())?;
    input.parse::<Token![!]>().map_err(|_| wrong.clone())?;
    let content;
    syn::parenthesized!(content in input);
    if name == "env" {
        let variable: LitStr = content.parse()?;
        parts.push(PathPart::Environment(variable.value()));
        let _rest: TokenStream = content.parse()?;
        return Ok(());
    }
    if name != "concat" {
        return Err(wrong);
    }
    while !content.is_empty() {
        path_parts(&content, parts)?;
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    Ok(())
}

impl Parse for Kernel {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut attributes = Vec::new();
        let (mut image_name, mut launch, mut prepared) = (None, None, None);
        for attribute in input.call(Attribute::parse_outer)? {
            if attribute.path().is_ident("launch") {
                if launch.is_some() {
                    return Err(error_at(&attribute, "a kernel has one `#[launch(…)]`"));
                }
                launch = Some(attribute.parse_args_with(Launch::parse)?);
            } else if attribute.path().is_ident("name") {
                if image_name.is_some() {
                    return Err(error_at(&attribute, "a kernel has one `#[name = \"…\"]`"));
                }
                image_name = Some(name_of(&attribute)?);
            } else if attribute.path().is_ident("prepared") {
                let name: Ident = attribute.parse_args().map_err(|_| {
                    let text = "write `#[prepared(NAME)]`, with the name of the type that prepared launches are to have";
                    error_at(&attribute, text)
                })?;
                if prepared.replace(name).is_some() {
                    return Err(error_at(&attribute, "a kernel has one `#[prepared(…)]`"));
                }
            } else if attribute.path().is_ident("cfg") {
                let text = "`#[cfg(…)]` goes before the whole `kernels!`, not before one kernel";
                return Err(error_at(&attribute, text));
            } else {
                attributes.push(attribute);
            }
        }
        let visibility = input.parse()?;
        let is_safe = if input.peek(keyword::safe) {
            input.parse::<keyword::safe>()?;
            true
        } else if input.peek(Token![unsafe]) {
            input.parse::<Token![unsafe]>()?;
            false
        } else {
            return Err(input.error(
                "a kernel is a `safe fn` if its declaration covers everything that it may do, and an `unsafe fn` if callers \
                 must promise more",
            ));
        };
        input.parse::<Token![fn]>()?;
        let name: Ident = input.parse()?;
        if input.peek(Token![<]) {
            return Err(input.error(
                "a kernel has no generic parameters here: declare each instance, with `#[name = \"scale<float>\"]`",
            ));
        }
        let content;
        syn::parenthesized!(content in input);
        let parameters = content.parse_terminated(Parameter::parse, Token![,])?;
        if input.peek(Token![->]) {
            return Err(input.error("a kernel returns nothing"));
        }
        if input.peek(syn::token::Brace) {
            let text = "a kernel has no body here: its code is in the image, and its declaration ends with `;`";
            return Err(input.error(text));
        }
        input.parse::<Token![;]>()?;
        Ok(Self {
            attributes,
            image_name,
            launch,
            prepared,
            visibility,
            is_safe,
            name,
            parameters: parameters.into_iter().collect(),
        })
    }
}

fn name_of(attribute: &Attribute) -> Result<(String, Span)> {
    if let Meta::NameValue(pair) = &attribute.meta
        && let Expr::Lit(literal) = &pair.value
        && let Lit::Str(text) = &literal.lit
    {
        return Ok((text.value(), text.span()));
    }
    let text = "write `#[name = \"…\"]`, with the kernel's name in the image or in C++";
    Err(error_at(attribute, text))
}

pub(crate) fn error_at(tokens: &impl quote::ToTokens, text: &str) -> syn::Error {
    syn::Error::new_spanned(tokens, text)
}
