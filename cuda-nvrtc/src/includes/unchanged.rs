//! Whether files and directories are as they were.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Device, number, size, and the times of the last changes of content and state, in nanoseconds.
pub(crate) type Signature = [u64; 5];

/// What a path is expected to be.
#[derive(Debug)]
pub(crate) struct Expected<'a> {
    pub(crate) path: &'a Path,
    /// Nothing if only the names tell.
    pub(crate) signature: Option<Signature>,
    /// Names that are not in it; if there are any, and none has appeared, any signature will do.
    pub(crate) absent: Vec<&'a OsStr>,
}

impl<'a> Expected<'a> {
    /// What has to have the signature.
    pub(crate) fn file(path: &'a Path, signature: Signature) -> Self {
        Self {
            path,
            signature: Some(signature),
            absent: Vec::new(),
        }
    }

    /// Whether it is as expected.
    pub(crate) fn is_unchanged(&self) -> bool {
        let found = |expected| {
            let metadata = std::fs::metadata(self.path);
            metadata.is_ok_and(|it| signature(&it) == Some(expected))
        };
        self.signature.is_some_and(found) || self.lacks_all()
    }

    fn lacks_all(&self) -> bool {
        let is_absent = |name: &&OsStr| {
            let metadata = std::fs::symlink_metadata(self.path.join(name));
            metadata.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        !self.absent.is_empty() && self.absent.iter().all(is_absent)
    }
}

/// Nanoseconds since 1970.
pub(super) fn nanoseconds(time: SystemTime) -> Option<u64> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

#[cfg(unix)]
pub(super) fn signature(metadata: &Metadata) -> Option<Signature> {
    use std::os::unix::fs::MetadataExt;

    let state = std::time::Duration::new(
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
pub(super) fn signature(_: &Metadata) -> Option<Signature> {
    None
}
