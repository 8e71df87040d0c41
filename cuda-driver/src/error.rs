//! Errors: one type that keeps everything a failed call can tell.
//!
//! Every call of the driver goes through one choke point ([`call!`](crate::call!)), so every error knows the C function,
//! its status, what was being done and, where there is one, the remedy.

mod count;
mod kind;
mod remedy;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use cuda_sys::{CUresult, LoadError, MissingSymbol};

pub(crate) use count::{count, exceed};
pub use kind::ErrorKind;

use crate::launch::{LaunchInFlight, write_launches};

/// The result of every fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong: what was tried, on what, why it failed and what to do about it.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// use cuda_driver::{Driver, ErrorKind};
///
/// let driver = Driver::simulated()?;
/// let error = driver.device(99).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidDevice);
/// assert_eq!(error.call(), Some("cuDeviceGet"));
/// # }
/// # Ok(())
/// # }
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    call: Option<&'static str>,
    status: Option<CUresult>,
    doing: Cow<'static, str>,
    reason: Cow<'static, str>,
    remedy: Option<Cow<'static, str>>,
    log: Option<String>,
    launches: Option<Arc<[LaunchInFlight]>>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// A driver call that returned something other than success.
    #[cold]
    pub(crate) fn from_status(call: &'static str, status: CUresult) -> Self {
        let mut error = Self::new(ErrorKind::from_status(status), "");
        error.0.call = Some(call);
        error.0.status = Some(status);
        error.0.remedy = remedy::for_status(status).map(Cow::Borrowed);
        error
    }

    /// A function that the loaded driver does not have.
    #[cold]
    pub(crate) fn from_missing(call: &'static str, missing: MissingSymbol) -> Self {
        let mut error = Self::new(ErrorKind::MissingSymbol, missing.to_string());
        error.0.call = Some(call);
        error.0.remedy = Some("update the NVIDIA driver, or avoid this function".into());
        error.0.source = Some(Box::new(missing));
        error
    }

    /// An error that this crate finds itself, without a driver call.
    #[cold]
    pub(crate) fn new(kind: ErrorKind, reason: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            call: None,
            status: None,
            doing: Cow::Borrowed(""),
            reason: reason.into(),
            remedy: None,
            log: None,
            launches: None,
            source: None,
        }))
    }

    /// An argument that cannot be passed on.
    #[cold]
    pub(crate) fn invalid(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::InvalidArgument, reason)
    }

    /// Says what was being done, unless a more exact place said so already.
    #[cold]
    pub(crate) fn doing(mut self, doing: impl Into<Cow<'static, str>>) -> Self {
        if self.0.doing.is_empty() {
            self.0.doing = doing.into();
        }
        self
    }

    /// Replaces the kind by a more exact one.
    #[cold]
    pub(crate) fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Replaces the reason by a more exact one.
    #[cold]
    pub(crate) fn because(mut self, reason: impl Into<Cow<'static, str>>) -> Self {
        self.0.reason = reason.into();
        self
    }

    /// Replaces the remedy by a more exact one.
    #[cold]
    pub(crate) fn remedied_by(mut self, remedy: impl Into<Cow<'static, str>>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }

    /// Leaves the remedy out, where the log is better.
    #[cfg(feature = "simulator")]
    pub(crate) fn without_remedy(mut self) -> Self {
        self.0.remedy = None;
        self
    }

    /// Attaches the log of a compiler or linker.
    #[cold]
    pub(crate) fn with_log(mut self, log: String) -> Self {
        if !log.is_empty() {
            self.0.log = Some(log);
        }
        self
    }

    /// Why it failed.
    #[cfg(feature = "kernels")]
    pub(crate) fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Says which launches may have caused it.
    #[cold]
    pub(crate) fn with_launches(mut self, launches: Arc<[LaunchInFlight]>) -> Self {
        self.0.launches = Some(launches);
        self
    }

    /// What kind of failure this is, to decide on in a program.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The C function that failed, by its exact symbol, if a driver call failed.
    #[must_use]
    pub fn call(&self) -> Option<&'static str> {
        self.0.call
    }

    /// The status that the C function returned, unknown codes included.
    #[must_use]
    pub fn status(&self) -> Option<CUresult> {
        self.0.status
    }

    /// What was being done, such as ``launch `vector_add` ``; empty where there is no more to say than the call.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.0.doing
    }

    /// What to do about it, where there is a likely remedy.
    #[must_use]
    pub fn remedy(&self) -> Option<&str> {
        self.0.remedy.as_deref()
    }

    /// What the driver's compiler or linker said, for a module that fails to load.
    #[must_use]
    pub fn log(&self) -> Option<&str> {
        self.0.log.as_deref()
    }

    /// For a kernel's fault: the launches of its context that were not known to be complete when it was found, by stream, the
    /// latest of each last; of each stream the last sixteen at most. One of them is to blame, unless it was another program's.
    ///
    /// [`Context::set_launch_checking`](crate::Context::set_launch_checking) finds out which.
    #[must_use]
    pub fn launches_in_flight(&self) -> &[LaunchInFlight] {
        self.0.launches.as_deref().unwrap_or_default()
    }

    /// Whether the error destroyed the context: every later call on it fails.
    #[must_use]
    pub fn is_sticky(&self) -> bool {
        self.0.status.is_some_and(kind::is_sticky)
    }

    /// Whether a drop says nothing about it: the process ends, or the context was ended by somebody else.
    pub(crate) fn is_silent_in_drops(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::Deinitialized | ErrorKind::ContextLost
        )
    }

    /// Whether this is `status`.
    pub(crate) fn is_status(&self, status: CUresult) -> bool {
        self.0.status == Some(status)
    }

    /// Whether the driver refused the arguments and certainly enqueued nothing.
    pub(crate) fn is_refusal(&self) -> bool {
        self.0.status.is_none_or(kind::is_refusal)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        if !inner.doing.is_empty() {
            write!(f, "cannot {}", inner.doing)?;
        } else if let Some(call) = inner.call {
            write!(f, "{call} failed")?;
        }
        let named = !inner.doing.is_empty() || inner.call.is_some();
        if !inner.reason.is_empty() {
            write!(f, "{}{}", if named { ": " } else { "" }, inner.reason)?;
        } else if let Some(status) = inner.status
            && let Some(meaning) = remedy::meaning(status)
        {
            write!(f, ": {meaning}")?;
        }
        match (inner.call, inner.status) {
            (Some(call), Some(status)) => write!(f, " ({call}: {status:?})")?,
            (Some(call), None) if !inner.doing.is_empty() => write!(f, " ({call})")?,
            _ => {}
        }
        if let Some(remedy) = &inner.remedy {
            write!(f, "; {remedy}")?;
        }
        if !self.launches_in_flight().is_empty() {
            write_launches(f, self.launches_in_flight())?;
        }
        if let Some(log) = &inner.log {
            write!(f, "\n{}", log.trim_end())?;
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

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        let mut this = Self::new(ErrorKind::from_load(&error), error.to_string());
        this.0.source = Some(Box::new(error));
        this
    }
}

impl From<std::num::TryFromIntError> for Error {
    fn from(error: std::num::TryFromIntError) -> Self {
        let mut this = Self::invalid("a number does not fit the type that the driver takes");
        this.0.source = Some(Box::new(error));
        this
    }
}

/// Says what was being done when a result is an error; the closure runs only then.
pub(crate) trait Doing {
    fn doing<S: Into<Cow<'static, str>>>(self, what: impl FnOnce() -> S) -> Self;
}

impl<T> Doing for Result<T> {
    #[inline]
    fn doing<S: Into<Cow<'static, str>>>(self, what: impl FnOnce() -> S) -> Self {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(error.doing(what())),
        }
    }
}
