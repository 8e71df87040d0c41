//! One `.cu` file, and what is to be made of it.

use std::path::{Path, PathBuf};

use crate::{Error, Kernel};

/// One `.cu` file.
#[derive(Debug, Clone)]
pub struct Source {
    pub(crate) path: PathBuf,
    pub(crate) name: Option<String>,
    pub(crate) type_name: Option<String>,
    pub(crate) kernels: Vec<Kernel>,
}

impl Source {
    /// The file at this path, relative to the package's folder.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            name: None,
            type_name: None,
            kernels: Vec::new(),
        }
    }

    /// The name of its image, from which the other names are made: `vector_add` becomes `vector_add.ptx` and `VECTOR_ADD_PTX`. The
    /// file's own name unless this says otherwise.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The name of the struct that has its kernels as methods: `VectorAdd` for `vector_add.cu` unless this says otherwise.
    #[must_use]
    pub fn type_name(mut self, name: impl Into<String>) -> Self {
        self.type_name = Some(name.into());
        self
    }

    /// Says more of one of its kernels than the compiler tells. Kernels of which nothing is said are declared as `unsafe fn`.
    #[must_use]
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.kernels.push(kernel);
        self
    }

    /// The path as messages and documentation have it.
    pub(crate) fn shown(&self) -> String {
        self.path.display().to_string().replace('\\', "/")
    }

    /// The name of the image: an identifier of Rust in small letters.
    pub(crate) fn image_name(&self) -> Result<String, Error> {
        // It is written into lines for Cargo and comments of Rust and PTX, which end where it would have them end.
        if self.shown().contains(char::is_control) {
            return Err(Error::usage(format!(
                "cannot take {:?}: the name has a control character in it",
                self.path
            )));
        }
        let stem = self.path.file_stem().and_then(|stem| stem.to_str());
        let from = self.name.as_deref().or(stem).unwrap_or_default();
        let name: String = from
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() {
                    letter.to_ascii_lowercase()
                } else {
                    '_'
                }
            })
            .collect();
        if name.trim_matches('_').is_empty() {
            return Err(Error::usage(format!(
                "cannot make a name from {}: give one with `Source::name`",
                self.path.display()
            )));
        }
        let starts_with_digit = name.starts_with(|letter: char| letter.is_ascii_digit());
        Ok(if starts_with_digit {
            format!("_{name}")
        } else {
            name
        })
    }
}

impl<P: AsRef<Path>> From<P> for Source {
    fn from(path: P) -> Self {
        Self::new(path.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_end_a_line_are_refused() {
        for name in [
            "a\n}pub fn injected() {}//.cu",
            "a\ncargo::rustc-cfg=injected.cu",
            "a\r.cu",
            "folder\n/a.cu",
            "a\u{85}.cu",
        ] {
            let error = Source::new(name).image_name().unwrap_err().to_string();
            assert!(error.contains("control character"), "{error}");
            let named = Source::new(name).name("a").image_name();
            assert!(named.is_err(), "{name:?}");
        }
        let odd = Source::new("a\"b`#{}.cu").image_name();
        assert_eq!(odd.unwrap(), "a_b____");
    }
}
