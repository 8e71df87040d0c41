//! What a build script is told by Cargo and by the user: variables of the environment, and which of them were asked for.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::Error;

/// The variables of this process, or those that a test gives.
#[derive(Debug)]
pub(crate) struct Environment {
    given: Option<BTreeMap<String, OsString>>,
    /// The root of the file system, where toolkits are usually installed.
    root: PathBuf,
    asked: RefCell<BTreeSet<&'static str>>,
}

impl Environment {
    /// The variables of this process.
    pub(crate) fn of_process() -> Self {
        Self {
            given: None,
            root: "/".into(),
            asked: RefCell::default(),
        }
    }

    /// These variables and no others, on a machine whose usual places are below `root`.
    #[cfg(test)]
    pub(crate) fn of<K: Into<String>, V: Into<OsString>>(
        root: &std::path::Path,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let given = variables.into_iter();
        Self {
            given: Some(
                given
                    .map(|(name, value)| (name.into(), value.into()))
                    .collect(),
            ),
            root: root.to_owned(),
            asked: RefCell::default(),
        }
    }

    /// The root of the file system.
    pub(crate) fn root(&self) -> &std::path::Path {
        &self.root
    }

    /// A variable on which the result depends: Cargo runs the build script again when it changes. Empty counts as not set.
    pub(crate) fn get(&self, name: &'static str) -> Option<OsString> {
        self.asked.borrow_mut().insert(name);
        self.get_untracked(name)
    }

    /// A variable whose change needs no other build. Empty counts as not set.
    pub(crate) fn get_untracked(&self, name: &str) -> Option<OsString> {
        let value = match &self.given {
            Some(given) => given.get(name).cloned(),
            None => env::var_os(name),
        };
        value.filter(|value| !value.is_empty())
    }

    /// A folder that Cargo names to build scripts.
    pub(crate) fn folder_of_cargo(&self, name: &str) -> Result<PathBuf, Error> {
        let value = self.get_untracked(name);
        value.map(PathBuf::from).ok_or_else(|| {
            Error::usage(format!(
                "Cargo did not set {name}: cuda-build runs in a build script (build.rs)"
            ))
        })
    }

    /// The variables that [`get`](Self::get) was asked for, in alphabetical order.
    pub(crate) fn asked(&self) -> Vec<&'static str> {
        self.asked.borrow().iter().copied().collect()
    }
}
