//! PTX that is committed beside its source, so that machines without a compiler can build the package.
//!
//! Comments at its head say what it was made of: which files with which contents and options, the types of kernels with C linkage, and
//! the names of parameters. So it can be told whether it still fits, and the same declarations are made as where it was compiled.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::declare::SIZE_OF_LONG;
use crate::environment::Environment;
use crate::fingerprint::Fingerprint;
use crate::interface::{Interface, Names, Probe};
use crate::{Error, ErrorKind};

/// The variable that says what to do with committed PTX.
pub(crate) const VARIABLE: &str = "CUDA_BUILD_COMMITTED";

/// What to do with committed PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Take it where it fits its source, and where there is no compiler.
    Take,
    /// Compile, and write it anew.
    Update,
    /// As `Take`, but it is an error if it does not fit.
    Check,
    /// Compile everything.
    Ignore,
}

impl Mode {
    pub(crate) fn of(environment: &Environment) -> Result<Self, Error> {
        let Some(value) = environment.get(VARIABLE) else {
            return Ok(Self::Take);
        };
        match value.to_str() {
            Some("update") => Ok(Self::Update),
            Some("check") => Ok(Self::Check),
            Some("ignore") => Ok(Self::Ignore),
            _ => Err(Error::usage(format!(
                "{VARIABLE} is {value:?}; it can be `update`, `check` or `ignore`, or not be set"
            ))),
        }
    }
}

/// Committed PTX with what its head says.
#[derive(Debug)]
pub(crate) struct Committed {
    /// The whole text.
    pub(crate) text: String,
    /// Of the files that it was made of, and of the options.
    made_of: Option<Fingerprint>,
    /// The files that it was made of, relative to the package's folder.
    pub(crate) inputs: Vec<PathBuf>,
    /// Of the PTX.
    body: Option<Fingerprint>,
    pub(crate) probe: Probe,
    pub(crate) names: Names,
    pub(crate) size_of_long: usize,
}

impl Committed {
    /// The file of an image's name in the folder of committed ones.
    pub(crate) fn file(folder: &Path, name: &str) -> PathBuf {
        folder.join(format!("{name}.ptx"))
    }

    /// Reads a file; nothing if there is none.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, Error> {
        match fs::read_to_string(path) {
            Ok(text) => Ok(Some(Self::read_text(text))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("cannot read the committed", path, error)),
        }
    }

    /// Takes a text for committed PTX; what its head does not say is unknown.
    pub(crate) fn read_text(text: String) -> Self {
        let mut made_of = None;
        let mut inputs = Vec::new();
        let mut stated_body = None;
        let mut symbols = Vec::new();
        let mut names = Names::default();
        let mut size_of_long = SIZE_OF_LONG;
        for line in text.lines().take_while(|line| line.starts_with("//")) {
            let Some(said) = line.strip_prefix(PREFIX) else {
                continue;
            };
            match said.split_once(' ') {
                Some(("made-of", value)) => made_of = value.parse().ok(),
                Some(("input", value)) => inputs.push(PathBuf::from(value)),
                Some(("body", value)) => stated_body = value.parse().ok(),
                Some(("long", value)) => size_of_long = value.parse().unwrap_or(size_of_long),
                Some(("types", value)) => symbols.extend(value.split_once(' ')),
                Some(("names", value)) => {
                    let mut words = value.split(' ');
                    let kernel = words.next().unwrap_or_default();
                    let known = words.map(|word| Some(word.to_owned()).filter(|word| word != "-"));
                    names.add(kernel, known.collect());
                }
                _ => {}
            }
        }
        let probe = Probe::from_symbols(symbols);
        Self {
            made_of,
            inputs,
            body: stated_body,
            probe,
            names,
            size_of_long,
            text,
        }
    }

    /// Whether it was made of what its files and the options are now, and not changed since.
    pub(crate) fn fits(&self, package: &Path, options: Fingerprint) -> bool {
        let now = fingerprint(package, &self.inputs, options);
        let body = Fingerprint::of(&without_returns(body(&self.text).as_bytes()));
        self.made_of.is_some() && self.made_of == now && self.body == Some(body)
    }
}

const PREFIX: &str = "// cuda-build: ";

/// What committed PTX is made of.
#[derive(Debug)]
pub(crate) struct New<'a> {
    pub(crate) source: &'a str,
    pub(crate) compiler: &'a str,
    pub(crate) ptx: &'a str,
    pub(crate) inputs: &'a [PathBuf],
    pub(crate) interface: &'a Interface,
    pub(crate) probe: &'a Probe,
}

impl New<'_> {
    /// The text to commit.
    pub(crate) fn text(&self, package: &Path, options: Fingerprint) -> Result<String, Error> {
        let made_of = fingerprint(package, self.inputs, options).ok_or_else(|| {
            let message = format!("cannot read again what {} was made of", self.source);
            Error::new(ErrorKind::Committed, message)
        })?;
        let mut text = format!(
            "// Made from {} by cuda-build. To make it anew: {VARIABLE}=update cargo build\n{PREFIX}made-of {made_of}\n",
            self.source
        );
        for input in self.inputs {
            let _ = writeln!(text, "{PREFIX}input {}", slashed(input));
        }
        let _ = writeln!(
            text,
            "{PREFIX}nvcc {}\n{PREFIX}long {SIZE_OF_LONG}\n{PREFIX}body {}",
            self.compiler,
            Fingerprint::of(&without_returns(body(self.ptx).as_bytes()))
        );
        for (kernel, symbol) in self.probe.symbols() {
            let _ = writeln!(text, "{PREFIX}types {kernel} {symbol}");
        }
        let mut named = BTreeSet::new();
        for kernel in &self.interface.kernels {
            let names = kernel
                .parameters
                .iter()
                .map(|one| one.name.as_deref().unwrap_or("-"));
            let words = [kernel.name.unqualified()].into_iter().chain(names);
            let words: Vec<&str> = words.collect();
            let line = words.join(" ");
            // The instances of a template have the same.
            if named.insert(line.clone()) {
                let _ = writeln!(text, "{PREFIX}names {line}");
            }
        }
        text.push('\n');
        text.push_str(body(self.ptx));
        Ok(text)
    }
}

/// PTX without the comments at its head.
pub(crate) fn body(ptx: &str) -> &str {
    let mut rest = ptx;
    while let Some((line, after)) = rest.split_once('\n') {
        if !line.trim().is_empty() && !line.starts_with("//") {
            break;
        }
        rest = after;
    }
    rest
}

/// Those of the files that were read which belong to the package's author, relative to the package's folder: the others are of the
/// toolkit and the system, or were made by the build.
pub(crate) fn own_inputs(package: &Path, out: &Path, inputs: &[PathBuf]) -> Vec<PathBuf> {
    let own = inputs.iter().filter_map(|input| {
        if package.join(input).starts_with(out) {
            return None;
        }
        if input.is_relative() {
            return Some(input.clone());
        }
        input.strip_prefix(package).ok().map(Path::to_owned)
    });
    let mut own: Vec<PathBuf> = own.collect();
    own.sort();
    own.dedup();
    own
}

/// Of files with their names, and of options; nothing if a file cannot be read. How lines end does not count: git changes it.
pub(crate) fn fingerprint(
    package: &Path,
    inputs: &[PathBuf],
    options: Fingerprint,
) -> Option<Fingerprint> {
    let mut all = options;
    for input in inputs {
        let content = fs::read(package.join(input)).ok()?;
        all = all
            .with(slashed(input).as_bytes())
            .with(&without_returns(&content));
    }
    Some(all)
}

fn without_returns(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|&byte| byte != b'\r').collect()
}

/// A path as it is written on every system.
fn slashed(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

#[cfg(test)]
#[path = "committed_tests.rs"]
mod tests;
