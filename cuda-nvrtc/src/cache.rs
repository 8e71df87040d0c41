//! The cache on disk: what was compiled once is not compiled again.

mod entry;
mod evict;
mod key;
mod place;
mod recall;

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::compiled::Parts;
use crate::error::{Error, ErrorKind, Result};
pub(crate) use key::{Key, KeyBuilder};

/// Bytes of all entries at most, unless it is said otherwise.
const LIMIT: u64 = 512 << 20;
/// The variable that switches the user's cache off.
const SWITCH: &str = "CUDA_NVRTC_CACHE";
/// The variable with the user's limit in bytes.
const LIMIT_VARIABLE: &str = "CUDA_NVRTC_CACHE_LIMIT";
/// The folder of the entries; its name changes with their form.
const ENTRIES: &str = "entries-1";
/// How old the mark of the last use may become before a use renews it.
const RENEW: Duration = Duration::from_secs(600);

/// A directory in which compiled programs are kept; cheap to clone.
///
/// An entry is found by a SHA-256 over everything that it depends on: the source, the headers in memory, every file that an
/// `#include` could mean, the options, the name expressions, the compiler's files and the architecture. It carries a
/// checksum, so that a damaged one is compiled anew. Several processes may use one directory at a time. When the limit is
/// reached, the entries go that were not used for longest.
///
/// A program is not kept that uses the time or includes what only the preprocessor can know. The one thing that is not seen is
/// a `__has_include`, `__DATE__` or `__TIME__` that the program itself puts together by `##`.
///
/// # Whom it trusts
///
/// The checksum finds damage, not malice: whoever can write to the directory can put any code there. So the directory is used
/// only if it belongs to the user and nobody else can write to it; it is made like that.
///
/// ```
/// use cuda_nvrtc::Cache;
///
/// let cache = Cache::at("/var/cache/my-program/kernels").with_limit(64 << 20);
/// assert!(cache.is_enabled());
/// assert!(!Cache::disabled().is_enabled());
/// ```
#[derive(Clone)]
pub struct Cache {
    inner: Option<Arc<Inner>>,
}

struct Inner {
    root: PathBuf,
    limit: u64,
}

impl Cache {
    /// The user's cache, as the environment says.
    ///
    /// `CUDA_NVRTC_CACHE=0` (or `off`) disables it; `CUDA_NVRTC_CACHE_DIR` is its directory, by default `cuda-nvrtc` in
    /// `$XDG_CACHE_HOME` or `~/.cache`, in `~/Library/Caches` on macOS, in `%LOCALAPPDATA%` on Windows;
    /// `CUDA_NVRTC_CACHE_LIMIT` is its size in bytes, by default 512 MiB. Without any home directory it is disabled.
    #[must_use]
    pub fn user() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        if let Some(switch) = variable(SWITCH) {
            let off = ["0", "off", "false", "no"];
            if off.iter().any(|it| switch.eq_ignore_ascii_case(it)) {
                return Self::disabled();
            }
        }
        let Some(root) = place::of_user(&variable) else {
            return Self::disabled();
        };
        let cache = Self::at(root);
        match variable(LIMIT_VARIABLE)
            .map(|text| text.to_str().and_then(|it| it.trim().parse().ok()))
        {
            None => cache,
            Some(Some(limit)) => cache.with_limit(limit),
            Some(None) => {
                log::warn!("{LIMIT_VARIABLE} is no number of bytes; the limit is {LIMIT}");
                cache
            }
        }
    }

    /// A cache in a directory, which is made when it is first needed.
    #[must_use]
    pub fn at(directory: impl AsRef<Path>) -> Self {
        let inner = Inner {
            root: directory.as_ref().to_path_buf(),
            limit: LIMIT,
        };
        Self {
            inner: Some(Arc::new(inner)),
        }
    }

    /// No cache: everything is compiled.
    #[must_use]
    pub fn disabled() -> Self {
        Self { inner: None }
    }

    /// The same with another limit for all entries, in bytes.
    #[must_use]
    pub fn with_limit(self, limit: u64) -> Self {
        let inner = self.inner.map(|inner| {
            let root = inner.root.clone();
            Arc::new(Inner { root, limit })
        });
        Self { inner }
    }

    /// Whether anything is kept.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.inner.is_some()
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        self.inner.as_deref().map(|inner| inner.root.as_path())
    }

    /// The bytes of all entries.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if the directory cannot be read.
    pub fn size_in_bytes(&self) -> Result<u64> {
        let Some(inner) = &self.inner else {
            return Ok(0);
        };
        let files = evict::files(&inner.entries()).map_err(|error| inner.failed("read", error))?;
        Ok(files.iter().map(|file| file.size).sum())
    }

    /// Removes all entries.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if one cannot be removed.
    pub fn clear(&self) -> Result<()> {
        let Some(inner) = &self.inner else {
            return Ok(());
        };
        let files = evict::files(&inner.entries()).map_err(|error| inner.failed("read", error))?;
        for file in files {
            match fs::remove_file(&file.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(inner.failed("clear", error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What was kept under the key; nothing if there is nothing or if it is damaged.
    pub(crate) fn get(&self, key: &Key) -> Option<Parts> {
        let inner = self.inner.as_deref()?;
        let name = key.to_string();
        let parts = entry::decode(&read_trusted(inner, &name)?, key);
        if parts.is_none() {
            let path = inner.entries().join(name);
            log::warn!(
                "the cache entry `{}` is damaged; it is made anew",
                path.display()
            );
            drop(fs::remove_file(&path));
        }
        parts
    }

    /// Keeps what was compiled; the error says why it cannot be kept.
    pub(crate) fn insert(&self, key: &Key, parts: &Parts) -> Result<(), String> {
        let Some(inner) = self.inner.as_deref() else {
            return Err("the cache is disabled".into());
        };
        let bytes = entry::encode(parts, key);
        if bytes.len() as u64 > inner.limit {
            return Err(format!("{} bytes exceed the cache's limit", bytes.len()));
        }
        let entries = inner.entries();
        place::make(&entries)
            .map_err(|error| format!("cannot make `{}`: {error}", entries.display()))?;
        place::check(&entries)?;
        let path = entries.join(key.to_string());
        write_whole(&entries, &path, &bytes)
            .map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
        evict::to_limit(&entries, inner.limit);
        Ok(())
    }

    /// A directory of the cache for something else than entries.
    pub(crate) fn folder(&self, name: &str) -> Option<PathBuf> {
        self.inner.as_deref().map(|inner| inner.root.join(name))
    }

    /// Makes a directory of the cache, and checks that only the user can write to it.
    pub(crate) fn make_folder(path: &Path) -> Result<(), String> {
        place::make(path).map_err(|error| format!("cannot make `{}`: {error}", path.display()))?;
        place::check(path)
    }

    /// Whether only the user can write to a directory of the cache.
    pub(crate) fn trusts(path: &Path) -> bool {
        place::check(path).is_ok()
    }
}

impl Inner {
    fn entries(&self) -> PathBuf {
        self.root.join(ENTRIES)
    }

    #[cold]
    fn failed(&self, what: &str, error: io::Error) -> Error {
        Error::new(ErrorKind::File, error.to_string())
            .doing(format!("{what} the cache `{}`", self.root.display()))
            .caused_by(error)
    }
}

/// Reads a file of the cache, if only the user can have written it, and marks its use.
fn read_trusted(inner: &Inner, name: &str) -> Option<Vec<u8>> {
    let entries = inner.entries();
    let path = entries.join(name);
    // Marking the use needs no right to write on Unix, but does on Windows.
    let mut options = OpenOptions::new();
    // Opening a pipe would block until somebody writes to it.
    if !fs::metadata(&path).ok()?.is_file() {
        return None;
    }
    let mut file = options.read(true).write(cfg!(windows)).open(&path).ok()?;
    let metadata = file.metadata().ok()?;
    let trusted = place::check(&entries).and_then(|()| place::check_owner(&metadata));
    if let Err(reason) = trusted {
        log::warn!("the cache entry `{}` is not used: {reason}", path.display());
        return None;
    }
    if !metadata.is_file() || metadata.len() > inner.limit {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()?);
    (&mut file).take(inner.limit).read_to_end(&mut bytes).ok()?;
    let now = SystemTime::now();
    let age = metadata
        .modified()
        .ok()
        .and_then(|it| now.duration_since(it).ok());
    if age.is_none_or(|age| age > RENEW) {
        // Who cannot mark the use, only has the entry evicted earlier.
        drop(file.set_modified(now));
    }
    Some(bytes)
}

/// Writes a file of its own and renames it, so that nobody ever sees half of it.
fn write_whole(directory: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let temporary = directory.join(format!(
        "{}{}-{number}",
        evict::TEMPORARY,
        std::process::id()
    ));
    let written = create(&temporary)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written
}

/// A new file that only the user may read and write.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        // One that an earlier process of the same number left behind.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            options.open(path)
        }
        other => other,
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner {
            Some(inner) => f
                .debug_struct("Cache")
                .field("directory", &inner.root)
                .field("limit", &inner.limit)
                .finish(),
            None => f.write_str("Cache(disabled)"),
        }
    }
}
