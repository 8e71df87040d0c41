//! The fundamental types of PTX.

use std::fmt;

macro_rules! scalar_types {
    ($($(#[$doc:meta])* $variant:ident $name:literal $size:literal,)*) => {
        /// A fundamental type, or one of the opaque handles.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ScalarType {
            $($(#[$doc])* $variant,)*
        }

        impl ScalarType {
            /// The type with that name, written without its dot: `u32`.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Its name without the dot.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Its size in bytes in memory; 0 for predicates, which have no place in memory.
            #[must_use]
            pub const fn size(self) -> usize {
                match self {
                    $(Self::$variant => $size,)*
                }
            }
        }
    };
}

scalar_types! {
    /// Untyped 8 bits.
    B8 "b8" 1,
    /// Untyped 16 bits.
    B16 "b16" 2,
    /// Untyped 32 bits.
    B32 "b32" 4,
    /// Untyped 64 bits.
    B64 "b64" 8,
    /// Untyped 128 bits.
    B128 "b128" 16,
    /// Unsigned, 8 bits.
    U8 "u8" 1,
    /// Unsigned, 16 bits.
    U16 "u16" 2,
    /// Unsigned, 32 bits.
    U32 "u32" 4,
    /// Unsigned, 64 bits.
    U64 "u64" 8,
    /// Signed, 8 bits.
    S8 "s8" 1,
    /// Signed, 16 bits.
    S16 "s16" 2,
    /// Signed, 32 bits.
    S32 "s32" 4,
    /// Signed, 64 bits.
    S64 "s64" 8,
    /// IEEE half precision.
    F16 "f16" 2,
    /// Two halves in 32 bits.
    F16x2 "f16x2" 4,
    /// bfloat16.
    BF16 "bf16" 2,
    /// Two bfloat16 in 32 bits.
    BF16x2 "bf16x2" 4,
    /// The tensor cores' 32-bit format.
    TF32 "tf32" 4,
    /// IEEE single precision.
    F32 "f32" 4,
    /// IEEE double precision.
    F64 "f64" 8,
    /// A predicate.
    Pred "pred" 0,
    /// A texture handle.
    TexRef "texref" 8,
    /// A sampler handle.
    SamplerRef "samplerref" 8,
    /// A surface handle.
    SurfRef "surfref" 8,
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.name())
    }
}
