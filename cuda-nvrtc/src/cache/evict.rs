//! Keeping the cache below its limit.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What the names of unfinished files begin with.
pub(super) const TEMPORARY: &str = ".new-";
/// What the names of notes end with, after the key of a program.
pub(super) const NOTE: &str = ".files";
/// After this, an unfinished file belongs to a process that has ended.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A file of the cache.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    used: SystemTime,
}

/// The files in a directory of entries; none if there is no directory.
pub(super) fn files(directory: &Path) -> io::Result<Vec<Entry>> {
    let listing = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let files = listing.filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name();
        if !is_ours(name.to_str()?) {
            return None;
        }
        // Another process may have removed it by now.
        let metadata = entry.metadata().ok().filter(|it| it.is_file())?;
        Some(Entry {
            path: entry.path(),
            size: metadata.len(),
            used: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        })
    });
    Ok(files.collect())
}

/// Whether a file is named as those of the cache are; others in the directory are left alone.
fn is_ours(name: &str) -> bool {
    let key = name.strip_suffix(NOTE).unwrap_or(name);
    let is_key = key.len() == 64 && key.bytes().all(|it| it.is_ascii_hexdigit());
    is_key || name.starts_with(TEMPORARY)
}

/// Removes what was not used for longest, until the rest is a tenth below the limit, if it is above it. What cannot be
/// removed stays.
pub(super) fn to_limit(directory: &Path, limit: u64) {
    let Ok(mut files) = files(directory) else {
        return;
    };
    let now = SystemTime::now();
    let is_temporary = |entry: &Entry| {
        let name = entry.path.file_name().and_then(|it| it.to_str());
        name.is_some_and(|it| it.starts_with(TEMPORARY))
    };
    files.retain(|entry| {
        let age = now.duration_since(entry.used).unwrap_or_default();
        if is_temporary(entry) && age > ABANDONED {
            drop(fs::remove_file(&entry.path));
        }
        !is_temporary(entry)
    });
    let mut total: u64 = files.iter().map(|it| it.size).sum();
    if total <= limit {
        return;
    }
    files.sort_by_key(|it| it.used);
    let mut files = files.into_iter().peekable();
    while total > limit - limit / 10
        && let Some(entry) = files.next()
    {
        // The newest one stays: it has just been made.
        if files.peek().is_none() {
            return;
        }
        if fs::remove_file(&entry.path).is_ok() {
            total -= entry.size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unused_go_first() {
        let directory =
            std::env::temp_dir().join(format!("cuda-nvrtc-evict-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let now = SystemTime::now();
        let full = |name: &str| match name.starts_with('.') {
            true => name.to_owned(),
            false => format!("{name:0>64}"),
        };
        let write = |name: &str, size: usize, age: u64| {
            let path = directory.join(full(name));
            fs::write(&path, vec![0; size]).unwrap();
            let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.set_modified(now - Duration::from_secs(age)).unwrap();
        };
        let foreign = directory.join("notes.txt");
        fs::write(&foreign, "not ours").unwrap();
        write("a", 100, 50);
        write("b", 100, 4000);
        write("c", 100, 10);
        write("d", 100, 300);
        write(".new-1-1", 100, 4000);
        write(".new-1-2", 100, 5);
        let names = || {
            let mut names: Vec<_> = files(&directory)
                .unwrap()
                .into_iter()
                .map(|it| it.path.file_name().unwrap().to_str().unwrap().to_owned())
                .map(|it| it.trim_start_matches('0').to_owned())
                .collect();
            names.sort();
            names
        };
        to_limit(&directory, 400);
        assert_eq!(names(), [".new-1-2", "a", "b", "c", "d"]);
        to_limit(&directory, 390);
        assert_eq!(names(), [".new-1-2", "a", "c", "d"]);
        to_limit(&directory, 250);
        assert_eq!(names(), [".new-1-2", "a", "c"]);
        to_limit(&directory, 1);
        assert_eq!(names(), [".new-1-2", "c"]);
        assert!(foreign.exists());
        fs::remove_dir_all(&directory).unwrap();
        assert!(files(&directory).unwrap().is_empty());
    }
}
