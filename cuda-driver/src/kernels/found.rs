//! What an image says of a kernel, for the comparison with its declaration.

use cuda_ptx::{CScalar, CType};

/// A parameter as it is found.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Its size in bytes.
    pub size: usize,
    /// Its type.
    pub ty: FoundType<'a>,
}

/// A type as it is found.
#[derive(Clone, Copy, Debug)]
pub enum FoundType<'a> {
    /// An address.
    Pointer {
        /// What lies there.
        to: FoundElement<'a>,
        /// Whether the kernel promises not to write.
        is_const: bool,
    },
    /// A value.
    Value(FoundElement<'a>),
    /// An integer or an address.
    Integer,
    /// Anything.
    Unknown,
}

/// What is found by value, or behind a pointer.
#[derive(Clone, Copy, Debug)]
pub enum FoundElement<'a> {
    /// One or more numbers; a size of 0 is 4 or 8.
    Numbers {
        /// Of what kind.
        kind: NumberKind,
        /// Bytes of each.
        size: usize,
        /// How many.
        lanes: usize,
    },
    /// A struct, union or enum.
    Named(&'a str),
    /// An address.
    Address,
    /// Anything.
    Unknown,
}

/// A kind of number in C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// `bool`
    Bool,
    /// A character or a half: bits without a sign.
    Bits,
    /// With a sign.
    Signed,
    /// Without a sign.
    Unsigned,
    /// Floating point.
    Float,
}

/// The type that the comparison works on. A `const` that the kernel does not keep is none.
pub(super) fn found_type(ty: &CType, is_written: bool) -> FoundType<'_> {
    match ty {
        CType::Pointer { to, is_const } => FoundType::Pointer {
            to: found_element(to),
            is_const: *is_const && !is_written,
        },
        CType::Scalar(_) | CType::Vector { .. } | CType::Named(_) => {
            FoundType::Value(found_element(ty))
        }
        CType::Integer => FoundType::Integer,
        _ => FoundType::Unknown,
    }
}

fn found_element(ty: &CType) -> FoundElement<'_> {
    match ty {
        CType::Scalar(scalar) => numbers(*scalar, 1),
        CType::Vector { of, lanes } => numbers(*of, usize::from(*lanes)),
        CType::Named(name) => FoundElement::Named(name),
        CType::Pointer { .. } => FoundElement::Address,
        _ => FoundElement::Unknown,
    }
}

fn numbers(scalar: CScalar, lanes: usize) -> FoundElement<'static> {
    let kind = match scalar {
        CScalar::Bool => NumberKind::Bool,
        CScalar::Float | CScalar::Double => NumberKind::Float,
        _ => match scalar.is_signed() {
            Some(true) => NumberKind::Signed,
            Some(false) => NumberKind::Unsigned,
            None => NumberKind::Bits,
        },
    };
    match scalar {
        // Two or four bytes, as the host has it.
        CScalar::WideChar => FoundElement::Unknown,
        _ => FoundElement::Numbers {
            kind,
            size: scalar.size().unwrap_or(0),
            lanes,
        },
    }
}
