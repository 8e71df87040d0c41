//! What a register or a cell of memory holds; it decides how the inputs are chosen.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Pred,
    I8,
    I16,
    I32,
    I64,
    F16,
    Bf16,
    F32,
    F64,
    /// Two, four of them side by side.
    F16x2,
    F16x4,
    Bf16x2,
    Bf16x4,
    F32x2,
    /// Two 8-bit floats.
    F8x2,
    /// A number of lanes or bits, small and of either sign.
    Small,
}

impl Kind {
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::I8 => 8,
            Self::I16 | Self::F16 | Self::Bf16 | Self::F8x2 => 16,
            Self::I32 | Self::F32 | Self::F16x2 | Self::Bf16x2 | Self::Small => 32,
            Self::I64 | Self::F64 | Self::F16x4 | Self::Bf16x4 | Self::F32x2 => 64,
        }
    }

    /// The kind of a PTX type; 8-bit types live in 16-bit registers.
    pub(crate) fn of(ty: &str) -> Self {
        match ty {
            "pred" => Self::Pred,
            "byte" => Self::I8,
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "f32" | "tf32" => Self::F32,
            "f64" => Self::F64,
            "f16x2" => Self::F16x2,
            "bf16x2" => Self::Bf16x2,
            "f32x2" => Self::F32x2,
            "e4m3x2" | "e5m2x2" => Self::F8x2,
            "small" => Self::Small,
            "u8" | "s8" | "b8" | "u16" | "s16" | "b16" => Self::I16,
            "u32" | "s32" | "b32" | "u16x2" | "s16x2" => Self::I32,
            "u64" | "s64" | "b64" => Self::I64,
            other => panic!("{other} is no type"),
        }
    }

    /// The kind of the 64-bit words that hold several elements of this one.
    pub(crate) fn packed(self) -> Self {
        match self {
            Self::F16 | Self::F16x2 => Self::F16x4,
            Self::Bf16 | Self::Bf16x2 => Self::Bf16x4,
            Self::F32 => Self::F32x2,
            Self::F64 => Self::F64,
            _ => Self::I64,
        }
    }

    /// The kind of each part and the number of parts.
    pub(crate) fn parts(self) -> (Self, u32) {
        match self {
            Self::F16x2 => (Self::F16, 2),
            Self::F16x4 => (Self::F16, 4),
            Self::Bf16x2 => (Self::Bf16, 2),
            Self::Bf16x4 => (Self::Bf16, 4),
            Self::F32x2 => (Self::F32, 2),
            whole => (whole, 1),
        }
    }
}

/// Bits of an element of that PTX type in memory.
pub(crate) fn memory_bits(ty: &str) -> u32 {
    if ty == "quad" {
        128
    } else if matches!(ty, "u8" | "s8" | "b8") {
        8
    } else {
        Kind::of(ty).bits()
    }
}
