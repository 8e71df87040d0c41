//! Compiles sources, asks for what PTX does not tell, and writes what is to be committed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Run, Wanted};
use crate::committed::{self, Committed, Mode, VARIABLE};
use crate::compile::{Compiled, Job, Limit, Tools, run_all};
use crate::declare::SIZE_OF_LONG;
use crate::fingerprint::Fingerprint;
use crate::interface::{Interface, Names, Probe};
use crate::unit::Unit;
use crate::{Error, Format, generate};

impl Run<'_> {
    /// Compiles sources: to PTX, which tells what their kernels take, and to the format that was asked for.
    pub(super) fn compile(
        &mut self,
        tools: &Tools,
        wanted: Vec<Wanted<'_>>,
        mode: Mode,
    ) -> Result<Vec<Unit>, Error> {
        let format = self.build.options.format;
        let formats: &[Format] = if format == Format::Ptx {
            &[Format::Ptx]
        } else {
            &[Format::Ptx, format]
        };
        let jobs = formats
            .iter()
            .flat_map(|&format| wanted.iter().map(move |wanted| (wanted, format)));
        let jobs = jobs.map(|(wanted, format)| Job {
            source: wanted.source.path.clone(),
            output: self
                .folder
                .join(format!("{}.{}", wanted.name, format.name())),
            arguments: self.arguments(format),
        });
        let results = self.run_jobs(tools, jobs.collect());
        for folder in &self.build.options.includes {
            self.watch_folder(folder);
        }
        let mut compiled = Vec::new();
        let mut failed = Vec::new();
        for result in results {
            match result {
                Ok(one) => {
                    for input in &one.inputs {
                        self.messages.watch_file(input);
                        if let Some(folder) = input.parent().filter(|_| input.is_relative()) {
                            self.watch_folder(folder);
                        }
                    }
                    compiled.push(one);
                }
                Err(error) => failed.push(error),
            }
        }
        if let Some(error) = Error::all(failed) {
            return Err(error);
        }
        // The jobs for PTX are the first; the others repeat its warnings, and add those of the assembler.
        let others = compiled.split_off(wanted.len().min(compiled.len()));
        for one in &compiled {
            for warning in &one.warnings {
                self.messages.warn(warning);
            }
        }
        let known: BTreeSet<&String> = compiled.iter().flat_map(|one| &one.warnings).collect();
        for warning in others.iter().flat_map(|one| &one.warnings) {
            if !known.contains(warning) {
                self.messages.warn(warning);
            }
        }
        self.compare_with_oldest_driver(tools);
        let mut units = Vec::new();
        for (wanted, compiled) in wanted.iter().zip(&compiled) {
            units.push(self.unit(wanted, compiled)?);
        }
        self.probe(tools, &wanted, &compiled, &mut units)?;
        for ((wanted, unit), compiled) in wanted.iter().zip(&units).zip(&compiled) {
            self.commit(tools, wanted, unit, compiled, mode)?;
        }
        Ok(units)
    }

    /// Watches a folder in which a header may appear that hides another one; but none of other software, which is not written by hand,
    /// and none with what is built, which changes with every build.
    fn watch_folder(&mut self, folder: &Path) {
        let full = self.package.join(folder);
        let is_own = folder.is_relative() || full.starts_with(&self.package);
        // One that is not there would count as changed at every build.
        if is_own && full.is_dir() && full != self.package && !self.out.starts_with(&full) {
            self.messages.watch_file(folder);
        }
    }

    /// Warns where drivers that the package is meant for would refuse the PTX.
    fn compare_with_oldest_driver(&mut self, tools: &Tools) {
        let version = tools.nvcc().version();
        if let Some((major, minor)) = self.build.oldest_driver
            && self.build.options.format != Format::Cubin
            && (version.major, version.minor) > (major, minor)
        {
            self.messages.warn(&format!(
                "nvcc {version} makes PTX that drivers of CUDA {major}.{minor} refuse (UNSUPPORTED_PTX_VERSION): name a toolkit that is not \
                 newer than the oldest driver in NVCC"
            ));
        }
    }

    fn arguments(&self, format: Format) -> Vec<OsString> {
        let options = &self.build.options;
        let mut arguments = options.target(format);
        arguments.extend(options.language());
        arguments.extend(options.places());
        arguments
    }

    fn run_jobs(&self, tools: &Tools, jobs: Vec<Job>) -> Vec<Result<Compiled, Error>> {
        run_all(&Limit::of(self.environment), jobs, |job| job.run(tools))
    }

    fn unit(&self, wanted: &Wanted<'_>, compiled: &Compiled) -> Result<Unit, Error> {
        let file = |format: Format| {
            self.folder
                .join(format!("{}.{}", wanted.name, format.name()))
        };
        let ptx = file(Format::Ptx);
        let text =
            fs::read(&ptx).map_err(|error| Error::io("cannot read the image", &ptx, error))?;
        let mut names = Names::default();
        for input in committed::own_inputs(&self.package, &self.out, &compiled.inputs) {
            let text = fs::read(self.package.join(input)).unwrap_or_default();
            names.read(&String::from_utf8_lossy(&text));
        }
        let format = self.build.options.format;
        Ok(Unit {
            name: wanted.name.clone(),
            image: file(format),
            format,
            ptx: String::from_utf8_lossy(&text).into_owned(),
            probe: Probe::default(),
            names,
            size_of_long: SIZE_OF_LONG,
        })
    }

    /// Asks the compiler for the types of kernels with C linkage. Where it does not tell them, they stay unknown.
    fn probe(
        &self,
        tools: &Tools,
        wanted: &[Wanted<'_>],
        compiled: &[Compiled],
        units: &mut [Unit],
    ) -> Result<(), Error> {
        if !self.build.has_declarations {
            return Ok(());
        }
        let mut jobs = Vec::new();
        let mut asking: Vec<(&mut Unit, Vec<String>, (PathBuf, String))> = Vec::new();
        for ((wanted, compiled), unit) in wanted.iter().zip(compiled).zip(units) {
            let interface = Interface::read(&unit.ptx, &wanted.source.shown())?;
            let kernels: Vec<String> = interface.untyped().map(ToOwned::to_owned).collect();
            if kernels.is_empty() {
                continue;
            }
            let source = self.folder.join(format!("{}.types.cu", unit.name));
            let original = self.package.join(&wanted.source.path);
            let text = Probe::source(&original, &kernels);
            // The same question that the compiler did not answer is not asked again.
            let own = committed::own_inputs(&self.package, &self.out, &compiled.inputs);
            let files = committed::fingerprint(&self.package, &own, self.options());
            let question = files.unwrap_or(Fingerprint::EMPTY).with(text.as_bytes());
            let question = question.with(tools.nvcc().build().as_bytes()).to_string();
            let unanswered = self.folder.join(format!("{}.types.unanswered", unit.name));
            if fs::read(&unanswered).is_ok_and(|asked| asked == question.as_bytes()) {
                continue;
            }
            generate::write(&source, &text)?;
            jobs.push(Job {
                source,
                output: self.folder.join(format!("{}.types.ptx", unit.name)),
                arguments: self.arguments(Format::Ptx),
            });
            asking.push((unit, kernels, (unanswered, question)));
        }
        let outputs: Vec<PathBuf> = jobs.iter().map(|job| job.output.clone()).collect();
        let results = self.run_jobs(tools, jobs);
        for ((asked, result), output) in asking.into_iter().zip(results).zip(outputs) {
            let (unit, kernels, (unanswered, question)) = asked;
            if result.is_ok() {
                let answer = fs::read(&output).unwrap_or_default();
                unit.probe = Probe::read(&String::from_utf8_lossy(&answer), &kernels);
            } else {
                generate::write(&unanswered, &question)?;
            }
        }
        Ok(())
    }

    /// Writes what is to be committed, or says that it should be.
    fn commit(
        &mut self,
        tools: &Tools,
        wanted: &Wanted<'_>,
        unit: &Unit,
        compiled: &Compiled,
        mode: Mode,
    ) -> Result<(), Error> {
        let Some(folder) = &self.build.committed else {
            return Ok(());
        };
        let file = Committed::file(folder, &unit.name);
        if mode == Mode::Take && !wanted.fits {
            let why = if wanted.committed.is_some() {
                "is not up to date"
            } else {
                "is not there"
            };
            self.messages.warn(&format!(
                "{} {why}: {VARIABLE}=update cargo build",
                file.display()
            ));
        }
        if mode != Mode::Update {
            return Ok(());
        }
        let new = committed::New {
            source: &wanted.source.shown(),
            compiler: &tools.nvcc().version().to_string(),
            ptx: &unit.ptx,
            inputs: &committed::own_inputs(&self.package, &self.out, &compiled.inputs),
            interface: &unit.interface(wanted.source)?,
            probe: &unit.probe,
        };
        let text = new.text(&self.package, self.options())?;
        let folder = self.package.join(folder);
        fs::create_dir_all(&folder)
            .map_err(|error| Error::io("cannot make the folder", &folder, error))?;
        generate::write(&self.package.join(file), &text)
    }
}
