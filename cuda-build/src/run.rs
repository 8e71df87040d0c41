//! What a build does, in its order.

mod compile;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::build::{Build, Images};
use crate::committed::{Committed, Mode, VARIABLE};
use crate::compile::Tools;
use crate::environment::Environment;
use crate::fingerprint::Fingerprint;
use crate::messages::Messages;
use crate::nvcc::Nvcc;
use crate::unit::Unit;
use crate::{Error, ErrorKind, Format, Source, generate};

/// Compiles or takes every source, and writes the Rust file.
pub(crate) fn run(
    build: &Build,
    environment: &Environment,
    messages: &mut Messages,
) -> Result<Images, Error> {
    let package = environment.folder_of_cargo("CARGO_MANIFEST_DIR")?;
    let out = environment.folder_of_cargo("OUT_DIR")?;
    messages.watch_file(Path::new("build.rs"));
    build.options.check()?;
    let folder = out.join("cuda-build");
    fs::create_dir_all(&folder)
        .map_err(|error| Error::io("cannot make the folder", &folder, error))?;
    claim(&out.join(&build.generated), "generated")?;
    let mut run = Run {
        build,
        environment,
        messages,
        package,
        out,
        folder,
    };
    run.check_includes();
    let units = run.units()?;
    run.write(&units)?;
    let images = units.into_iter().map(|unit| (unit.name, unit.image));
    Ok(Images {
        images: images.collect(),
    })
}

/// Sees to it that two builds of one build script do not overwrite each other's files.
fn claim(file: &Path, method: &str) -> Result<(), Error> {
    static CLAIMED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
    if claimed.insert(file.to_owned()) {
        return Ok(());
    }
    let name = file.file_name().unwrap_or_default().display();
    Err(Error::usage(format!(
        "another build of this build script has written {name}: name this one's otherwise, with `{method}`"
    )))
}

struct Run<'r> {
    build: &'r Build,
    environment: &'r Environment,
    messages: &'r mut Messages,
    package: PathBuf,
    out: PathBuf,
    /// Where images are written.
    folder: PathBuf,
}

/// A source on its way.
struct Wanted<'r> {
    name: String,
    source: &'r Source,
    committed: Option<Committed>,
    /// Whether what is committed was made of what there is now.
    fits: bool,
}

impl<'r> Run<'r> {
    fn units(&mut self) -> Result<Vec<Unit>, Error> {
        let mode = match self.build.committed {
            Some(_) => Mode::of(self.environment)?,
            None => Mode::Ignore,
        };
        let wanted = self.wanted(mode)?;
        let is_taken = |wanted: &Wanted<'_>| {
            matches!(mode, Mode::Take | Mode::Check)
                && wanted.fits
                && self.build.options.format == Format::Ptx
        };
        if wanted.iter().all(is_taken) {
            return wanted.into_iter().map(|wanted| self.take(wanted)).collect();
        }
        let nvcc = match &self.build.nvcc {
            Some(path) => Nvcc::at_in(self.environment, path),
            None => Nvcc::find_in(self.environment),
        };
        let nvcc = match nvcc {
            Ok(nvcc) => nvcc,
            Err(error) => return self.without_compiler(wanted, mode, error),
        };
        self.messages.watch_file(nvcc.path());
        let tools = Tools::new(self.environment, nvcc, self.package.clone());
        let (taken, compiled): (Vec<_>, Vec<_>) = wanted.into_iter().partition(is_taken);
        let mut units = self.compile(&tools, compiled, mode)?;
        for wanted in taken {
            units.push(self.take(wanted)?);
        }
        // In the order in which the sources were named.
        let place = |unit: &Unit| {
            let mut names = self.build.sources.iter().map(Source::image_name);
            names.position(|name| name.is_ok_and(|name| name == unit.name))
        };
        units.sort_by_key(place);
        Ok(units)
    }

    /// The sources, each with the name of its image and what is committed of it.
    fn wanted(&mut self, mode: Mode) -> Result<Vec<Wanted<'r>>, Error> {
        let mut all: Vec<Wanted<'r>> = Vec::new();
        for source in &self.build.sources {
            let name = source.image_name()?;
            self.messages.watch_file(&source.path);
            self.check_source(source)?;
            if all.iter().any(|other| other.source.path == source.path) && source.name.is_none() {
                let source = source.shown();
                return Err(Error::usage(format!(
                    "{source} is named twice: once is enough, or give one a name of its own with `Source::name`"
                )));
            }
            if let Some(other) = all.iter().find(|other| other.name == name) {
                return Err(Error::usage(format!(
                    "{} and {} would both be named {name}: give one another name with `Source::name`",
                    other.source.shown(),
                    source.shown()
                )));
            }
            claim(&self.folder.join(&name), "Source::name")?;
            let mut committed = None;
            let mut fits = false;
            if let Some(folder) = &self.build.committed {
                let file = Committed::file(folder, &name);
                self.messages.watch_file(&file);
                committed = Committed::read(&self.package.join(&file))?;
                if let Some(committed) = &committed {
                    for input in &committed.inputs {
                        self.messages.watch_file(input);
                    }
                    fits = committed.fits(&self.package, self.options());
                }
                if mode == Mode::Check && !fits {
                    return Err(not_up_to_date(&file, source, committed.is_some()));
                }
            }
            all.push(Wanted {
                name,
                source,
                committed,
                fits,
            });
        }
        Ok(all)
    }

    /// Warns of folders that the compiler would pass over in silence.
    fn check_includes(&mut self) {
        for folder in &self.build.options.includes {
            if !self.package.join(folder).is_dir() {
                self.messages.warn(&format!(
                    "there is no folder {}, in which headers are to be searched",
                    folder.display()
                ));
            }
        }
    }

    /// Whether there is such a file.
    fn check_source(&self, source: &Source) -> Result<(), Error> {
        let path = self.package.join(&source.path);
        if path.is_file() {
            return Ok(());
        }
        let text = source.path.to_string_lossy();
        let slashes = self.package.join(text.replace('\\', "/"));
        let package = self.package.display();
        Err(Error::usage(if path.is_dir() {
            format!("{text} is a folder: name each of its files with `Build::file`")
        } else if slashes.is_file() {
            format!(
                "there is no file {text} in {package}: write its path with `/`, which every system takes"
            )
        } else {
            format!("there is no file {text} in {package}")
        }))
    }

    /// Of the options that PTX depends on.
    fn options(&self) -> Fingerprint {
        let options = &self.build.options;
        let words = options
            .target(Format::Ptx)
            .into_iter()
            .chain(options.language());
        words.fold(Fingerprint::EMPTY, |state, word| {
            state.with(word.as_encoded_bytes())
        })
    }

    /// Takes what is committed of all sources.
    fn without_compiler(
        &mut self,
        wanted: Vec<Wanted<'_>>,
        mode: Mode,
        error: Error,
    ) -> Result<Vec<Unit>, Error> {
        let is_missing = |wanted: &&Wanted<'_>| wanted.committed.is_none();
        if mode == Mode::Update || mode == Mode::Ignore || error.kind() != ErrorKind::NoCompiler {
            return Err(error);
        }
        if let Some(missing) = wanted.iter().find(is_missing) {
            let source = missing.source.shown();
            return Err(error.with_first_line(&format!(
                "no PTX of {source} is committed, and there is no compiler:"
            )));
        }
        for wanted in wanted.iter().filter(|wanted| !wanted.fits) {
            self.messages.warn(&format!(
                "the committed PTX of {} is older than its source or was made with other options, and is taken because there is no nvcc \
                 to compile it; where there is one: {VARIABLE}=update cargo build",
                wanted.source.shown()
            ));
        }
        wanted.into_iter().map(|wanted| self.take(wanted)).collect()
    }

    /// Takes what is committed of one source.
    fn take(&self, wanted: Wanted<'_>) -> Result<Unit, Error> {
        let committed = wanted.committed.ok_or_else(|| {
            let message = format!("no PTX of {} is committed", wanted.source.shown());
            Error::new(ErrorKind::Committed, message)
        })?;
        let image = self.folder.join(format!("{}.ptx", wanted.name));
        generate::write(&image, &committed.text)?;
        Ok(Unit {
            name: wanted.name,
            image,
            format: Format::Ptx,
            ptx: committed.text,
            probe: committed.probe,
            names: committed.names,
            size_of_long: committed.size_of_long,
        })
    }

    /// Writes the Rust file.
    fn write(&self, units: &[Unit]) -> Result<(), Error> {
        let mut text = String::from("// Generated by cuda-build: changes are lost.\n");
        for (unit, source) in units.iter().zip(&self.build.sources) {
            generate::constant(&mut text, unit);
            if self.build.has_declarations
                && let Some(declaration) = unit.declaration(source, &self.build.types)?
            {
                text.push('\n');
                text.push_str(&declaration);
            }
        }
        generate::write(&self.out.join(&self.build.generated), &text)
    }
}

fn not_up_to_date(file: &Path, source: &Source, is_there: bool) -> Error {
    let why = if is_there {
        format!(
            "was not made of what {} and its headers are now, with these options",
            source.shown()
        )
    } else {
        "is not there".to_owned()
    };
    let file = file.display();
    let message =
        format!("{file} {why}: make it with {VARIABLE}=update cargo build, and commit it");
    Error::new(ErrorKind::Committed, message)
}
