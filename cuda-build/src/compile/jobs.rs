//! One job: one command of the compiler, which makes one image of one source.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use super::record::{Inputs, Record, of_file};
use super::shadows::{Listings, search_path};
use super::{dependencies, diagnostics};
use crate::environment::Environment;
use crate::fingerprint::Fingerprint;
use crate::nvcc::Nvcc;
use crate::options::joined;
use crate::{Error, ErrorKind};

/// What all jobs share.
#[derive(Debug)]
pub(crate) struct Tools {
    nvcc: Nvcc,
    /// Where commands run: the package's folder.
    folder: PathBuf,
    /// The C++ compiler that NVCC_CCBIN names. Older compilers do not read that variable themselves.
    host_compiler: Option<OsString>,
    /// The compiler, and the variables that change what it does.
    identity: Fingerprint,
    inputs: Inputs,
    listings: Listings,
}

impl Tools {
    pub(crate) fn new(environment: &Environment, nvcc: Nvcc, folder: PathBuf) -> Self {
        let mut identity = Fingerprint::of(nvcc.path().as_os_str().as_encoded_bytes())
            .with(nvcc.version().to_string().as_bytes())
            .with(nvcc.build().as_bytes());
        for name in [
            "NVCC_PREPEND_FLAGS",
            "NVCC_APPEND_FLAGS",
            "NVCC_CCBIN",
            "CPATH",
            "CPLUS_INCLUDE_PATH",
        ] {
            let value = environment.get(name).unwrap_or_default();
            identity = identity.with(value.as_encoded_bytes());
        }
        Self {
            nvcc,
            folder,
            host_compiler: environment.get("NVCC_CCBIN"),
            identity,
            inputs: Inputs::default(),
            listings: Listings::default(),
        }
    }
}

impl Tools {
    pub(crate) fn nvcc(&self) -> &Nvcc {
        &self.nvcc
    }
}

/// A command to run.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// The source; relative to the package's folder where it lies in it.
    pub(crate) source: PathBuf,
    /// The image to write.
    pub(crate) output: PathBuf,
    /// Everything but the names of files.
    pub(crate) arguments: Vec<OsString>,
}

/// A job that is done.
#[derive(Debug, Clone)]
pub(crate) struct Compiled {
    /// The files that were read, the source first. Relative ones start at the package's folder.
    pub(crate) inputs: Vec<PathBuf>,
    /// What the compiler said.
    pub(crate) warnings: Vec<String>,
}

impl Job {
    /// Runs the command, unless an earlier run of the same command read and wrote what there is now.
    pub(crate) fn run(&self, tools: &Tools) -> Result<Compiled, Error> {
        let beside = |extension: &str| {
            let mut name = self.output.clone().into_os_string();
            name.push(extension);
            PathBuf::from(name)
        };
        let (rule, unfinished, record) = (beside(".d"), beside(".part"), beside(".record"));
        let mut command = self.command(tools, &unfinished, &rule);
        let fingerprint = self.fingerprint(tools);
        if let Some(earlier) = Record::read(&record)
            && earlier.holds(fingerprint, &tools.folder, &tools.inputs)
        {
            let shadows = earlier.shadows;
            let compiled = Compiled::from(earlier);
            if self.shadows(tools, &compiled) == shadows {
                return Ok(compiled);
            }
        }
        for file in [&record, &self.output, &rule] {
            remove(file)?;
        }
        let start = SystemTime::now();
        let output = command
            .output()
            .map_err(|error| Error::io("cannot run the compiler", tools.nvcc.path(), error))?;
        if !output.status.success() {
            return Err(diagnostics::refused(
                &tools.nvcc,
                &command,
                &self.source,
                &output,
            ));
        }
        let rule = fs::read_to_string(&rule)
            .map_err(|error| Error::io("cannot read what nvcc read, in", &rule, error))?;
        let inputs = dependencies::parse(&rule);
        if inputs.is_empty() {
            let source = self.source.display();
            let message = format!("nvcc does not say which files it read for {source}: {rule:?}");
            return Err(Error::new(ErrorKind::Compile, message));
        }
        fs::rename(&unfinished, &self.output)
            .map_err(|error| Error::io("cannot write", &self.output, error))?;
        let warnings = diagnostics::lines(&output, &self.source);
        let compiled = Compiled { inputs, warnings };
        if let Some(made) = self.record(tools, fingerprint, &compiled, start) {
            made.write(&record)
                .map_err(|error| Error::io("cannot write", &record, error))?;
        }
        Ok(compiled)
    }

    fn command(&self, tools: &Tools, output: &Path, rule: &Path) -> Command {
        let mut command = Command::new(tools.nvcc.path());
        command.current_dir(&tools.folder).args(&self.arguments);
        for folder in tools.nvcc.includes() {
            command.arg(joined("-I", folder));
        }
        let names_compiler = |argument: &OsString| {
            let text = argument.to_string_lossy();
            text.starts_with("-ccbin") || text.starts_with("--compiler-bindir")
        };
        if let Some(compiler) = &tools.host_compiler
            && !self.arguments.iter().any(names_compiler)
        {
            command.arg("-ccbin").arg(compiler);
        }
        command.arg("--generate-dependencies-with-compile");
        command.arg("--dependency-output").arg(rule);
        command.arg("-o").arg(output).arg(&self.source);
        command
    }

    fn fingerprint(&self, tools: &Tools) -> Fingerprint {
        let words = self.arguments.iter().map(|argument| argument.as_os_str());
        let words = words.chain([self.source.as_os_str()]);
        words.fold(tools.identity, |state, word| {
            state.with(word.as_encoded_bytes())
        })
    }

    fn shadows(&self, tools: &Tools, compiled: &Compiled) -> Fingerprint {
        let search_path = search_path(&self.arguments);
        tools
            .listings
            .fingerprint(&tools.folder, &search_path, &compiled.inputs)
    }

    /// What to remember; nothing if a file was written while the compiler ran, as it is not known which of its contents were read.
    fn record(
        &self,
        tools: &Tools,
        command: Fingerprint,
        compiled: &Compiled,
        start: SystemTime,
    ) -> Option<Record> {
        let inputs = compiled.inputs.iter().map(|input| {
            let path = tools.folder.join(input);
            let modified = fs::metadata(&path).ok()?.modified().ok()?;
            let content = tools.inputs.fingerprint(&path)?;
            (modified < start).then(|| (input.clone(), content))
        });
        Some(Record {
            command,
            outputs: vec![(self.output.clone(), of_file(&self.output)?)],
            inputs: inputs.collect::<Option<_>>()?,
            shadows: self.shadows(tools, compiled),
            warnings: compiled.warnings.clone(),
        })
    }
}

impl From<Record> for Compiled {
    fn from(record: Record) -> Self {
        Self {
            inputs: record.inputs.into_iter().map(|(path, _)| path).collect(),
            warnings: record.warnings,
        }
    }
}

/// Removes a file that need not be there.
fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("cannot remove", path, error))
        }
        _ => Ok(()),
    }
}
