//! Where pip puts the compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What lies in one folder of packages.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The compiler.
    Nvcc(PathBuf),
    /// A package that is named like the compiler but does not contain it.
    WithoutNvcc(PathBuf),
    /// Nothing of CUDA's.
    Nothing,
}

/// Looks for the compiler in a folder of packages. Of several toolkits the newest is taken.
pub(super) fn look(packages: &Path) -> Found {
    let nvidia = packages.join("nvidia");
    let nvcc = |toolkit: &Path| {
        let program = format!("nvcc{}", std::env::consts::EXE_SUFFIX);
        Some(toolkit.join("bin").join(program)).filter(|path| path.is_file())
    };
    let mut toolkits: Vec<(u32, PathBuf)> = children(&nvidia)
        .into_iter()
        .filter_map(|path| {
            let version = path.file_name()?.to_str()?.strip_prefix("cu")?.parse();
            Some((version.ok()?, path))
        })
        .collect();
    toolkits.sort_by(|a, b| b.cmp(a));
    let single = nvidia.join("cuda_nvcc");
    let folders = toolkits.into_iter().map(|(_, path)| path);
    for toolkit in folders.chain([single.clone()]) {
        if let Some(path) = nvcc(&toolkit) {
            return Found::Nvcc(path);
        }
    }
    if single.is_dir() {
        return Found::WithoutNvcc(single);
    }
    Found::Nothing
}

/// The folders of packages of an environment that was made by venv, virtualenv or conda.
pub(super) fn of_environment(prefix: &Path) -> Vec<PathBuf> {
    let mut folders = vec![prefix.join("Lib").join("site-packages")];
    let mut versions = children(&prefix.join("lib"));
    versions.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("python3"))
    });
    versions.sort();
    folders.extend(versions.iter().rev().map(|path| path.join("site-packages")));
    folders.retain(|folder| folder.is_dir());
    folders
}

/// The folders of packages of a Python interpreter. The error goes on after "it".
pub(super) fn of_python(python: &Path) -> Result<Vec<PathBuf>, String> {
    let output = Command::new(python)
        .args(["-c", "import sys; print('\\n'.join(sys.path))"])
        .output()
        .map_err(|error| format!("does not run: {error}"))?;
    if !output.status.success() {
        return Err(format!("fails ({})", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let folders = text
        .lines()
        .filter(|line| !line.is_empty())
        .map(PathBuf::from);
    Ok(folders.filter(|folder| folder.is_dir()).collect())
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}
