//! Types of C++, as far as they matter at a kernel's boundary.

use std::fmt;

/// The type of a parameter, or of what a pointer points to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CType {
    /// An address; references count as pointers.
    Pointer {
        /// What lies there.
        to: Box<CType>,
        /// Whether it is `const`, so that the kernel promises not to write.
        is_const: bool,
    },
    /// A fundamental type.
    Scalar(CScalar),
    /// One of CUDA's vectors: `float4`, `__half2`.
    Vector {
        /// The type of an element.
        of: CScalar,
        /// How many.
        lanes: u8,
    },
    /// `void`, behind a pointer.
    Void,
    /// A struct, class, union or enum by its qualified name, or a type that depends on a template's arguments.
    Named(String),
    /// An integer, an enum or an address of the parameter's size: PTX does not tell which.
    Integer,
    /// A struct, an array or a half by value: PTX gives only its size.
    Bytes,
    /// Anything.
    Unknown,
}

macro_rules! scalars {
    ($($variant:ident $name:literal $size:expr;)*) => {
        /// A fundamental type of C++ or CUDA.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "named like the types")]
        pub enum CScalar {
            $($variant,)*
        }

        impl CScalar {
            /// Every scalar type.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name in C++.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The size in bytes; nothing for `long`, whose size is the host system's choice.
            #[must_use]
            pub const fn size(self) -> Option<usize> {
                match self {
                    $(Self::$variant => $size,)*
                }
            }
        }
    };
}

scalars! {
    Bool "bool" Some(1);
    Char "char" Some(1);
    SignedChar "signed char" Some(1);
    UnsignedChar "unsigned char" Some(1);
    Short "short" Some(2);
    UnsignedShort "unsigned short" Some(2);
    Int "int" Some(4);
    UnsignedInt "unsigned int" Some(4);
    Long "long" None;
    UnsignedLong "unsigned long" None;
    LongLong "long long" Some(8);
    UnsignedLongLong "unsigned long long" Some(8);
    Int128 "__int128" Some(16);
    UnsignedInt128 "unsigned __int128" Some(16);
    WideChar "wchar_t" None;
    Char8 "char8_t" Some(1);
    Char16 "char16_t" Some(2);
    Char32 "char32_t" Some(4);
    Half "__half" Some(2);
    BFloat16 "__nv_bfloat16" Some(2);
    Float "float" Some(4);
    Double "double" Some(8);
}

impl CScalar {
    /// The type of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.name() == name)
    }

    /// Whether it is a floating-point type.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::Half | Self::BFloat16 | Self::Float | Self::Double
        )
    }

    /// Whether it is signed; nothing where that is the compiler's choice or has no meaning.
    #[must_use]
    pub const fn is_signed(self) -> Option<bool> {
        match self {
            Self::SignedChar | Self::Short | Self::Int => Some(true),
            Self::Long | Self::LongLong | Self::Int128 => Some(true),
            Self::UnsignedChar | Self::UnsignedShort | Self::UnsignedInt => Some(false),
            Self::UnsignedLong | Self::UnsignedLongLong | Self::UnsignedInt128 => Some(false),
            Self::Char8 | Self::Char16 | Self::Char32 => Some(false),
            _ => None,
        }
    }

    /// Whether it has that many bytes on some system.
    #[must_use]
    pub const fn may_have_size(self, size: usize) -> bool {
        match self.size() {
            Some(own) => own == size,
            None => matches!(
                (self, size),
                (_, 4) | (Self::WideChar, 2) | (Self::Long | Self::UnsignedLong, 8)
            ),
        }
    }
}

impl CType {
    /// The type of CUDA's own with that name: a scalar, a vector, a half.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "void" {
            return Some(Self::Void);
        }
        if let Some(scalar) = CScalar::from_name(name) {
            return Some(Self::Scalar(scalar));
        }
        let vector = |of, lanes| Some(Self::Vector { of, lanes });
        match name {
            "__half2" => return vector(CScalar::Half, 2),
            "__nv_bfloat162" => return vector(CScalar::BFloat16, 2),
            _ => {}
        }
        let base = name.strip_suffix(['1', '2', '3', '4'])?;
        let lanes = name.strip_prefix(base)?.parse().ok()?;
        let of = match base {
            "char" => CScalar::SignedChar,
            "uchar" => CScalar::UnsignedChar,
            "short" => CScalar::Short,
            "ushort" => CScalar::UnsignedShort,
            "int" => CScalar::Int,
            "uint" => CScalar::UnsignedInt,
            "long" => CScalar::Long,
            "ulong" => CScalar::UnsignedLong,
            "longlong" => CScalar::LongLong,
            "ulonglong" => CScalar::UnsignedLongLong,
            "float" => CScalar::Float,
            "double" => CScalar::Double,
            _ => return None,
        };
        vector(of, lanes)
    }
}

impl fmt::Display for CScalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pointer { to, is_const } => {
                let after_star = matches!(**to, Self::Pointer { .. });
                let space = if after_star { "" } else { " " };
                match (is_const, after_star) {
                    (false, _) => write!(f, "{to}{space}*"),
                    (true, false) => write!(f, "const {to} *"),
                    (true, true) => write!(f, "{to}const *"),
                }
            }
            Self::Scalar(scalar) => scalar.fmt(f),
            Self::Vector { of, lanes } => write_vector(f, *of, *lanes),
            Self::Void => f.write_str("void"),
            Self::Named(name) => f.write_str(name),
            Self::Integer => f.write_str("an integer"),
            Self::Bytes => f.write_str("a struct"),
            Self::Unknown => f.write_str("?"),
        }
    }
}

fn write_vector(f: &mut fmt::Formatter<'_>, of: CScalar, lanes: u8) -> fmt::Result {
    let base = match of {
        CScalar::Half => return f.write_str("__half2"),
        CScalar::BFloat16 => return f.write_str("__nv_bfloat162"),
        CScalar::SignedChar => "char",
        CScalar::UnsignedChar => "uchar",
        CScalar::UnsignedShort => "ushort",
        CScalar::UnsignedInt => "uint",
        CScalar::UnsignedLong => "ulong",
        CScalar::LongLong => "longlong",
        CScalar::UnsignedLongLong => "ulonglong",
        other => other.name(),
    };
    write!(f, "{base}{lanes}")
}
