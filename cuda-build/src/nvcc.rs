//! The compiler: where it is, which version it is, and what it needs besides.

mod missing;
mod pip;
mod search;
mod version;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::{Error, ErrorKind};
pub use version::Version;

/// A compiler that was found and runs.
#[derive(Debug, Clone)]
pub struct Nvcc {
    path: PathBuf,
    origin: Origin,
    version: Version,
    /// The last line of its `--version`, which differs between builds of one version.
    build: String,
    /// Folders with CUDA's own headers that it does not find by itself.
    includes: Vec<PathBuf>,
}

/// Who said where the compiler is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The build script.
    Script,
    /// A variable of the environment.
    Variable(&'static str),
    /// Packages of pip, in this folder.
    Packages(PathBuf),
    /// `PATH`.
    Path,
    /// A place where toolkits are usually installed.
    UsualPlace,
}

impl Nvcc {
    /// Searches the compiler: `NVCC`; `bin` of `CUDA_HOME`, `CUDA_PATH` and `CUDA_ROOT`; pip's packages in `VIRTUAL_ENV` and
    /// `CONDA_PREFIX`; `PATH`; the places where toolkits are usually installed; pip's packages of the `python3` in `PATH`.
    ///
    /// # Errors
    /// None was found that runs. The error lists every place that was looked at, what was there, and what to install.
    pub fn find() -> Result<Self, Error> {
        search::find(&Environment::of_process())
    }

    /// The compiler at this path, or with this name in `PATH`.
    ///
    /// # Errors
    /// It is not there, does not run, is not `nvcc`, or is older than CUDA 11.0.
    pub fn at(path: impl AsRef<Path>) -> Result<Self, Error> {
        search::named(&Environment::of_process(), path.as_ref(), Origin::Script)
    }

    pub(crate) fn find_in(environment: &Environment) -> Result<Self, Error> {
        search::find(environment)
    }

    pub(crate) fn at_in(environment: &Environment, path: &Path) -> Result<Self, Error> {
        search::named(environment, path, Origin::Script)
    }

    /// The program.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The version of the toolkit that it belongs to.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// What distinguishes this compiler from others.
    pub(crate) fn build(&self) -> &str {
        &self.build
    }

    /// Folders with CUDA's own headers that it does not find by itself.
    pub(crate) fn includes(&self) -> &[PathBuf] {
        &self.includes
    }

    /// Takes a program for the compiler if it runs, says that it is `nvcc`, and has what it needs.
    fn probe(path: PathBuf, origin: Origin) -> Result<Self, String> {
        let (version, build) = version::of(&path)?;
        if version < Version::OLDEST {
            return Err(format!(
                "is of CUDA {version}, and the oldest that is supported is {}",
                Version::OLDEST
            ));
        }
        let includes = missing::includes(&path)?;
        Ok(Self {
            path,
            origin,
            version,
            build,
            includes,
        })
    }
}

impl fmt::Display for Nvcc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            version,
            origin,
            ..
        } = self;
        write!(f, "nvcc {version} at {}, {origin}", path.display())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Script => f.write_str("which the build script names"),
            Self::Variable(name) => write!(f, "which {name} names"),
            Self::Packages(folder) => write!(f, "of pip's packages in {}", folder.display()),
            Self::Path => f.write_str("from PATH"),
            Self::UsualPlace => f.write_str("where toolkits are usually installed"),
        }
    }
}

/// The error of a compiler that was named and cannot be used.
fn unusable(path: &Path, origin: &Origin, why: &str) -> Error {
    Error::new(
        ErrorKind::NoCompiler,
        format!("cannot use the nvcc {}, {origin}: it {why}", path.display()),
    )
}
