//! What substitutions and template parameters stand for.

use super::CType;

/// A type or a template argument.
#[derive(Debug, Clone)]
pub(super) struct Type {
    /// As C++ writes it: `float const*`.
    pub(super) text: String,
    pub(super) ctype: CType,
    pub(super) is_const: bool,
}

/// A type, or several that take the place of one.
#[derive(Debug, Clone)]
pub(super) enum Item {
    One(Type),
    Pack(Vec<Type>),
}

impl Item {
    pub(super) fn one(text: impl Into<String>, ctype: CType) -> Self {
        Self::One(Type {
            text: text.into(),
            ctype,
            is_const: false,
        })
    }

    /// The same of each.
    pub(super) fn map(self, change: impl Fn(Type) -> Type) -> Self {
        match self {
            Self::One(ty) => Self::One(change(ty)),
            Self::Pack(all) => Self::Pack(all.into_iter().map(change).collect()),
        }
    }

    pub(super) fn all(&self) -> &[Type] {
        match self {
            Self::One(ty) => std::slice::from_ref(ty),
            Self::Pack(all) => all,
        }
    }

    pub(super) fn into_all(self) -> Vec<Type> {
        match self {
            Self::One(ty) => vec![ty],
            Self::Pack(all) => all,
        }
    }

    pub(super) fn into_types(self) -> impl Iterator<Item = CType> {
        self.into_all().into_iter().map(|ty| ty.ctype)
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = String> {
        self.all().iter().map(|ty| ty.text.clone())
    }

    pub(super) fn ctype(&self) -> CType {
        match self {
            Self::One(ty) => ty.ctype.clone(),
            Self::Pack(_) => CType::Unknown,
        }
    }

    pub(super) fn is_void(&self) -> bool {
        matches!(self, Self::One(ty) if ty.ctype == CType::Void)
    }

    /// Bytes of text, roughly.
    pub(super) fn size(&self) -> usize {
        self.all()
            .iter()
            .map(|ty| ty.text.len() + size_of::<Type>())
            .sum()
    }
}

/// The texts of all, with commas between them.
pub(super) fn joined(items: &[Item]) -> String {
    let all = items.iter().flat_map(Item::all);
    let texts: Vec<&str> = all.map(|ty| ty.text.as_str()).collect();
    texts.join(", ")
}
