//! Where the cache is, and who may write to it.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

/// The user's directory, by the environment and the conventions of the system.
pub(super) fn of_user(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).map(PathBuf::from);
    if let Some(directory) = path("CUDA_NVRTC_CACHE_DIR") {
        return Some(directory);
    }
    let base = if cfg!(windows) {
        path("LOCALAPPDATA")
    } else if cfg!(target_vendor = "apple") {
        path("HOME").map(|home| home.join("Library/Caches"))
    } else {
        // The convention ignores relative paths.
        let given = path("XDG_CACHE_HOME").filter(|it| it.is_absolute());
        given.or_else(|| path("HOME").map(|home| home.join(".cache")))
    };
    base.filter(|it| it.is_absolute())
        .map(|it| it.join("cuda-nvrtc"))
}

/// Makes a directory and those above it; the new ones are the user's alone.
pub(super) fn make(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Whether the directory is the user's, and nobody else can write to it; if not, why.
pub(super) fn check(directory: &Path) -> Result<(), String> {
    let metadata = fs::metadata(directory).map_err(|error| error.to_string());
    metadata
        .and_then(|it| check_owner(&it))
        .map_err(|reason| format!("`{}`: {reason}", directory.display()))
}

/// Whether a file or directory is the user's, and nobody else can write to it; if not, why.
#[cfg(unix)]
pub(super) fn check_owner(metadata: &fs::Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;

    unsafe extern "C" {
        safe fn geteuid() -> u32;
    }

    if metadata.uid() != geteuid() {
        Err("it belongs to another user".into())
    } else if metadata.mode() & 0o022 != 0 {
        Err("others can write to it".into())
    } else {
        Ok(())
    }
}

/// Elsewhere the user's folders are the user's by themselves.
#[cfg(not(unix))]
pub(super) fn check_owner(_: &fs::Metadata) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(unix, not(target_vendor = "apple")))]
    #[test]
    fn the_environment_says_where() {
        let of = |variables: &[(&str, &str)]| {
            of_user(&|name: &str| {
                let found = variables.iter().find(|(it, _)| *it == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        let is = |text: &str| Some(PathBuf::from(text));
        assert_eq!(
            of(&[("CUDA_NVRTC_CACHE_DIR", "/a"), ("HOME", "/h")]),
            is("/a")
        );
        assert_eq!(
            of(&[("XDG_CACHE_HOME", "/x"), ("HOME", "/h")]),
            is("/x/cuda-nvrtc")
        );
        assert_eq!(
            of(&[("XDG_CACHE_HOME", "x"), ("HOME", "/h")]),
            is("/h/.cache/cuda-nvrtc")
        );
        assert_eq!(of(&[("HOME", "h")]), None);
        assert_eq!(of(&[]), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_others_can_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt;

        let directory =
            std::env::temp_dir().join(format!("cuda-nvrtc-place-{}", std::process::id()));
        make(&directory.join("deep")).unwrap();
        check(&directory).unwrap();
        assert_eq!(
            fs::metadata(&directory).unwrap().permissions().mode() & 0o777,
            0o700
        );
        for mode in [0o770, 0o777, 0o722] {
            fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).unwrap();
            assert!(check(&directory).unwrap_err().contains("others can write"));
        }
        fs::remove_dir_all(&directory).unwrap();
        assert!(check(&directory).is_err());
    }
}
