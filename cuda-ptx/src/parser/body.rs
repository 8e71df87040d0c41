//! Statements of a function body.

use super::Parser;
use crate::lexer::Kind;
use crate::{Directive, Guard, Instruction, Linkage, Operand, ParseError, Space, Statement};

/// How deep blocks may nest in a body; whoever looks names up walks through them.
const DEEPEST_BLOCK: u32 = 1024;

impl<'a> Parser<'a> {
    /// The statements between the outermost braces; the opening one is the current token.
    pub(super) fn body(&mut self) -> Result<Vec<Statement<'a>>, ParseError> {
        let open = self.here();
        self.advance()?;
        let mut statements = Vec::new();
        let mut depth = 0u32;
        loop {
            self.count_node()?;
            let position = self.here();
            match self.token.kind {
                Kind::Word => {
                    let start = self.token.start;
                    let word = self.advance()?.text;
                    if self.accept(":")? {
                        statements.push(Statement::Label(word, position));
                    } else {
                        statements.push(Statement::Instruction(
                            self.instruction(start, position, None, word)?,
                        ));
                    }
                }
                Kind::Dotted => self.body_directive(&mut statements)?,
                Kind::Mark => match self.token.text {
                    "@" => {
                        let start = self.token.start;
                        self.advance()?;
                        let negated = self.accept("!")?;
                        let register = self.word("a predicate after `@`")?;
                        let mnemonic = self.word("an instruction after the predicate")?;
                        let guard = Some(Guard { register, negated });
                        statements.push(Statement::Instruction(
                            self.instruction(start, position, guard, mnemonic)?,
                        ));
                    }
                    "{" => {
                        self.advance()?;
                        depth += 1;
                        if depth > DEEPEST_BLOCK {
                            return Err(position
                                .error(format!("blocks nest deeper than {DEEPEST_BLOCK} levels")));
                        }
                        statements.push(Statement::BlockStart(position));
                    }
                    "}" => {
                        self.advance()?;
                        if depth == 0 {
                            return Ok(statements);
                        }
                        depth -= 1;
                        statements.push(Statement::BlockEnd(position));
                    }
                    ";" => {
                        self.advance()?;
                    }
                    _ => return Err(self.unexpected("a statement")),
                },
                Kind::End => return Err(open.error("the body that starts here has no end")),
                Kind::Number | Kind::Text => return Err(self.unexpected("a statement")),
            }
        }
    }

    /// The rest of an instruction whose mnemonic has been taken.
    fn instruction(
        &mut self,
        start: usize,
        position: crate::Position,
        guard: Option<Guard<'a>>,
        mnemonic: &'a str,
    ) -> Result<Instruction<'a>, ParseError> {
        let calls = mnemonic.starts_with("call");
        let operands = if self.token.is(";") {
            Box::default()
        } else {
            self.operands(calls)?
        };
        let text = self.text_since(start);
        self.expect(";", "after the instruction")?;
        Ok(Instruction {
            position,
            text,
            guard,
            mnemonic,
            operands,
        })
    }

    fn body_directive(&mut self, statements: &mut Vec<Statement<'a>>) -> Result<(), ParseError> {
        let start = self.token.start;
        let directive = self.advance()?;
        let mut name = directive.text;
        let mut linkage = Linkage::Internal;
        if name == ".extern" {
            linkage = Linkage::Extern;
            name = self.advance()?.text;
        }
        if let Some(space) = Space::from_directive(name) {
            let first = statements.len();
            self.variables(space, linkage, |variable| {
                statements.push(Statement::Variable(Box::new(variable)))
            })?;
            let text = self.text_since(start);
            for statement in statements.iter_mut().skip(first) {
                if let Statement::Variable(variable) = statement {
                    variable.text = text;
                }
            }
            return Ok(());
        }
        if name == ".callprototype" {
            let prototype = self.prototype(start, directive.position)?;
            statements.push(Statement::Prototype(Box::new(prototype)));
            return Ok(());
        }
        let arguments: Box<[Operand<'a>]> = match name {
            ".loc" => {
                self.skip_line_directive(directive.position.line)?;
                Box::default()
            }
            ".branchtargets" | ".calltargets" | ".pragma" => {
                let arguments = self.operands(false)?;
                self.expect(";", "after the directive")?;
                arguments
            }
            // Whatever else there is ends with a semicolon: the directives of later versions.
            _ => {
                while !self.token.is(";") {
                    if self.token.kind == Kind::End || self.token.is("{") || self.token.is("}") {
                        return Err(self.unexpected("`;` after the directive"));
                    }
                    self.advance()?;
                }
                self.advance()?;
                Box::default()
            }
        };
        let text = self.text_since(start).trim_end_matches(';').trim_end();
        let position = directive.position;
        statements.push(Statement::Directive(Box::new(Directive {
            position,
            name,
            text,
            arguments,
        })));
        Ok(())
    }

    /// The tokens up to the end of the line, for directives that have no other end.
    pub(super) fn skip_line_directive(&mut self, line: u32) -> Result<(), ParseError> {
        while self.token.kind != Kind::End && self.here().line == line {
            self.advance()?;
        }
        Ok(())
    }
}
