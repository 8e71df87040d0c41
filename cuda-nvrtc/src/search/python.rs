//! The folders of the packages that `pip` installs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::places::Environment;
use super::{Component, Search};

/// Searches the packages of the Python environments that are active: the virtual or Conda environment, the interpreter on
/// the path, the user's packages, the system's.
pub(super) fn search(component: Component, environment: Environment<'_>, search: &mut Search) {
    for (place, directory) in package_directories(environment) {
        let nvidia = directory.join("nvidia");
        let mut folders: Vec<PathBuf> = toolkit_folders(&nvidia);
        folders.push(nvidia.join(component.python_folder()));
        let found = folders
            .iter()
            .flat_map(|folder| LIBRARIES.iter().map(move |below| folder.join(below)))
            .find_map(|directory| component.in_directory(&directory).ok());
        match found {
            Some(found) => search.add(found),
            None => search.miss(
                format!("{place} ({})", directory.display()),
                format!("the package {} is not in it", component.package()),
            ),
        }
    }
}

/// Where libraries are below the folder of a package.
const LIBRARIES: &[&str] = if cfg!(windows) {
    &["bin/x86_64", "bin/x64", "bin"]
} else {
    &["lib"]
};

/// The folders that all packages of a CUDA version share since CUDA 13, newest first.
fn toolkit_folders(nvidia: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(nvidia).into_iter().flatten();
    let mut versions: Vec<u32> = entries
        .filter_map(|entry| {
            entry
                .ok()?
                .file_name()
                .to_str()?
                .strip_prefix("cu")?
                .parse()
                .ok()
        })
        .collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    versions
        .into_iter()
        .map(|it| nvidia.join(format!("cu{it}")))
        .collect()
}

/// The directories in which Python's packages lie, each with what it belongs to.
fn package_directories(
    environment: &dyn Fn(&str) -> Option<OsString>,
) -> Vec<(&'static str, PathBuf)> {
    let mut found = Vec::new();
    let mut add = |place, directories: Vec<PathBuf>| {
        for directory in directories {
            if !found.iter().any(|(_, known)| *known == directory) {
                found.push((place, directory));
            }
        }
    };
    if let Some(prefix) = environment("VIRTUAL_ENV") {
        add("VIRTUAL_ENV", below_prefix(Path::new(&prefix)));
    }
    if let Some(prefix) = environment("CONDA_PREFIX") {
        add("CONDA_PREFIX", below_prefix(Path::new(&prefix)));
    }
    if let Some(list) = environment("PYTHONPATH") {
        let absolute = std::env::split_paths(&list).filter(|it| it.is_absolute());
        add("PYTHONPATH", absolute.collect());
    }
    if let Some(prefix) = environment("PATH").and_then(|list| interpreter_prefix(&list)) {
        add("the Python on PATH", below_prefix(&prefix));
    }
    if let Some(home) = environment(if cfg!(windows) { "APPDATA" } else { "HOME" }) {
        let home = PathBuf::from(home);
        let directories = if cfg!(windows) {
            versioned(&home.join("Python"), "Python", "site-packages")
        } else {
            versioned(&home.join(".local/lib"), "python3", "site-packages")
        };
        add("the user's Python packages", directories);
    }
    if cfg!(unix) {
        let mut directories = versioned(Path::new("/usr/local/lib"), "python3", "dist-packages");
        directories.extend(versioned(
            Path::new("/usr/local/lib"),
            "python3",
            "site-packages",
        ));
        directories.extend(versioned(Path::new("/usr/lib"), "python3", "dist-packages"));
        add("the system's Python packages", directories);
    }
    found
}

/// The package directories of an environment at `prefix`.
fn below_prefix(prefix: &Path) -> Vec<PathBuf> {
    if cfg!(windows) {
        return vec![prefix.join("Lib/site-packages")];
    }
    let found = versioned(&prefix.join("lib"), "python3", "site-packages");
    if found.is_empty() {
        vec![prefix.join("lib/python3/site-packages")]
    } else {
        found
    }
}

/// `DIRECTORY/PREFIX…/LAST` for each that is there, the newest version first.
fn versioned(directory: &Path, prefix: &str, last: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let version = name.strip_prefix(prefix)?.trim_start_matches('.');
            let path = directory.join(&name).join(last);
            path.is_dir().then(|| (version.parse().unwrap_or(0), path))
        })
        .collect();
    found.sort_by_key(|it| std::cmp::Reverse(it.0));
    found.into_iter().map(|(_, path)| path).collect()
}

/// The prefix of the environment of the first interpreter on the path: what a link to the real one is, is not followed,
/// because virtual environments consist of such links.
fn interpreter_prefix(path: &std::ffi::OsStr) -> Option<PathBuf> {
    let names: &[&str] = if cfg!(windows) {
        &["python.exe"]
    } else {
        &["python3", "python"]
    };
    let directory = std::env::split_paths(path)
        .filter(|it| it.is_absolute())
        .find(|directory| names.iter().any(|name| directory.join(name).is_file()))?;
    if cfg!(windows) {
        let scripts = directory
            .file_name()
            .is_some_and(|it| it.eq_ignore_ascii_case("scripts"));
        return if scripts {
            directory.parent().map(Path::to_path_buf)
        } else {
            Some(directory)
        };
    }
    let prefix = directory.parent()?;
    // An installation whose interpreters are linked from a directory of the path, as version managers do it.
    let has_packages = !versioned(&prefix.join("lib"), "python3", "site-packages").is_empty();
    if has_packages {
        return Some(prefix.to_path_buf());
    }
    let real = names
        .iter()
        .find_map(|name| directory.join(name).canonicalize().ok())?;
    Some(real.parent()?.parent()?.to_path_buf())
}
