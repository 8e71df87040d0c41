//! Declarations and what is found in their place, in a form that can be compared while the program is compiled.

use bytemuck::NoUninit;

use super::element::{ElementType, Kind};
use super::found::{Found, FoundElement, FoundType, NumberKind};

/// A kernel as it is declared.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// The name of the method.
    pub method: &'static str,
    /// What is sought in the image: its name there, or in C++.
    pub name: &'static str,
    /// The name in the embedded image, where it was found when the program was compiled.
    pub symbol: Option<&'static str>,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// The largest block that launches by this declaration have, if that is a constant.
    pub most_threads: Option<u32>,
    /// The most dynamic shared memory of its launches, if that is a constant.
    pub shared_bytes: Option<u32>,
    /// The names of the global variables that it touches, and whether it writes them; nothing if it does not say.
    pub globals: Option<&'static [(&'static str, bool)]>,
    /// Whether every thread waits for the kernel in front before it touches memory.
    pub waits: bool,
}

/// Where a module comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is the embedded image, with which the declaration was compared when the program was compiled.
    Compared,
    /// It is the embedded image, which told nothing then.
    Embedded,
    /// It is somebody else's.
    Elsewhere,
}

/// A parameter as it is declared.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its type as it is written.
    pub text: &'static str,
    /// What is done with it.
    pub access: Access,
    /// The size of the value, or of an element.
    pub size: usize,
    /// What the value is, or an element.
    pub element: ElementType,
}

/// What a kernel can take by value: anything without uninitialised bytes, and no memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel by value",
    note = "a value is a number, an array, or a `repr(C)` struct that is `bytemuck::NoUninit`; memory is declared as `&[T]` or \
            `&mut [T]`"
)]
pub trait Value {}

impl<T: NoUninit> Value for T {}

/// The size of what is passed by value, in bytes.
#[must_use]
pub const fn size_of_value<T: Value>() -> usize {
    size_of::<T>()
}

/// What a kernel does with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is a value.
    Value,
    /// It points to what is read.
    Read,
    /// It points to what is written.
    Write,
}

/// Bytes of an address.
const ADDRESS: usize = 8;

impl Parameter {
    /// The size of the parameter.
    #[must_use]
    pub const fn parameter_size(&self) -> usize {
        match self.access {
            Access::Value => self.size,
            Access::Read | Access::Write => ADDRESS,
        }
    }

    /// Whether the parameter that was found can be the declared one; in doubt it can.
    #[must_use]
    pub const fn fits(&self, found: &Found<'_>) -> bool {
        if self.parameter_size() != found.size {
            return false;
        }
        match (self.access, found.ty) {
            (_, FoundType::Unknown) => true,
            (Access::Value, FoundType::Value(element)) => self.value_is(&element),
            (Access::Value, FoundType::Integer) => !matches!(self.element.kind, Kind::Float),
            // A struct may hold an address.
            (Access::Value, FoundType::Pointer { .. }) => {
                matches!(self.element.kind, Kind::Opaque)
            }
            (Access::Write, FoundType::Pointer { is_const: true, .. }) => false,
            (_, FoundType::Pointer { to, .. }) => self.pointee_is(&to),
            (_, FoundType::Integer) => true,
            (_, FoundType::Value(element)) => {
                matches!(element, FoundElement::Named(_) | FoundElement::Unknown)
            }
        }
    }

    /// Whether a kernel may compute with floating-point numbers of that size behind it; of other types of elements nobody knows.
    #[must_use]
    pub const fn may_hold_floats_of(&self, size: usize) -> bool {
        match (self.element.kind, self.element.lanes) {
            (Kind::Float, 1..) => self.size / self.element.lanes == size,
            _ => true,
        }
    }

    const fn value_is(&self, found: &FoundElement<'_>) -> bool {
        match (self.element.kind, found) {
            (Kind::Opaque, _) | (_, FoundElement::Unknown) => true,
            (Kind::Named(name), FoundElement::Named(found)) => is_name(found, name),
            (_, FoundElement::Named(_)) => true,
            (Kind::Named(_), _) => false,
            (kind, FoundElement::Numbers { kind: found, .. }) => number_is(kind, *found),
            (_, FoundElement::Address) => true,
        }
    }

    const fn pointee_is(&self, found: &FoundElement<'_>) -> bool {
        match (self.element.kind, found) {
            (Kind::Opaque, _) | (_, FoundElement::Unknown) => true,
            (Kind::Named(name), FoundElement::Named(found)) => is_name(found, name),
            (_, FoundElement::Named(_)) => true,
            (Kind::Named(_), _) => false,
            (
                kind,
                FoundElement::Numbers {
                    kind: found,
                    size,
                    lanes,
                },
            ) => {
                let own = match self.element.lanes {
                    0 => return true,
                    lanes => self.size / lanes,
                };
                let same = own == *size || (*size == 0 && (own == 4 || own == 8));
                same && self.element.lanes.is_multiple_of(*lanes) && number_is(kind, *found)
            }
            (kind, FoundElement::Address) => {
                matches!(kind, Kind::Unsigned | Kind::Signed) && self.size.is_multiple_of(ADDRESS)
            }
        }
    }
}

/// Whether a number of Rust is that kind of number of C++, given equal sizes.
const fn number_is(own: Kind, found: NumberKind) -> bool {
    matches!(
        (own, found),
        (Kind::Float, NumberKind::Float)
            | (Kind::Signed, NumberKind::Signed | NumberKind::Bits)
            | (Kind::Unsigned, NumberKind::Unsigned | NumberKind::Bits)
            | (Kind::Bool, NumberKind::Bool | NumberKind::Bits)
            | (Kind::Signed | Kind::Unsigned, NumberKind::Bool)
            | (Kind::Named(_) | Kind::Opaque, _)
    )
}

/// Whether a qualified name is the stated one, or ends with it behind `::`.
const fn is_name(found: &str, stated: &str) -> bool {
    let (found, stated) = (found.as_bytes(), stated.as_bytes());
    let Some(start) = found.len().checked_sub(stated.len()) else {
        return false;
    };
    let mut index = 0;
    while index < stated.len() {
        if found[start + index] != stated[index] {
            return false;
        }
        index += 1;
    }
    start == 0 || found[start - 1] == b':'
}

#[cfg(test)]
mod tests {
    use super::super::element::KernelType;
    use super::*;

    fn parameter<T: KernelType>(access: Access) -> Parameter {
        Parameter {
            name: "p",
            text: "",
            access,
            size: size_of::<T>(),
            element: T::TYPE,
        }
    }

    fn numbers(kind: NumberKind, size: usize, lanes: usize) -> FoundElement<'static> {
        FoundElement::Numbers { kind, size, lanes }
    }

    fn by_value<T: KernelType>(size: usize, found: FoundElement<'_>) -> bool {
        let ty = FoundType::Value(found);
        parameter::<T>(Access::Value).fits(&Found { size, ty })
    }

    fn behind_pointer<T: KernelType>(access: Access, to: FoundElement<'_>, is_const: bool) -> bool {
        let ty = FoundType::Pointer { to, is_const };
        parameter::<T>(access).fits(&Found { size: 8, ty })
    }

    #[test]
    fn numbers_by_value() {
        let float = numbers(NumberKind::Float, 4, 1);
        let int = numbers(NumberKind::Signed, 4, 1);
        assert!(by_value::<f32>(4, float) && by_value::<i32>(4, int));
        assert!(!by_value::<f32>(4, int) && !by_value::<i32>(4, float) && !by_value::<u32>(4, int));
        assert!(!by_value::<f64>(4, float), "size");
        assert!(by_value::<bool>(1, numbers(NumberKind::Bool, 1, 1)));
        assert!(by_value::<u8>(1, numbers(NumberKind::Bool, 1, 1)));
        assert!(
            by_value::<u16>(2, numbers(NumberKind::Bits, 2, 1)),
            "a half"
        );
        assert!(by_value::<[f32; 4]>(16, numbers(NumberKind::Float, 4, 4)));
    }

    #[test]
    fn what_is_only_known_by_ptx() {
        let integer = |size| Found {
            size,
            ty: FoundType::Integer,
        };
        for access in [Access::Read, Access::Write] {
            assert!(parameter::<f32>(access).fits(&integer(8)));
            assert!(!parameter::<f32>(access).fits(&integer(4)));
        }
        assert!(parameter::<i32>(Access::Value).fits(&integer(4)));
        assert!(!parameter::<f32>(Access::Value).fits(&integer(4)));
        let unknown = Found {
            size: 4,
            ty: FoundType::Unknown,
        };
        assert!(parameter::<f32>(Access::Value).fits(&unknown));
        assert!(!parameter::<f64>(Access::Value).fits(&unknown));
    }

    #[test]
    fn pointers() {
        let float = numbers(NumberKind::Float, 4, 1);
        for access in [Access::Read, Access::Write] {
            assert!(behind_pointer::<f32>(access, float, false));
            assert!(behind_pointer::<[f32; 3]>(access, float, false));
            assert!(!behind_pointer::<u32>(access, float, false));
            assert!(!behind_pointer::<f64>(access, float, false));
        }
        assert!(behind_pointer::<f32>(Access::Read, float, true));
        assert!(!behind_pointer::<f32>(Access::Write, float, true), "const");
        let float4 = numbers(NumberKind::Float, 4, 4);
        assert!(behind_pointer::<[f32; 4]>(Access::Read, float4, true));
        assert!(!behind_pointer::<f32>(Access::Read, float4, true));
        let long = numbers(NumberKind::Signed, 0, 1);
        assert!(
            behind_pointer::<i64>(Access::Read, long, true)
                && behind_pointer::<i32>(Access::Read, long, true)
        );
        assert!(!behind_pointer::<i16>(Access::Read, long, true));
        assert!(behind_pointer::<u64>(
            Access::Read,
            FoundElement::Address,
            true
        ));
        assert!(!behind_pointer::<f32>(
            Access::Read,
            FoundElement::Address,
            true
        ));
    }

    #[test]
    fn floats_that_are_computed_with() {
        let float = parameter::<f32>(Access::Read);
        assert!(float.may_hold_floats_of(4) && !float.may_hold_floats_of(8));
        assert!(parameter::<[f32; 2]>(Access::Write).may_hold_floats_of(4));
        // Bits of anything.
        assert!(parameter::<u8>(Access::Read).may_hold_floats_of(8));
        assert!(parameter::<u32>(Access::Read).may_hold_floats_of(2));
    }

    #[test]
    fn pointers_and_values_are_told_apart() {
        let size = numbers(NumberKind::Unsigned, 8, 1);
        let found = Found {
            size: 8,
            ty: FoundType::Value(size),
        };
        assert!(!parameter::<f32>(Access::Read).fits(&found));
        let to = FoundElement::Unknown;
        let pointer = FoundType::Pointer {
            to,
            is_const: false,
        };
        let found = Found {
            size: 8,
            ty: pointer,
        };
        assert!(!parameter::<u64>(Access::Value).fits(&found));
    }

    #[test]
    fn names() {
        struct Particle(#[allow(dead_code, reason = "only its size matters")] u64);
        impl KernelType for Particle {
            const TYPE: ElementType = ElementType::named("Particle");
        }
        for (found, fits) in [
            ("Particle", true),
            ("a::Particle", true),
            ("NoParticle", false),
            ("P", false),
        ] {
            let found = FoundElement::Named(found);
            assert_eq!(by_value::<Particle>(8, found), fits);
            assert_eq!(behind_pointer::<Particle>(Access::Read, found, true), fits);
            assert!(
                by_value::<u64>(8, found),
                "an enum, or a struct of one number"
            );
        }
        assert!(!by_value::<Particle>(8, numbers(NumberKind::Float, 8, 1)));
    }
}
