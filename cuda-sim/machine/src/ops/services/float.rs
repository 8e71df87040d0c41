//! `%f`, `%e`, `%g` and `%a`.

use super::format::Flags;

/// The prefix and the digits of a value that is not negative.
pub(super) fn format(value: f64, conversion: u8, flags: Flags) -> (&'static str, String) {
    let (precision, point) = (flags.precision, flags.alternate);
    let (prefix, text) = if value.is_nan() {
        ("", String::from("nan"))
    } else if value.is_infinite() {
        ("", String::from("inf"))
    } else {
        match conversion.to_ascii_lowercase() {
            b'f' => ("", fixed(value, precision.unwrap_or(6), point)),
            b'e' => ("", scientific(value, precision.unwrap_or(6), point)),
            b'g' => ("", general(value, precision.unwrap_or(6), point)),
            _ => ("0x", hexadecimal(value, precision, point)),
        }
    };
    match (conversion.is_ascii_uppercase(), prefix) {
        (true, "") => ("", text.to_ascii_uppercase()),
        (true, _) => ("0X", text.to_ascii_uppercase()),
        (false, _) => (prefix, text),
    }
}

fn fixed(value: f64, precision: usize, point: bool) -> String {
    let mut text = format!("{value:.precision$}");
    if point && precision == 0 {
        text.push('.');
    }
    text
}

/// The digits before the exponent, and the exponent.
fn parts(value: f64, precision: usize) -> (String, i32) {
    let text = format!("{value:.precision$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => (digits.to_owned(), exponent.parse().unwrap_or(0)),
        None => (text, 0),
    }
}

fn with_exponent(digits: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

fn scientific(value: f64, precision: usize, point: bool) -> String {
    let (mut digits, exponent) = parts(value, precision);
    if point && precision == 0 {
        digits.push('.');
    }
    with_exponent(&digits, exponent)
}

/// `%g`: so many significant digits, in the shorter of the two forms, zeros at the end left out.
fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let precision = precision.max(1);
    let (digits, exponent) = parts(value, precision - 1);
    let finish = |mut text: String| {
        if keep_zeros {
            if !text.contains('.') {
                text.push('.');
            }
        } else if text.contains('.') {
            let kept = text.trim_end_matches('0').trim_end_matches('.').len();
            text.truncate(kept);
        }
        text
    };
    if exponent < -4 || exponent >= precision as i32 {
        return with_exponent(&finish(digits), exponent);
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    finish(format!("{value:.decimals$}"))
}

/// `%a` without its `0x`.
fn hexadecimal(value: f64, precision: Option<usize>, point: bool) -> String {
    /// Hexadecimal digits behind the point.
    const DIGITS: usize = 13;
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = value.to_bits();
    let (fraction, exponent) = (bits & FRACTION, (bits >> 52) as i32);
    let (mut mantissa, exponent) = match (exponent, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (fraction, -1022),
        _ => (fraction | 1 << 52, exponent - 1023),
    };
    let kept = precision.unwrap_or(DIGITS).min(DIGITS);
    let dropped = 4 * (DIGITS - kept) as u32;
    if dropped > 0 {
        // To the nearest, ties to even.
        let odd = mantissa >> dropped & 1;
        mantissa = (mantissa + (1 << (dropped - 1)) - 1 + odd) >> dropped << dropped;
    }
    let mut digits = format!("{:013x}", mantissa & FRACTION);
    digits.truncate(kept);
    match precision {
        None => digits.truncate(digits.trim_end_matches('0').len()),
        Some(precision) => digits.push_str(&"0".repeat(precision - kept)),
    }
    let dot = if digits.is_empty() && !point { "" } else { "." };
    format!("{}{dot}{digits}p{exponent:+}", mantissa >> 52)
}
