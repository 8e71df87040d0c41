//! What closing a handle returns when it fails.

use std::fmt;

use crate::error::Error;

/// What `close` returns when it fails: why, and the handle if it is still good.
#[derive(Debug)]
pub struct CloseError<T> {
    error: Error,
    // A handle can be large, and results are moved around.
    handle: Option<Box<T>>,
}

impl<T> CloseError<T> {
    pub(crate) fn new(error: Error, handle: Option<T>) -> Self {
        Self {
            error,
            handle: handle.map(Box::new),
        }
    }

    /// Why it failed.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The handle, if the resource was not released.
    #[must_use]
    pub fn into_handle(self) -> Option<T> {
        self.handle.map(|handle| *handle)
    }
}

impl<T> fmt::Display for CloseError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: fmt::Debug> std::error::Error for CloseError<T> {}

impl<T> From<CloseError<T>> for Error {
    fn from(error: CloseError<T>) -> Self {
        error.error
    }
}
