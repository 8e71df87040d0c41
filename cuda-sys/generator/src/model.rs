//! What the headers declare, in our own terms.

use std::collections::BTreeMap;

/// An enumeration, and its enumerators in the header's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Enum {
    /// The tag, or the name where there is no tag.
    pub(crate) tag: String,
    /// Name and value of each enumerator.
    pub(crate) values: Vec<(String, i64)>,
}

/// One field of a struct or union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) ty: syn::Type,
    /// The type on 32 bit targets, where it is another.
    pub(crate) narrow: Option<syn::Type>,
}

/// A struct or union with its fields, or an opaque struct without any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// The tag, or the name where there is no tag.
    pub(crate) tag: String,
    pub(crate) is_union: bool,
    pub(crate) is_opaque: bool,
    /// The alignment that the header asks for, where it asks for one.
    pub(crate) align: Option<u16>,
    pub(crate) fields: Vec<Field>,
}

/// A `typedef` that is not the name of an enum or a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alias {
    pub(crate) name: String,
    pub(crate) ty: syn::Type,
    /// The type on 32 bit targets, where it is another.
    pub(crate) narrow: Option<syn::Type>,
}

/// A declared function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) symbol: String,
    /// Name and type of each parameter.
    pub(crate) parameters: Vec<(String, syn::Type)>,
}

/// Size, alignment and field offsets of a record, as clang computed them for one target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) size: i64,
    pub(crate) align: i64,
    pub(crate) offsets: BTreeMap<String, i64>,
}

/// All that one target's headers declare, in the headers' order.
#[derive(Debug, Default)]
pub(crate) struct Api {
    pub(crate) enums: Vec<Enum>,
    pub(crate) records: Vec<Record>,
    pub(crate) aliases: Vec<Alias>,
    pub(crate) functions: Vec<Function>,
    /// By tag.
    pub(crate) layouts: BTreeMap<String, Layout>,
}
