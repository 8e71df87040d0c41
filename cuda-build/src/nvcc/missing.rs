//! What a compiler needs besides itself: pip and conda install a toolkit in pieces.

use std::path::{Path, PathBuf};

/// Folders with CUDA's headers that the compiler does not find by itself. The error goes on after "it".
pub(super) fn includes(nvcc: &Path) -> Result<Vec<PathBuf>, String> {
    let Some(root) = nvcc.parent().and_then(Path::parent) else {
        return Ok(Vec::new());
    };
    let Some(packages) = packages(root) else {
        return Ok(Vec::new());
    };
    // Up to CUDA 12 each package has a folder of its own; from CUDA 13 they share one.
    let mut includes = Vec::new();
    for name in ["cuda_runtime", "cuda_crt", "cuda_cccl"] {
        let folder = packages.join(name).join("include");
        if folder.is_dir() {
            includes.push(folder);
        }
    }
    let mut searched = includes.clone();
    searched.push(root.join("include"));
    let has = |header: &str| searched.iter().any(|folder| folder.join(header).is_file());
    let mut lacking = Vec::new();
    if !has("cuda_runtime.h") {
        lacking.push("nvidia-cuda-runtime");
    }
    if !has("crt/host_defines.h") {
        lacking.push("nvidia-cuda-crt");
    }
    let cicc = format!("nvvm/bin/cicc{}", std::env::consts::EXE_SUFFIX);
    if !root.join(cicc).is_file() {
        lacking.push("nvidia-nvvm");
    }
    if lacking.is_empty() {
        return Ok(includes);
    }
    Err(format!(
        "comes from pip without the packages that it needs: pip install {}",
        lacking.join(" ")
    ))
}

/// The folder `nvidia` of pip's packages, if the toolkit in `root` is one of them.
fn packages(root: &Path) -> Option<&Path> {
    let packages = root.parent()?;
    let name = root.file_name()?.to_str()?;
    let ours = packages.file_name()? == "nvidia" && name.starts_with("cu");
    ours.then_some(packages)
}
