//! Splits the text into words, numbers, strings and punctuation, and knows the line and column of each.

use std::borrow::Cow;

use crate::{ParseError, Position};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name with everything that is joined to it by dots: `%tid.x`, `ld.global.f32`, `$L__BB0_1`, `_`.
    Word,
    /// A directive or a modifier that stands apart: `.reg`, `.b32`.
    Dotted,
    /// A number in any notation, without a sign.
    Number,
    /// A string with its quotes.
    Text,
    /// Punctuation: one byte, or two for the operators that have two.
    Mark,
    /// The end of the text.
    End,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) start: usize,
    pub(crate) position: Position,
}

impl Token<'_> {
    #[inline(always)]
    pub(crate) fn is(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }

    /// The token as an error message names it.
    pub(crate) fn shown(&self) -> Cow<'static, str> {
        if self.kind == Kind::End {
            return Cow::Borrowed("the end of the text");
        }
        let mut short: String = self.text.chars().take(40).collect();
        if short.len() < self.text.len() {
            short.push('…');
        }
        Cow::Owned(format!("`{short}`"))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: u32,
    line_start: usize,
}

const WORD: u8 = 1;
const SPACE: u8 = 2;
const DIGIT: u8 = 4;
/// What has a meaning inside a block that is skipped.
const NOTABLE: u8 = 8;
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b.is_ascii_alphanumeric() || b == b'_' || b == b'$' {
            class[byte] |= WORD;
        }
        if b.is_ascii_digit() {
            class[byte] |= DIGIT;
        }
        if matches!(b, b'{' | b'}' | b'"' | b'/' | b'#' | b'\n' | 0) {
            class[byte] |= NOTABLE;
        }
        if matches!(b, b' ' | b'\t' | b'\r' | 0x0b | 0x0c) {
            class[byte] |= SPACE;
        }
        byte += 1;
    }
    class
};

impl<'a> Lexer<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        Self {
            source,
            at: 0,
            line: 1,
            line_start: 0,
        }
    }

    /// From a place in the text on, whose line and column are known.
    pub(crate) fn at(source: &'a str, at: usize, position: Position) -> Option<Self> {
        let column = usize::try_from(position.column).ok()?;
        let line_start = at.checked_sub(column.checked_sub(1)?)?;
        source.get(line_start..at)?;
        Some(Self {
            source,
            at,
            line: position.line,
            line_start,
        })
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        self.source.as_bytes().get(at).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn class(&self, at: usize) -> u8 {
        CLASS[usize::from(self.byte(at))]
    }

    /// The byte behind the last token.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    pub(crate) fn position(&self) -> Position {
        let column = u32::try_from(self.at - self.line_start)
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        Position {
            line: self.line,
            column,
        }
    }

    fn newline(&mut self) {
        self.at += 1;
        self.line = self.line.saturating_add(1);
        self.line_start = self.at;
    }

    /// Moves past blanks and comments.
    #[inline]
    fn skip_blanks(&mut self) -> Result<(), ParseError> {
        loop {
            while self.class(self.at) & SPACE != 0 {
                self.at += 1;
            }
            match (self.byte(self.at), self.byte(self.at + 1)) {
                (b'\n', _) => self.newline(),
                (b'/', b'/') => self.skip_line(),
                (b'/', b'*') => self.skip_comment()?,
                (b'#', _) if self.source[self.line_start..self.at].trim().is_empty() => {
                    self.skip_line()
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.source.as_bytes()[self.at..];
        self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
    }

    fn skip_comment(&mut self) -> Result<(), ParseError> {
        let start = self.position();
        self.at += 2;
        while self.at < self.source.len() {
            match self.byte(self.at) {
                b'\n' => self.newline(),
                b'*' if self.byte(self.at + 1) == b'/' => {
                    self.at += 2;
                    return Ok(());
                }
                _ => self.at += 1,
            }
        }
        Err(start.error("the comment that starts here has no end"))
    }

    pub(crate) fn next(&mut self) -> Result<Token<'a>, ParseError> {
        self.skip_blanks()?;
        let (start, position) = (self.at, self.position());
        let kind = match self.byte(start) {
            0 => {
                if start < self.source.len() {
                    // A text handed over as a C string may carry its terminator.
                    self.source = &self.source[..start];
                }
                Kind::End
            }
            b'"' => self.text(position)?,
            b'.' if self.class(start + 1) & DIGIT != 0 => self.number(),
            b'.' if self.class(start + 1) & WORD != 0 => {
                self.at += 1;
                self.word_part();
                Kind::Dotted
            }
            b'%' => {
                self.at += 1;
                self.word()
            }
            b if CLASS[usize::from(b)] & DIGIT != 0 => self.number(),
            b if CLASS[usize::from(b)] & WORD != 0 => self.word(),
            b if b.is_ascii_graphic() => {
                let pair = (b, self.byte(start + 1));
                let two = matches!(
                    pair,
                    (b'<', b'<' | b'=')
                        | (b'>', b'>' | b'=')
                        | (b'=' | b'!', b'=')
                        | (b'&', b'&')
                        | (b'|', b'|')
                );
                self.at += if two { 2 } else { 1 };
                Kind::Mark
            }
            _ => {
                let found = self
                    .source
                    .get(start..)
                    .and_then(|rest| rest.chars().next())
                    .unwrap_or('?');
                return Err(position.error(format!("unexpected character {found:?}")));
            }
        };
        let text = self.source.get(start..self.at).unwrap_or("");
        Ok(Token {
            kind,
            text,
            start,
            position,
        })
    }

    /// The rest of a word, up to a dot; `::` joins.
    fn word_part(&mut self) {
        loop {
            while self.class(self.at) & WORD != 0 {
                self.at += 1;
            }
            let joined = self.byte(self.at) == b':'
                && self.byte(self.at + 1) == b':'
                && self.class(self.at + 2) & WORD != 0;
            if !joined {
                return;
            }
            self.at += 2;
        }
    }

    #[inline]
    fn word(&mut self) -> Kind {
        self.word_part();
        while self.byte(self.at) == b'.' && self.class(self.at + 1) & WORD != 0 {
            self.at += 1;
            self.word_part();
        }
        Kind::Word
    }

    fn number(&mut self) -> Kind {
        let hexadecimal = self.byte(self.at) == b'0'
            && matches!(
                self.byte(self.at + 1),
                b'x' | b'X' | b'f' | b'F' | b'd' | b'D'
            );
        while self.class(self.at) & WORD != 0 || (!hexadecimal && self.byte(self.at) == b'.') {
            let exponent = !hexadecimal && matches!(self.byte(self.at), b'e' | b'E');
            self.at += 1;
            if exponent && matches!(self.byte(self.at), b'+' | b'-') {
                self.at += 1;
            }
        }
        Kind::Number
    }

    fn text(&mut self, start: Position) -> Result<Kind, ParseError> {
        self.at += 1;
        while self.at < self.source.len() {
            match self.byte(self.at) {
                b'"' => {
                    self.at += 1;
                    return Ok(Kind::Text);
                }
                b'\\' if self.byte(self.at + 1) != b'\n' => self.at += 2,
                b'\n' => break,
                _ => self.at += 1,
            }
        }
        Err(start.error("the string that starts here has no end on its line"))
    }

    /// Moves past the `}` that closes the block whose `{` was the last token, without looking at what lies between.
    pub(crate) fn skip_block(&mut self, open: Position) -> Result<(), ParseError> {
        let mut depth = 1u32;
        loop {
            let rest = self.source.as_bytes().get(self.at..).unwrap_or(&[]);
            self.at += rest
                .iter()
                .position(|&byte| CLASS[usize::from(byte)] & NOTABLE != 0)
                .unwrap_or(rest.len());
            match self.byte(self.at) {
                b'{' => depth = depth.saturating_add(1),
                b'}' => depth -= 1,
                b'"' => {
                    self.text(self.position())?;
                    continue;
                }
                b'/' | b'#' | b'\n' => {
                    let before = self.at;
                    self.skip_blanks()?;
                    // A slash or a hash that starts no comment.
                    self.at += usize::from(self.at == before);
                    continue;
                }
                _ => return Err(open.error("the block that starts here has no end")),
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// The text from `start` to the end of the last token.
    pub(crate) fn since(&self, start: usize, end: usize) -> &'a str {
        self.source.get(start..end).unwrap_or("")
    }
}
