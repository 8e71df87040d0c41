//! Architectures: what code is made for.

use std::fmt;
use std::str::FromStr;

use cuda_driver::ComputeCapability;

use crate::error::{Error, ErrorKind};

/// What code is made for: a compute capability, and whether it may use what only that one has.
///
/// The prefix (`compute_` for PTX, `sm_` for a cubin) follows from the output, so both are read as the same.
///
/// ```
/// use cuda_nvrtc::Architecture;
///
/// let hopper: Architecture = "sm_90a".parse()?;
/// assert_eq!(hopper, Architecture::new(9, 0).specific());
/// assert_eq!("compute_90a".parse::<Architecture>()?, hopper);
/// assert_eq!(hopper.to_string(), "90a");
/// # Ok::<(), cuda_nvrtc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Architecture {
    capability: ComputeCapability,
    features: Features,
}

/// Which devices code may run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Features {
    /// PTX on every later device, a cubin on later ones of the same generation.
    Portable,
    /// The devices of the family: `f`.
    Family,
    /// Exactly this one: `a`.
    Specific,
}

impl Architecture {
    /// A compute capability by its two numbers, without what later devices do not have.
    #[must_use]
    pub const fn new(major: u32, minor: u32) -> Self {
        Self::of(ComputeCapability::new(major, minor))
    }

    /// That of a device, without what later devices do not have.
    #[must_use]
    pub const fn of(capability: ComputeCapability) -> Self {
        Self {
            capability,
            features: Features::Portable,
        }
    }

    /// With the features that only this architecture has, such as `wgmma` of `sm_90a`; the code runs on no other.
    #[must_use]
    pub const fn specific(mut self) -> Self {
        self.features = Features::Specific;
        self
    }

    /// With the features that its family of architectures has (`sm_100f`, CUDA 12.9 and newer).
    #[must_use]
    pub const fn family(mut self) -> Self {
        self.features = Features::Family;
        self
    }

    /// The compute capability.
    #[must_use]
    pub const fn capability(self) -> ComputeCapability {
        self.capability
    }

    /// The number that compilers give to it, such as 90.
    pub(crate) fn number(self) -> u32 {
        let ComputeCapability { major, minor } = self.capability;
        major.saturating_mul(10).saturating_add(minor)
    }

    /// As compilers name it with their number.
    pub(crate) fn from_number(number: u32) -> Self {
        Self::new(number / 10, number % 10)
    }
}

impl fmt::Display for Architecture {
    /// As it stands after `sm_` or `compute_`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.features {
            Features::Portable => "",
            Features::Family => "f",
            Features::Specific => "a",
        };
        write!(f, "{}{suffix}", self.number())
    }
}

impl FromStr for Architecture {
    type Err = Error;

    /// Reads `sm_90`, `compute_90` or `90`, each with `a` or `f` behind it or nothing.
    fn from_str(text: &str) -> Result<Self, Error> {
        let name = text
            .strip_prefix("sm_")
            .or_else(|| text.strip_prefix("compute_"))
            .unwrap_or(text);
        let (digits, features) = if let Some(digits) = name.strip_suffix('a') {
            (digits, Features::Specific)
        } else if let Some(digits) = name.strip_suffix('f') {
            (digits, Features::Family)
        } else {
            (name, Features::Portable)
        };
        let plain = (2..=4).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_digit());
        match digits.parse() {
            Ok(number) if plain => Ok(Self {
                features,
                ..Self::from_number(number)
            }),
            _ => Err(Error::new(
                ErrorKind::UnsupportedArchitecture,
                format!("`{text}` is no architecture"),
            )
            .remedied_by("write one such as `sm_80`, `compute_90` or `sm_90a`")),
        }
    }
}

impl From<ComputeCapability> for Architecture {
    fn from(capability: ComputeCapability) -> Self {
        Self::of(capability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for (text, written) in [
            ("sm_75", "75"),
            ("compute_100f", "100f"),
            ("90a", "90a"),
            ("120", "120"),
        ] {
            assert_eq!(text.parse::<Architecture>().unwrap().to_string(), written);
        }
    }

    #[test]
    fn what_is_no_architecture_is_refused_by_its_name() {
        for text in [
            "", "sm_", "sm_9", "sm_9x", "sm_90b", "lto_90", "sm_99999", "sm_+90", "sm_9０",
        ] {
            let error = text.parse::<Architecture>().unwrap_err();
            assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
        }
    }
}
