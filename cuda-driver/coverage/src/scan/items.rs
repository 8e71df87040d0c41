//! What the attributes, names and types of items say.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, ImplItem, Item, Meta, Type, Visibility};

use super::calls::is_driver_name;

/// The documentation aliases that name functions of the driver.
pub(super) fn aliases(attributes: &[Attribute]) -> Vec<String> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
        .filter_map(|attribute| match &attribute.meta {
            Meta::List(list) => Some(list.tokens.clone()),
            _ => None,
        })
        .filter(begins_with_alias)
        .flat_map(texts)
        .filter(|text| is_driver_name(text))
        .collect()
}

fn begins_with_alias(tokens: &TokenStream) -> bool {
    matches!(tokens.clone().into_iter().next(), Some(TokenTree::Ident(name)) if name == "alias")
}

/// The string literals in the tokens, whatever is between them.
fn texts(tokens: TokenStream) -> Vec<String> {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Literal(literal) => syn::parse_str::<syn::LitStr>(&literal.to_string())
                .map(|text| vec![text.value()])
                .unwrap_or_default(),
            TokenTree::Group(group) => texts(group.stream()),
            _ => Vec::new(),
        })
        .collect()
}

/// Whether a `cfg` keeps the item to tests.
pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Meta::List(list) = &attribute.meta else {
            return false;
        };
        let text = list.tokens.to_string();
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        attribute.path().is_ident("cfg") && !text.contains("not") && words.any(|it| it == "test")
    })
}

pub(super) fn is_exported(attributes: &[Attribute]) -> bool {
    let exported = |attribute: &Attribute| attribute.path().is_ident("macro_export");
    attributes.iter().any(exported)
}

pub(super) fn is_macro_rules(item: &syn::ItemMacro) -> bool {
    item.mac.path.is_ident("macro_rules")
}

/// The name of a function of a type, or of none, as a user needs to know it.
pub(super) fn named(owner: &str, signature: &syn::Signature) -> String {
    let duty = if signature.unsafety.is_some() {
        "unsafe "
    } else {
        ""
    };
    let separator = if owner.is_empty() { "" } else { "::" };
    format!("{duty}{owner}{separator}{}", signature.ident)
}

/// The last name of a type, without references and parameters.
pub(super) fn type_name(kind: &Type) -> String {
    match kind {
        Type::Path(path) => {
            let last = path.path.segments.last();
            last.map_or_else(String::new, |segment| segment.ident.to_string())
        }
        Type::Reference(reference) => type_name(&reference.elem),
        Type::Group(group) => type_name(&group.elem),
        Type::Paren(paren) => type_name(&paren.elem),
        _ => "an unnamed type".into(),
    }
}

pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

pub(super) fn member_attributes(member: &ImplItem) -> &[Attribute] {
    match member {
        ImplItem::Const(member) => &member.attrs,
        ImplItem::Fn(member) => &member.attrs,
        ImplItem::Type(member) => &member.attrs,
        ImplItem::Macro(member) => &member.attrs,
        _ => &[],
    }
}

/// The name of an item that is neither function nor implementation, and its visibility where it has one.
pub(super) fn name_and_visibility(item: &Item) -> (String, Option<&Visibility>) {
    match item {
        Item::Const(item) => (item.ident.to_string(), Some(&item.vis)),
        Item::Enum(item) => (item.ident.to_string(), Some(&item.vis)),
        Item::Static(item) => (item.ident.to_string(), Some(&item.vis)),
        Item::Struct(item) => (item.ident.to_string(), Some(&item.vis)),
        Item::Union(item) => (item.ident.to_string(), Some(&item.vis)),
        Item::Macro(item) => {
            let last = item.mac.path.segments.last();
            (
                last.map_or_else(String::new, |name| format!("{}!", name.ident)),
                None,
            )
        }
        _ => ("an unnamed item".into(), None),
    }
}
