//! Constants and constant expressions, evaluated as C evaluates them on 64-bit integers.

use super::{DEEPEST, Parser};
use crate::ParseError;
use crate::lexer::{Kind, Token};

/// A 64-bit integer that knows whether it is unsigned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Integer {
    pub(super) bits: i64,
    unsigned: bool,
}

/// A constant.
#[derive(Debug, Clone, Copy)]
pub(super) enum Constant {
    Integer(Integer),
    Float32(u32),
    Float64(u64),
}

/// Binding strength of a binary operator; nothing for other tokens.
fn precedence(token: &Token<'_>) -> Option<u8> {
    if token.kind != Kind::Mark {
        return None;
    }
    Some(match token.text {
        "*" | "/" | "%" => 10,
        "+" | "-" => 9,
        "<<" | ">>" => 8,
        "<" | ">" | "<=" | ">=" => 7,
        "==" | "!=" => 6,
        "&" => 5,
        "^" => 4,
        "|" => 3,
        "&&" => 2,
        "||" => 1,
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    /// Whether a constant can start here.
    pub(super) fn at_constant(&self) -> bool {
        self.token.kind == Kind::Number
            || ["-", "+", "~", "!", "("]
                .iter()
                .any(|mark| self.token.is(mark))
    }

    /// A constant expression.
    pub(super) fn constant(&mut self) -> Result<Constant, ParseError> {
        let negative = self.token.is("-");
        let number = if negative { None } else { self.float_here()? };
        if let Some(float) = number {
            self.advance()?;
            return Ok(float);
        }
        if negative {
            let sign = self.here();
            self.advance()?;
            if let Some(float) = self.float_here()? {
                self.advance()?;
                return Ok(match float {
                    Constant::Float32(bits) => Constant::Float32(bits ^ 1 << 31),
                    Constant::Float64(bits) => Constant::Float64(bits ^ 1 << 63),
                    Constant::Integer(_) => return Err(sign.error("unexpected sign")),
                });
            }
            let first = self.unary(0)?;
            let first = Integer {
                bits: first.bits.wrapping_neg(),
                ..first
            };
            return Ok(Constant::Integer(self.binary_after(first, 0, 0)?));
        }
        Ok(Constant::Integer(self.integer()?))
    }

    /// A constant integer expression.
    pub(super) fn integer(&mut self) -> Result<Integer, ParseError> {
        let first = self.unary(0)?;
        self.binary_after(first, 0, 0)
    }

    /// A floating-point number at the current token, if it is one.
    fn float_here(&self) -> Result<Option<Constant>, ParseError> {
        let Token {
            kind: Kind::Number,
            text,
            position,
            ..
        } = self.token
        else {
            return Ok(None);
        };
        let hexadecimal = |digits: &str, len| {
            (digits.len() == len).then(|| u64::from_str_radix(digits, 16).ok()).flatten().ok_or_else(|| {
                position.error(format!("a floating-point constant of {len} hexadecimal digits is expected, found `{text}`"))
            })
        };
        let lower = text.as_bytes().get(1).map(u8::to_ascii_lowercase);
        match (text.starts_with('0'), lower) {
            (true, Some(b'f')) => Ok(Some(Constant::Float32(hexadecimal(&text[2..], 8)? as u32))),
            (true, Some(b'd')) => Ok(Some(Constant::Float64(hexadecimal(&text[2..], 16)?))),
            (true, Some(b'x')) => Ok(None),
            _ if text.contains(['.', 'e', 'E']) => match text.parse::<f64>() {
                Ok(value) => Ok(Some(Constant::Float64(value.to_bits()))),
                Err(_) => Err(position.error(format!("`{text}` is not a number"))),
            },
            _ => Ok(None),
        }
    }

    /// Signs, casts, parentheses and the number behind them.
    fn unary(&mut self, depth: u32) -> Result<Integer, ParseError> {
        if depth > DEEPEST {
            return Err(self
                .here()
                .error(format!("the expression nests deeper than {DEEPEST} levels")));
        }
        // Prefix operators are applied from the innermost outwards, so they are kept in order; a bound keeps them few.
        let mut prefixes = Vec::new();
        loop {
            let mark = ["-", "+", "~", "!"]
                .into_iter()
                .find(|mark| self.token.is(mark));
            let Some(mark) = mark else { break };
            self.count_node()?;
            prefixes.push(mark);
            self.advance()?;
        }
        let mut value = if self.accept("(")? {
            let cast = if self.token.kind == Kind::Dotted {
                Some(self.advance()?)
            } else {
                None
            };
            match cast {
                Some(cast) => {
                    let unsigned = match cast.text {
                        ".u64" => true,
                        ".s64" => false,
                        _ => return Err(cast.position.error("only .u64 and .s64 can be cast to")),
                    };
                    self.expect(")", "after the cast")?;
                    Integer {
                        unsigned,
                        ..self.unary(depth + 1)?
                    }
                }
                None => {
                    let first = self.unary(depth + 1)?;
                    let value = self.binary_after(first, 0, depth + 1)?;
                    self.expect(")", "that closes the expression")?;
                    value
                }
            }
        } else {
            self.literal()?
        };
        for mark in prefixes.into_iter().rev() {
            match mark {
                "-" => value.bits = value.bits.wrapping_neg(),
                "~" => value.bits = !value.bits,
                "!" => {
                    value = Integer {
                        bits: i64::from(value.bits == 0),
                        unsigned: false,
                    }
                }
                _ => {}
            }
        }
        Ok(value)
    }

    fn literal(&mut self) -> Result<Integer, ParseError> {
        let token = self.token;
        if token.kind == Kind::Word && token.text == "WARP_SZ" {
            self.advance()?;
            return Ok(Integer {
                bits: 32,
                unsigned: false,
            });
        }
        if token.kind != Kind::Number {
            return Err(self.unexpected("a number"));
        }
        self.advance()?;
        let (text, marked) = token
            .text
            .strip_suffix(['U', 'u'])
            .map_or((token.text, false), |text| (text, true));
        let bytes = text.as_bytes();
        let (digits, radix) = match (bytes.first(), bytes.get(1)) {
            (Some(b'0'), Some(b'x' | b'X')) => (&text[2..], 16),
            (Some(b'0'), Some(b'b' | b'B')) => (&text[2..], 2),
            (Some(b'0'), Some(_)) => (&text[1..], 8),
            _ => (text, 10),
        };
        let value = u64::from_str_radix(digits, radix);
        let value = value.map_err(|_| {
            token
                .position
                .error(format!("{} is not a 64-bit integer", token.shown()))
        })?;
        Ok(Integer {
            bits: value as i64,
            unsigned: marked || value > i64::MAX as u64,
        })
    }

    /// The operators that follow `left` and bind stronger than `weakest`.
    fn binary_after(
        &mut self,
        mut left: Integer,
        weakest: u8,
        depth: u32,
    ) -> Result<Integer, ParseError> {
        while let Some(strength) = precedence(&self.token).filter(|&strength| strength > weakest) {
            let operator = self.advance()?;
            let right = self.unary(depth + 1)?;
            // At most one level for each of the ten strengths: `weakest` rises with every level.
            let right = self.binary_after(right, strength, depth)?;
            left = apply(&operator, left, right)?;
        }
        if weakest == 0 && self.accept("?")? {
            if depth > DEEPEST {
                return Err(self
                    .here()
                    .error(format!("the expression nests deeper than {DEEPEST} levels")));
            }
            let first = self.unary(depth + 1)?;
            let chosen = self.binary_after(first, 0, depth + 1)?;
            self.expect(":", "of the conditional expression")?;
            let second = self.unary(depth + 1)?;
            let other = self.binary_after(second, 0, depth + 1)?;
            left = if left.bits != 0 { chosen } else { other };
        }
        Ok(left)
    }
}

fn apply(operator: &Token<'_>, left: Integer, right: Integer) -> Result<Integer, ParseError> {
    let (a, b) = (left.bits, right.bits);
    let (ua, ub) = (a as u64, b as u64);
    let unsigned = left.unsigned || right.unsigned;
    let truth = |condition: bool| {
        Ok(Integer {
            bits: i64::from(condition),
            unsigned: false,
        })
    };
    let bits = match operator.text {
        "/" | "%" if b == 0 => {
            return Err(operator
                .position
                .error("division by zero in a constant expression"));
        }
        "*" => a.wrapping_mul(b),
        "/" if unsigned => (ua / ub) as i64,
        "/" => a.wrapping_div(b),
        "%" if unsigned => (ua % ub) as i64,
        "%" => a.wrapping_rem(b),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "<<" => {
            return Ok(Integer {
                bits: if ub > 63 { 0 } else { a << ub },
                ..left
            });
        }
        ">>" if left.unsigned => {
            return Ok(Integer {
                bits: if ub > 63 { 0 } else { (ua >> ub) as i64 },
                ..left
            });
        }
        ">>" => {
            return Ok(Integer {
                bits: a >> ub.min(63),
                ..left
            });
        }
        "<" => return truth(if unsigned { ua < ub } else { a < b }),
        ">" => return truth(if unsigned { ua > ub } else { a > b }),
        "<=" => return truth(if unsigned { ua <= ub } else { a <= b }),
        ">=" => return truth(if unsigned { ua >= ub } else { a >= b }),
        "==" => return truth(a == b),
        "!=" => return truth(a != b),
        "&" => a & b,
        "^" => a ^ b,
        "|" => a | b,
        "&&" => return truth(a != 0 && b != 0),
        "||" => return truth(a != 0 || b != 0),
        _ => return Err(operator.position.error("unexpected operator")),
    };
    Ok(Integer { bits, unsigned })
}
