//! Where NVRTC and nvJitLink may be.
//!
//! A search looks at files only; nothing is loaded by it, so that a program whose kernels are all in the cache never loads a
//! compiler.

mod component;
mod places;
mod python;

use std::fmt;
use std::path::{Path, PathBuf};

use cuda_driver::Version;

use crate::error::{Error, ErrorKind};
pub(crate) use component::{Component, builtins_name};

/// A library that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// As far as the names of files tell.
    pub(crate) version: Option<Version>,
}

impl Found {
    /// What tells its files from those of any other build: their sizes and times. Nothing if only the system's loader knows
    /// where they are.
    pub(crate) fn identity(&self) -> Option<Vec<u8>> {
        let version = self.version?;
        let builtins = self.path.with_file_name(component::builtins_name(version));
        let mut identity = format!("{version}");
        for path in [&self.path, &builtins] {
            let metadata = std::fs::metadata(path).ok()?;
            let time = metadata
                .modified()
                .ok()?
                .duration_since(std::time::UNIX_EPOCH)
                .ok()?;
            identity.push_str(&format!(" {} {}", metadata.len(), time.as_nanos()));
        }
        Some(identity.into_bytes())
    }
}

/// A place that was searched, and what was not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    place: String,
    reason: String,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// What a search finds: libraries in the order of preference, and where there was none.
#[derive(Debug, Default)]
pub(crate) struct Search {
    pub(crate) found: Vec<Found>,
    attempts: Vec<Attempt>,
}

impl Search {
    /// Searches the places in their order, until one has a library that is enough.
    pub(crate) fn of(component: Component, is_enough: &dyn Fn(&Found) -> bool) -> Self {
        let mut search = Self::default();
        let environment = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        places::search(component, &environment, is_enough, &mut search);
        search
    }

    /// Searches one place that a person named.
    pub(crate) fn at(component: Component, path: &Path) -> Self {
        let mut search = Self::default();
        places::explicit(component, "the given path", path, &mut search);
        search
    }

    /// Looks into a directory that `place` describes.
    fn look_into(&mut self, component: Component, place: &str, directory: &Path) {
        match component.in_directory(directory) {
            Ok(found) => self.add(found),
            Err(reason) => self.miss(format!("{place} ({})", directory.display()), reason),
        }
    }

    fn add(&mut self, found: Found) {
        if !self.found.iter().any(|it| it.path == found.path) {
            self.found.push(found);
        }
    }

    fn miss(&mut self, place: String, reason: impl Into<String>) {
        let reason = reason.into();
        self.attempts.push(Attempt { place, reason });
    }

    /// The error when nothing was found: every place, and what to install.
    #[cold]
    pub(crate) fn into_error(self, component: Component) -> Error {
        use fmt::Write;
        let mut reason = String::from("no library was found; looked at");
        for attempt in &self.attempts {
            let _ = write!(reason, "\n  {attempt}");
        }
        reason.push('\n');
        Error::new(ErrorKind::LibraryNotFound, reason)
            .doing(format!("load {}", component.name()))
            .remedied_by(format!(
                "install it: `pip install {0}` for CUDA 13, `pip install {0}-cu12` for CUDA 12, or NVIDIA's CUDA toolkit; or set {1} to \
                 the library or its directory",
                component.package(),
                component.variable()
            ))
    }
}
