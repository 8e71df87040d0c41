//! Names of parameters, from the text of sources: PTX and mangled names do not have them.
//!
//! The text is read without a preprocessor, so what macros make is not seen. A kernel whose definitions disagree gets only the names on
//! which they agree: a name is a convenience, and a wrong one would be worse than none.

mod words;

use words::{Word, words};

/// The parameters' names of all kernels in some texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    /// A kernel's name without namespaces, and its parameters' names, as often as it is declared.
    kernels: Vec<(String, Vec<Option<String>>)>,
}

impl Names {
    /// Adds the kernels of one text.
    pub(crate) fn read(&mut self, text: &str) {
        let words = words(text);
        let mut rest = words.as_slice();
        while let Some(start) = rest.iter().position(|word| word.is("__global__")) {
            rest = rest.get(start + 1..).unwrap_or(&[]);
            if let Some((name, parameters)) = declared(rest) {
                self.kernels
                    .push((name.to_owned(), split(parameters).map(name_of).collect()));
            }
        }
    }

    /// Adds a kernel whose parameters' names are known.
    pub(crate) fn add(&mut self, kernel: &str, parameters: Vec<Option<String>>) {
        self.kernels.push((kernel.to_owned(), parameters));
    }

    /// Which of the kernels it is, in the order in which they are first declared.
    pub(super) fn place(&self, kernel: &str) -> Option<usize> {
        self.kernels.iter().position(|(name, _)| name == kernel)
    }

    /// The names of the parameters of a kernel that has so many.
    pub(super) fn of(&self, kernel: &str, count: usize) -> Vec<Option<String>> {
        let mut declared = self
            .kernels
            .iter()
            .filter(|(name, names)| name == kernel && names.len() == count)
            .map(|(_, names)| names);
        let Some(first) = declared.next() else {
            return vec![None; count];
        };
        let agreed = declared.fold(first.clone(), |agreed, other| {
            let pairs = agreed.into_iter().zip(other);
            pairs
                .map(|(name, other)| match (name, other) {
                    (Some(name), Some(other)) if name != *other => None,
                    (name, other) => name.or_else(|| other.clone()),
                })
                .collect()
        });
        agreed
            .iter()
            .map(|name| {
                name.clone().filter(|name| {
                    agreed
                        .iter()
                        .flatten()
                        .filter(|other| *other == name)
                        .count()
                        == 1
                })
            })
            .collect()
    }
}

/// What stands in front of a kernel's name with arguments in parentheses.
fn is_attribute(word: &str) -> bool {
    word.starts_with("__") || word == "alignas" || word == "noexcept"
}

/// The name and the parameters of the kernel that is declared behind `__global__`.
fn declared<'w, 't>(words: &'w [Word<'t>]) -> Option<(&'t str, &'w [Word<'t>])> {
    let mut at = 0;
    loop {
        let word = words.get(at)?;
        if [";", "{", "}", "="].iter().any(|end| word.is(end)) {
            return None;
        }
        if words.get(at + 1).is_some_and(|next| next.is("(")) {
            let inside = inside(words.get(at + 2..)?)?;
            match word {
                Word::Name(name) if !is_attribute(name) => return Some((name, inside)),
                _ => at += inside.len() + 3,
            }
        } else {
            at += 1;
        }
    }
}

/// The words up to the parenthesis that closes the one before them.
fn inside<'w, 't>(words: &'w [Word<'t>]) -> Option<&'w [Word<'t>]> {
    let mut depth = 0_usize;
    let end = words.iter().position(|word| {
        if word.is("(") {
            depth += 1;
        } else if word.is(")") {
            if depth == 0 {
                return true;
            }
            depth -= 1;
        }
        false
    })?;
    words.get(..end)
}

/// Splits parameters at the commas that stand in no brackets.
fn split<'w, 't>(words: &'w [Word<'t>]) -> impl Iterator<Item = &'w [Word<'t>]> {
    let mut depth = 0_usize;
    let empty = match words {
        [] => true,
        [only] => only.is("void"),
        _ => false,
    };
    let words = if empty { &[] } else { words };
    let parts = words.split(move |word| {
        if ["(", "[", "{", "<"].iter().any(|open| word.is(open)) {
            depth += 1;
        } else if [")", "]", "}", ">"].iter().any(|close| word.is(close)) {
            depth = depth.saturating_sub(1);
        }
        depth == 0 && word.is(",")
    });
    parts.filter(move |_| !empty)
}

/// Words of types, which name no parameter.
const OF_TYPES: &[&str] = &[
    "void",
    "bool",
    "char",
    "short",
    "int",
    "long",
    "signed",
    "unsigned",
    "float",
    "double",
    "const",
    "volatile",
    "struct",
    "class",
    "enum",
    "union",
    "typename",
    "auto",
    "restrict",
    "__restrict__",
    "__restrict",
    "__grid_constant__",
];

/// The name of one parameter.
fn name_of(words: &[Word<'_>]) -> Option<String> {
    let end = words
        .iter()
        .position(|word| word.is("="))
        .unwrap_or(words.len());
    let words = words.get(..end)?;
    // `float (*rows)[3]`, `float (&tile)[16]`
    let pointer = words
        .windows(3)
        .find(|three| three[0].is("(") && (three[1].is("*") || three[1].is("&")));
    if let Some([_, _, Word::Name(name)]) = pointer {
        return Some((*name).to_owned());
    }
    let brackets = words
        .iter()
        .position(|word| word.is("["))
        .unwrap_or(words.len());
    let (last, before) = words.get(..brackets)?.split_last()?;
    let Word::Name(name) = last else {
        return None;
    };
    let follows_type = match before.last()? {
        Word::Name(before) => !["struct", "class", "enum", "union", "typename"].contains(before),
        mark => ["*", "&", ">"].iter().any(|end| mark.is(end)),
    };
    let has_type = before
        .iter()
        .any(|word| matches!(word, Word::Name(name) if !["const", "volatile"].contains(name)));
    (follows_type && has_type && !OF_TYPES.contains(name)).then(|| (*name).to_owned())
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
