//! Files that lie where a header that was read would be found first: one that appears there hides the one that was read.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::fingerprint::Fingerprint;

/// The names in folders that were listed once in this build.
#[derive(Debug, Default)]
pub(super) struct Listings {
    known: Mutex<HashMap<PathBuf, Arc<HashSet<OsString>>>>,
}

impl Listings {
    fn names(&self, folder: &Path) -> Arc<HashSet<OsString>> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = known().get(folder) {
            return Arc::clone(names);
        }
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
        let names = Arc::new(names.collect());
        known().insert(folder.to_owned(), Arc::clone(&names));
        names
    }

    /// Of the files that could be meant by an `#include` of one of the inputs, those that are there and were not read. An input's name
    /// in an `#include` is the end of its path; it is searched in the folders of the package's own inputs, and along the search path.
    pub(super) fn fingerprint(
        &self,
        package: &Path,
        search_path: &[PathBuf],
        inputs: &[PathBuf],
    ) -> Fingerprint {
        let read: HashSet<PathBuf> = inputs.iter().map(|input| package.join(input)).collect();
        let own = read.iter().filter(|input| input.starts_with(package));
        let own = own.filter_map(|input| Some(input.parent()?.to_owned()));
        let searched = search_path.iter().map(|folder| package.join(folder));
        let folders: BTreeSet<PathBuf> = searched.chain(own).collect();
        let ends: HashSet<&Path> = inputs.iter().flat_map(|input| ends(input)).collect();
        let mut there = BTreeSet::new();
        for folder in &folders {
            let names = self.names(folder);
            let candidates = ends
                .iter()
                .filter(|end| end.iter().next().is_some_and(|first| names.contains(first)))
                .map(|end| folder.join(end));
            there.extend(candidates.filter(|it| !read.contains(it) && it.is_file()));
        }
        there.iter().fold(Fingerprint::EMPTY, |state, file| {
            state.with(file.as_os_str().as_encoded_bytes())
        })
    }
}

/// `a/b/c.h`: `c.h`, `b/c.h` and `a/b/c.h`.
fn ends(path: &Path) -> impl Iterator<Item = &Path> {
    let mut rest = path.components();
    std::iter::from_fn(move || {
        let end = rest.as_path();
        match rest.next()? {
            Component::Normal(_) => Some(Some(end)),
            _ => Some(None),
        }
    })
    .flatten()
}

/// The folders that a command line adds to the search path.
pub(super) fn search_path(arguments: &[OsString]) -> Vec<PathBuf> {
    let folder = |argument: &OsString| {
        let text = argument.to_str()?;
        let folder = text
            .strip_prefix("-I")
            .or_else(|| text.strip_prefix("--include-path="))?;
        (!folder.is_empty()).then(|| PathBuf::from(OsStr::new(folder)))
    };
    arguments.iter().filter_map(folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn only_what_could_hide_an_input_counts() {
        let folder = Scratch::new();
        folder.write("kernels/a.cu", "");
        folder.write("second/sub/x.h", "");
        let search_path = search_path(&["-Ifirst".into(), "-w".into(), "-Isecond".into()]);
        assert_eq!(search_path, [Path::new("first"), Path::new("second")]);
        let inputs = [
            "kernels/a.cu".into(),
            "second/sub/x.h".into(),
            "/usr/include/math.h".into(),
        ];
        let now = || Listings::default().fingerprint(folder.path(), &search_path, &inputs);
        let before = now();
        folder.write("first/sub/y.h", "");
        folder.write("kernels/b.cu", "");
        assert_eq!(now(), before);
        let mut seen = vec![before];
        for file in [
            "first/sub/x.h",
            "kernels/sub/x.h",
            "second/sub/sub/x.h",
            "first/math.h",
        ] {
            folder.write(file, "");
            assert!(!seen.contains(&now()), "{file}");
            seen.push(now());
        }
    }

    #[test]
    fn the_ends_of_a_path_are_those_that_an_include_can_name() {
        let ends: Vec<_> = ends(Path::new("/usr/../a.h")).collect();
        assert_eq!(ends, [Path::new("usr/../a.h"), Path::new("a.h")]);
    }
}
