//! Compute capabilities: what the instructions of a generation of devices can do.

use std::fmt;

use super::attribute::FromAttributes;

/// A compute capability, such as 9.0.
///
/// ```
/// use cuda_driver::ComputeCapability;
///
/// let hopper = ComputeCapability::new(9, 0);
/// assert_eq!(hopper.to_string(), "9.0");
/// assert_eq!(hopper.target(), "sm_90");
/// assert!(hopper > ComputeCapability::new(8, 9));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCapability {
    /// The generation.
    pub major: u32,
    /// The step within the generation.
    pub minor: u32,
}

impl ComputeCapability {
    /// A compute capability by its two numbers.
    #[must_use]
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// The name that compilers give to it, such as `sm_90`.
    #[must_use]
    pub fn target(self) -> String {
        format!("sm_{}{}", self.major, self.minor)
    }
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromAttributes<2> for ComputeCapability {
    fn from_attributes(values: [i32; 2]) -> Option<Self> {
        let [major, minor] = <[u32; 2]>::from_attributes(values)?;
        Some(Self { major, minor })
    }
}
