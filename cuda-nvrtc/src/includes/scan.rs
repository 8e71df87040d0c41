//! The names that a text includes, without a preprocessor.

use std::borrow::Cow;

/// Comments between a word and what it includes are read so far, in bytes.
const LONGEST_COMMENT: usize = 4096;
/// Bytes of a name at most.
const LONGEST_NAME: usize = 4096;
/// Names of one text at most.
const MOST_NAMES: usize = 5_000;

/// What a text includes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scanned {
    /// The names between quotes or angle brackets, each once.
    pub(super) names: Vec<String>,
    /// A line on which something makes the set uncertain, and what.
    pub(super) unknown: Option<(usize, &'static str)>,
}

/// Scans a text. Comments, strings and conditions are not understood, so too much is found rather than too little.
pub(super) fn scan(text: &[u8]) -> Scanned {
    let text = &*without_splices(text);
    let mut scanned = Scanned::default();
    if let Some(at) = find_trigraph_splice(text) {
        let line = text.iter().take(at).filter(|&&byte| byte == b'\n').count() + 1;
        scanned.unknown = Some((line, "joins lines by a trigraph"));
    }
    for word in words(text) {
        let rest = text.get(word.end..).unwrap_or(&[]);
        let before = text.get(..word.start).unwrap_or(&[]);
        let unknown = match word.kind {
            Kind::Include => match target(rest) {
                Target::Name(name) => scanned.add(name),
                Target::Macro if is_directive(before) => Some("includes what a macro names"),
                Target::Macro | Target::Nothing => None,
            },
            Kind::HasInclude => match argument(rest).map(target) {
                Some(Target::Name(name)) => scanned.add(name),
                // A macro that passes its argument on: its uses have the names, and a name like it.
                Some(Target::Macro)
                    if scanned.unknown.is_none()
                        && !defines_has_include(text.get(..word.end).unwrap_or(&[])) =>
                {
                    Some("asks for a header that a macro names")
                }
                _ => None,
            },
            Kind::Time(name) => Some(name),
            Kind::Embed if is_directive(before) => Some("embeds a file"),
            Kind::Embed => None,
        };
        if let (None, Some(reason)) = (scanned.unknown, unknown) {
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            scanned.unknown = Some((line, reason));
        }
    }
    scanned
}

impl Scanned {
    fn add(&mut self, name: &[u8]) -> Option<&'static str> {
        match std::str::from_utf8(name) {
            Ok(name) if name.contains("??") => {
                Some("includes a file whose name may have a trigraph")
            }
            Ok(name) => {
                if self.names.len() >= MOST_NAMES {
                    return Some("includes too many files");
                }
                if !name.is_empty() && !self.names.iter().any(|it| it == name) {
                    self.names.push(name.to_owned());
                }
                None
            }
            Err(_) => Some("includes a file whose name is not UTF-8"),
        }
    }
}

struct Word {
    kind: Kind,
    start: usize,
    end: usize,
}

enum Kind {
    /// `include` or `include_next`.
    Include,
    /// `__has_include`, or a macro of such a name.
    HasInclude,
    /// What the time of compiling changes.
    Time(&'static str),
    Embed,
}

/// The words that matter, in their order.
fn words(text: &[u8]) -> Vec<Word> {
    // Every one has exactly one of these in it.
    const PIECES: [&[u8]; 5] = [b"nclude", b"NCLUDE", b"__DATE__", b"__TIME", b"embed"];
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut words = Vec::new();
    for piece in PIECES {
        let mut done = 0;
        for found in memchr::memmem::find_iter(text, piece) {
            // In a word that was looked at.
            if found < done {
                continue;
            }
            let before = text.get(..found).unwrap_or(&[]);
            let after = text.get(found + piece.len()..).unwrap_or(&[]);
            let start = before
                .iter()
                .rposition(|byte| !is_word(byte))
                .map_or(0, |it| it + 1);
            let rest = after.iter().position(|byte| !is_word(byte));
            let end = found + piece.len() + rest.unwrap_or(after.len());
            done = end;
            let kind = match text.get(start..end).unwrap_or(&[]) {
                b"include" | b"include_next" => Kind::Include,
                b"__DATE__" => Kind::Time("uses `__DATE__`"),
                b"__TIME__" => Kind::Time("uses `__TIME__`"),
                b"__TIMESTAMP__" => Kind::Time("uses `__TIMESTAMP__`"),
                b"embed" | b"__has_embed" => Kind::Embed,
                word if is_has_include(word) => Kind::HasInclude,
                _ => continue,
            };
            words.push(Word { kind, start, end });
        }
    }
    words.sort_by_key(|word| word.start);
    words
}

fn is_has_include(word: &[u8]) -> bool {
    word.to_ascii_lowercase()
        .windows(11)
        .any(|it| it == b"has_include")
}

enum Target<'a> {
    Name(&'a [u8]),
    Macro,
    Nothing,
}

/// What follows a word that includes.
fn target(text: &[u8]) -> Target<'_> {
    let text = without_blanks(text);
    let close = match text.first() {
        Some(b'/') if text.starts_with(b"/*") => return Target::Macro,
        Some(b'"') => b'"',
        Some(b'<') => b'>',
        Some(byte) if byte.is_ascii_alphabetic() || *byte == b'_' || !byte.is_ascii() => {
            return Target::Macro;
        }
        _ => return Target::Nothing,
    };
    let name = text.get(1..).unwrap_or(&[]);
    // No system has longer paths.
    let name = name.get(..LONGEST_NAME).unwrap_or(name);
    match name.iter().position(|&byte| byte == close || byte == b'\n') {
        Some(end) if name.get(end) == Some(&close) => Target::Name(name.get(..end).unwrap_or(&[])),
        _ => Target::Nothing,
    }
}

/// What follows an opening parenthesis.
fn argument(text: &[u8]) -> Option<&[u8]> {
    let text = without_blanks(text);
    match text.starts_with(b"/*") {
        true => Some(text),
        false => text.strip_prefix(b"("),
    }
}

/// Without blanks and comments at the beginning, but for a comment whose end is far away.
fn without_blanks(mut text: &[u8]) -> &[u8] {
    loop {
        let blanks = text
            .iter()
            .position(|byte| !matches!(byte, b' ' | b'\t' | 0x0b | 0x0c));
        text = text.get(blanks.unwrap_or(text.len())..).unwrap_or(&[]);
        let Some(comment) = text.strip_prefix(b"/*") else {
            return text;
        };
        let searched = comment.get(..LONGEST_COMMENT).unwrap_or(comment);
        let Some(end) = memchr::memmem::find(searched, b"*/") else {
            return text;
        };
        text = comment.get(end + 2..).unwrap_or(&[]);
    }
}

/// Whether the mark of a directive, or a comment that may stand behind it, ends there.
fn is_directive(before: &[u8]) -> bool {
    let end = before
        .iter()
        .rposition(|byte| !matches!(byte, b' ' | b'\t' | 0x0b | 0x0c));
    let before = before.get(..end.map_or(0, |end| end + 1)).unwrap_or(&[]);
    before.ends_with(b"#")
        || before.ends_with(b"%:")
        || before.ends_with(b"??=")
        || before.ends_with(b"*/")
}

/// Whether the line defines a macro that is named like `__has_include`.
fn defines_has_include(before: &[u8]) -> bool {
    let begin = before
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |it| it + 1);
    let line = before.get(begin..).unwrap_or(&[]);
    let Some(define) = line.windows(6).position(|it| it == b"define") else {
        return false;
    };
    let name = without_blanks(line.get(define + 6..).unwrap_or(&[]));
    let end = name
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
    is_has_include(name.get(..end.unwrap_or(name.len())).unwrap_or(&[]))
}

/// Where a trigraph stands that older dialects take for a backslash before the end of a line.
fn find_trigraph_splice(text: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(text, b"??/").find(|at| {
        let rest = text.get(at + 3..).unwrap_or(&[]);
        rest.starts_with(b"\n") || rest.starts_with(b"\r\n")
    })
}

/// The text with spliced lines joined, as the preprocessor's second phase does it.
fn without_splices(text: &[u8]) -> Cow<'_, [u8]> {
    let next = |from: usize| {
        let mut places = memchr::memchr_iter(b'\\', text.get(from..)?).map(|at| from + at);
        places.find_map(|at| match text.get(at + 1..) {
            Some([b'\n', ..]) => Some((at, 2)),
            Some([b'\r', b'\n', ..]) => Some((at, 3)),
            _ => None,
        })
    };
    let Some(first) = next(0) else {
        return Cow::Borrowed(text);
    };
    let mut joined = Vec::with_capacity(text.len());
    let (mut from, mut splice) = (0, Some(first));
    while let Some((at, length)) = splice {
        joined.extend_from_slice(text.get(from..at).unwrap_or(&[]));
        from = at + length;
        splice = next(from);
    }
    joined.extend_from_slice(text.get(from..).unwrap_or(&[]));
    Cow::Owned(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let scanned = scan(text.as_bytes());
        assert_eq!(scanned.unknown, None, "{text}");
        scanned.names
    }

    #[test]
    fn all_forms_of_include_are_found() {
        for text in [
            "#include \"a b.h\"",
            "#include <a b.h>",
            "  #  include   <a b.h> // why",
            "%:include <a b.h>",
            "#/* */include/* x */<a b.h>",
            "#inc\\\nlude \\\r\n <a b.h>",
            "#include_next <a b.h>\n#include \"a b.h\"",
            "#if __has_include(<a b.h>)",
            "#if MY_HAS_INCLUDE( \"a b.h\" )",
            "#define MY_HAS_INCLUDE(x) __has_include(x)\n#if MY_HAS_INCLUDE(<a b.h>)",
            "// #include <a b.h>",
        ] {
            assert_eq!(names(text), ["a b.h"], "{text}");
        }
    }

    #[test]
    fn prose_and_other_words_include_nothing() {
        for text in [
            "",
            "include",
            "// include the header",
            "/* we include it */",
            "int included; int include = 3;",
            "x = include < 3;\n",
            "#include \"a\n\"",
            "#ifdef __has_include",
            "#if defined(__has_include)",
            "n",
            "_",
            "\\",
            "__TIMER__ embed(x); embedded",
        ] {
            assert_eq!(names(text), Vec::<String>::new(), "{text}");
        }
    }

    /// None of these takes time that grows with the square of its length.
    #[test]
    fn hostile_texts_are_scanned_in_time() {
        let started = std::time::Instant::now();
        for text in [
            "nclude".repeat(20_000),
            "include/*".repeat(20_000),
            "#include /*".repeat(20_000),
            "__has_include".repeat(20_000),
            "__has_include/* ".repeat(20_000),
            "include <".repeat(20_000),
            "??/".repeat(20_000),
            "\\\n".repeat(20_000),
            (0..10_000).map(|it| format!("#include <{it}>\n")).collect(),
        ] {
            let scanned = scan(text.as_bytes());
            assert!(scanned.names.len() <= MOST_NAMES);
        }
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
        let far = format!("#include /*{}*/ <a.h>", "x".repeat(5000));
        assert!(scan(far.as_bytes()).unknown.is_some());
        let far = far
            .replace("#include", "#if __has_include")
            .replace('<', "(<");
        assert!(scan(far.as_bytes()).unknown.is_some());
    }

    #[test]
    fn what_cannot_be_known_is_reported_with_its_line() {
        for (text, line) in [
            ("\n#include HEADER", 2),
            ("#/**/include HEADER", 1),
            ("\n\n# include\\\n HEADER(x)", 3),
            ("#if __has_include(HEADER)", 1),
            ("#define THERE(x) __has_include(x)", 1),
            ("a\n__DATE__", 2),
            ("__TIMESTAMP__", 1),
            ("#embed <x>", 1),
            ("#include \"\u{fffd}\"\n#include é", 2),
            ("\n#inc??/\nlude <x>", 2),
            ("\n\n??/\r\n#include <x>", 3),
            ("\n#include <a??!b>", 2),
        ] {
            assert_eq!(
                scan(text.as_bytes()).unknown.map(|it| it.0),
                Some(line),
                "{text}"
            );
        }
        assert!(scan(b"#include \"\xff\"").unknown.is_some());
    }
}
