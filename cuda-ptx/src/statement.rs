//! What a function body consists of, in the order of the text.

use crate::{Operand, Param, Position, Variable};

/// A predicate before an instruction: `@%p` or `@!%p`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard<'a> {
    /// The predicate register.
    pub register: &'a str,
    /// Whether the instruction runs where the predicate is false.
    pub negated: bool,
}

/// One instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction<'a> {
    /// Where its text starts.
    pub position: Position,
    /// The whole text without the semicolon.
    pub text: &'a str,
    /// The predicate before it.
    pub guard: Option<Guard<'a>>,
    /// Opcode and modifiers as they are written: `ld.global.nc.f32`.
    pub mnemonic: &'a str,
    /// The operands in order.
    pub operands: Box<[Operand<'a>]>,
}

impl<'a> Instruction<'a> {
    /// The mnemonic up to its first dot.
    #[must_use]
    pub fn opcode(&self) -> &'a str {
        // Mnemonics are short: a search in bytes is faster than one for characters.
        let end = self.mnemonic.bytes().position(|it| it == b'.');
        end.and_then(|end| self.mnemonic.get(..end))
            .unwrap_or(self.mnemonic)
    }

    /// The text of each operand, nested ones included in theirs; with [`Module::span_of`](crate::Module::span_of) its place.
    pub fn operand_texts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let after = self.mnemonic.as_ptr().addr() - self.text.as_ptr().addr() + self.mnemonic.len();
        let mut rest = self.text.get(after..).unwrap_or("");
        std::iter::from_fn(move || {
            let (operand, next) = split_operand(rest);
            rest = next;
            let operand = trim_blanks(operand);
            (!operand.is_empty()).then_some(operand)
        })
    }

    /// What follows the opcode, without the dots.
    pub fn modifiers(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut rest = self.mnemonic.get(self.opcode().len()..);
        std::iter::from_fn(move || {
            let after = rest?.strip_prefix('.')?;
            let end = after.bytes().position(|it| it == b'.');
            let (modifier, next) = match end {
                Some(end) => (after.get(..end)?, after.get(end..)),
                None => (after, None),
            };
            rest = next;
            Some(modifier)
        })
    }
}

/// The text up to the first comma outside brackets and comments, and what follows it.
fn split_operand(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0u32);
    while let Some(&byte) = bytes.get(at) {
        let rest = text.get(at..).unwrap_or("");
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                return (
                    text.get(..at).unwrap_or(""),
                    text.get(at + 1..).unwrap_or(""),
                );
            }
            _ if rest.starts_with("//") => at += rest.find('\n').unwrap_or(rest.len() - 1),
            _ if rest.starts_with("/*") => {
                at += rest.find("*/").map_or(rest.len() - 1, |end| end + 1)
            }
            b'"' => {
                at += rest
                    .get(1..)
                    .and_then(|rest| rest.find('"'))
                    .map_or(0, |end| end + 1)
            }
            _ => {}
        }
        at += 1;
    }
    (text, "")
}

/// A text without the blanks and comments around it.
fn trim_blanks(mut text: &str) -> &str {
    loop {
        text = text.trim();
        let comment = if text.starts_with("//") {
            text.find('\n').map(|end| end + 1)
        } else if text.starts_with("/*") {
            text.find("*/").map(|end| end + 2)
        } else {
            None
        };
        match comment {
            Some(end) => text = text.get(end..).unwrap_or(""),
            None => return text,
        }
    }
}

/// A directive that declares no variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Directive<'a> {
    /// Where it starts.
    pub position: Position,
    /// Its name with the dot: `.loc`.
    pub name: &'a str,
    /// The whole text without the semicolon.
    pub text: &'a str,
    /// Its arguments, for those directives whose arguments are a plain list.
    pub arguments: Box<[Operand<'a>]>,
}

/// `.callprototype`: what a function has to look like that an indirect call may reach. The label before it is its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Prototype<'a> {
    /// Where it stands.
    pub position: Position,
    /// The whole text with its semicolon.
    pub text: &'a str,
    /// Returned values.
    pub returns: Vec<Param<'a>>,
    /// Parameters.
    pub params: Vec<Param<'a>>,
}

/// A part of a function body.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement<'a> {
    /// An instruction.
    Instruction(Instruction<'a>),
    /// A label before whatever follows.
    Label(&'a str, Position),
    /// A declaration of a register, of a set of registers or of a variable.
    Variable(Box<Variable<'a>>),
    /// `.callprototype`
    Prototype(Box<Prototype<'a>>),
    /// Another directive: `.loc`, `.pragma`, `.branchtargets`, `.calltargets` …
    Directive(Box<Directive<'a>>),
    /// `{`: names declared from here on are local to the block.
    BlockStart(Position),
    /// `}`
    BlockEnd(Position),
}
