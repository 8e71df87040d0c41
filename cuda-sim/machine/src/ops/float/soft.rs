//! Double-precision arithmetic on integers, rounded in any direction: for the modes that the host's arithmetic does not have.

use std::cmp::Ordering;

use crate::ops::numbers::{Rounding, power_of_two};

/// A finite number that is not zero: (−1)^negative · mantissa · 2^exponent.
#[derive(Debug, Clone, Copy)]
struct Parts {
    negative: bool,
    mantissa: u128,
    exponent: i32,
}

fn split(x: f64) -> Parts {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = u128::from(bits & ((1 << 52) - 1));
    let (mantissa, exponent) = if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, exponent - 1075)
    };
    Parts {
        negative: x.is_sign_negative(),
        mantissa,
        exponent,
    }
}

/// Rounds `parts`, of which `sticky` says that something smaller than its last bit was left out.
fn round(parts: Parts, sticky: bool, rounding: Rounding) -> f64 {
    let Parts {
        negative,
        mantissa,
        exponent,
    } = parts;
    let signed = |magnitude: f64| if negative { -magnitude } else { magnitude };
    let length = 128 - mantissa.leading_zeros() as i32;
    // The exponent of the last bit that is kept.
    let last = (exponent + length - 53).max(-1074);
    let drop = last - exponent;
    let (kept, rest, inexact) = match drop {
        ..=0 => (
            mantissa << -drop,
            if sticky {
                Ordering::Less
            } else {
                Ordering::Equal
            },
            sticky,
        ),
        1..=127 => {
            let below = mantissa & ((1 << drop) - 1);
            let order = below.cmp(&(1 << (drop - 1)));
            (
                mantissa >> drop,
                if order == Ordering::Equal && sticky {
                    Ordering::Greater
                } else {
                    order
                },
                below != 0 || sticky,
            )
        }
        _ => (0, Ordering::Less, true),
    };
    let up = inexact && rounding.away(negative, kept & 1 == 1, rest);
    let kept = kept + u128::from(up);
    let magnitude = scale(kept as f64, last);
    if magnitude.is_infinite() && !rounding.away(negative, true, Ordering::Greater) {
        return signed(f64::MAX);
    }
    signed(magnitude)
}

/// `x · 2^by` for results that need no rounding.
fn scale(x: f64, by: i32) -> f64 {
    let half = by / 2;
    x * power_of_two(half) * power_of_two(by - half)
}

fn is_special(x: f64) -> bool {
    !x.is_finite() || x == 0.0
}

/// `a · b + c`
pub(crate) fn fused(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    if !a.is_finite() || !b.is_finite() || !c.is_finite() {
        return a.mul_add(b, c);
    }
    if a == 0.0 || b == 0.0 {
        let zero = a * b;
        return if c == 0.0 {
            zero_sum(zero, c, rounding)
        } else {
            c
        };
    }
    let (a, b) = (split(a), split(b));
    let product = Parts {
        negative: a.negative != b.negative,
        mantissa: a.mantissa * b.mantissa,
        exponent: a.exponent + b.exponent,
    };
    if c == 0.0 {
        round(product, false, rounding)
    } else {
        sum(product, split(c), rounding)
    }
}

/// `a · b`
pub(super) fn product(a: f64, b: f64, rounding: Rounding) -> f64 {
    if is_special(a) || is_special(b) {
        return a * b;
    }
    fused(a, b, 0.0, rounding)
}

/// `a + b`
pub(super) fn add(a: f64, b: f64, rounding: Rounding) -> f64 {
    if !a.is_finite() || !b.is_finite() {
        return a + b;
    }
    match (a == 0.0, b == 0.0) {
        (true, true) => zero_sum(a, b, rounding),
        (true, false) => b,
        (false, true) => a,
        (false, false) => sum(split(a), split(b), rounding),
    }
}

/// Zeros of different signs add up to −0 when rounding down.
fn zero_sum(a: f64, b: f64, rounding: Rounding) -> f64 {
    if a.is_sign_negative() != b.is_sign_negative() && rounding == Rounding::Down {
        -0.0
    } else {
        a + b
    }
}

/// The sum of two numbers with mantissas of at most 106 bits.
fn sum(a: Parts, b: Parts, rounding: Rounding) -> f64 {
    // The one whose highest bit is the higher comes first.
    let top = |parts: Parts| parts.exponent + 128 - parts.mantissa.leading_zeros() as i32;
    let (high, low) = if top(a) >= top(b) { (a, b) } else { (b, a) };
    // One bit of room at the top for the carry, and the rest for the bits of the lower one.
    let lift = high.mantissa.leading_zeros() as i32 - 2;
    let mut mantissa = high.mantissa << lift;
    let exponent = high.exponent - lift;
    let shift = exponent - low.exponent;
    let (aligned, sticky) = match shift {
        ..=0 => (low.mantissa << -shift, false),
        1..=127 => (
            low.mantissa >> shift,
            low.mantissa & ((1 << shift) - 1) != 0,
        ),
        _ => (0, true),
    };
    let mut negative = high.negative;
    if high.negative == low.negative {
        mantissa += aligned;
    } else if mantissa > aligned {
        // What was left out of the lower one makes the difference smaller.
        mantissa -= aligned + u128::from(sticky);
    } else if mantissa < aligned {
        mantissa = aligned - mantissa;
        negative = low.negative;
    } else {
        return if rounding == Rounding::Down {
            -0.0
        } else {
            0.0
        };
    }
    round(
        Parts {
            negative,
            mantissa,
            exponent,
        },
        sticky,
        rounding,
    )
}

/// `a / b`
pub(super) fn quotient(a: f64, b: f64, rounding: Rounding) -> f64 {
    if is_special(a) || is_special(b) {
        return a / b;
    }
    let (a, b) = (split(a), split(b));
    let lift = a.mantissa.leading_zeros() as i32;
    let dividend = a.mantissa << lift;
    let parts = Parts {
        negative: a.negative != b.negative,
        mantissa: dividend / b.mantissa,
        exponent: a.exponent - lift - b.exponent,
    };
    round(parts, !dividend.is_multiple_of(b.mantissa), rounding)
}

/// `√a`
pub(super) fn root(a: f64, rounding: Rounding) -> f64 {
    if is_special(a) || a < 0.0 {
        return a.sqrt();
    }
    let parts = split(a);
    // An even exponent, and a mantissa with at least 108 bits: the root then has 54 or more.
    let mut lift = parts.mantissa.leading_zeros() as i32 - 2;
    if (parts.exponent - lift) % 2 != 0 {
        lift -= 1;
    }
    let square = parts.mantissa << lift;
    let root = integer_root(square);
    let parts = Parts {
        negative: false,
        mantissa: root,
        exponent: (parts.exponent - lift) / 2,
    };
    round(parts, root * root != square, rounding)
}

/// The largest integer whose square is not larger.
fn integer_root(square: u128) -> u128 {
    let mut root = (square as f64).sqrt() as u128;
    // The estimate is off by a few units of its 53rd bit; Newton's step makes it exact up to one.
    root = (root + square / root) / 2;
    while root * root > square {
        root -= 1;
    }
    while (root + 1) * (root + 1) <= square {
        root += 1;
    }
    root
}
