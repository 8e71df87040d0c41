//! What a compilation gave.

use std::fmt;

use cuda_driver::Version;

use crate::architecture::Architecture;
use crate::diagnostic::{self, Diagnostic};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Output;

/// A compiled program: its image, the names in it, and what the compiler remarked.
///
/// # Invariants
/// The image is what NVRTC made, unchanged: it comes from NVRTC itself, or from the cache, to which only the user can write and
/// which finds damage by a checksum.
#[derive(Clone)]
pub struct Compiled {
    parts: Parts,
    warnings: Vec<Diagnostic>,
    cache_use: CacheUse,
}

/// What the [cache](crate::Cache) had to do with a compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheUse {
    /// It was found in the cache; nothing was compiled.
    Found,
    /// It was compiled, and is in the cache now.
    Kept,
    /// It was compiled, and is not kept, for this reason.
    NotKept(String),
}

/// What a compilation consists of.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) output: Output,
    pub(crate) architecture: Option<Architecture>,
    pub(crate) version: Version,
    pub(crate) image: Vec<u8>,
    /// Each expression with its name in the image.
    pub(crate) names: Vec<(String, String)>,
    pub(crate) log: String,
}

impl Compiled {
    pub(crate) fn new(parts: Parts, cache_use: CacheUse) -> Self {
        Self {
            warnings: diagnostic::parse(&parts.log),
            parts,
            cache_use,
        }
    }

    /// Whether it was compiled now, and if it is not kept in the cache, why.
    #[must_use]
    pub fn cache_use(&self) -> &CacheUse {
        &self.cache_use
    }

    /// What was made.
    #[must_use]
    pub fn output(&self) -> Output {
        self.parts.output
    }

    /// What it was made for; `None` for the compiler's default.
    #[must_use]
    pub fn architecture(&self) -> Option<Architecture> {
        self.parts.architecture
    }

    /// The version of the compiler.
    #[must_use]
    pub fn compiler_version(&self) -> Version {
        self.parts.version
    }

    /// The bytes: a cubin, LTO-IR, or PTX without the NUL that C puts behind it.
    #[must_use]
    #[doc(alias = "nvrtcGetCUBIN")]
    #[doc(alias = "nvrtcGetLTOIR")]
    pub fn image(&self) -> &[u8] {
        &self.parts.image
    }

    /// The text, if PTX was made.
    #[must_use]
    #[doc(alias = "nvrtcGetPTX")]
    pub fn ptx(&self) -> Option<&str> {
        match self.parts.output {
            Output::Ptx => std::str::from_utf8(&self.parts.image).ok(),
            Output::Cubin | Output::LtoIr => None,
        }
    }

    /// The name in the image of what an expression names that was asked for by [`Program::instance`](crate::Program::instance).
    ///
    /// # Errors
    /// [`ErrorKind::NameExpression`] with those that were asked for.
    #[doc(alias = "nvrtcGetLoweredName")]
    #[doc(alias = "get_mangled_name")]
    pub fn name(&self, expression: &str) -> Result<&str> {
        self.lowered(expression).ok_or_else(|| {
            let asked: Vec<&str> = self.parts.names.iter().map(|(it, _)| it.as_str()).collect();
            let reason = match asked.as_slice() {
                [] => "the program was compiled without name expressions".to_owned(),
                asked => format!("the program was compiled with `{}`", asked.join("`, `")),
            };
            Error::new(ErrorKind::NameExpression, reason)
                .doing(format!("name `{expression}` in the image"))
                .remedied_by(format!("ask for it by `Program::instance({expression:?})`"))
        })
    }

    /// The same, or nothing.
    pub(crate) fn lowered(&self, expression: &str) -> Option<&str> {
        let names = &self.parts.names;
        let found = names.iter().find(|(it, _)| it == expression);
        let found = found.or_else(|| names.iter().find(|(it, _)| is_same(it, expression)));
        found.map(|(_, name)| name.as_str())
    }

    /// The expressions that were asked for, each with its name in the image.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.parts.names.iter();
        names.map(|(expression, name)| (expression.as_str(), name.as_str()))
    }

    /// The warnings and remarks of the compiler.
    #[must_use]
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// All that the compiler said, word for word.
    #[must_use]
    #[doc(alias = "nvrtcGetProgramLog")]
    pub fn log(&self) -> &str {
        &self.parts.log
    }
}

/// Whether two expressions differ in blanks only.
fn is_same(a: &str, b: &str) -> bool {
    let tight = |text: &str| {
        text.chars()
            .filter(|it| !it.is_whitespace())
            .collect::<String>()
    };
    tight(a) == tight(b)
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled")
            .field("output", &self.parts.output)
            .field(
                "architecture",
                &self.parts.architecture.map(|it| it.to_string()),
            )
            .field("compiler_version", &self.parts.version.to_string())
            .field("size_in_bytes", &self.parts.image.len())
            .field("names", &self.parts.names)
            .field("warnings", &self.warnings.len())
            .field("cache_use", &self.cache_use)
            .finish_non_exhaustive()
    }
}
