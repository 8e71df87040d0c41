//! What a compiler says about a source, and the lines that it means.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Lines shown before and after a line that the log names.
const AROUND: usize = 1;
/// How many named lines are shown at most.
const MOST: usize = 8;
/// Characters of a line that are shown at most.
const WIDEST: usize = 160;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// A remark.
    Remark,
    /// A warning; the program was compiled.
    Warning,
    /// An error.
    Error,
}

/// One error, warning or remark of the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file, as the compiler names it: the program's name, a header's, or a path.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The number of the message, such as `177-D`, which options can turn off; empty if it has none.
    pub number: String,
    /// The message, of one line.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Remark => "remark",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(
            f,
            "{}:{}: {severity}: {}",
            self.file, self.line, self.message
        )
    }
}

/// The diagnostics in a compiler's log, in its order.
pub(crate) fn parse(log: &str) -> Vec<Diagnostic> {
    log.lines().filter_map(parse_line).collect()
}

/// Reads `file(line): error #number: message`.
fn parse_line(text: &str) -> Option<Diagnostic> {
    text.match_indices("): ").find_map(|(end, separator)| {
        let (place, rest) = (text.get(..end)?, text.get(end + separator.len()..)?);
        let (file, line) = place.rsplit_once('(')?;
        let line = line.parse().ok()?;
        let (severity, rest) = [
            ("catastrophic error", Severity::Error),
            ("internal error", Severity::Error),
            ("error", Severity::Error),
            ("warning", Severity::Warning),
            ("remark", Severity::Remark),
        ]
        .into_iter()
        .find_map(|(word, severity)| Some((severity, rest.strip_prefix(word)?)))?;
        let (number, message) = rest.split_once(": ")?;
        Some(Diagnostic {
            severity,
            file: file.to_owned(),
            line,
            number: number.trim().trim_start_matches('#').to_owned(),
            message: message.to_owned(),
        })
    })
}

/// The numbered lines of the sources that the diagnostics name; `text_of` finds a file's text.
pub(crate) fn excerpt<'a>(
    diagnostics: &[Diagnostic],
    text_of: impl Fn(&str) -> Option<std::borrow::Cow<'a, str>>,
) -> String {
    let mut files: Vec<(&str, BTreeMap<usize, bool>)> = Vec::new();
    for diagnostic in diagnostics.iter().take(MOST) {
        let place = match files.iter().position(|(name, _)| *name == diagnostic.file) {
            Some(place) => place,
            None => {
                files.push((&diagnostic.file, BTreeMap::new()));
                files.len() - 1
            }
        };
        let Some((_, lines)) = files.get_mut(place) else {
            continue;
        };
        let named = diagnostic.line;
        for line in named.saturating_sub(AROUND).max(1)..=named.saturating_add(AROUND) {
            *lines.entry(line).or_default() |= line == named;
        }
    }
    let mut out = String::new();
    for (file, lines) in &files {
        let Some(text) = text_of(file) else { continue };
        let numbered = (1..).zip(text.lines());
        let mut shown = numbered
            .filter_map(|(number, line)| Some((number, *lines.get(&number)?, line)))
            .peekable();
        if shown.peek().is_none() {
            continue;
        }
        let _ = writeln!(out, "{file}:");
        let mut last = None;
        for (number, named, line) in shown {
            if last.is_some_and(|last| number > last + 1) {
                out.push_str("     …\n");
            }
            last = Some(number);
            let mark = if named { '>' } else { ' ' };
            let mut line: String = line.chars().take(WIDEST + 1).collect();
            if line.chars().count() > WIDEST {
                line.pop();
                line.push('…');
            }
            let _ = writeln!(out, "{mark}{number:>4} | {}", line.trim_end());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "scale (2).cu(3): error: identifier \"y\" is undefined\n    *x = y;\n         ^\n\nlib/h.h(1): warning #177-D: variable \"k\" was declared\n\n\
        x.cu(1): catastrophic error: could not open source file \"a.h\" (no directories in search list)\n1 error detected in the compilation of \"scale.cu\".\n";

    #[test]
    fn diagnostics_are_found_in_a_log() {
        let found = parse(LOG);
        let short: Vec<String> = found.iter().map(Diagnostic::to_string).collect();
        assert_eq!(
            short,
            [
                "scale (2).cu:3: error: identifier \"y\" is undefined",
                "lib/h.h:1: warning: variable \"k\" was declared",
                "x.cu:1: error: could not open source file \"a.h\" (no directories in search list)",
            ]
        );
        assert_eq!(found[1].number, "177-D");
        assert_eq!(found[0].number, "");
    }

    #[test]
    fn what_is_no_diagnostic_is_passed_over() {
        for text in [
            "",
            "): error: x",
            "(): error: x",
            "a(b): error: x",
            "a(1): no error",
            "a(1): error",
            "é(99999999999999999999999): error: x",
        ] {
            assert_eq!(parse(text), [], "{text}");
        }
    }

    #[test]
    fn an_excerpt_numbers_the_lines_around_each_named_one() {
        let long = "y".repeat(500);
        let text = format!("one\ntwo\nthree\nfour\nfive\nsix\n{long}");
        let text_of = |file: &str| (file == "a.cu").then(|| text.as_str().into());
        let at = |file: &str, line| Diagnostic {
            severity: Severity::Error,
            file: file.into(),
            line,
            number: String::new(),
            message: "wrong".into(),
        };
        let shown = excerpt(
            &[at("a.cu", 2), at("b.cu", 1), at("a.cu", 7), at("a.cu", 99)],
            text_of,
        );
        let expected = format!(
            "a.cu:\n    1 | one\n>   2 | two\n    3 | three\n     …\n    6 | six\n>   7 | {}…\n",
            "y".repeat(160)
        );
        assert_eq!(shown, expected);
    }
}
