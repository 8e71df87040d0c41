//! Searches the compiler, and says where it was looked for if there is none.

use std::env;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::pip::{self, Found};
use super::{Nvcc, Origin, unusable};
use crate::environment::Environment;
use crate::{Error, ErrorKind};

/// The compiler that a user names: by its path, or by a name that is searched in `PATH`.
pub(super) fn named(environment: &Environment, name: &Path, origin: Origin) -> Result<Nvcc, Error> {
    let is_bare = name.components().count() == 1 && !name.is_absolute();
    let path = if is_bare && !name.is_file() {
        in_path(environment, name).ok_or_else(|| unusable(name, &origin, "is not in PATH"))?
    } else if name.is_dir() {
        return Err(unusable(
            name,
            &origin,
            "is a folder: name the program in it",
        ));
    } else {
        name.to_owned()
    };
    Nvcc::probe(path.clone(), origin.clone()).map_err(|why| unusable(&path, &origin, &why))
}

/// The first usable compiler of all places.
pub(super) fn find(environment: &Environment) -> Result<Nvcc, Error> {
    if let Some(name) = environment.get("NVCC") {
        return named(environment, Path::new(&name), Origin::Variable("NVCC"));
    }
    let mut search = Search::default();
    search.run(environment).ok_or_else(|| {
        // A compiler that is installed later is noticed.
        let _path = environment.get("PATH");
        search.not_found()
    })
}

/// What was looked at, with what was there.
#[derive(Debug, Default)]
struct Search {
    looked: Vec<(String, String)>,
}

impl Search {
    fn run(&mut self, environment: &Environment) -> Option<Nvcc> {
        self.note("NVCC", "not set");
        for name in ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"] {
            let Some(root) = environment.get(name) else {
                self.note(name, "not set");
                continue;
            };
            let path = program(Path::new(&root));
            let found = self.probe(
                &format!("{name}: {}", path.display()),
                path,
                Origin::Variable(name),
            );
            if found.is_some() {
                return found;
            }
        }
        for name in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
            let Some(prefix) = environment.get(name) else {
                self.note(name, "not set");
                continue;
            };
            let prefix = Path::new(&prefix);
            let found = self.packages(name, pip::of_environment(prefix));
            if found.is_some() {
                return found;
            }
            let path = program(prefix);
            if path.is_file() {
                let found = self.probe(
                    &format!("{name}: {}", path.display()),
                    path,
                    Origin::Variable(name),
                );
                if found.is_some() {
                    return found;
                }
            }
        }
        match in_path(environment, Path::new("nvcc")) {
            Some(path) => {
                let found = self.probe(&format!("PATH: {}", path.display()), path, Origin::Path);
                if found.is_some() {
                    return found;
                }
            }
            None => self.note("PATH", "no nvcc in it"),
        }
        for root in usual_places(environment) {
            let path = program(&root);
            let found = self.probe(&path.display().to_string(), path, Origin::UsualPlace);
            if found.is_some() {
                return found;
            }
        }
        self.python(environment)
    }

    /// pip's packages of the Python interpreter in `PATH`.
    fn python(&mut self, environment: &Environment) -> Option<Nvcc> {
        let names = ["python3", "python"];
        let Some(python) = names
            .iter()
            .find_map(|name| in_path(environment, Path::new(name)))
        else {
            self.note("python3", "not in PATH");
            return None;
        };
        let place = format!("pip's packages of {}", python.display());
        match pip::of_python(&python) {
            Ok(folders) => self.packages(&place, folders),
            Err(why) => {
                self.note(place, format!("it {why}"));
                None
            }
        }
    }

    fn packages(&mut self, place: &str, folders: Vec<PathBuf>) -> Option<Nvcc> {
        let mut outcome = "no nvcc in pip's packages".to_owned();
        for folder in folders {
            match pip::look(&folder) {
                Found::Nvcc(path) => {
                    let at = format!("{place}: {}", path.display());
                    let found = self.probe(&at, path, Origin::Packages(folder));
                    if found.is_some() {
                        return found;
                    }
                    outcome.clear();
                }
                Found::WithoutNvcc(package) => {
                    outcome = format!(
                        "{} has no nvcc: pip's packages have it from CUDA 13 on, under the name nvidia-cuda-nvcc",
                        package.display()
                    );
                }
                Found::Nothing => {}
            }
        }
        if !outcome.is_empty() {
            self.note(place, outcome);
        }
        None
    }

    /// Takes the compiler at `path` if it is usable, and notes why not otherwise.
    fn probe(&mut self, place: &str, path: PathBuf, origin: Origin) -> Option<Nvcc> {
        if !path.is_file() {
            self.note(place, "not there");
            return None;
        }
        match Nvcc::probe(path, origin) {
            Ok(nvcc) => Some(nvcc),
            Err(why) => {
                self.note(place, format!("it {why}"));
                None
            }
        }
    }

    fn note(&mut self, place: impl Into<String>, outcome: impl Into<String>) {
        self.looked.push((place.into(), outcome.into()));
    }

    fn not_found(&self) -> Error {
        let mut message = String::from("found no usable nvcc. Looked at:\n");
        for (place, outcome) in &self.looked {
            let _ = writeln!(message, "  {place}: {outcome}");
        }
        message.push_str(
            "Install the CUDA toolkit (https://developer.nvidia.com/cuda-downloads), or by pip:\n  pip install",
        );
        for package in PACKAGES {
            let _ = write!(message, " \"{package}==13.0.*\"");
        }
        message.push_str(
            "\nor name the compiler in the variable NVCC. It should not be newer than the drivers that are to run its PTX, and needs a C++ \
             compiler (gcc, clang or Visual C++).",
        );
        Error::new(ErrorKind::NoCompiler, message)
    }
}

/// What makes a compiler of pip's packages.
const PACKAGES: [&str; 5] = [
    "nvidia-cuda-nvcc",
    "nvidia-nvvm",
    "nvidia-cuda-crt",
    "nvidia-cuda-runtime",
    "nvidia-cuda-cccl",
];

/// The compiler of the toolkit in `root`.
fn program(root: &Path) -> PathBuf {
    root.join("bin")
        .join(format!("nvcc{}", env::consts::EXE_SUFFIX))
}

/// A program in `PATH`.
fn in_path(environment: &Environment, name: &Path) -> Option<PathBuf> {
    let mut file = name.as_os_str().to_owned();
    if name.extension().is_none() {
        file.push(env::consts::EXE_SUFFIX);
    }
    let path = environment.get_untracked("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(&file))
        .find(|path| path.is_file())
}

/// Where toolkits are usually installed, the default one or the newest first.
fn usual_places(environment: &Environment) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Vec::new();
    if cfg!(windows) {
        if let Some(programs) = environment.get_untracked("ProgramFiles") {
            let toolkits = Path::new(&programs)
                .join("NVIDIA GPU Computing Toolkit")
                .join("CUDA");
            places.extend(versions_in(&toolkits, "v"));
        }
    } else {
        let root = environment.root();
        places.push(root.join("usr/local/cuda"));
        places.extend(versions_in(&root.join("usr/local"), "cuda-"));
        places.push(root.join("opt/cuda"));
        places.push(root.join("usr/lib/nvidia-cuda-toolkit"));
    }
    places
}

/// The folders named by a prefix and a version, the newest first.
fn versions_in(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut found: Vec<(Vec<u32>, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name();
            let version = name.to_str()?.strip_prefix(prefix)?.split('.');
            let version = version
                .map(|part| part.parse().ok())
                .collect::<Option<_>>()?;
            Some((version, entry.path()))
        })
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
#[cfg(unix)]
#[path = "search_tests.rs"]
mod tests;
