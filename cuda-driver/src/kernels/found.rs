//! What an image says of a kernel, for the comparison with its declaration.

use cuda_ptx::{CScalar, CType};

use super::declaration::{FoundElement, FoundType, NumberKind};

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
