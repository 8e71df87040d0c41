//! Parameters: slices, nullable slices, values, and values that are filled in.

use proc_macro2::Span;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{GenericArgument, Ident, Lit, LitInt, PathArguments, Result, Token, Type, token};

use super::Expression;

pub(crate) struct Parameter {
    pub(crate) name: Ident,
    pub(crate) kind: Kind,
    /// The type as it is written.
    pub(crate) text: String,
    /// Where the type stands.
    pub(crate) span: Span,
}

pub(crate) enum Kind {
    /// `&[T]`, `&mut [T; len(x)]`, `Option<&[T]>`
    Memory {
        element: Type,
        is_written: bool,
        is_nullable: bool,
        len: Option<Length>,
    },
    /// `T`, or `T = expression`
    Value {
        ty: Type,
        filled: Option<Expression>,
    },
}

/// How many elements there are.
pub(crate) struct Length {
    pub(crate) expression: Expression,
    pub(crate) at_least: bool,
}

impl Parse for Parameter {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(Token![#]) {
            return Err(input.error("parameters have no attributes"));
        }
        if input.peek(Token![self]) || input.peek(Token![&]) {
            return Err(
                input.error("a parameter is `name: type`; the kernels' struct is no parameter")
            );
        }
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let span = input.span();
        if input.peek(Token![&]) {
            return memory(input, name, span, false);
        }
        let fork = input.fork();
        if fork.parse::<Ident>().is_ok_and(|it| it == "Option")
            && fork.parse::<Token![<]>().is_ok()
            && fork.peek(Token![&])
        {
            input.parse::<Ident>()?;
            input.parse::<Token![<]>()?;
            let parameter = memory(input, name, span, true)?;
            input.parse::<Token![>]>()?;
            return Ok(parameter);
        }
        let ty: Type = input.parse()?;
        if let Type::Ptr(pointer) = &ty {
            let text =
                "memory is declared as `&[T]` if the kernel reads it, as `&mut [T]` if it writes";
            return Err(super::error_at(pointer, text));
        }
        if let Some(element) = owned_element(&ty) {
            let of = shown(element);
            let text = format!("memory is declared as `&[{of}]` or `&mut [{of}]`");
            return Err(super::error_at(&ty, &text));
        }
        let filled = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            let is_other_literal = input.peek(Lit) && !input.peek(LitInt);
            if is_other_literal || ["f32", "f64", "bool", "char"].contains(&shown(&ty).as_str()) {
                let text = format!("only integers can be filled in; pass `{name}` at the call");
                return Err(input.error(text));
            }
            Some(input.parse()?)
        } else {
            None
        };
        let text = shown(&ty);
        let span = ty.span();
        let kind = Kind::Value { ty, filled };
        Ok(Self {
            name,
            kind,
            text,
            span,
        })
    }
}

/// The element of a type of host memory, which no kernel takes.
fn owned_element(ty: &Type) -> Option<&Type> {
    let path = match ty {
        Type::Slice(slice) => return Some(&slice.elem),
        Type::Path(path) => path.path.segments.last()?,
        _ => return None,
    };
    let PathArguments::AngleBracketed(arguments) = &path.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(element) if path.ident == "Vec" => Some(element),
        _ => None,
    }
}

fn memory(input: ParseStream<'_>, name: Ident, span: Span, is_nullable: bool) -> Result<Parameter> {
    input.parse::<Token![&]>()?;
    let is_written = input.parse::<Option<Token![mut]>>()?.is_some();
    if !input.peek(token::Bracket) {
        return Err(input.error(
            "memory is declared as a slice, `&[T]` or `&mut [T]`; one element is `&[T; 1]`, and a value has no `&`",
        ));
    }
    let content;
    syn::bracketed!(content in input);
    let element: Type = content.parse()?;
    let mut len = None;
    if !content.is_empty() {
        content.parse::<Token![;]>()?;
        let expression = content.parse()?;
        let at_least = content.parse::<Option<Token![..]>>()?.is_some();
        len = Some(Length {
            expression,
            at_least,
        });
        if !content.is_empty() {
            return Err(content.error("expected `]`, or `..` for at least so many elements"));
        }
    }
    let reference = if is_written { "&mut " } else { "&" };
    let of = shown(&element);
    let slice = match &len {
        Some(Length {
            expression,
            at_least,
        }) => format!(
            "{reference}[{of}; {expression}{}]",
            if *at_least { ".." } else { "" }
        ),
        None => format!("{reference}[{of}]"),
    };
    let text = match is_nullable {
        true => format!("Option<{slice}>"),
        false => slice,
    };
    Ok(Parameter {
        name,
        kind: Kind::Memory {
            element,
            is_written,
            is_nullable,
            len,
        },
        text,
        span,
    })
}

/// A type as people write it.
fn shown(ty: &Type) -> String {
    let mut text = ty.to_token_stream().to_string();
    for (spaced, tight) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        (" ;", ";"),
        ("[ ", "["),
        (" ,", ","),
    ] {
        text = text.replace(spaced, tight);
    }
    text
}
