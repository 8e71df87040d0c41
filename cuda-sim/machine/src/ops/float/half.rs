//! The 16-bit formats, alone and in pairs: computed in double precision, rounded to odd there and then once to the format.

use super::sum_to_odd;
use crate::code::{Alu, Instr};
use crate::ops::map::{Entry, Ty, map1, map2, map3};
use crate::ops::numbers::{Number, Rounding, brain_to_f64, from_f64, half_to_f64};
use crate::registers::Registers;

/// The numbers of a 16-bit format by their bits.
pub(crate) trait Format {
    const NUMBER: Number;
    const EXPONENT: u16;
    const NAN: u16 = 0x7fff;
    fn widen(bits: u16) -> f64;

    fn round(value: f64) -> u16 {
        from_f64(value, Self::NUMBER, Rounding::Nearest) as u16
    }

    fn is_nan(bits: u16) -> bool {
        bits & 0x7fff > Self::EXPONENT
    }

    fn flush(bits: u16) -> u16 {
        if bits & Self::EXPONENT == 0 {
            bits & 0x8000
        } else {
            bits
        }
    }
}

/// `f16`
pub(crate) struct Half;
/// `bf16`
pub(crate) struct Brain;

impl Format for Half {
    const NUMBER: Number = Number::F16;
    const EXPONENT: u16 = 0x7c00;
    fn widen(bits: u16) -> f64 {
        half_to_f64(bits)
    }
}

impl Format for Brain {
    const NUMBER: Number = Number::Bf16;
    const EXPONENT: u16 = 0x7f80;
    fn widen(bits: u16) -> f64 {
        brain_to_f64(bits)
    }
}

/// `.ftz`
const FLUSHES: i64 = 1;
/// `.sat`: to 0 … 1, NaN to 0.
const SATURATES: i64 = 2;
/// `.relu`: what is negative becomes 0.
const CUTS: i64 = 4;
/// `.oob`: a factor that is [`OUT_OF_BOUNDS`] makes the result 0.
const BOUNDED: i64 = 8;
/// The NaN, of either sign and in both formats, that stands for "out of bounds".
const OUT_OF_BOUNDS: u16 = 0x7ff7;
/// `.NaN`
const PROPAGATES: i64 = 16;
/// `.xorsign.abs`: compares magnitudes, and the result's sign is the product's.
const MAGNITUDES: i64 = 32;

/// What the modifiers ask for.
#[derive(Debug, Clone, Copy)]
struct Mode(i64);

impl Mode {
    fn has(self, flag: i64) -> bool {
        self.0 & flag != 0
    }

    fn operand<F: Format>(self, bits: u16) -> f64 {
        F::widen(if self.has(FLUSHES) {
            F::flush(bits)
        } else {
            bits
        })
    }

    fn result<F: Format>(self, mut value: f64) -> u16 {
        if self.has(SATURATES) {
            value = if value > 0.0 { value.min(1.0) } else { 0.0 };
        }
        let bits = F::round(value);
        if self.has(CUTS) && bits & 0x8000 != 0 {
            return 0;
        }
        if self.has(FLUSHES) {
            F::flush(bits)
        } else {
            bits
        }
    }

    fn add<F: Format>(self, a: u16, b: u16) -> u16 {
        self.result::<F>(sum_to_odd(self.operand::<F>(a), self.operand::<F>(b)))
    }

    fn sub<F: Format>(self, a: u16, b: u16) -> u16 {
        self.result::<F>(sum_to_odd(self.operand::<F>(a), -self.operand::<F>(b)))
    }

    fn mul<F: Format>(self, a: u16, b: u16) -> u16 {
        self.result::<F>(self.operand::<F>(a) * self.operand::<F>(b))
    }

    fn fma<F: Format>(self, a: u16, b: u16, c: u16) -> u16 {
        if self.has(BOUNDED) && [a, b].iter().any(|x| x & 0x7fff == OUT_OF_BOUNDS) {
            return 0;
        }
        let product = self.operand::<F>(a) * self.operand::<F>(b);
        self.result::<F>(sum_to_odd(product, self.operand::<F>(c)))
    }

    fn least<F: Format>(self, a: u16, b: u16, choose: fn(f64, f64) -> f64) -> u16 {
        let sign = (a ^ b) & 0x8000;
        if F::is_nan(a) && F::is_nan(b) || self.has(PROPAGATES) && (F::is_nan(a) || F::is_nan(b)) {
            return F::NAN;
        }
        let (a, b) = if self.has(MAGNITUDES) {
            (a & 0x7fff, b & 0x7fff)
        } else {
            (a, b)
        };
        let result = self.result::<F>(choose(self.operand::<F>(a), self.operand::<F>(b)));
        if self.has(MAGNITUDES) {
            result | sign
        } else {
            result
        }
    }

    fn min<F: Format>(self, a: u16, b: u16) -> u16 {
        self.least::<F>(a, b, super::extremes::min64)
    }

    fn max<F: Format>(self, a: u16, b: u16) -> u16 {
        self.least::<F>(a, b, super::extremes::max64)
    }

    fn neg<F: Format>(self, a: u16) -> u16 {
        self.result::<F>(-self.operand::<F>(a))
    }

    fn abs<F: Format>(self, a: u16) -> u16 {
        self.result::<F>(self.operand::<F>(a).abs())
    }
}

/// Applies a function to a 16-bit register, or to both halves of a 32-bit one.
pub(super) fn one<const PAIR: bool>(
    i: &Instr,
    r: &mut Registers,
    mask: u32,
    f: impl Fn(u16) -> u16,
) {
    map1::<u32, u32>(i, r, mask, |a| {
        let low = u32::from(f(a as u16));
        if PAIR {
            low | u32::from(f((a >> 16) as u16)) << 16
        } else {
            low
        }
    });
}

fn two<const PAIR: bool>(i: &Instr, r: &mut Registers, mask: u32, f: impl Fn(u16, u16) -> u16) {
    map2::<u32, u32, u32>(i, r, mask, |a, b| {
        let low = u32::from(f(a as u16, b as u16));
        if PAIR {
            low | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
        } else {
            low
        }
    });
}

fn three<const PAIR: bool>(
    i: &Instr,
    r: &mut Registers,
    mask: u32,
    f: impl Fn(u16, u16, u16) -> u16,
) {
    map3::<u32, u32, u32, u32>(i, r, mask, |a, b, c| {
        let low = u32::from(f(a as u16, b as u16, c as u16));
        if PAIR {
            low | u32::from(f((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16)) << 16
        } else {
            low
        }
    });
}

macro_rules! on_both {
    ($(#[$about:meta])* $name:ident, $operation:ident) => {
        $(#[$about])*
        pub(crate) fn $name<F: Format>(a: u32, b: u32) -> u32 {
            let half = |shift| Mode(0).$operation::<F>((a >> shift) as u16, (b >> shift) as u16);
            u32::from(half(0)) | u32::from(half(16)) << 16
        }
    };
}
on_both!(
    /// The sums of the low and of the high halves.
    add_halves, add
);
on_both!(
    /// The smaller of the low and of the high halves.
    min_halves, min
);
on_both!(
    /// The larger of the low and of the high halves.
    max_halves, max
);

/// The operation of an opcode on a format, and its number of sources.
fn operation<F: Format + 'static, const PAIR: bool>(opcode: &str) -> Option<(usize, Alu)> {
    macro_rules! run {
        ($lanes:ident, $name:ident, $($operand:ident),+) => {
            |i, r, m| $lanes::<PAIR>(i, r, m, |$($operand),+| Mode(i.imm).$name::<F>($($operand),+))
        };
    }
    Some(match opcode {
        "add" => (2, run!(two, add, a, b)),
        "sub" => (2, run!(two, sub, a, b)),
        "mul" => (2, run!(two, mul, a, b)),
        "fma" => (3, run!(three, fma, a, b, c)),
        "min" => (2, run!(two, min, a, b)),
        "max" => (2, run!(two, max, a, b)),
        "neg" => (1, run!(one, neg, a)),
        "abs" => (1, run!(one, abs, a)),
        _ => return None,
    })
}

/// What the modifiers of `f16` forms ask for; nothing where there is no such form.
fn half_modes(opcode: &str, modifiers: &[&str]) -> Option<i64> {
    Some(match (opcode, modifiers) {
        ("add" | "sub" | "mul", ["rn", rest @ ..] | rest) | ("fma", ["rn", rest @ ..]) => {
            match (opcode, rest) {
                (_, []) => 0,
                (_, ["ftz"]) => FLUSHES,
                (_, ["sat"]) => SATURATES,
                (_, ["ftz", "sat"]) => FLUSHES | SATURATES,
                ("fma", ["relu"]) => CUTS,
                ("fma", ["ftz", "relu"]) => FLUSHES | CUTS,
                ("fma", ["oob"]) => BOUNDED,
                ("fma", ["oob", "relu"]) => BOUNDED | CUTS,
                _ => return None,
            }
        }
        ("min" | "max", ["ftz", rest @ ..]) => FLUSHES | extremes(rest)?,
        ("min" | "max", rest) => extremes(rest)?,
        ("neg" | "abs", []) => 0,
        ("neg" | "abs", ["ftz"]) => FLUSHES,
        _ => return None,
    })
}

/// The same for `bf16`, which has neither `.ftz` nor `.sat`.
fn brain_modes(opcode: &str, modifiers: &[&str]) -> Option<i64> {
    Some(match (opcode, modifiers) {
        ("add" | "sub" | "mul", [] | ["rn"]) | ("fma", ["rn"]) | ("neg" | "abs", []) => 0,
        ("fma", ["rn", "relu"]) => CUTS,
        ("fma", ["rn", "oob"]) => BOUNDED,
        ("fma", ["rn", "oob", "relu"]) => BOUNDED | CUTS,
        ("min" | "max", rest) => extremes(rest)?,
        _ => return None,
    })
}

fn extremes(modifiers: &[&str]) -> Option<i64> {
    Some(match modifiers {
        [] => 0,
        ["NaN"] => PROPAGATES,
        ["xorsign", "abs"] => MAGNITUDES,
        ["NaN", "xorsign", "abs"] => PROPAGATES | MAGNITUDES,
        _ => return None,
    })
}

/// The form with that mnemonic, split at its dots.
pub(super) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    let [opcode, modifiers @ .., ty] = mnemonic else {
        return None;
    };
    let (imm, (sources, run)) = match *ty {
        "f16" => (
            half_modes(opcode, modifiers)?,
            operation::<Half, false>(opcode)?,
        ),
        "f16x2" => (
            half_modes(opcode, modifiers)?,
            operation::<Half, true>(opcode)?,
        ),
        "bf16" => (
            brain_modes(opcode, modifiers)?,
            operation::<Brain, false>(opcode)?,
        ),
        "bf16x2" => (
            brain_modes(opcode, modifiers)?,
            operation::<Brain, true>(opcode)?,
        ),
        _ => return None,
    };
    let operands: &'static [Ty] = match (sources, ty.ends_with("x2")) {
        (1, false) => &[Ty::B16],
        (2, false) => &[Ty::B16, Ty::B16],
        (_, false) => &[Ty::B16, Ty::B16, Ty::B16],
        (1, true) => &[Ty::B32],
        (2, true) => &[Ty::B32, Ty::B32],
        (_, true) => &[Ty::B32, Ty::B32, Ty::B32],
    };
    Some(Entry::new(operands[0], operands, run).with(imm))
}
