//! What a kernel is compiled for.

use std::fmt;

/// A generation of GPUs: `sm_80`, `sm_90a`, `sm_100f`.
///
/// ```
/// use cuda_build::Architecture;
/// assert_eq!(Architecture::new(8, 6).to_string(), "sm_86");
/// assert_eq!(Architecture::HOPPER.specific().to_string(), "sm_90a");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Architecture {
    major: u32,
    minor: u32,
    features: Features,
}

/// Which instructions beyond those of all later architectures may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Features {
    /// Those that later architectures have too.
    Portable,
    /// Those of the family (`f`).
    Family,
    /// Those of this architecture alone (`a`).
    Specific,
}

impl Architecture {
    /// `sm_50`: GeForce GTX 750 and 900. Compilers up to CUDA 12.
    pub const MAXWELL: Self = Self::new(5, 0);
    /// `sm_60`: Tesla P100. Compilers up to CUDA 12.
    pub const PASCAL: Self = Self::new(6, 0);
    /// `sm_70`: V100. Compilers up to CUDA 12.
    pub const VOLTA: Self = Self::new(7, 0);
    /// `sm_75`: T4, GeForce RTX 20.
    pub const TURING: Self = Self::new(7, 5);
    /// `sm_80`: A100; later Ampere GPUs run its code too.
    pub const AMPERE: Self = Self::new(8, 0);
    /// `sm_89`: L4, L40, GeForce RTX 40. Compilers from CUDA 11.8.
    pub const ADA: Self = Self::new(8, 9);
    /// `sm_90`: H100, H200. Compilers from CUDA 11.8.
    pub const HOPPER: Self = Self::new(9, 0);
    /// `sm_100`: B200. Compilers from CUDA 12.8.
    pub const BLACKWELL: Self = Self::new(10, 0);
    /// `sm_120`: GeForce RTX 50. Compilers from CUDA 12.8.
    pub const BLACKWELL_RTX: Self = Self::new(12, 0);

    /// The architecture of GPUs with this compute capability.
    #[must_use]
    pub const fn new(major: u32, minor: u32) -> Self {
        Self {
            major,
            minor,
            features: Features::Portable,
        }
    }

    /// With the instructions of this architecture alone, `sm_90a`: the result, even PTX, runs nowhere else.
    #[must_use]
    pub const fn specific(mut self) -> Self {
        self.features = Features::Specific;
        self
    }

    /// With the instructions of this family of architectures, `sm_100f`: the result runs in the family only. Compilers from CUDA 12.9.
    #[must_use]
    pub const fn family(mut self) -> Self {
        self.features = Features::Family;
        self
    }

    /// Whether PTX for this architecture runs on all later ones.
    #[must_use]
    pub const fn is_portable(self) -> bool {
        matches!(self.features, Features::Portable)
    }

    /// The architecture as PTX is compiled for it, `compute_80`.
    pub(crate) fn virtual_name(self) -> String {
        format!("compute_{}", self.number())
    }

    /// `90a`.
    fn number(self) -> String {
        let letter = match self.features {
            Features::Portable => "",
            Features::Family => "f",
            Features::Specific => "a",
        };
        format!("{}{}{letter}", self.major, self.minor)
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number())
    }
}

/// What a source is compiled to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Text that the driver compiles for the GPU when it loads it. Runs on the architecture that it was made for and all later ones.
    #[default]
    Ptx,
    /// A binary for one architecture: nothing is left to compile, and it runs on GPUs of that generation only.
    Cubin,
    /// Binaries for several architectures in one file, with PTX of the newest portable one of them for GPUs to come.
    Fatbin,
}

impl Format {
    /// The name of the format in options of `nvcc`, in declarations, and as the end of file names.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ptx => "ptx",
            Self::Cubin => "cubin",
            Self::Fatbin => "fatbin",
        }
    }
}
