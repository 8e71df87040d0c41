//! The places, in their order.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Component, Found, Search, python};
use crate::shared::Shared;

/// Where libraries are below the root of a toolkit.
#[cfg(windows)]
const BELOW: &[&str] = &["bin/x64", "bin"];
/// Where libraries are below the root of a toolkit.
#[cfg(all(not(windows), target_arch = "x86_64"))]
const BELOW: &[&str] = &["lib64", "lib", "targets/x86_64-linux/lib"];
/// Where libraries are below the root of a toolkit.
#[cfg(all(not(windows), not(target_arch = "x86_64")))]
const BELOW: &[&str] = &[
    "lib64",
    "lib",
    "targets/sbsa-linux/lib",
    "targets/aarch64-linux/lib",
];

/// The value of a variable, if it is set and not empty.
pub(super) type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Searches the places in their order, until what was found is enough: the environment, toolkits, Python's packages, and what
/// the system's loader knows.
pub(super) fn search(
    component: Component,
    environment: Environment<'_>,
    is_enough: &dyn Fn(&Found) -> bool,
    search: &mut Search,
) {
    for step in [
        by_variable,
        by_root,
        by_loader_path,
        installed,
        python::search,
    ] {
        step(component, environment, search);
        if search.found.iter().any(is_enough) {
            return;
        }
    }
    if search.found.is_empty() {
        by_loader(component, search);
    }
}

/// The variable of the library itself.
fn by_variable(component: Component, environment: Environment<'_>, search: &mut Search) {
    match environment(component.variable()) {
        Some(path) => explicit(component, component.variable(), Path::new(&path), search),
        None => search.miss(component.variable().into(), "the variable is not set"),
    }
}

/// The variables of toolkits.
fn by_root(component: Component, environment: Environment<'_>, search: &mut Search) {
    let mut has_root = false;
    for variable in ["CUDA_HOME", "CUDA_PATH"] {
        if let Some(root) = environment(variable) {
            has_root = true;
            toolkit(component, variable, Path::new(&root), search);
        }
    }
    if !has_root {
        search.miss("CUDA_HOME, CUDA_PATH".into(), "the variables are not set");
    }
    if let Some(root) = environment("CONDA_PREFIX") {
        toolkit(component, "CONDA_PREFIX", Path::new(&root), search);
    }
}

/// The directories of the system's loader.
fn by_loader_path(component: Component, environment: Environment<'_>, search: &mut Search) {
    for directory in directories(environment(LOADER_VARIABLE)) {
        if let Ok(found) = component.in_directory(&directory) {
            search.add(found);
        }
    }
}

/// Where toolkits install themselves.
fn installed(component: Component, _: Environment<'_>, search: &mut Search) {
    for root in installed_toolkits() {
        toolkit(component, "the toolkit's place", &root, search);
    }
}

/// The variable that the system's loader takes directories from.
const LOADER_VARIABLE: &str = if cfg!(windows) {
    "PATH"
} else if cfg!(target_vendor = "apple") {
    "DYLD_LIBRARY_PATH"
} else {
    "LD_LIBRARY_PATH"
};

fn directories(list: Option<OsString>) -> Vec<PathBuf> {
    let list = list.map(|list| std::env::split_paths(&list).collect::<Vec<_>>());
    list.unwrap_or_default()
        .into_iter()
        .filter(|it| it.is_absolute())
        .collect()
}

/// A path that a person gave: the library, or a directory with it.
pub(super) fn explicit(component: Component, place: &str, path: &Path, search: &mut Search) {
    // A bare name would be searched by the system's loader elsewhere.
    let path = &std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    if path.is_dir() {
        search.look_into(component, place, path);
    } else if path.is_file() {
        let beside = path
            .parent()
            .map(|directory| component.in_directory(directory));
        let version = match beside {
            Some(Ok(found)) => found.version,
            _ => None,
        };
        let path = path.to_path_buf();
        search.add(Found { path, version });
    } else {
        let place = format!("{place} ({})", path.display());
        search.miss(place, "there is no such file or directory");
    }
}

/// The root of a toolkit.
fn toolkit(component: Component, place: &str, root: &Path, search: &mut Search) {
    let found = BELOW
        .iter()
        .find_map(|below| component.in_directory(&root.join(below)).ok());
    match found {
        Some(found) => search.add(found),
        None => {
            let place = format!("{place} ({})", root.display());
            let reason = if root.is_dir() {
                format!("there is no {} in {}", component.name(), BELOW.join(", "))
            } else {
                "there is no such directory".into()
            };
            search.miss(place, reason);
        }
    }
}

/// Where toolkits install themselves; the newest of several versions first.
fn installed_toolkits() -> Vec<PathBuf> {
    if cfg!(windows) {
        return versions_below(
            Path::new("C:/Program Files/NVIDIA GPU Computing Toolkit/CUDA"),
            "v",
        );
    }
    let mut roots = vec![PathBuf::from("/usr/local/cuda")];
    roots.extend(versions_below(Path::new("/usr/local"), "cuda-"));
    roots.push(PathBuf::from("/opt/cuda"));
    // Debian's own packages.
    roots.push(PathBuf::from("/usr/lib/cuda"));
    roots
}

/// The directories `PREFIXnumbers`, highest numbers first.
fn versions_below(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let mut found: Vec<(Vec<u32>, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let numbers = name
                .strip_prefix(prefix)?
                .split('.')
                .map(|it| it.parse().ok());
            Some((numbers.collect::<Option<_>>()?, directory.join(&name)))
        })
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0));
    found.into_iter().map(|(_, path)| path).collect()
}

/// What the system's loader finds under a bare name. Only asking it tells, so this loads the library.
fn by_loader(component: Component, search: &mut Search) {
    for name in component.bare_names() {
        // SAFETY: the initialisers are those of the system's own NVRTC or nvJitLink, which run in any process.
        match unsafe { Shared::open(Path::new(name)) } {
            Ok(_) => {
                return search.add(Found {
                    path: PathBuf::from(name),
                    version: None,
                });
            }
            Err(reason) => search.miss(format!("the system's loader ({name})"), reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let directory =
            std::env::temp_dir().join(format!("cuda-nvrtc-versions-{}", std::process::id()));
        for name in ["cuda-9.2", "cuda-12.4", "cuda-12.10", "cuda-x", "cuda"] {
            std::fs::create_dir_all(directory.join(name)).unwrap();
        }
        let found = versions_below(&directory, "cuda-");
        let names: Vec<_> = found
            .iter()
            .map(|it| it.file_name().unwrap().to_str().unwrap())
            .collect();
        assert_eq!(names, ["cuda-12.10", "cuda-12.4", "cuda-9.2"]);
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
