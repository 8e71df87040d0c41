//! The one error of this crate.

use std::fmt;
use std::io;
use std::path::Path;

/// What kind of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The build script asks for something that does not fit together, or it does not run under Cargo.
    Usage,
    /// There is no usable `nvcc`, and nothing committed to take instead.
    NoCompiler,
    /// The compiler refuses a source.
    Compile,
    /// The kernels of an image cannot be declared as the build script asks.
    Declaration,
    /// Committed PTX is missing, or does not fit its source where that was to be checked.
    Committed,
    /// A file could not be read or written, or a program could not be run.
    Io,
}

/// Why the kernels could not be built: what was tried, on what, why it failed, what to do. May have many lines.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<io::Error>,
}

impl Error {
    /// What kind of thing went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Several errors as one, of the kind of the first; nothing if there is none.
    pub(crate) fn all(errors: Vec<Self>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let mut all = errors.next()?;
        for error in errors {
            all.message.push('\n');
            all.message.push_str(&error.message);
        }
        Some(all)
    }

    /// With a line before its own.
    pub(crate) fn with_first_line(mut self, line: &str) -> Self {
        self.message = format!("{line}\n{}", self.message);
        self
    }

    /// `what` is "cannot read", `path` is what could not be read.
    pub(crate) fn io(what: &str, path: &Path, source: io::Error) -> Self {
        Self {
            kind: ErrorKind::Io,
            message: format!("{what} {}: {source}", path.display()),
            source: Some(source),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
