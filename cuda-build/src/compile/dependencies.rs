//! The files that a compilation read, as `--generate-dependencies-with-compile` writes them: a rule in the language of make.

use std::path::PathBuf;

/// The prerequisites of the rule, in order, each once.
pub(super) fn parse(rule: &str) -> Vec<PathBuf> {
    let mut words = words(rule).into_iter();
    // The target ends in a colon that stands apart or is its last letter; a drive's colon does neither.
    for word in words.by_ref() {
        if word.ends_with(':') {
            break;
        }
    }
    let mut files: Vec<PathBuf> = Vec::new();
    for word in words {
        let file = PathBuf::from(word);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// Splits at blanks; a backslash before a line's end joins lines, one before a blank or `#` makes it part of a word, `$$` is `$`.
fn words(rule: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut letters = rule.chars().peekable();
    while let Some(letter) = letters.next() {
        let following = letters.peek().copied();
        match (letter, following) {
            ('\\', Some('\n')) => {
                letters.next();
                words.push(std::mem::take(&mut word));
            }
            ('\\', Some('\r')) => {
                letters.next();
                words.push(std::mem::take(&mut word));
            }
            ('\\', Some(blank @ (' ' | '\t' | '#'))) => {
                letters.next();
                word.push(blank);
            }
            ('$', Some('$')) => {
                letters.next();
                word.push('$');
            }
            (' ' | '\t' | '\n' | '\r', _) => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(rule: &str) -> Vec<String> {
        let files = parse(rule).into_iter();
        files.map(|file| file.display().to_string()).collect()
    }

    #[test]
    fn a_rule_over_several_lines_is_read() {
        let rule = "out/a.ptx : a.cu \\\n    /usr/include/math.h \\\n    h.h\n";
        assert_eq!(parsed(rule), ["a.cu", "/usr/include/math.h", "h.h"]);
    }

    #[test]
    fn blanks_and_dollars_in_names_are_kept() {
        let rule = "a.ptx: my\\ kernels/a.cu x$$y.h z\\#.h";
        assert_eq!(parsed(rule), ["my kernels/a.cu", "x$y.h", "z#.h"]);
    }

    #[test]
    fn names_with_drives_and_backslashes_are_kept() {
        let rule = "C:\\out\\a.ptx : C:\\src\\a.cu \\\r\n  C:\\src\\b.h\r\n";
        assert_eq!(parsed(rule), ["C:\\src\\a.cu", "C:\\src\\b.h"]);
    }

    #[test]
    fn each_file_is_listed_once() {
        assert_eq!(parsed("a: b c b"), ["b", "c"]);
        assert!(parsed("").is_empty());
        assert!(parsed("no rule at all").is_empty());
    }
}
