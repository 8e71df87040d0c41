//! The words of a source: names and marks, without comments, strings, numbers and lines for the preprocessor.

/// A word of C++.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word<'t> {
    Name(&'t str),
    /// One mark; two colons are one.
    Mark(&'t str),
    /// A number, a string or a character.
    Literal,
}

impl Word<'_> {
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self, Word::Name(own) | Word::Mark(own) if *own == text)
    }
}

/// The words of a text. Any text has some.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = text;
    let mut at_start_of_line = true;
    while let Some(letter) = rest.chars().next() {
        let is_first = std::mem::replace(&mut at_start_of_line, false);
        let len = if letter == '\n' {
            at_start_of_line = true;
            1
        } else if letter.is_whitespace() {
            at_start_of_line = is_first;
            letter.len_utf8()
        } else if rest.starts_with("//") || (letter == '#' && is_first) {
            logical_line(rest)
        } else if rest.starts_with("/*") {
            at_start_of_line = is_first;
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if letter == '"' || letter == '\'' {
            words.push(Word::Literal);
            quoted(rest, letter)
        } else if let Some(len) = raw_string(rest) {
            words.push(Word::Literal);
            len
        } else if letter.is_ascii_digit() {
            words.push(Word::Literal);
            // The ' in 1'000 separates digits.
            length(rest, |letter| {
                is_of_name(letter) || letter == '.' || letter == '\''
            })
        } else if is_of_name(letter) {
            let len = length(rest, is_of_name);
            words.extend(rest.get(..len).map(Word::Name));
            len
        } else {
            let len = if rest.starts_with("::") {
                2
            } else {
                letter.len_utf8()
            };
            words.extend(rest.get(..len).map(Word::Mark));
            len
        };
        rest = rest.get(len..).unwrap_or("");
    }
    words
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

fn length(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !belongs(letter)).unwrap_or(text.len())
}

/// The length of a line, with those that a backslash joins to it.
fn logical_line(text: &str) -> usize {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if !line.trim_end_matches(['\n', '\r']).ends_with('\\') {
            // The line's end stays, so that the next line starts one.
            return end - usize::from(line.ends_with('\n'));
        }
    }
    end
}

fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = true;
    for (index, letter) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if letter == quote {
            return index + letter.len_utf8();
        } else if letter == '\n' {
            return index;
        } else {
            is_escaped = letter == '\\';
        }
    }
    text.len()
}

/// The length of `R"x(…)x"`.
fn raw_string(text: &str) -> Option<usize> {
    let (delimiter, body) = text.strip_prefix("R\"")?.split_once('(')?;
    if delimiter.len() > 16 || delimiter.contains(['\n', '"']) {
        return None;
    }
    let close = format!("){delimiter}\"");
    let start = text.len() - body.len();
    Some(
        body.find(&close)
            .map_or(text.len(), |end| start + end + close.len()),
    )
}
