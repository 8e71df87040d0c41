//! Half precision, alone and in pairs: computed in double precision and rounded once.

use super::sum_to_odd;
use crate::ops::map::{Entry, Ty, entry, lane, pack, unpack};
use crate::ops::numbers::{Number, Rounding, from_f64, half_to_f64};

/// What `.ftz` and `.sat` do to operands and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mode {
    flushes: bool,
    saturates: bool,
}

const PLAIN: Mode = Mode {
    flushes: false,
    saturates: false,
};
const FTZ: Mode = Mode {
    flushes: true,
    saturates: false,
};
const SAT: Mode = Mode {
    flushes: false,
    saturates: true,
};
const FTZ_SAT: Mode = Mode {
    flushes: true,
    saturates: true,
};

fn flush(bits: u16) -> u16 {
    if bits & 0x7c00 == 0 {
        bits & 0x8000
    } else {
        bits
    }
}

impl Mode {
    fn operand(self, bits: u16) -> f64 {
        half_to_f64(if self.flushes { flush(bits) } else { bits })
    }

    fn result(self, mut value: f64) -> u16 {
        if self.saturates {
            value = if value > 0.0 { value.min(1.0) } else { 0.0 };
        }
        let bits = from_f64(value, Number::F16, Rounding::Nearest) as u16;
        if self.flushes { flush(bits) } else { bits }
    }

    fn add(self, a: u16, b: u16) -> u16 {
        self.result(self.operand(a) + self.operand(b))
    }

    fn sub(self, a: u16, b: u16) -> u16 {
        self.result(self.operand(a) - self.operand(b))
    }

    fn mul(self, a: u16, b: u16) -> u16 {
        self.result(self.operand(a) * self.operand(b))
    }

    fn fma(self, a: u16, b: u16, c: u16) -> u16 {
        self.result(sum_to_odd(
            self.operand(a) * self.operand(b),
            self.operand(c),
        ))
    }

    fn min(self, a: u16, b: u16) -> u16 {
        self.result(super::min64(self.operand(a), self.operand(b)))
    }

    fn max(self, a: u16, b: u16) -> u16 {
        self.result(super::max64(self.operand(a), self.operand(b)))
    }

    fn neg(self, a: u16) -> u16 {
        self.result(-self.operand(a))
    }

    fn abs(self, a: u16) -> u16 {
        self.result(self.operand(a).abs())
    }
}

fn pair1(a: u32, f: impl Fn(u16) -> u16) -> u32 {
    u32::from(f(a as u16)) | u32::from(f((a >> 16) as u16)) << 16
}

fn pair2(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

fn pair3(a: u32, b: u32, c: u32, f: impl Fn(u16, u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16, c as u16))
        | u32::from(f((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16)) << 16
}

macro_rules! with_mode {
    ($rest:expr, $operation:ident 1) => {
        match $rest {
            ["f16"] => entry!(B16 <- B16 |a| PLAIN.$operation(a)),
            ["ftz", "f16"] => entry!(B16 <- B16 |a| FTZ.$operation(a)),
            ["f16x2"] => entry!(B32 <- B32 |a| pair1(a, |a| PLAIN.$operation(a))),
            ["ftz", "f16x2"] => entry!(B32 <- B32 |a| pair1(a, |a| FTZ.$operation(a))),
            _ => return None,
        }
    };
    ($rest:expr, $operation:ident 2 without sat) => {
        match $rest {
            ["f16"] => entry!(B16 <- B16 B16 |a, b| PLAIN.$operation(a, b)),
            ["ftz", "f16"] => entry!(B16 <- B16 B16 |a, b| FTZ.$operation(a, b)),
            ["f16x2"] => entry!(B32 <- B32 B32 |a, b| pair2(a, b, |a, b| PLAIN.$operation(a, b))),
            ["ftz", "f16x2"] => entry!(B32 <- B32 B32 |a, b| pair2(a, b, |a, b| FTZ.$operation(a, b))),
            _ => return None,
        }
    };
    ($rest:expr, $operation:ident 2) => {
        match $rest {
            ["sat", "f16"] => entry!(B16 <- B16 B16 |a, b| SAT.$operation(a, b)),
            ["ftz", "sat", "f16"] => entry!(B16 <- B16 B16 |a, b| FTZ_SAT.$operation(a, b)),
            ["sat", "f16x2"] => entry!(B32 <- B32 B32 |a, b| pair2(a, b, |a, b| SAT.$operation(a, b))),
            ["ftz", "sat", "f16x2"] => entry!(B32 <- B32 B32 |a, b| pair2(a, b, |a, b| FTZ_SAT.$operation(a, b))),
            rest => with_mode!(rest, $operation 2 without sat),
        }
    };
    ($rest:expr, $operation:ident 3) => {
        match $rest {
            ["f16"] => entry!(B16 <- B16 B16 B16 |a, b, c| PLAIN.$operation(a, b, c)),
            ["ftz", "f16"] => entry!(B16 <- B16 B16 B16 |a, b, c| FTZ.$operation(a, b, c)),
            ["sat", "f16"] => entry!(B16 <- B16 B16 B16 |a, b, c| SAT.$operation(a, b, c)),
            ["ftz", "sat", "f16"] => entry!(B16 <- B16 B16 B16 |a, b, c| FTZ_SAT.$operation(a, b, c)),
            ["f16x2"] => entry!(B32 <- B32 B32 B32 |a, b, c| pair3(a, b, c, |a, b, c| PLAIN.$operation(a, b, c))),
            ["ftz", "f16x2"] => entry!(B32 <- B32 B32 B32 |a, b, c| pair3(a, b, c, |a, b, c| FTZ.$operation(a, b, c))),
            ["sat", "f16x2"] => entry!(B32 <- B32 B32 B32 |a, b, c| pair3(a, b, c, |a, b, c| SAT.$operation(a, b, c))),
            ["ftz", "sat", "f16x2"] => {
                entry!(B32 <- B32 B32 B32 |a, b, c| pair3(a, b, c, |a, b, c| FTZ_SAT.$operation(a, b, c)))
            }
            _ => return None,
        }
    };
}

/// The form with that mnemonic, split at its dots.
pub(super) fn lookup(mnemonic: &[&str]) -> Option<Entry> {
    Some(match mnemonic {
        ["add", "rn", rest @ ..] | ["add", rest @ ..] => with_mode!(rest, add 2),
        ["sub", "rn", rest @ ..] | ["sub", rest @ ..] => with_mode!(rest, sub 2),
        ["mul", "rn", rest @ ..] | ["mul", rest @ ..] => with_mode!(rest, mul 2),
        ["fma", "rn", rest @ ..] => with_mode!(rest, fma 3),
        ["min", rest @ ..] => with_mode!(rest, min 2 without sat),
        ["max", rest @ ..] => with_mode!(rest, max 2 without sat),
        ["neg", rest @ ..] => with_mode!(rest, neg 1),
        ["abs", rest @ ..] => with_mode!(rest, abs 1),
        _ => return None,
    })
}
