//! What is read of PTX without parsing it, and the versions of PTX that drivers take.

use crate::device::ComputeCapability;
use crate::driver::Version;

/// Whether a text starts as PTX does: with `.version`, after comments.
pub(super) fn is_ptx(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n').map_or("", |(_, after)| after);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        } else {
            return rest.starts_with(".version");
        }
    }
}

/// What to do with a text that was given for PTX and is something else.
pub(super) fn remedy_of_other_text(text: &str) -> Option<&'static str> {
    let name = text.trim();
    let mut ends = [".ptx", ".cubin", ".fatbin", ".cu"].iter();
    if !name.contains('\n') && ends.any(|it| name.ends_with(it)) {
        return Some(
            "it looks like a path: use `include_str!`, `std::fs::read_to_string` or `load_file`",
        );
    }
    text.contains("__global__")
        .then_some("it looks like CUDA C++: see cuda-build and cuda-nvrtc")
}

/// The word behind the first directive of that name.
fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(name))?;
    line.split([' ', '\t', ',', '\r', '/'])
        .find(|word| !word.is_empty())
}

/// The first word of `.target`, such as `sm_80`.
pub(super) fn target(text: &str) -> Option<&str> {
    directive(text, ".target")
}

/// The compute capability that a target such as `sm_90a` stands for.
pub(super) fn capability(target: &str) -> Option<ComputeCapability> {
    let number = target.strip_prefix("sm_")?;
    let number = number.trim_end_matches(|it: char| !it.is_ascii_digit());
    let number: u32 = number.parse().ok()?;
    Some(ComputeCapability::new(number / 10, number % 10))
}

/// The version that the text states.
pub(super) fn version(text: &str) -> Option<Version> {
    let (major, minor) = directive(text, ".version")?.split_once('.')?;
    Some(Version {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    })
}

/// The toolkit that writes PTX of that version, as far as it is known.
pub(super) fn toolkit_of(ptx: Version) -> Option<Version> {
    let (major, minor) = match (ptx.major, ptx.minor) {
        (6, minor @ 3..=5) => (10, minor - 3),
        (7, minor @ 0..=8) => (11, minor),
        (8, minor @ 0..=5) => (12, minor),
        (8, minor @ 6..=8) => (12, minor + 1),
        (9, minor @ 0..=5) => (13, minor),
        _ => return None,
    };
    Some(Version { major, minor })
}

/// The newest PTX that a driver takes which supports that CUDA version, as far as it is known.
pub(super) fn newest_for(cuda: Version) -> Option<Version> {
    let (major, minor) = match (cuda.major, cuda.minor) {
        (10, minor @ 0..=2) => (6, minor + 3),
        (11, minor @ 0..=8) => (7, minor),
        (12, minor @ 0..=5) => (8, minor),
        (12, minor @ 6..=9) => (8, minor - 1),
        (13, minor @ 0..=2) => (9, minor),
        _ => return None,
    };
    Some(Version { major, minor })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_may_start_with_comments() {
        assert!(is_ptx(
            "\n// a\n/* b\n.version */ .version 7.0\n.target sm_70"
        ));
        assert!(!is_ptx("// .version 7.0"));
        assert!(!is_ptx("__global__ void f() {}"));
    }

    #[test]
    fn version_and_target() {
        let text = "//\n  .version 8.4 // x\n.target\tsm_90a, debug\n";
        assert_eq!(version(text), Some(Version { major: 8, minor: 4 }));
        assert_eq!(target(text), Some("sm_90a"));
        assert_eq!(version(".version x"), None);
    }

    #[test]
    fn capabilities_of_targets() {
        let of = |target| capability(target).map(|it| it.to_string());
        assert_eq!(of("sm_90a").as_deref(), Some("9.0"));
        assert_eq!(of("sm_121").as_deref(), Some("12.1"));
        assert_eq!(of("texmode"), None);
    }

    #[test]
    fn toolkits_that_write_a_version() {
        let of = |major, minor| toolkit_of(Version { major, minor }).map(|it| it.to_string());
        assert_eq!(of(7, 8).as_deref(), Some("11.8"));
        assert_eq!(of(8, 5).as_deref(), Some("12.5"));
        assert_eq!(of(8, 7).as_deref(), Some("12.8"));
        assert_eq!(of(9, 0).as_deref(), Some("13.0"));
        assert_eq!(of(99, 0), None);
    }

    #[test]
    fn versions_that_go_with_drivers() {
        let newest =
            |major, minor| newest_for(Version { major, minor }).map(|version| version.to_string());
        assert_eq!(newest(11, 4).as_deref(), Some("7.4"));
        assert_eq!(newest(12, 5).as_deref(), Some("8.5"));
        assert_eq!(newest(12, 6).as_deref(), Some("8.5"));
        assert_eq!(newest(12, 8).as_deref(), Some("8.7"));
        assert_eq!(newest(13, 0).as_deref(), Some("9.0"));
        assert_eq!(newest(99, 0), None);
    }
}
