//! Declarations of variables, and initialisers.

use super::Parser;
use super::expression::Constant;
use crate::lexer::Kind;
use crate::{Initial, Linkage, ParseError, ScalarType, Space, Variable};

/// What stands before the names of a declaration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Specifiers {
    pub(super) ty: ScalarType,
    pub(super) vector: u8,
    pub(super) align: Option<u32>,
    pub(super) managed: bool,
    pub(super) pointer: Option<crate::Pointer>,
}

impl<'a> Parser<'a> {
    /// Alignment, vector length and type, in any order, up to the first name.
    pub(super) fn specifiers(&mut self) -> Result<Specifiers, ParseError> {
        let start = self.here();
        let (mut ty, mut vector, mut align, mut managed, mut pointer) =
            (None, 1, None, false, None::<crate::Pointer>);
        while self.token.kind == Kind::Dotted {
            let token = self.advance()?;
            match token.text {
                ".align" => {
                    let value = self.alignment()?;
                    match &mut pointer {
                        Some(pointer) => pointer.align = Some(value),
                        None => align = Some(value),
                    }
                }
                ".v2" => vector = 2,
                ".v4" => vector = 4,
                ".attribute" => managed |= self.attributes()?,
                ".ptr" => {
                    pointer = Some(crate::Pointer {
                        space: None,
                        align: None,
                    })
                }
                name => match (
                    &mut pointer,
                    Space::from_directive(name),
                    ScalarType::from_name(&name[1..]),
                ) {
                    (Some(pointer), Some(space), _) => pointer.space = Some(space),
                    (None, None, Some(found)) if ty.is_none() => ty = Some(found),
                    _ => {
                        return Err(token.position.error(format!(
                            "{} does not belong in a declaration",
                            token.shown()
                        )));
                    }
                },
            }
        }
        let ty = ty.ok_or_else(|| start.error("the declaration has no type"))?;
        Ok(Specifiers {
            ty,
            vector,
            align,
            managed,
            pointer,
        })
    }

    fn alignment(&mut self) -> Result<u32, ParseError> {
        let position = self.here();
        let value = self.integer()?.bits;
        u32::try_from(value)
            .ok()
            .filter(|value| value.is_power_of_two())
            .ok_or_else(|| position.error(format!("the alignment {value} is not a power of two")))
    }

    /// `.attribute(.managed, .unified(1, 2))`; says whether `.managed` is among them.
    fn attributes(&mut self) -> Result<bool, ParseError> {
        let mut managed = false;
        self.expect("(", "after .attribute")?;
        let mut depth = 1;
        while depth > 0 {
            let token = self.advance()?;
            match token.text {
                "(" => depth += 1,
                ")" => depth -= 1,
                ".managed" => managed = true,
                _ if token.kind == Kind::End => {
                    return Err(token.position.error("the attribute has no end"));
                }
                _ => {}
            }
        }
        Ok(managed)
    }

    /// The names of a declaration, whose space has been taken, up to and with the semicolon.
    pub(super) fn variables(
        &mut self,
        space: Space,
        linkage: Linkage,
        mut each: impl FnMut(Variable<'a>),
    ) -> Result<(), ParseError> {
        let specifiers = self.specifiers()?;
        loop {
            self.count_node()?;
            each(self.variable(space, linkage, &specifiers)?);
            if !self.accept(",")? {
                break;
            }
        }
        self.expect(";", "after the declaration")
    }

    fn variable(
        &mut self,
        space: Space,
        linkage: Linkage,
        specifiers: &Specifiers,
    ) -> Result<Variable<'a>, ParseError> {
        let position = self.here();
        let name = self.word("a name")?;
        let count = if self.accept("<")? {
            let here = self.here();
            let count = u32::try_from(self.literal_count()?);
            let count = count.map_err(|_| here.error("the number of registers exceeds 32 bits"))?;
            self.expect(">", "after the number of registers")?;
            Some(count)
        } else {
            None
        };
        let extents = self.extents()?;
        let initial = if self.accept("=")? {
            Some(self.initial()?)
        } else {
            None
        };
        let Specifiers {
            ty,
            vector,
            align,
            managed,
            ..
        } = *specifiers;
        Ok(Variable {
            position,
            // Its end is not known before the last name; whoever asked for the declaration fills it in.
            text: "",
            linkage,
            space,
            ty,
            vector,
            explicit_align: align,
            name,
            count,
            extents,
            managed,
            initial,
        })
    }

    /// A plain number, for places where `>` closes.
    fn literal_count(&mut self) -> Result<u64, ParseError> {
        let token = self.token;
        let value = token
            .text
            .parse()
            .ok()
            .filter(|_| token.kind == Kind::Number);
        let value = value.ok_or_else(|| self.unexpected("a number of registers"))?;
        self.advance()?;
        Ok(value)
    }

    /// `[4][8]`, `[]` or nothing.
    pub(super) fn extents(&mut self) -> Result<Box<[u64]>, ParseError> {
        let mut extents = Vec::new();
        while self.accept("[")? {
            self.count_node()?;
            if self.accept("]")? {
                extents.push(0);
                continue;
            }
            let position = self.here();
            let extent = self.integer()?.bits;
            let extent = u64::try_from(extent)
                .map_err(|_| position.error(format!("the array length {extent} is negative")))?;
            extents.push(extent);
            self.expect("]", "after the array length")?;
        }
        Ok(extents.into_boxed_slice())
    }

    fn initial(&mut self) -> Result<Box<[Initial<'a>]>, ParseError> {
        let mut parts = Vec::new();
        let mut depth = 0u32;
        loop {
            self.count_node()?;
            if self.accept("{")? {
                parts.push(Initial::Open);
                depth += 1;
                if !self.token.is("}") {
                    continue;
                }
            } else {
                parts.push(self.initial_value()?);
            }
            while depth > 0 && self.accept("}")? {
                self.count_node()?;
                parts.push(Initial::Close);
                depth -= 1;
            }
            if depth == 0 {
                return Ok(parts.into_boxed_slice());
            }
            self.expect(",", "or `}` in the initialiser")?;
        }
    }

    fn initial_value(&mut self) -> Result<Initial<'a>, ParseError> {
        if self.token.kind == Kind::Text {
            let text = self.advance()?.text;
            return Ok(Initial::Text(text.get(1..text.len() - 1).unwrap_or("")));
        }
        if self.token.kind == Kind::Word {
            let name = self.advance()?.text;
            if name == "generic" && self.accept("(")? {
                let name = self.word("a variable")?;
                self.expect(")", "after the variable")?;
                return Ok(Initial::Address {
                    name,
                    offset: self.offset()?,
                    generic: true,
                    mask: None,
                });
            }
            if self.accept("=")? {
                let start = self.token.start;
                self.advance()?;
                return Ok(Initial::Field(name, self.text_since(start)));
            }
            return Ok(Initial::Address {
                name,
                offset: self.offset()?,
                generic: false,
                mask: None,
            });
        }
        Ok(match self.constant()? {
            Constant::Integer(mask) if self.accept("(")? => {
                let generic = self.token.text == "generic";
                let mut name = self.word("a variable")?;
                if generic && self.accept("(")? {
                    name = self.word("a variable")?;
                    self.expect(")", "after the variable")?;
                }
                let offset = self.offset()?;
                self.expect(")", "after the variable")?;
                Initial::Address {
                    name,
                    offset,
                    generic,
                    mask: Some(mask.bits as u64),
                }
            }
            Constant::Integer(value) => Initial::Integer(value.bits),
            Constant::Float32(bits) => Initial::Float32(bits),
            Constant::Float64(bits) => Initial::Float64(bits),
        })
    }
}
