//! Which compiler it is.

use std::fmt;
use std::path::Path;
use std::process::Command;

/// The version of a toolkit: 12.4.131.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// 12.
    pub major: u32,
    /// 4.
    pub minor: u32,
    /// 131.
    pub patch: u32,
}

impl Version {
    /// The oldest whose command line has all that is used here.
    pub(super) const OLDEST: Self = Self {
        major: 11,
        minor: 0,
        patch: 0,
    };
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The version and the build that a program states. The error goes on after "it".
pub(super) fn of(path: &Path) -> Result<(Version, String), String> {
    let output = Command::new(path)
        .arg("--version")
        .output()
        .map_err(|error| format!("does not run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said
            .lines()
            .chain(text.lines())
            .find(|line| !line.is_empty());
        let first = first.unwrap_or("it says nothing");
        return Err(format!(
            "fails when asked for its version ({}): {first}",
            output.status
        ));
    }
    parse(&text).ok_or_else(|| {
        let first = text.lines().next().unwrap_or("nothing");
        format!("is no nvcc: asked for its version it says {first:?}")
    })
}

/// Reads `…, release 13.5, V13.5.37` and what follows it.
fn parse(text: &str) -> Option<(Version, String)> {
    if !text.contains("nvcc") {
        return None;
    }
    let mut lines = text.lines();
    let release = lines.find(|line| line.contains(", release "))?;
    let numbers = release.rsplit_once(", V")?.1;
    let mut numbers = numbers.trim().split('.').map(str::parse::<u32>);
    let mut next = || numbers.next()?.ok();
    let version = Version {
        major: next()?,
        minor: next()?,
        patch: next().unwrap_or(0),
    };
    let build = lines.next().unwrap_or(release).trim();
    Some((version, build.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(last: &str) -> String {
        format!("nvcc: NVIDIA (R) Cuda compiler driver\nBuilt on some day\n{last}")
    }

    #[test]
    fn versions_are_read_with_and_without_a_build() {
        let with =
            stated("Cuda compilation tools, release 12.4, V12.4.131\nBuild cuda_12.4.r12.4\n");
        let version = Version {
            major: 12,
            minor: 4,
            patch: 131,
        };
        assert_eq!(
            parse(&with),
            Some((version, "Build cuda_12.4.r12.4".into()))
        );
        let without = stated("Cuda compilation tools, release 11.0, V11.0.2");
        assert_eq!(
            parse(&without).map(|(version, _)| version.to_string()),
            Some("11.0.2".into())
        );
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for text in [
            "",
            "gcc 12",
            "nvcc, release",
            "nvcc, release 12.4, V",
            "nvcc, release 12, Vx.y",
            "tools, release 12.4, V12.4.1",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn versions_are_ordered_by_number() {
        let version = |major, minor| Version {
            major,
            minor,
            patch: 0,
        };
        assert!(version(12, 10) > version(12, 9));
        assert!(version(13, 0) > version(12, 9));
    }
}
