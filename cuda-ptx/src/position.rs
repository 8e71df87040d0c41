//! Where something stands in the text.

use std::borrow::Cow;
use std::ops::Range;

use crate::ParseError;

/// A place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
}

/// A part of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Line and column of its first byte.
    pub position: Position,
    /// Its bytes.
    pub bytes: Range<usize>,
}

impl Position {
    /// An error at this place.
    #[cold]
    pub(crate) fn error(self, message: impl Into<Cow<'static, str>>) -> ParseError {
        ParseError {
            line: self.line,
            column: self.column,
            message: message.into(),
        }
    }
}
