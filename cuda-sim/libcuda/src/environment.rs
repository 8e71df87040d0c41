//! The variables that only the shared library has; the others belong to [`cuda_sim::Builder::from_environment`].

use std::env::{VarError, var};

/// A variable's value, if it is set to more than blanks.
///
/// # Errors
/// It is not valid UTF-8.
pub(crate) fn text(variable: &str) -> Result<Option<String>, String> {
    match var(variable) {
        Ok(value) => {
            let value = value.trim();
            Ok((!value.is_empty()).then(|| value.to_owned()))
        }
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(format!(
            "cannot configure the software driver: {variable} is not valid UTF-8"
        )),
    }
}

/// Whether a switch is on; off where it is not set.
///
/// # Errors
/// It is neither 0 nor 1.
pub(crate) fn switch(variable: &str) -> Result<bool, String> {
    match text(variable)?.as_deref() {
        None | Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(other) => Err(format!(
            "cannot configure the software driver: {variable}={other:?} is neither 0 nor 1"
        )),
    }
}

/// An exit status; none where it is 0 or not set.
///
/// # Errors
/// It is not a number up to 255.
pub(crate) fn status(variable: &str) -> Result<Option<u8>, String> {
    let Some(value) = text(variable)? else {
        return Ok(None);
    };
    match value.parse() {
        Ok(0) => Ok(None),
        Ok(status) => Ok(Some(status)),
        Err(_) => Err(format!(
            "cannot configure the software driver: {variable}={value:?} is not an exit status, 0 to 255"
        )),
    }
}
