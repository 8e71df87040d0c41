//! What tells, without reading a file again, that a search for includes would find what it found before.
//!
//! For each file its identity, size and times; for each name that was no file, the same of the nearest directory above it,
//! whose times change when something in it appears. On Unix these include the time of the last change of the file's state,
//! which no program can set back.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Device, number, size, and the times of the last changes of content and state, in nanoseconds.
pub(crate) type Signature = [u64; 5];

/// A change that is younger than this could be followed by another one of the same time: file systems count in steps.
const SETTLED: Duration = Duration::from_secs(2);

/// The files and directories that a search looked at.
#[derive(Debug)]
pub(crate) struct Snapshot {
    begun: SystemTime,
    seen: HashMap<PathBuf, Option<Signature>>,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self {
            begun: SystemTime::now(),
            seen: HashMap::new(),
        }
    }
}

impl Snapshot {
    /// Notes a file; to be called before its content is read.
    pub(super) fn file(&mut self, path: &Path, metadata: &Metadata) {
        self.seen.insert(path.to_path_buf(), signature(metadata));
    }

    /// Notes the nearest directory above a path; to be called before it is looked whether there is something.
    pub(super) fn above(&mut self, path: &Path) {
        let mut directory = path.parent();
        while let Some(it) = directory {
            let it = if it.as_os_str().is_empty() {
                Path::new(".")
            } else {
                it
            };
            match self.seen.get(it) {
                Some(Some(_)) => return,
                Some(None) => {}
                None => {
                    let found = std::fs::metadata(it).ok().and_then(|it| signature(&it));
                    if found.is_some() {
                        self.seen.insert(it.to_path_buf(), found);
                        return;
                    }
                    self.missing(it);
                }
            }
            directory = it.parent();
        }
    }

    /// Notes that there is nothing at a path. Where a symbolic link stands that leads nowhere, no directory above it tells when
    /// its end appears.
    pub(super) fn missing(&mut self, path: &Path) {
        if path.is_symlink() {
            self.seen.insert(path.to_path_buf(), None);
        }
    }

    /// Whether nothing has changed since, as far as it shows.
    pub(crate) fn is_current(&self) -> bool {
        let settled = self.settled();
        settled.is_some_and(|seen| seen.into_iter().all(|(path, it)| is_unchanged(path, it)))
    }

    /// Whether a file is still the one that was noted; yes, where that does not show.
    pub(crate) fn is_same(&self, path: &Path) -> bool {
        let noted = self.seen.get(path).copied().flatten();
        noted.is_none_or(|it| is_unchanged(path, it))
    }

    /// What was noted, if it is complete and was so old then that a later change shows.
    pub(crate) fn settled(&self) -> Option<Vec<(&Path, Signature)>> {
        let now = nanoseconds(self.begun.checked_sub(SETTLED)?)?;
        let mut settled = Vec::with_capacity(self.seen.len());
        for (path, signature) in &self.seen {
            let signature = (*signature)?;
            let [_, _, _, content, state] = signature;
            if content >= now || state >= now {
                return None;
            }
            settled.push((path.as_path(), signature));
        }
        Some(settled)
    }
}

/// Whether a path still has the signature.
pub(crate) fn is_unchanged(path: &Path, expected: Signature) -> bool {
    let metadata = std::fs::metadata(path);
    metadata.is_ok_and(|it| signature(&it) == Some(expected))
}

fn nanoseconds(time: SystemTime) -> Option<u64> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

#[cfg(unix)]
fn signature(metadata: &Metadata) -> Option<Signature> {
    use std::os::unix::fs::MetadataExt;

    let state = Duration::new(
        metadata.ctime().try_into().ok()?,
        metadata.ctime_nsec().try_into().ok()?,
    );
    Some([
        metadata.dev(),
        metadata.ino(),
        metadata.size(),
        nanoseconds(metadata.modified().ok()?)?,
        u64::try_from(state.as_nanos()).ok()?,
    ])
}

/// Elsewhere the times can be set back, so that files are always read.
#[cfg(not(unix))]
fn signature(_: &Metadata) -> Option<Signature> {
    None
}
