//! The macros that define the enumerations: newtypes with constants, so that an unknown value is a value.

/// Defines an enumeration whose values exclude each other.
macro_rules! newtype {
    ($name:ident: $repr:ty { $($constant:ident = $value:literal,)+ }) => {
        constants! { $name: $repr { $($constant = $value,)+ } }

        impl core::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => formatter.write_str(name),
                    None => write!(formatter, concat!(stringify!($name), "({})"), self.0),
                }
            }
        }
    };
}

/// Defines an enumeration whose values are bits that may be combined.
macro_rules! flags {
    ($name:ident: $repr:ty { $($constant:ident = $value:literal,)+ }) => {
        constants! { $name: $repr { $($constant = $value,)+ } }

        impl core::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => formatter.write_str(name),
                    None => $crate::newtype::fmt_bits(
                        formatter,
                        stringify!($name),
                        self.0 as u32,
                        &[$((stringify!($constant), $value),)+],
                    ),
                }
            }
        }

        impl $name {
            /// Whether every bit of `other` is set here.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl core::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl core::ops::BitOrAssign for $name {
            fn bitor_assign(&mut self, other: Self) {
                self.0 |= other.0;
            }
        }

        impl core::ops::BitAnd for $name {
            type Output = Self;

            fn bitand(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }
        }
    };
}

/// What both kinds have in common.
macro_rules! constants {
    ($name:ident: $repr:ty { $($constant:ident = $value:literal,)+ }) => {
        #[repr(transparent)]
        #[derive(Copy, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub $repr);

        impl $name {
            $(pub const $constant: Self = Self($value);)+

            /// The C name of this value, if the headers that these bindings were made from know it.
            pub const fn name(self) -> Option<&'static str> {
                #[allow(unreachable_patterns, reason = "enumerators may share a value; the first one names it")]
                match self.0 {
                    $($value => Some(stringify!($constant)),)+
                    _ => None,
                }
            }
        }
    };
}

/// Writes `A | B | Name(0x80)`: the names of the single bits that are set, and what has no name.
pub(crate) fn fmt_bits(
    formatter: &mut core::fmt::Formatter<'_>,
    name: &str,
    bits: u32,
    constants: &[(&str, i64)],
) -> core::fmt::Result {
    let mut rest = bits;
    let mut separator = "";
    for (constant, value) in constants {
        // A constant of 31 bits or less, or the highest bit written as a negative number.
        let value = (*value & 0xffff_ffff) as u32;
        if value.is_power_of_two() && rest & value != 0 {
            write!(formatter, "{separator}{constant}")?;
            rest &= !value;
            separator = " | ";
        }
    }
    if rest != 0 || separator.is_empty() {
        write!(formatter, "{separator}{name}({rest:#x})")?;
    }
    Ok(())
}
