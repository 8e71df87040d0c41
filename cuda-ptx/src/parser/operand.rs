//! Operands.

use super::expression::Constant;
use super::{DEEPEST, Parser};
use crate::lexer::Kind;
use crate::{Operand, ParseError};

impl<'a> Parser<'a> {
    /// Operands up to a mark that cannot continue them.
    pub(super) fn operands(&mut self, calls: bool) -> Result<Box<[Operand<'a>]>, ParseError> {
        let first = self.scratch.len();
        loop {
            let operand = self.operand(calls, 0)?;
            self.scratch.push(operand);
            if !self.accept(",")? {
                return Ok(self.scratch.drain(first..).collect());
            }
        }
    }

    /// One operand. In a call, a parenthesis starts a list and not an expression.
    fn operand(&mut self, calls: bool, depth: u32) -> Result<Operand<'a>, ParseError> {
        self.count_node()?;
        if depth > DEEPEST {
            return Err(self
                .here()
                .error(format!("the operand nests deeper than {DEEPEST} levels")));
        }
        match self.token.kind {
            Kind::Word => self.named(),
            Kind::Text => {
                let text = self.advance()?.text;
                Ok(Operand::Text(text.get(1..text.len() - 1).unwrap_or("")))
            }
            Kind::Number => self.constant_operand(),
            Kind::Mark => match self.token.text {
                "[" => self.bracketed(depth),
                "{" => {
                    self.advance()?;
                    Ok(Operand::Vector(self.operand_list("}", depth)?))
                }
                "(" if calls => {
                    self.advance()?;
                    Ok(Operand::List(self.operand_list(")", depth)?))
                }
                "!" => {
                    self.advance()?;
                    if self.token.kind == Kind::Word {
                        return Ok(Operand::Not(self.advance()?.text));
                    }
                    let value = self.integer()?;
                    Ok(Operand::Integer(i64::from(value.bits == 0)))
                }
                "-" | "+" | "~" | "(" => self.constant_operand(),
                _ => Err(self.unexpected("an operand")),
            },
            Kind::Dotted | Kind::End => Err(self.unexpected("an operand")),
        }
    }

    fn constant_operand(&mut self) -> Result<Operand<'a>, ParseError> {
        if self.token.is("-") {
            // `-%r1` of the video instructions; a number after the sign is an ordinary constant.
            let mut ahead = self.lexer.clone();
            if ahead.next()?.kind == Kind::Word {
                self.advance()?;
                return Ok(Operand::Negated(self.advance()?.text));
            }
        }
        Ok(match self.constant()? {
            Constant::Integer(value) => Operand::Integer(value.bits),
            Constant::Float32(bits) => Operand::Float32(bits),
            Constant::Float64(bits) => Operand::Float64(bits),
        })
    }

    /// A name and what may follow it: an offset, an index or the second of two predicates.
    fn named(&mut self) -> Result<Operand<'a>, ParseError> {
        let name = self.advance()?.text;
        if name == "_" && !self.token.is("|") {
            return Ok(Operand::Sink);
        }
        if self.token.is("+") || self.token.is("-") {
            return Ok(Operand::Offset(name, self.offset()?));
        }
        if self.accept("[")? {
            let index = self.integer()?.bits;
            self.expect("]", "that closes the index")?;
            return Ok(Operand::Element(name, index));
        }
        if self.accept("|")? {
            return Ok(Operand::Pair(name, self.word("the second predicate")?));
        }
        Ok(Operand::Name(name))
    }

    /// `+n` or `-n` after a name.
    pub(super) fn offset(&mut self) -> Result<i64, ParseError> {
        let negative = self.token.is("-");
        if !negative {
            if !self.token.is("+") {
                return Ok(0);
            }
            self.advance()?;
        }
        Ok(self.integer()?.bits)
    }

    fn bracketed(&mut self, depth: u32) -> Result<Operand<'a>, ParseError> {
        self.advance()?;
        let first = match self.token.kind {
            Kind::Word => match self.named()? {
                Operand::Name(name) => Operand::Address {
                    base: Some(name),
                    offset: 0,
                },
                Operand::Offset(name, offset) => Operand::Address {
                    base: Some(name),
                    offset,
                },
                Operand::Element(..) => {
                    return Err(self.here().error("an index stands outside brackets only"));
                }
                other => other,
            },
            _ if self.at_constant() => Operand::Address {
                base: None,
                offset: self.integer()?.bits,
            },
            _ => self.operand(false, depth + 1)?,
        };
        if self.accept("]")? {
            return Ok(match first {
                Operand::Address { .. } => first,
                other => Operand::Brackets(Box::new([other])),
            });
        }
        let mut parts = vec![match first {
            Operand::Address {
                base: Some(name),
                offset: 0,
            } => Operand::Name(name),
            Operand::Address {
                base: Some(name),
                offset,
            } => Operand::Offset(name, offset),
            Operand::Address { base: None, offset } => Operand::Integer(offset),
            other => other,
        }];
        while self.accept(",")? {
            parts.push(self.operand(false, depth + 1)?);
        }
        self.expect("]", "that closes the address")?;
        Ok(Operand::Brackets(parts.into_boxed_slice()))
    }

    /// The operands up to the closing mark, which is taken as well.
    fn operand_list(&mut self, close: &str, depth: u32) -> Result<Box<[Operand<'a>]>, ParseError> {
        let first = self.scratch.len();
        if self.accept(close)? {
            return Ok(Box::default());
        }
        loop {
            let operand = self.operand(false, depth + 1)?;
            self.scratch.push(operand);
            if !self.accept(",")? {
                break;
            }
        }
        self.expect(close, "that closes the list")?;
        Ok(self.scratch.drain(first..).collect())
    }
}
