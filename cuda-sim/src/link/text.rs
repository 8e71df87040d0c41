//! The text of a module as the linker sees it: words, and the declarations outside functions.

use std::ops::Range;

/// What a token is, as far as linking needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name.
    Word,
    /// A word with a dot before it.
    Directive,
    /// A number.
    Number,
    /// A string.
    Text,
    /// Any other character.
    Mark(u8),
}

/// A token and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
}

/// The tokens of a text; comments and white space are left out.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let byte = |place: usize| bytes.get(place).copied().unwrap_or(0);
    let part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%');
    let mut tokens = Vec::new();
    let mut place = 0;
    while place < bytes.len() {
        let start = place;
        let first = byte(place);
        let run = |from: usize, more: &dyn Fn(u8) -> bool| {
            let rest = bytes.get(from..).unwrap_or(&[]);
            from + rest.iter().take_while(|byte| more(**byte)).count()
        };
        let find = |from: usize, end: &str| {
            text.get(from..)
                .and_then(|rest| rest.find(end))
                .map_or(bytes.len(), |found| from + found + end.len())
        };
        let kind = match first {
            b' ' | b'\t' | b'\r' | b'\n' => {
                place += 1;
                continue;
            }
            b'/' if byte(place + 1) == b'/' => {
                place = find(place, "\n");
                continue;
            }
            b'/' if byte(place + 1) == b'*' => {
                place = find(place + 2, "*/");
                continue;
            }
            b'"' => {
                place = find(place + 1, "\"");
                Kind::Text
            }
            b'.' if part(byte(place + 1)) => {
                place = run(place + 1, &|byte| part(byte) || byte == b':');
                Kind::Directive
            }
            b'0'..=b'9' => {
                place = run(place, &|byte| part(byte) || byte == b'.');
                Kind::Number
            }
            _ if part(first) => {
                place = run(place, &part);
                Kind::Word
            }
            other => {
                place += 1;
                Kind::Mark(other)
            }
        };
        tokens.push(Token {
            kind,
            range: start..place,
        });
    }
    tokens
}

/// A declaration outside functions.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) kind: ItemKind,
    /// Its tokens, by their numbers.
    pub(super) tokens: Range<usize>,
}

/// The kinds that are treated differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// `.version`, `.target`, `.address_size`, `.section`: written anew, or left out.
    Header,
    /// `.file`
    File,
    /// A kernel or a device function; where its body starts, by the token's number, if it has one.
    Function { body: Option<usize> },
    /// Variables, `.alias`, `.pragma`.
    Other,
}

/// The declarations of a text that was parsed, in order.
pub(super) fn items(text: &str, tokens: &[Token]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut start = 0;
    while let Some(first) = tokens.get(start) {
        let name = text.get(first.range.clone()).unwrap_or("");
        let (kind, end) = match name {
            ".version" | ".address_size" => (ItemKind::Header, start + 2),
            ".target" => (ItemKind::Header, end_of_list(tokens, start + 1)),
            ".file" => (ItemKind::File, end_of_list(tokens, start + 2)),
            ".section" => (ItemKind::Header, end_of_braces(tokens, start)),
            _ => declaration(text, tokens, start),
        };
        let end = end.clamp(start + 1, tokens.len());
        items.push(Item {
            kind,
            tokens: start..end,
        });
        start = end;
    }
    items
}

/// The end of `a, b, c` that starts at a token.
fn end_of_list(tokens: &[Token], start: usize) -> usize {
    let mut end = start + 1;
    while tokens
        .get(end)
        .is_some_and(|token| token.kind == Kind::Mark(b','))
    {
        end += 2;
    }
    end
}

/// The token behind the closing brace of the first block.
fn end_of_braces(tokens: &[Token], start: usize) -> usize {
    let mut depth = 0usize;
    for (number, token) in tokens.iter().enumerate().skip(start) {
        match token.kind {
            Kind::Mark(b'{') => depth += 1,
            Kind::Mark(b'}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return number + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// The kind and the end of a declaration: a function ends with its body or a semicolon, anything else with a semicolon.
fn declaration(text: &str, tokens: &[Token], start: usize) -> (ItemKind, usize) {
    let (mut function, mut depth) = (false, 0usize);
    for (number, token) in tokens.iter().enumerate().skip(start) {
        match token.kind {
            Kind::Directive if depth == 0 => {
                let name = text.get(token.range.clone()).unwrap_or("");
                function |= matches!(name, ".func" | ".entry");
            }
            Kind::Mark(b'{') if depth == 0 && function => {
                let body = Some(number);
                return (ItemKind::Function { body }, end_of_braces(tokens, number));
            }
            Kind::Mark(b'{' | b'(' | b'[') => depth += 1,
            Kind::Mark(b'}' | b')' | b']') => depth = depth.saturating_sub(1),
            Kind::Mark(b';') if depth == 0 => {
                let kind = if function {
                    ItemKind::Function { body: None }
                } else {
                    ItemKind::Other
                };
                return (kind, number + 1);
            }
            _ => {}
        }
    }
    (ItemKind::Other, tokens.len())
}
