//! The names of the libraries, by system and version.

use std::path::Path;

use cuda_driver::Version;

use super::Found;

/// A library of the toolkit that this crate loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    Nvrtc,
    JitLink,
}

impl Component {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nvrtc => "NVRTC",
            Self::JitLink => "nvJitLink",
        }
    }

    /// Its Python package for CUDA 13.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Self::Nvrtc => "nvidia-cuda-nvrtc",
            Self::JitLink => "nvidia-nvjitlink",
        }
    }

    /// The environment variable with its file or directory.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Self::Nvrtc => "CUDA_NVRTC_PATH",
            Self::JitLink => "CUDA_NVJITLINK_PATH",
        }
    }

    /// The folder of its package below `nvidia` in Python's packages, before CUDA 13.
    pub(super) fn python_folder(self) -> &'static str {
        match self {
            Self::Nvrtc => "cuda_nvrtc",
            Self::JitLink => "nvjitlink",
        }
    }

    /// The names that the system's own loader may know it by, newest first.
    pub(super) fn bare_names(self) -> &'static [&'static str] {
        match self {
            Self::Nvrtc if cfg!(windows) => &[
                "nvrtc64_130_0.dll",
                "nvrtc64_120_0.dll",
                "nvrtc64_112_0.dll",
            ],
            Self::Nvrtc => &[
                "libnvrtc.so.13",
                "libnvrtc.so.12",
                "libnvrtc.so.11.2",
                "libnvrtc.so",
            ],
            Self::JitLink if cfg!(windows) => &["nvJitLink_130_0.dll", "nvJitLink_120_0.dll"],
            Self::JitLink => &[
                "libnvJitLink.so.13",
                "libnvJitLink.so.12",
                "libnvJitLink.so",
            ],
        }
    }

    /// The newest one in a directory, or what is wrong with that.
    pub(super) fn in_directory(self, directory: &Path) -> Result<Found, String> {
        let entries = std::fs::read_dir(directory).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such directory".to_owned(),
            _ => error.to_string(),
        })?;
        let names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        let newest = names
            .iter()
            .filter_map(|name| Some((self.numbers(name)?, name)))
            .max_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.len().cmp(&a.1.len())));
        match newest {
            Some((_, name)) => Ok(Found {
                path: directory.join(name),
                version: self.version_beside(&names, name),
            }),
            None => Err(format!("there is no {} in it", self.pattern())),
        }
    }

    /// What its files are called, for people.
    fn pattern(self) -> &'static str {
        match self {
            Self::Nvrtc if cfg!(windows) => "nvrtc64_*.dll",
            Self::Nvrtc => "libnvrtc.so*",
            Self::JitLink if cfg!(windows) => "nvJitLink_*.dll",
            Self::JitLink => "libnvJitLink.so*",
        }
    }

    /// The numbers in the name of a file if it is this library: `libnvrtc.so.11.2` has 11 and 2, `libnvrtc.so` none.
    pub(super) fn numbers(self, file: &str) -> Option<Vec<u32>> {
        let rest = if cfg!(windows) {
            let prefix = match self {
                Self::Nvrtc => "nvrtc64_",
                Self::JitLink => "nvJitLink_",
            };
            return windows_numbers(file, prefix);
        } else {
            file.strip_prefix(match self {
                Self::Nvrtc => "libnvrtc.so",
                Self::JitLink => "libnvJitLink.so",
            })?
        };
        if rest.is_empty() {
            return Some(Vec::new());
        }
        rest.strip_prefix('.')?
            .split('.')
            .map(|it| it.parse().ok())
            .collect()
    }

    /// The version: the names of NVRTC's builtins tell both its numbers, that of NVRTC itself only the first.
    fn version_beside(self, names: &[String], file: &str) -> Option<Version> {
        let numbers = self.numbers(file)?;
        if let (Self::JitLink, &[major, minor, ..]) = (self, &*numbers) {
            return Some(Version { major, minor });
        }
        let mut versions = names.iter().filter_map(|name| builtins_version(name));
        versions
            .by_ref()
            .find(|it| numbers.first().is_none_or(|&major| major == it.major))
    }
}

/// The name of NVRTC's library with builtin functions and headers.
pub(crate) fn builtins_name(version: Version) -> String {
    let Version { major, minor } = version;
    if cfg!(windows) {
        format!("nvrtc-builtins64_{major}{minor}.dll")
    } else if cfg!(target_vendor = "apple") {
        format!("libnvrtc-builtins.{major}.{minor}.dylib")
    } else {
        format!("libnvrtc-builtins.so.{major}.{minor}")
    }
}

/// The version in the name of NVRTC's builtins.
fn builtins_version(name: &str) -> Option<Version> {
    let digits = match name.strip_prefix("nvrtc-builtins64_") {
        Some(rest) => {
            let digits = rest.strip_suffix(".dll")?;
            let (major, minor) = digits.split_at_checked(2)?;
            return Some(Version {
                major: major.parse().ok()?,
                minor: minor.parse().ok()?,
            });
        }
        None => name.strip_prefix("libnvrtc-builtins.so.")?,
    };
    let mut parts = digits.split('.');
    let (major, minor) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(Version { major, minor })
}

/// `nvrtc64_120_0.dll` has 12 and 0; `nvrtc64_120_0.alt.dll` is not the library.
fn windows_numbers(file: &str, prefix: &str) -> Option<Vec<u32>> {
    let digits = file.strip_prefix(prefix)?.strip_suffix("_0.dll")?;
    let (major, minor) = digits.split_at_checked(2)?;
    Some(vec![major.parse().ok()?, minor.parse().ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_library_is_known_by_its_name() {
        for (file, numbers) in [
            ("libnvrtc.so.13", Some(vec![13])),
            ("libnvrtc.so.11.2", Some(vec![11, 2])),
            ("libnvrtc.so", Some(vec![])),
            ("libnvrtc.alt.so.13", None),
            ("libnvrtc-builtins.so.13.0", None),
            ("libnvrtc_static.a", None),
            ("libnvrtc.sob", None),
            ("libnvrtc.so.x", None),
        ] {
            assert_eq!(Component::Nvrtc.numbers(file), numbers, "{file}");
        }
    }

    #[test]
    fn the_builtins_tell_the_version() {
        let version = |major, minor| Some(Version { major, minor });
        assert_eq!(
            builtins_version("libnvrtc-builtins.so.13.5"),
            version(13, 5)
        );
        assert_eq!(
            builtins_version("libnvrtc-builtins.so.12.4.127"),
            version(12, 4)
        );
        assert_eq!(builtins_version("nvrtc-builtins64_118.dll"), version(11, 8));
        assert_eq!(builtins_version("libnvrtc-builtins.so"), None);
        assert_eq!(builtins_version("libnvrtc-builtins.alt.so.13.0"), None);
    }

    #[test]
    fn windows_names_are_read() {
        assert_eq!(
            windows_numbers("nvrtc64_120_0.dll", "nvrtc64_"),
            Some(vec![12, 0])
        );
        assert_eq!(windows_numbers("nvrtc64_120_0.alt.dll", "nvrtc64_"), None);
        assert_eq!(windows_numbers("nvrtc64_1_0.dll", "nvrtc64_"), None);
    }
}
