//! What the user's build script writes.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::compile::{Job, Limit, Tools, run_all};
use crate::environment::Environment;
use crate::generate;
use crate::messages::Messages;
use crate::nvcc::Nvcc;
use crate::options::{Options, Standard};
use crate::{Architecture, Error, Format, Source};

/// Compiles `.cu` files and makes them available to the package: the page of the crate shows a whole `build.rs`.
#[derive(Debug, Clone)]
#[must_use = "nothing is built before `run` or `try_run`"]
pub struct Build {
    sources: Vec<Source>,
    options: Options,
    nvcc: Option<PathBuf>,
    generated: String,
}

impl Default for Build {
    fn default() -> Self {
        Self::new()
    }
}

/// The images that were made.
#[derive(Debug, Clone)]
pub struct Images {
    images: Vec<(String, PathBuf)>,
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

    /// The name of the Rust file that is written to `OUT_DIR`, `kernels.rs` unless this says otherwise.
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
        let result = self.run_in(&environment, &mut messages);
        for name in environment.asked() {
            messages.watch_variable(name);
        }
        print!("{}", messages.text());
        result
    }

    fn run_in(&self, environment: &Environment, messages: &mut Messages) -> Result<Images, Error> {
        let package = environment.folder_of_cargo("CARGO_MANIFEST_DIR")?;
        let out = environment.folder_of_cargo("OUT_DIR")?;
        messages.watch_file(Path::new("build.rs"));
        self.options.check()?;
        let units = self.units(&package, messages)?;
        let images = out.join("cuda-build");
        fs::create_dir_all(&images).map_err(|error| Error::io("cannot make", &images, error))?;
        let nvcc = match &self.nvcc {
            Some(path) => Nvcc::at_in(environment, path)?,
            None => Nvcc::find_in(environment)?,
        };
        messages.watch_file(nvcc.path());
        let tools = Tools::new(environment, nvcc, package);
        let format = self.options.format;
        let mut arguments = self.options.target(format);
        arguments.extend(self.options.language());
        arguments.extend(self.options.places());
        let job = |(name, source): &(String, PathBuf)| Job {
            source: source.clone(),
            output: images.join(format!("{name}.{}", format.name())),
            arguments: arguments.clone(),
        };
        let jobs: Vec<Job> = units.iter().map(job).collect();
        let made = jobs.iter().map(|job| job.output.clone());
        let images = units
            .iter()
            .map(|(name, _)| name.clone())
            .zip(made)
            .collect();
        let results = run_all(&Limit::of(environment), jobs, |job| job.run(&tools));
        let mut failed = Vec::new();
        for result in results {
            match result {
                Ok(compiled) => {
                    for input in &compiled.inputs {
                        messages.watch_file(input);
                    }
                    for warning in &compiled.warnings {
                        messages.warn(warning);
                    }
                }
                Err(error) => failed.push(error),
            }
        }
        if let Some(error) = Error::all(failed) {
            return Err(error);
        }
        let images = Images { images };
        generate::write(&out.join(&self.generated), &images, format)?;
        Ok(images)
    }

    /// The sources, each with the name of its image.
    fn units(
        &self,
        package: &Path,
        messages: &mut Messages,
    ) -> Result<Vec<(String, PathBuf)>, Error> {
        let mut units: Vec<(String, PathBuf)> = Vec::new();
        for source in &self.sources {
            let name = source.image_name()?;
            messages.watch_file(&source.path);
            if !package.join(&source.path).is_file() {
                return Err(Error::usage(format!(
                    "there is no file {} in {}",
                    source.path.display(),
                    package.display()
                )));
            }
            if let Some((_, other)) = units.iter().find(|(known, _)| *known == name) {
                return Err(Error::usage(format!(
                    "{} and {} would both be named {name}: give one another name with `Source::name`",
                    other.display(),
                    source.path.display()
                )));
            }
            units.push((name, source.path.clone()));
        }
        Ok(units)
    }
}
