//! The parser: one token of lookahead, no recursion on the depth of the text.

mod body;
mod declaration;
mod expression;
mod function;
mod operand;
mod top;

use crate::lexer::{Kind, Lexer, Token};
use crate::{Function, ParseError, Position, Statement};

/// Statements, operands and initial values of one module. Real modules of 100 MB have a third of it; a text made to fill the memory
/// of whoever loads it is refused here.
const MOST_NODES: u32 = 1 << 25;

/// How deep brackets and parentheses may nest within one operand.
const DEEPEST: u32 = 32;

/// Whether function bodies are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bodies {
    Parse,
    Skip,
}

#[derive(Debug)]
pub(crate) struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    /// One past the last byte of the token before `token`.
    end: usize,
    nodes: u32,
    /// Operands that are not yet in their instruction.
    scratch: Vec<crate::Operand<'a>>,
    bodies: Bodies,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(source: &'a str, bodies: Bodies) -> Result<Self, ParseError> {
        let mut lexer = Lexer::new(source);
        let token = lexer.next()?;
        Ok(Self {
            lexer,
            token,
            end: 0,
            nodes: 0,
            scratch: Vec::new(),
            bodies,
        })
    }

    /// The statements of a function of the text: from its name on, where line and column are known.
    pub(crate) fn body_at(
        source: &'a str,
        function: &Function<'a>,
    ) -> Result<Vec<Statement<'a>>, ParseError> {
        let start = function
            .name
            .as_ptr()
            .addr()
            .checked_sub(source.as_ptr().addr());
        let lexer = start.and_then(|start| Lexer::at(source, start, function.position));
        let other = || {
            function
                .position
                .error("the function is not of this module")
        };
        let mut lexer = lexer.ok_or_else(other)?;
        let token = lexer.next()?;
        if token.text != function.name {
            return Err(other());
        }
        let mut parser = Self {
            lexer,
            token,
            end: 0,
            nodes: 0,
            scratch: Vec::new(),
            bodies: Bodies::Parse,
        };
        parser.body_after_name()
    }

    /// The current token; the next one takes its place.
    fn advance(&mut self) -> Result<Token<'a>, ParseError> {
        let next = self.lexer.next()?;
        let token = std::mem::replace(&mut self.token, next);
        self.end = token.start + token.text.len();
        Ok(token)
    }

    /// Moves past a punctuation mark, if it is there.
    #[inline]
    fn accept(&mut self, mark: &str) -> Result<bool, ParseError> {
        let there = self.token.is(mark);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    fn expect(&mut self, mark: &str, context: &str) -> Result<(), ParseError> {
        if self.accept(mark)? {
            Ok(())
        } else {
            Err(self.unexpected(&format!("`{mark}` {context}")))
        }
    }

    /// Moves past a block whose opening brace is the current token, without looking at what lies between.
    fn skip_block(&mut self) -> Result<(), ParseError> {
        // The token after the brace has not been read yet: the lexer stands right behind it.
        let open = self.here();
        self.lexer.skip_block(open)?;
        let end = self.lexer.offset();
        self.advance()?;
        self.end = end;
        Ok(())
    }

    fn word(&mut self, expected: &str) -> Result<&'a str, ParseError> {
        if self.token.kind == Kind::Word {
            Ok(self.advance()?.text)
        } else {
            Err(self.unexpected(expected))
        }
    }

    #[cold]
    fn unexpected(&self, expected: &str) -> ParseError {
        self.token
            .position
            .error(format!("expected {expected}, found {}", self.token.shown()))
    }

    fn here(&self) -> Position {
        self.token.position
    }

    /// The text from `start` to the end of the last token that was taken.
    fn text_since(&self, start: usize) -> &'a str {
        self.lexer.since(start, self.end)
    }

    /// Counts a statement, operand or initial value.
    fn count_node(&mut self) -> Result<(), ParseError> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(self.here().error(format!(
                "the module has more than {MOST_NODES} statements, operands and initial values"
            )));
        }
        Ok(())
    }
}
