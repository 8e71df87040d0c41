//! What the user's build script writes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::declare::TypeNames;
use crate::environment::Environment;
use crate::messages::Messages;
use crate::options::{Options, Standard};
use crate::{Architecture, Error, Format, Source, run};
#[cfg(doc)]
use crate::{Kernel, Nvcc};

/// Compiles `.cu` files and makes them available to the package: the page of the crate shows a whole `build.rs`.
#[derive(Debug, Clone)]
#[must_use = "nothing is built before `run` or `try_run`"]
pub struct Build {
    pub(crate) sources: Vec<Source>,
    pub(crate) options: Options,
    pub(crate) nvcc: Option<PathBuf>,
    pub(crate) committed: Option<PathBuf>,
    pub(crate) oldest_driver: Option<(u32, u32)>,
    pub(crate) types: TypeNames,
    pub(crate) has_declarations: bool,
    pub(crate) generated: String,
}

impl Default for Build {
    fn default() -> Self {
        Self::new()
    }
}

/// The images that were made.
#[derive(Debug, Clone)]
pub struct Images {
    pub(crate) images: Vec<(String, PathBuf)>,
}

impl Images {
    /// The file of an image, by its name: that of the source, without `.cu`.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<&Path> {
        let mut images = self.iter();
        images
            .find(|(known, _)| *known == name)
            .map(|(_, path)| path)
    }

    /// All names with the files of their images, in the order in which the sources were named.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.images
            .iter()
            .map(|(name, path)| (name.as_str(), path.as_path()))
    }
}

impl Build {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            sources: Vec::new(),
            options: Options::default(),
            nvcc: None,
            committed: None,
            oldest_driver: None,
            types: TypeNames::default(),
            has_declarations: true,
            generated: "kernels.rs".into(),
        }
    }

    /// Compiles this file: a path relative to the package's folder, or a [`Source`] with more to say.
    pub fn file(mut self, source: impl Into<Source>) -> Self {
        self.sources.push(source.into());
        self
    }

    /// What the files are compiled to; PTX unless this says otherwise.
    pub fn format(mut self, format: Format) -> Self {
        self.options.format = format;
        self
    }

    /// Compiles for this architecture. A fatbin can have several. PTX runs on this one and all later ones, and is made for the oldest
    /// that the compiler knows by default if none is named.
    pub fn architecture(mut self, architecture: Architecture) -> Self {
        self.options.architectures.push(architecture);
        self
    }

    /// Searches headers in this folder too (`-I`).
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.includes.push(folder.into());
        self
    }

    /// Defines a macro (`-D`): `define("BLOCK", "256")`, or `define("DEBUG", None)` for one without a value.
    pub fn define<'v>(mut self, name: &str, value: impl Into<Option<&'v str>>) -> Self {
        let value = value.into().map(ToOwned::to_owned);
        self.options.defines.push((name.to_owned(), value));
        self
    }

    /// The dialect of C++ (`-std`).
    pub fn standard(mut self, standard: Standard) -> Self {
        self.options.standard = Some(standard);
        self
    }

    /// Lets arithmetic be faster and less exact (`--use_fast_math`).
    pub fn fast_math(mut self) -> Self {
        self.options.fast_math = true;
        self
    }

    /// Keeps which line of the source each instruction comes from (`--generate-line-info`), for profilers and `compute-sanitizer`.
    pub fn line_info(mut self) -> Self {
        self.options.line_info = true;
        self
    }

    /// Compiles for debuggers, without optimisation (`--device-debug`).
    pub fn device_debug(mut self) -> Self {
        self.options.device_debug = true;
        self
    }

    /// The most registers that a thread may take (`--maxrregcount`).
    pub fn max_registers(mut self, registers: u32) -> Self {
        self.options.max_registers = Some(registers);
        self
    }

    /// The C++ compiler that `nvcc` works with (`-ccbin`).
    pub fn host_compiler(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.host_compiler = Some(path.into());
        self
    }

    /// Any other option of `nvcc`, as one word: `flag("--expt-relaxed-constexpr")`.
    pub fn flag(mut self, flag: impl Into<OsString>) -> Self {
        self.options.flags.push(flag.into());
        self
    }

    /// The compiler: its path, or its name in `PATH`. It is searched as [`Nvcc::find`] says unless this names it.
    pub fn nvcc(mut self, path: impl Into<PathBuf>) -> Self {
        self.nvcc = Some(path.into());
        self
    }

    /// Takes PTX from this folder of the package where that fits its source, and where there is no compiler; the page of the crate says
    /// how it gets there.
    pub fn committed(mut self, folder: impl Into<PathBuf>) -> Self {
        self.committed = Some(folder.into());
        self
    }

    /// The CUDA version of the oldest driver that is to run the package, `(12, 4)`: warns when the compiler is newer, as a driver refuses
    /// PTX of toolkits newer than itself.
    pub fn oldest_driver(mut self, major: u32, minor: u32) -> Self {
        self.oldest_driver = Some((major, minor));
        self
    }

    /// The type of Rust that stands for a type of C++ in declarations: `rust_type("Particle", "crate::Particle")`. Namespaces may be left
    /// out.
    pub fn rust_type(mut self, cpp: &str, rust: &str) -> Self {
        self.types.add(cpp, rust);
        self
    }

    /// Writes constants with the images only, so that the package needs nothing of `cuda-driver`.
    pub fn without_declarations(mut self) -> Self {
        self.has_declarations = false;
        self
    }

    /// The name of the Rust file that is written to `OUT_DIR`, `kernels.rs` unless this says otherwise. Each of several builds in one
    /// build script needs its own.
    pub fn generated(mut self, file_name: impl Into<String>) -> Self {
        self.generated = file_name.into();
        self
    }

    /// Builds, tells Cargo what to watch, shows warnings, and ends the build script with an error if something is wrong.
    pub fn run(self) -> Images {
        match self.try_run() {
            Ok(images) => images,
            Err(error) => {
                let mut messages = Messages::default();
                messages.fail(&error.to_string());
                print!("{}", messages.text());
                // Cargo has shown the error; a further one would only repeat it.
                std::process::exit(0);
            }
        }
    }

    /// Builds, tells Cargo what to watch, and shows warnings.
    ///
    /// # Errors
    /// There is no compiler, it refuses a source, or a file cannot be read or written.
    pub fn try_run(self) -> Result<Images, Error> {
        let environment = Environment::of_process();
        let mut messages = Messages::default();
        let result = run::run(&self, &environment, &mut messages);
        for name in environment.asked() {
            messages.watch_variable(name);
        }
        print!("{}", messages.text());
        result
    }
}
