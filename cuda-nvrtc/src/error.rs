//! Errors: one type that keeps everything a failed compilation or link can tell.

use std::borrow::Cow;
use std::fmt;

use crate::diagnostic::Diagnostic;

/// The result of every fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure an [`Error`] is.
///
/// A program decides on this; a person reads the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No library was found at any of the places searched.
    LibraryNotFound,
    /// A library was found but cannot be used.
    BrokenLibrary,
    /// The loaded library is too old for what was asked: it does not have the function.
    MissingSymbol,
    /// An argument is refused before the compiler sees it, such as a text with a NUL inside.
    InvalidArgument,
    /// The compiler or linker does not know an option, or not this value of it.
    InvalidOption,
    /// The compiler makes no code for the architecture.
    UnsupportedArchitecture,
    /// The source has errors; [`Error::log`] and [`Error::diagnostics`] tell which.
    Compilation,
    /// The source includes a header that is not there; a kind of compilation error.
    MissingHeader,
    /// A name expression names nothing that was compiled.
    NameExpression,
    /// The inputs cannot be linked.
    Link,
    /// What was compiled is not of the form that was asked for.
    WrongOutput,
    /// A file cannot be read.
    File,
    /// There is not enough memory.
    OutOfMemory,
    /// The driver refused; [`std::error::Error::source`] is its error.
    Driver,
    /// Any other status of the compiler or linker.
    Other,
}

/// What went wrong: what was tried, on what, why it failed and what to do about it.
///
/// ```
/// use cuda_nvrtc::{CompileOptions, ErrorKind};
///
/// let error = CompileOptions::new().define("N M", 4).check().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidArgument);
/// assert!(error.to_string().contains("`N M`"));
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    call: Option<&'static str>,
    status: Option<Status>,
    doing: Cow<'static, str>,
    reason: Cow<'static, str>,
    remedy: Option<Cow<'static, str>>,
    log: String,
    excerpt: String,
    diagnostics: Vec<Diagnostic>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// A status that a C function returned, and its name.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub(crate) code: i32,
    pub(crate) name: Cow<'static, str>,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, reason: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            call: None,
            status: None,
            doing: Cow::Borrowed(""),
            reason: reason.into(),
            remedy: None,
            log: String::new(),
            excerpt: String::new(),
            diagnostics: Vec::new(),
            source: None,
        }))
    }

    /// An argument that cannot be passed on.
    #[cold]
    pub(crate) fn invalid(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::InvalidArgument, reason)
    }

    /// A C function that returned something other than success.
    #[cold]
    pub(crate) fn from_status(kind: ErrorKind, call: &'static str, status: Status) -> Self {
        let mut error = Self::new(kind, "");
        error.0.call = Some(call);
        error.0.status = Some(status);
        error
    }

    /// Says what was being done, unless a more exact place said so already.
    #[cold]
    pub(crate) fn doing(mut self, doing: impl Into<Cow<'static, str>>) -> Self {
        if self.0.doing.is_empty() {
            self.0.doing = doing.into();
        }
        self
    }

    #[cold]
    pub(crate) fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    #[cold]
    pub(crate) fn because(mut self, reason: impl Into<Cow<'static, str>>) -> Self {
        self.0.reason = reason.into();
        self
    }

    #[cold]
    pub(crate) fn remedied_by(mut self, remedy: impl Into<Cow<'static, str>>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }

    #[cold]
    pub(crate) fn in_call(mut self, call: &'static str) -> Self {
        self.0.call = Some(call);
        self
    }

    #[cold]
    pub(crate) fn caused_by(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Attaches what the compiler said, and the source lines that it speaks of.
    #[cold]
    pub(crate) fn with_log(
        mut self,
        log: String,
        diagnostics: Vec<Diagnostic>,
        excerpt: String,
    ) -> Self {
        self.0.log = log;
        self.0.diagnostics = diagnostics;
        self.0.excerpt = excerpt;
        self
    }

    /// What kind of failure this is, to decide on in a program.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The C function that failed or is missing.
    #[must_use]
    pub fn call(&self) -> Option<&'static str> {
        self.0.call
    }

    /// The number that the C function returned, an `nvrtcResult` or an `nvJitLinkResult`.
    #[must_use]
    pub fn status(&self) -> Option<i32> {
        self.0.status.as_ref().map(|status| status.code)
    }

    /// What to do about it, where there is a likely remedy.
    #[must_use]
    pub fn remedy(&self) -> Option<&str> {
        self.0.remedy.as_deref()
    }

    /// What the compiler or linker said, word for word; empty if it said nothing.
    #[must_use]
    pub fn log(&self) -> &str {
        &self.0.log
    }

    /// The numbered lines of the sources that the log speaks of; empty if it names none.
    #[must_use]
    pub fn excerpt(&self) -> &str {
        &self.0.excerpt
    }

    /// The errors and warnings in the log, one by one.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        let mut separator = "";
        if !inner.doing.is_empty() {
            write!(f, "cannot {}", inner.doing)?;
            separator = ": ";
        } else if let (Some(call), true) = (inner.call, inner.reason.is_empty()) {
            write!(f, "{call} failed")?;
        }
        if !inner.reason.is_empty() {
            write!(f, "{separator}{}", inner.reason)?;
        }
        match (inner.call, &inner.status) {
            (Some(call), Some(status)) => write!(f, " ({call}: {})", status.name)?,
            (Some(call), None) if !inner.reason.contains(call) => write!(f, " ({call})")?,
            _ => {}
        }
        if let Some(remedy) = &inner.remedy {
            write!(f, "; {remedy}")?;
        }
        for part in [inner.log.trim_end(), inner.excerpt.trim_end()] {
            if !part.is_empty() {
                write!(f, "\n{part}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    /// The message as `Display` writes it, so that `fn main() -> Result<()>` and `unwrap` read well.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|source| source as &(dyn std::error::Error + 'static))
    }
}

impl From<cuda_driver::Error> for Error {
    fn from(error: cuda_driver::Error) -> Self {
        Self::new(ErrorKind::Driver, error.to_string()).caused_by(error)
    }
}

/// Says what was being done when a result is an error; the closure runs only then.
pub(crate) trait Doing {
    fn doing<S: Into<Cow<'static, str>>>(self, what: impl FnOnce() -> S) -> Self;
}

impl<T> Doing for Result<T> {
    fn doing<S: Into<Cow<'static, str>>>(self, what: impl FnOnce() -> S) -> Self {
        self.map_err(|error| error.doing(what()))
    }
}
