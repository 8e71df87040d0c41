//! The macros that define the enumerations: newtypes with constants, so that an unknown value is a value.

/// Defines an enumeration whose values exclude each other.
macro_rules! newtype {
    ($name:ident: $repr:ty { $($constant:ident = $value:literal,)+ }) => {
        #[repr(transparent)]
        #[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

        impl core::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => formatter.write_str(name),
                    None => write!(formatter, concat!(stringify!($name), "({})"), self.0),
                }
            }
        }

        impl Default for $name {
            /// The value of zero bytes.
            fn default() -> Self {
                Self(0)
            }
        }
    };
}

/// Defines an enumeration whose values are bits that may be combined.
macro_rules! flags {
    ($name:ident: $repr:ty { $($constant:ident = $value:literal,)+ }) => {
        newtype! { $name: $repr { $($constant = $value,)+ } }

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
