//! The formats of C's `printf`, as device code uses them.

use super::Caller;
use super::float;
use crate::exec::LaneError;

/// The arguments of a `vprintf`: each at the next multiple of its own size.
pub(super) struct Arguments<'a, 'c, 'e> {
    at: u64,
    taken: u64,
    caller: &'a mut Caller<'c, 'e>,
}

impl<'a, 'c, 'e> Arguments<'a, 'c, 'e> {
    pub(super) fn new(address: u64, caller: &'a mut Caller<'c, 'e>) -> Self {
        Self {
            at: address,
            taken: 0,
            caller,
        }
    }

    /// How many were taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    fn next<const SIZE: usize>(&mut self) -> Result<[u8; SIZE], LaneError> {
        let size = SIZE as u64;
        let address = self.at.checked_next_multiple_of(size).unwrap_or(u64::MAX);
        self.at = address.wrapping_add(size);
        self.taken += 1;
        self.caller.load(address)
    }

    fn word(&mut self) -> Result<i32, LaneError> {
        self.next().map(i32::from_le_bytes)
    }

    fn double(&mut self) -> Result<u64, LaneError> {
        self.next().map(u64::from_le_bytes)
    }

    /// An integer of so many bytes; small ones were widened to four.
    fn integer(&mut self, bytes: u32, signed: bool) -> Result<i128, LaneError> {
        let bits = if bytes == 8 {
            self.double()?
        } else {
            self.word()? as u64
        };
        let unused = 64 - 8 * bytes;
        Ok(if signed {
            i128::from((bits << unused) as i64 >> unused)
        } else {
            i128::from(bits << unused >> unused)
        })
    }
}

/// What stands between `%` and the conversion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags {
    left: bool,
    plus: bool,
    space: bool,
    pub(super) alternate: bool,
    zero: bool,
    width: usize,
    pub(super) precision: Option<usize>,
    /// Bytes of an integer.
    bytes: u32,
}

/// The widest field and the most digits that are printed; more is cut to that.
const WIDEST: usize = 4096;

/// Formats a text. What is no conversion stays as it is.
pub(super) fn format(
    text: &[u8],
    arguments: &mut Arguments<'_, '_, '_>,
) -> Result<Vec<u8>, LaneError> {
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(percent) = rest.iter().position(|&byte| byte == b'%') {
        out.extend_from_slice(&rest[..percent]);
        let start = &rest[percent..];
        rest = &start[1..];
        let flags = flags(&mut rest, arguments)?;
        let Some((&conversion, after)) = rest.split_first() else {
            out.extend_from_slice(start);
            return Ok(out);
        };
        rest = after;
        if !convert(conversion, flags, arguments, &mut out)? {
            out.extend_from_slice(&start[..start.len() - rest.len()]);
        }
    }
    out.extend_from_slice(rest);
    Ok(out)
}

fn flags(rest: &mut &[u8], arguments: &mut Arguments<'_, '_, '_>) -> Result<Flags, LaneError> {
    let mut flags = Flags {
        bytes: 4,
        ..Flags::default()
    };
    while let Some((&flag, after)) = rest.split_first() {
        match flag {
            b'-' => flags.left = true,
            b'+' => flags.plus = true,
            b' ' => flags.space = true,
            b'#' => flags.alternate = true,
            b'0' => flags.zero = true,
            _ => break,
        }
        *rest = after;
    }
    if let Some(width) = number(rest, arguments)? {
        // A negative width is a positive one with `-`.
        flags.left |= width < 0;
        flags.width = (width.unsigned_abs() as usize).min(WIDEST);
    }
    if let Some(after) = rest.strip_prefix(b".") {
        *rest = after;
        // A negative precision is none.
        let precision = number(rest, arguments)?.unwrap_or(0);
        flags.precision = usize::try_from(precision).ok().map(|it| it.min(WIDEST));
    }
    for (name, bytes) in [
        (&b"hh"[..], 1),
        (b"h", 2),
        (b"ll", 8),
        (b"l", 8),
        (b"z", 8),
        (b"j", 8),
        (b"t", 8),
        (b"L", 8),
    ] {
        if let Some(after) = rest.strip_prefix(name) {
            (*rest, flags.bytes) = (after, bytes);
            break;
        }
    }
    Ok(flags)
}

/// Digits, or `*` for an argument.
fn number(
    rest: &mut &[u8],
    arguments: &mut Arguments<'_, '_, '_>,
) -> Result<Option<i32>, LaneError> {
    if let Some(after) = rest.strip_prefix(b"*") {
        *rest = after;
        return arguments.word().map(Some);
    }
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, after) = rest.split_at(count);
    *rest = after;
    let value = digits.iter().fold(0i32, |value, digit| {
        value
            .saturating_mul(10)
            .saturating_add(i32::from(digit - b'0'))
    });
    Ok((count > 0).then_some(value))
}

/// Appends one conversion; says whether there is such a one.
fn convert(
    conversion: u8,
    flags: Flags,
    arguments: &mut Arguments<'_, '_, '_>,
    out: &mut Vec<u8>,
) -> Result<bool, LaneError> {
    match conversion {
        b'%' => out.push(b'%'),
        b'd' | b'i' => {
            let value = arguments.integer(flags.bytes, true)?;
            let digits = value.unsigned_abs().to_string();
            integer(flags, sign(value < 0, flags), &digits, out);
        }
        b'u' => {
            let digits = arguments.integer(flags.bytes, false)?.to_string();
            integer(flags, "", &digits, out);
        }
        b'o' => {
            let value = arguments.integer(flags.bytes, false)?;
            let mut digits = format!("{value:o}");
            let mut wanted = flags;
            if flags.alternate {
                // At least one zero goes first.
                let least = digits.len() + usize::from(value != 0);
                if flags.precision.is_some() {
                    wanted.precision = flags.precision.map(|it| it.max(least));
                } else if value != 0 {
                    digits.insert(0, '0');
                }
            }
            integer(wanted, "", &digits, out);
        }
        b'x' | b'X' => {
            let value = arguments.integer(flags.bytes, false)?;
            let prefix = match (flags.alternate && value != 0, conversion) {
                (false, _) => "",
                (true, b'x') => "0x",
                (true, _) => "0X",
            };
            let digits = if conversion == b'x' {
                format!("{value:x}")
            } else {
                format!("{value:X}")
            };
            integer(flags, prefix, &digits, out);
        }
        b'p' => {
            let address = arguments.double()?;
            if address == 0 {
                pad(flags, b"(nil)", out);
            } else {
                integer(flags, "0x", &format!("{address:x}"), out);
            }
        }
        b'c' => {
            let character = arguments.word()? as u8;
            pad(flags, &[character], out);
        }
        b's' => {
            let address = arguments.double()?;
            let text = if address == 0 {
                b"(null)".to_vec()
            } else {
                arguments.caller.text(address)?
            };
            let shown = flags.precision.unwrap_or(text.len()).min(text.len());
            pad(flags, &text[..shown], out);
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = f64::from_bits(arguments.double()?);
            let sign = sign(value.is_sign_negative(), flags);
            let (prefix, body) = float::format(value.abs(), conversion, flags);
            // Neither infinity nor NaN is filled with zeros.
            let zero = flags.zero && value.is_finite();
            let prefix = format!("{sign}{prefix}");
            fill(Flags { zero, ..flags }, &prefix, body.as_bytes(), out);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn sign(negative: bool, flags: Flags) -> &'static str {
    match (negative, flags.plus, flags.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

/// An integer's digits, behind its sign or prefix.
fn integer(flags: Flags, prefix: &str, digits: &str, out: &mut Vec<u8>) {
    let wanted = flags.precision.unwrap_or(1);
    // No digits are wanted of a zero.
    let digits = if wanted == 0 && digits == "0" {
        ""
    } else {
        digits
    };
    let body = format!("{digits:0>wanted$}");
    let zero = flags.zero && flags.precision.is_none();
    fill(Flags { zero, ..flags }, prefix, body.as_bytes(), out);
}

fn pad(flags: Flags, body: &[u8], out: &mut Vec<u8>) {
    let flags = Flags {
        zero: false,
        ..flags
    };
    fill(flags, "", body, out);
}

/// Prefix and body in a field of the width.
fn fill(flags: Flags, prefix: &str, body: &[u8], out: &mut Vec<u8>) {
    let missing = flags.width.saturating_sub(prefix.len() + body.len());
    let (before, zeros, after) = match (flags.left, flags.zero) {
        (true, _) => (0, 0, missing),
        (false, true) => (0, missing, 0),
        (false, false) => (missing, 0, 0),
    };
    out.extend(std::iter::repeat_n(b' ', before));
    out.extend_from_slice(prefix.as_bytes());
    out.extend(std::iter::repeat_n(b'0', zeros));
    out.extend_from_slice(body);
    out.extend(std::iter::repeat_n(b' ', after));
}
