//! What tells, without reading a file again, that a search for includes would find what it found before.
//!
//! For each file its identity, size and times; for each name that was no file, the nearest directory above it, whose times
//! change when something in it appears, and the name in it that is not there. On Unix the times include that of the last
//! change of the file's state, which no program can set back.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::unchanged::{Expected, Signature, nanoseconds, signature};

/// A change that is younger than this could be followed by another one of the same time: file systems count in steps.
const SETTLED: Duration = Duration::from_secs(2);

/// The files and directories that a search looked at.
#[derive(Debug)]
pub(crate) struct Snapshot {
    begun: SystemTime,
    files: HashMap<PathBuf, Option<Signature>>,
    /// Nothing for what is no directory.
    directories: HashMap<PathBuf, Option<Directory>>,
    /// Something was looked for whose appearance would not show.
    is_blind: bool,
}

#[derive(Debug)]
struct Directory {
    signature: Option<Signature>,
    /// Names in it that were not there; while they are not, it does not matter how it changes.
    absent: BTreeSet<OsString>,
    /// Something in it is there, and no file: only the directory tells when it becomes one.
    is_exact: bool,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self {
            begun: SystemTime::now(),
            files: HashMap::new(),
            directories: HashMap::new(),
            is_blind: false,
        }
    }
}

impl Snapshot {
    /// Whether there is a file at a path; to be called before its content is read.
    pub(super) fn is_file(&mut self, path: &Path) -> bool {
        // The directory is looked at before what is in it, so that no change between the two is missed.
        let above = self.above(path);
        let known = above.and_then(|(directory, name)| {
            let known = self.directories.get(directory)?.as_ref()?;
            known.absent.contains(name).then_some(())
        });
        if known.is_some() {
            return false;
        }
        match (std::fs::metadata(path), above) {
            (Ok(metadata), _) if metadata.is_file() => {
                self.files.insert(path.to_path_buf(), signature(&metadata));
                return true;
            }
            (Ok(_), Some((directory, _))) => {
                if let Some(Some(it)) = self.directories.get_mut(directory) {
                    it.is_exact = true;
                }
                self.is_blind |= path.is_symlink();
            }
            (Err(_), Some((directory, name))) => {
                let there = std::fs::symlink_metadata(directory.join(name));
                match (there, self.directories.get_mut(directory)) {
                    (Err(error), Some(Some(it))) if error.kind() == io::ErrorKind::NotFound => {
                        it.absent.insert(name.to_owned());
                    }
                    // A symbolic link that leads nowhere: no directory above it tells when its end appears.
                    _ => self.is_blind = true,
                }
            }
            (_, None) => self.is_blind = true,
        }
        false
    }

    /// The nearest directory above a path, and the next component of the path below it.
    fn above<'a>(&mut self, path: &'a Path) -> Option<(&'a Path, &'a OsStr)> {
        let mut below = path;
        while let Some(directory) = below.parent() {
            let directory = match directory.as_os_str().is_empty() {
                true => Path::new("."),
                false => directory,
            };
            let known = self
                .directories
                .entry(directory.to_path_buf())
                .or_insert_with(|| Directory::at(directory));
            if known.is_some() {
                return Some((directory, name(below)?));
            }
            below = directory;
        }
        None
    }

    /// Whether nothing has changed since, as far as it shows.
    pub(crate) fn is_current(&self) -> bool {
        let settled = self.settled();
        settled.is_some_and(|it| it.iter().all(Expected::is_unchanged))
    }

    /// Whether a file is still the one that was noted; yes, where that does not show.
    pub(crate) fn is_same(&self, path: &Path) -> bool {
        let noted = self.files.get(path).copied().flatten();
        noted.is_none_or(|signature| Expected::file(path, signature).is_unchanged())
    }

    /// What was noted, if it is complete and was so old then that a later change shows.
    pub(crate) fn settled(&self) -> Option<Vec<Expected<'_>>> {
        let now = nanoseconds(self.begun.checked_sub(SETTLED)?)?;
        let is_settled = |&[_, _, _, content, state]: &Signature| content < now && state < now;
        if self.is_blind {
            return None;
        }
        let mut settled = Vec::with_capacity(self.files.len() + self.directories.len());
        for (path, signature) in &self.files {
            settled.push(Expected::file(path, signature.filter(is_settled)?));
        }
        for (path, directory) in &self.directories {
            let Some(directory) = directory else { continue };
            let signature = directory.signature.filter(is_settled);
            settled.push(match (directory.is_exact, directory.absent.is_empty()) {
                (true, _) => Expected::file(path, signature?),
                (false, false) => Expected {
                    path,
                    signature,
                    absent: directory.absent.iter().map(OsString::as_os_str).collect(),
                },
                // All that was looked for in it is there, and noted itself.
                (false, true) => continue,
            });
        }
        Some(settled)
    }
}

impl Directory {
    fn at(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok().filter(|it| it.is_dir())?;
        Some(Self {
            signature: signature(&metadata),
            absent: BTreeSet::new(),
            is_exact: false,
        })
    }
}

/// The last component of a path.
fn name(path: &Path) -> Option<&OsStr> {
    path.components().next_back().map(Component::as_os_str)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// An empty directory, and a snapshot for which everything is old.
    fn begin(name: &str) -> (PathBuf, Snapshot) {
        let root = std::env::temp_dir().join(format!("cuda-nvrtc-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&root));
        std::fs::create_dir_all(root.join("first")).unwrap();
        std::fs::create_dir_all(root.join("second/sub")).unwrap();
        std::fs::write(root.join("second/sub/a.h"), "1").unwrap();
        let begun = SystemTime::now() + 2 * SETTLED;
        let snapshot = Snapshot {
            begun,
            ..Snapshot::default()
        };
        (root, snapshot)
    }

    fn look(snapshot: &mut Snapshot, root: &Path) {
        assert!(!snapshot.is_file(&root.join("first/sub/a.h")));
        assert!(snapshot.is_file(&root.join("second/sub/a.h")));
    }

    /// Whether a search that found `second/sub/a.h` would find the same after `change`.
    fn is_current_after(name: &str, change: impl FnOnce(&Path)) -> bool {
        let (root, mut snapshot) = begin(name);
        look(&mut snapshot, &root);
        assert!(snapshot.is_current());
        change(&root);
        let is_current = snapshot.is_current();
        std::fs::remove_dir_all(&root).unwrap();
        is_current
    }

    #[test]
    fn every_change_that_matters_is_seen() {
        let write = |root: &Path, file: &str, text: &str| {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), text).unwrap();
        };
        let text = |root: &Path| write(root, "second/sub/a.h", "22");
        assert!(!is_current_after("text", text));
        let replaced = |root: &Path| {
            let file = root.join("second/sub/a.h");
            let time = std::fs::metadata(&file).unwrap().modified().unwrap();
            write(root, "new", "2");
            let new = std::fs::OpenOptions::new()
                .write(true)
                .open(root.join("new"))
                .unwrap();
            new.set_modified(time).unwrap();
            std::fs::rename(root.join("new"), file).unwrap();
        };
        assert!(!is_current_after("replaced", replaced));
        let removed = |root: &Path| std::fs::remove_file(root.join("second/sub/a.h")).unwrap();
        assert!(!is_current_after("removed", removed));
        let shadowed = |root: &Path| write(root, "first/sub/a.h", "1");
        assert!(!is_current_after("shadowed", shadowed));
        let linked = |root: &Path| {
            std::os::unix::fs::symlink(root.join("second/sub"), root.join("first/sub")).unwrap();
        };
        assert!(!is_current_after("linked", linked));
        let moved = |root: &Path| {
            write(root, "other/sub/a.h", "1");
            std::fs::rename(root.join("first"), root.join("old")).unwrap();
            std::fs::rename(root.join("other"), root.join("first")).unwrap();
        };
        assert!(!is_current_after("moved", moved));
    }

    #[test]
    fn what_does_not_matter_costs_nothing() {
        let beside = |root: &Path| {
            std::fs::write(root.join("first/log.txt"), "").unwrap();
            std::fs::write(root.join("second/sub/b.h"), "").unwrap();
        };
        assert!(is_current_after("beside", beside));
        // Directories that change all the time can be noted, because of the names that are not in them.
        let (root, mut snapshot) = begin("young");
        look(&mut snapshot, &root);
        let seen = snapshot.settled().unwrap();
        assert_eq!(seen.len(), 2);
        assert!(seen.iter().all(|it| it.signature.is_some()));
        snapshot.begun = SystemTime::now();
        assert!(snapshot.settled().is_none());
        snapshot.files.clear();
        let seen = snapshot.settled().unwrap();
        assert_eq!((seen.len(), seen[0].signature), (1, None));
        assert_eq!(seen[0].absent, ["sub"]);
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn what_would_not_show_is_not_noted() {
        let (root, mut snapshot) = begin("blind");
        look(&mut snapshot, &root);
        // A directory where a file could be: what it becomes shows in the one above.
        assert!(!snapshot.is_file(&root.join("second/sub")));
        assert!(snapshot.settled().is_some());
        std::fs::rename(root.join("second/sub"), root.join("sub")).unwrap();
        std::fs::write(root.join("second/sub"), "").unwrap();
        assert!(!snapshot.is_current());
        std::os::unix::fs::symlink("nowhere", root.join("second/link")).unwrap();
        assert!(!snapshot.is_file(&root.join("second/link")));
        assert!(snapshot.settled().is_none());
        std::fs::remove_dir_all(&root).unwrap();
    }
}
