//! Comparison and selection.

pub(crate) mod pairs;
mod select;

pub(crate) use select::{lookup, negate};

use super::float::flush;
use super::map::{Ty, lanes_where};
use super::numbers::{brain_to_f64, half_to_f64};
use crate::code::Instr;
use crate::registers::Registers;

/// Which lanes a comparison of `src[0]` with `src[1]` holds for.
pub(crate) type Test = fn(&Instr, &Registers) -> u32;

/// A comparison and the type that it compares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comparison {
    pub(crate) ty: Ty,
    pub(crate) test: Test,
}

macro_rules! integers {
    ($ty:ident $lane:ty, $number:ty, $operator:expr) => {
        Comparison {
            ty: Ty::$ty,
            test: match $operator {
                "eq" => |i, r| lanes_where::<$lane>(i, r, |a, b| a as $number == b as $number),
                "ne" => |i, r| lanes_where::<$lane>(i, r, |a, b| a as $number != b as $number),
                "lt" => |i, r| lanes_where::<$lane>(i, r, |a, b| (a as $number) < b as $number),
                "le" => |i, r| lanes_where::<$lane>(i, r, |a, b| a as $number <= b as $number),
                "gt" => |i, r| lanes_where::<$lane>(i, r, |a, b| a as $number > b as $number),
                "ge" => |i, r| lanes_where::<$lane>(i, r, |a, b| a as $number >= b as $number),
                _ => return None,
            },
        }
    };
}

macro_rules! floats {
    ($ty:ident $lane:ty, $number:path, $operator:expr) => {
        Comparison {
            ty: Ty::$ty,
            test: match $operator {
                "eq" => |i, r| lanes_where::<$lane>(i, r, |a, b| $number(a) == $number(b)),
                "ne" => |i, r| {
                    lanes_where::<$lane>(i, r, |a, b| {
                        $number(a) < $number(b) || $number(a) > $number(b)
                    })
                },
                "lt" => |i, r| lanes_where::<$lane>(i, r, |a, b| $number(a) < $number(b)),
                "le" => |i, r| lanes_where::<$lane>(i, r, |a, b| $number(a) <= $number(b)),
                "gt" => |i, r| lanes_where::<$lane>(i, r, |a, b| $number(a) > $number(b)),
                "ge" => |i, r| lanes_where::<$lane>(i, r, |a, b| $number(a) >= $number(b)),
                // The unordered forms hold as well where an operand is NaN.
                "equ" => |i, r| {
                    !lanes_where::<$lane>(i, r, |a, b| {
                        $number(a) < $number(b) || $number(a) > $number(b)
                    })
                },
                "neu" => |i, r| lanes_where::<$lane>(i, r, |a, b| $number(a) != $number(b)),
                "ltu" => |i, r| !lanes_where::<$lane>(i, r, |a, b| $number(a) >= $number(b)),
                "leu" => |i, r| !lanes_where::<$lane>(i, r, |a, b| $number(a) > $number(b)),
                "gtu" => |i, r| !lanes_where::<$lane>(i, r, |a, b| $number(a) <= $number(b)),
                "geu" => |i, r| !lanes_where::<$lane>(i, r, |a, b| $number(a) < $number(b)),
                "num" => |i, r| {
                    !lanes_where::<$lane>(i, r, |a, b| $number(a).is_nan() || $number(b).is_nan())
                },
                "nan" => |i, r| {
                    lanes_where::<$lane>(i, r, |a, b| $number(a).is_nan() || $number(b).is_nan())
                },
                _ => return None,
            },
        }
    };
}

fn flushed(bits: u32) -> f32 {
    flush(f32::from_bits(bits))
}

fn half(bits: u32) -> f64 {
    half_to_f64(bits as u16)
}

fn flushed_half(bits: u32) -> f64 {
    half(if bits & 0x7c00 == 0 {
        bits & 0x8000
    } else {
        bits
    })
}

fn brain(bits: u32) -> f64 {
    brain_to_f64(bits as u16)
}

/// `testp`: the question about one number.
pub(crate) fn property(question: &str, ty: &str) -> Option<Comparison> {
    macro_rules! questions {
        ($kind:ident $lane:ty, $float:ty) => {
            Comparison {
                ty: Ty::$kind,
                test: match question {
                    "finite" => {
                        |i, r| lanes_where::<$lane>(i, r, |a, _| <$float>::from_bits(a).is_finite())
                    }
                    "infinite" => |i, r| {
                        lanes_where::<$lane>(i, r, |a, _| <$float>::from_bits(a).is_infinite())
                    },
                    "number" => {
                        |i, r| lanes_where::<$lane>(i, r, |a, _| !<$float>::from_bits(a).is_nan())
                    }
                    "notanumber" => {
                        |i, r| lanes_where::<$lane>(i, r, |a, _| <$float>::from_bits(a).is_nan())
                    }
                    // Zero counts as normal.
                    "normal" => |i, r| {
                        lanes_where::<$lane>(i, r, |a, _| {
                            let a = <$float>::from_bits(a);
                            a.is_normal() || a == 0.0
                        })
                    },
                    "subnormal" => |i, r| {
                        lanes_where::<$lane>(i, r, |a, _| <$float>::from_bits(a).is_subnormal())
                    },
                    _ => return None,
                },
            }
        };
    }
    Some(match ty {
        "f32" => questions!(F32 u32, f32),
        "f64" => questions!(F64 u64, f64),
        _ => return None,
    })
}

/// The comparison with that operator and type; `flushes` is `.ftz`.
pub(crate) fn comparison(operator: &str, flushes: bool, ty: &str) -> Option<Comparison> {
    // `lo ls hi hs` are the unsigned names of `lt le gt ge`.
    let unsigned = match operator {
        "lo" => "lt",
        "ls" => "le",
        "hi" => "gt",
        "hs" => "ge",
        other => other,
    };
    Some(match (ty, flushes) {
        ("b16" | "b32" | "b64", false) if !matches!(operator, "eq" | "ne") => return None,
        ("u16" | "b16", false) => integers!(B16 u32, u16, unsigned),
        ("u32" | "b32", false) => integers!(B32 u32, u32, unsigned),
        ("u64" | "b64", false) => integers!(B64 u64, u64, unsigned),
        ("s16", false) => integers!(B16 u32, i16, operator),
        ("s32", false) => integers!(B32 u32, i32, operator),
        ("s64", false) => integers!(B64 u64, i64, operator),
        ("f32", false) => floats!(F32 u32, f32::from_bits, operator),
        ("f32", true) => floats!(F32 u32, flushed, operator),
        ("f16", false) => floats!(B16 u32, half, operator),
        ("f16", true) => floats!(B16 u32, flushed_half, operator),
        ("bf16", false) => floats!(B16 u32, brain, operator),
        ("f64", false) => floats!(F64 u64, f64::from_bits, operator),
        _ => return None,
    })
}

/// How a comparison is combined with a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Combine {
    Nothing,
    And,
    Or,
    Xor,
}

impl Combine {
    #[inline(always)]
    pub(crate) fn apply(self, bits: u32, with: u32) -> u32 {
        match self {
            Self::Nothing => bits,
            Self::And => bits & with,
            Self::Or => bits | with,
            Self::Xor => bits ^ with,
        }
    }
}

/// What `set` stores where the comparison holds, and the type of its destination; nothing where it does not compare that type.
pub(crate) fn set_value(dtype: &str, flushes: bool, stype: &str) -> Option<(u32, Ty)> {
    let halves = matches!(stype, "f16" | "bf16");
    Some(match dtype {
        "u32" | "s32" => (u32::MAX, Ty::B32),
        "f32" if !halves => (1f32.to_bits(), Ty::F32),
        "u16" | "s16" if halves => (0xffff, Ty::B16),
        "f16" if stype != "bf16" => (0x3c00, Ty::B16),
        "bf16" if !flushes => (0x3f80, Ty::B16),
        _ => return None,
    })
}
