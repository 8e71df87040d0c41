//! Names of C++ in the style of Rust.

use std::collections::BTreeSet;

/// Words that are no names in Rust, or that have a meaning in declarations.
const RESERVED: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Whether a text is an identifier that Rust takes as it is.
pub(super) fn is_identifier(text: &str) -> bool {
    let mut letters = text.chars();
    let starts = letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    starts
        && text != "_"
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !RESERVED.contains(&text)
}

/// `numRows` is `num_rows`; what no identifier can have becomes `_`; `fallback` stands for what has no letter.
pub(super) fn snake_case(text: &str, fallback: &str) -> String {
    let mut snake = String::new();
    let mut before = '_';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if !letter.is_ascii_alphanumeric() {
            if !snake.ends_with('_') && !snake.is_empty() {
                snake.push('_');
            }
            before = '_';
            continue;
        }
        let ends_acronym =
            before.is_ascii_uppercase() && letters.peek().is_some_and(char::is_ascii_lowercase);
        let starts_word = letter.is_ascii_uppercase()
            && (before.is_ascii_lowercase() || before.is_ascii_digit() || ends_acronym);
        if starts_word && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
        before = letter;
    }
    let trimmed = snake.trim_end_matches('_');
    let name = match trimmed.chars().next() {
        None => fallback.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("{fallback}_{trimmed}"),
        Some(_) => trimmed.to_owned(),
    };
    if RESERVED.contains(&name.as_str()) {
        name + "_"
    } else {
        name
    }
}

/// `vector_add` is `VectorAdd`.
pub(super) fn type_name(snake: &str) -> String {
    let words = snake.split('_').filter(|word| !word.is_empty());
    let name: String = words
        .map(|word| {
            let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
            first.to_ascii_uppercase() + rest
        })
        .collect();
    if is_identifier(&name) {
        name
    } else {
        format!("Kernels{name}")
    }
}

/// The name, or the name with the first number from 2 on that makes it differ from all that are taken.
pub(super) fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2_u64..).map(|number| format!("{name}_{number}"));
    let free = [name.to_owned()]
        .into_iter()
        .chain(numbered)
        .find(|name| !taken.contains(name));
    let free = free.unwrap_or_default();
    taken.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_snake_case() {
        for (name, snake) in [
            ("vectorAdd", "vector_add"),
            ("vector_add", "vector_add"),
            ("HTTPServer2Go", "http_server2_go"),
            ("scale_float_4", "scale_float_4"),
            ("scale_unsigned int_-1", "scale_unsigned_int_1"),
            ("__kernel__", "kernel"),
            ("N", "n"),
            ("type", "type_"),
            ("Self", "self_"),
            ("2d", "p_2d"),
            ("größe", "gr_e"),
            ("", "p"),
            ("???", "p"),
        ] {
            assert_eq!(snake_case(name, "p"), snake, "{name}");
            assert!(is_identifier(snake), "{snake}");
        }
    }

    #[test]
    fn types_become_camel_case() {
        assert_eq!(type_name("vector_add"), "VectorAdd");
        assert_eq!(type_name("_2d"), "Kernels2d");
    }

    #[test]
    fn taken_names_are_numbered() {
        let mut taken = BTreeSet::new();
        let names = ["a", "a", "a_2", "a"].map(|name| unique(name, &mut taken));
        assert_eq!(names, ["a", "a_2", "a_2_2", "a_3"]);
    }
}
