//! What can go wrong: the library, or one symbol of it.

use core::fmt;
use std::error::Error;
use std::path::PathBuf;

use crate::Symbol;
use crate::symbol::Version;

/// A function that the loaded driver does not have.
#[derive(Debug, Clone, Copy)]
pub struct MissingSymbol {
    symbol: &'static Symbol,
    driver_version: Option<i32>,
}

impl MissingSymbol {
    pub(crate) fn new(symbol: &'static Symbol, driver_version: Option<i32>) -> Self {
        Self {
            symbol,
            driver_version,
        }
    }

    /// The symbol that is missing.
    pub fn symbol(&self) -> &'static Symbol {
        self.symbol
    }

    /// The CUDA version that the driver supports, as 1000 · major + 10 · minor, if it said one.
    pub fn driver_version(&self) -> Option<i32> {
        self.driver_version
    }
}

impl fmt::Display for MissingSymbol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.symbol.first_cuda;
        write!(
            formatter,
            "the loaded driver has no `{}`, which came with CUDA {}",
            self.symbol,
            Version(first)
        )?;
        match self
            .driver_version
            .and_then(|version| u32::try_from(version).ok())
        {
            Some(version) if version < first => {
                write!(
                    formatter,
                    "; the driver supports CUDA {}: update it to use this function",
                    Version(version)
                )
            }
            Some(version) => write!(
                formatter,
                "; the driver supports CUDA {} but does not offer it",
                Version(version)
            ),
            None => formatter.write_str("; the driver does not say which version it supports"),
        }
    }
}

impl Error for MissingSymbol {}

/// A place where the driver was looked for, and why it was not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The path or the bare name that was given to the system's loader.
    pub place: PathBuf,
    /// The reason in the system's words, or ours.
    pub reason: String,
}

impl fmt::Display for Attempt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place.display(), self.reason)
    }
}

/// Why no driver was loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no driver library in any of the places.
    NotFound {
        /// Every place, in the order in which they were tried.
        tried: Vec<Attempt>,
    },
    /// What was found is a toolkit's stub, which exists for linking only and fails every call.
    Stub {
        /// The stub.
        path: PathBuf,
        /// Every place, in the order in which they were tried; the stub is one of them.
        tried: Vec<Attempt>,
    },
    /// What was found lacks a function that every driver has.
    MissingSymbol {
        /// The library.
        path: PathBuf,
        /// The function.
        missing: MissingSymbol,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { tried } => {
                formatter.write_str("cannot load the CUDA driver: no driver library was found; install the NVIDIA driver")?;
                list(formatter, tried)
            }
            Self::Stub { path, tried } => {
                write!(
                    formatter,
                    "cannot load the CUDA driver: {} is a toolkit's stub library, which is for linking only; install the \
                     NVIDIA driver, or remove the stub's directory from the library path",
                    path.display()
                )?;
                list(formatter, tried)
            }
            Self::MissingSymbol { path, missing } => {
                let symbol = missing.symbol;
                write!(
                    formatter,
                    "cannot load the CUDA driver: {} is not one, it has no `{symbol}`",
                    path.display()
                )
            }
        }
    }
}

/// The places, one to a line.
fn list(formatter: &mut fmt::Formatter<'_>, tried: &[Attempt]) -> fmt::Result {
    formatter.write_str(". Tried:")?;
    tried
        .iter()
        .try_for_each(|attempt| write!(formatter, "\n  {attempt}"))
}

impl Error for LoadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::MissingSymbol { missing, .. } => Some(missing),
            Self::NotFound { .. } | Self::Stub { .. } => None,
        }
    }
}
