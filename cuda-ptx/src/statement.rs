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
        self.mnemonic.split('.').next().unwrap_or(self.mnemonic)
    }

    /// What follows the opcode, without the dots.
    pub fn modifiers(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.mnemonic.split('.').skip(1)
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
