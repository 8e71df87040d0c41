//! The types of operands, and which registers can stand for them.

use super::forms::{Role, Slot, Type, Typed};
use super::operand::Wrong;
use crate::ScalarType;

impl Slot {
    /// The type that the operand has; nothing where the mnemonic names none.
    pub(super) fn ty(&self, types: &[Type]) -> Option<Type> {
        let none = Type::Scalar(ScalarType::B32);
        match (self.typed, self.role) {
            (Typed::Fixed(ty), _) => Some(ty),
            (Typed::Nth(nth), _) if nth < types.len() => types.get(nth).copied(),
            (Typed::Twice, _) => match types.first()? {
                Type::Scalar(ScalarType::U16) => Some(Type::Scalar(ScalarType::U32)),
                Type::Scalar(ScalarType::S16) => Some(Type::Scalar(ScalarType::S32)),
                Type::Scalar(ScalarType::U32) => Some(Type::Scalar(ScalarType::U64)),
                Type::Scalar(ScalarType::S32) => Some(Type::Scalar(ScalarType::S64)),
                _ => None,
            },
            // These need no type.
            (
                Typed::Nth(_),
                Role::Address
                | Role::AddressIn(_)
                | Role::Sink
                | Role::IntegerRegister
                | Role::Constant
                | Role::Label
                | Role::BranchTable
                | Role::Call,
            ) => Some(none),
            (Typed::Nth(_), _) => None,
        }
    }
}

impl Type {
    /// Whether it is of bits or whole numbers.
    pub(super) fn is_integral(self) -> bool {
        !matches!(
            self,
            Self::Packed(_)
                | Self::Scalar(
                    ScalarType::F16
                        | ScalarType::F16x2
                        | ScalarType::F32
                        | ScalarType::F64
                        | ScalarType::Pred
                )
        )
    }

    /// The type as PTX writes it.
    pub(super) fn shown(self) -> String {
        match self {
            Self::Scalar(ty) => ty.to_string(),
            Self::Packed(bits) => format!(".b{bits}"),
        }
    }
}

fn untyped(ty: ScalarType) -> bool {
    use ScalarType::{B8, B16, B32, B64, B128};
    matches!(ty, B8 | B16 | B32 | B64 | B128)
}

/// Whether a register of one type can be an operand of another.
pub(super) fn fits(
    name: &str,
    register: ScalarType,
    vector: u8,
    ty: Type,
    wider: bool,
) -> Result<(), Wrong> {
    let bits = register.size() * 8;
    let same_kind = match ty {
        Type::Packed(_) => untyped(register),
        Type::Scalar(ty) if ty == ScalarType::Pred || register == ScalarType::Pred => {
            ty == register
        }
        Type::Scalar(ty) if untyped(ty) || untyped(register) => true,
        Type::Scalar(ty) => {
            Type::Scalar(ty).is_integral() == Type::Scalar(register).is_integral()
                && (Type::Scalar(ty).is_integral() || ty == register)
        }
    };
    let same_size = bits == ty.bits() || wider && bits > ty.bits();
    if same_kind && same_size && vector == 1 {
        return Ok(());
    }
    if vector > 1 {
        return Err(format!("`{name}` is a vector register"));
    }
    Err(format!(
        "`{name}` is {register} where {} is expected",
        ty.shown()
    ))
}
