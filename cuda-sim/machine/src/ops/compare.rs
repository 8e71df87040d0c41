//! Comparison and selection.

use super::float::flush;
use super::map::{Entry, Ty, lanes_where};
use super::numbers::half_to_f64;
use crate::code::Instr;
use crate::registers::{Lane, Registers, write};

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

#[inline(always)]
fn select<T: Lane>(i: &Instr, r: &mut Registers, mask: u32) {
    let (a, b, chosen) = (
        T::row(r, i.src[0]),
        T::row(r, i.src[1]),
        r.predicate(i.src[2]),
    );
    let mut out = *b;
    for lane in 0..crate::WARP_SIZE {
        out[lane] = if chosen >> lane & 1 == 1 {
            a[lane]
        } else {
            b[lane]
        };
    }
    write(r, i.dst[0], &out, mask);
}

#[inline(always)]
fn select_by<T: Lane>(i: &Instr, r: &mut Registers, mask: u32, first: impl Fn(u32) -> bool) {
    let (a, b, c) = (
        T::row(r, i.src[0]),
        T::row(r, i.src[1]),
        u32::row(r, i.src[2]),
    );
    let mut out = *b;
    for lane in 0..crate::WARP_SIZE {
        out[lane] = if first(c[lane]) { a[lane] } else { b[lane] };
    }
    write(r, i.dst[0], &out, mask);
}

/// `selp`, `slct` and the logic of predicates.
pub(crate) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    use Ty::{B16, B32, B64, F32, F64, Pred};
    Some(match mnemonic {
        ["selp", "b16" | "u16" | "s16"] => Entry {
            dst: B16,
            src: &[B16, B16, Pred],
            run: select::<u32>,
        },
        ["selp", "b32" | "u32" | "s32"] => Entry {
            dst: B32,
            src: &[B32, B32, Pred],
            run: select::<u32>,
        },
        ["selp", "b64" | "u64" | "s64"] => Entry {
            dst: B64,
            src: &[B64, B64, Pred],
            run: select::<u64>,
        },
        ["selp", "f32"] => Entry {
            dst: F32,
            src: &[F32, F32, Pred],
            run: select::<u32>,
        },
        ["selp", "f64"] => Entry {
            dst: F64,
            src: &[F64, F64, Pred],
            run: select::<u64>,
        },
        ["slct", "b16" | "u16" | "s16", "s32"] => Entry {
            dst: B16,
            src: &[B16, B16, B32],
            run: |i, r, m| select_by::<u32>(i, r, m, |c| c as i32 >= 0),
        },
        ["slct", "b32" | "u32" | "s32", "s32"] => Entry {
            dst: B32,
            src: &[B32, B32, B32],
            run: |i, r, m| select_by::<u32>(i, r, m, |c| c as i32 >= 0),
        },
        ["slct", "b64" | "u64" | "s64", "s32"] => Entry {
            dst: B64,
            src: &[B64, B64, B32],
            run: |i, r, m| select_by::<u64>(i, r, m, |c| c as i32 >= 0),
        },
        ["slct", "f32", "s32"] => Entry {
            dst: F32,
            src: &[F32, F32, B32],
            run: |i, r, m| select_by::<u32>(i, r, m, |c| c as i32 >= 0),
        },
        ["slct", "f64", "s32"] => Entry {
            dst: F64,
            src: &[F64, F64, B32],
            run: |i, r, m| select_by::<u64>(i, r, m, |c| c as i32 >= 0),
        },
        ["slct", "b16" | "u16" | "s16", "f32"] => Entry {
            dst: B16,
            src: &[B16, B16, F32],
            run: |i, r, m| select_by::<u32>(i, r, m, |c| f32::from_bits(c) >= 0.0),
        },
        ["slct", "b32" | "u32" | "s32", "f32"] => Entry {
            dst: B32,
            src: &[B32, B32, F32],
            run: |i, r, m| select_by::<u32>(i, r, m, |c| f32::from_bits(c) >= 0.0),
        },
        ["slct", "b64" | "u64" | "s64", "f32"] => Entry {
            dst: B64,
            src: &[B64, B64, F32],
            run: |i, r, m| select_by::<u64>(i, r, m, |c| f32::from_bits(c) >= 0.0),
        },
        ["slct", "f32", "f32"] => Entry {
            dst: F32,
            src: &[F32, F32, F32],
            run: |i, r, m| select_by::<u32>(i, r, m, |c| f32::from_bits(c) >= 0.0),
        },
        ["slct", "f64", "f32"] => Entry {
            dst: F64,
            src: &[F64, F64, F32],
            run: |i, r, m| select_by::<u64>(i, r, m, |c| f32::from_bits(c) >= 0.0),
        },
        ["and", "pred"] => Entry {
            dst: Pred,
            src: &[Pred, Pred],
            run: |i, r, m| predicate(i, r, m, |a, b| a & b),
        },
        ["or", "pred"] => Entry {
            dst: Pred,
            src: &[Pred, Pred],
            run: |i, r, m| predicate(i, r, m, |a, b| a | b),
        },
        ["xor", "pred"] => Entry {
            dst: Pred,
            src: &[Pred, Pred],
            run: |i, r, m| predicate(i, r, m, |a, b| a ^ b),
        },
        ["not", "pred"] => Entry {
            dst: Pred,
            src: &[Pred],
            run: negate,
        },
        ["mov", "pred"] => Entry {
            dst: Pred,
            src: &[Pred],
            run: |i, r, m| r.set_predicate(i.dst[0], r.predicate(i.src[0]), m),
        },
        _ => return None,
    })
}

/// `not.pred`
pub(crate) fn negate(i: &Instr, r: &mut Registers, mask: u32) {
    r.set_predicate(i.dst[0], !r.predicate(i.src[0]), mask);
}

fn predicate(i: &Instr, r: &mut Registers, mask: u32, f: fn(u32, u32) -> u32) {
    r.set_predicate(
        i.dst[0],
        f(r.predicate(i.src[0]), r.predicate(i.src[1])),
        mask,
    );
}
