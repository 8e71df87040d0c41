//! CUDA's own headers, such as `cuda_fp16.h`: beside the compiler, or bundled in it.

use std::path::{Path, PathBuf};

use crate::cache::Cache;
use crate::nvrtc::Nvrtc;

/// A header that is there wherever CUDA's own are.
const MARK: &str = "cuda_fp16.h";
/// A folder that is there wherever the C++ core libraries are.
const CCCL_MARK: &str = "cuda/std";
/// The file that NVRTC writes last when it unpacks its headers.
const BUNDLE_MARK: &str = ".nvrtc_headers_version";

/// The directories with the headers that belong to the library at `path`: those of its toolkit or of Python's packages, or
/// those that were unpacked into `bundle` before.
pub(crate) fn directories(path: &Path, bundle: Option<&Path>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for root in roots(path) {
        add(&root, &mut found);
    }
    if found.is_empty()
        && let Some(bundle) = bundle
        && bundle.join(BUNDLE_MARK).is_file()
        && Cache::trusts(bundle)
    {
        add(bundle, &mut found);
    }
    found
}

/// Unpacks the headers that NVRTC carries into `bundle`; whether it has any.
pub(crate) fn unpack(nvrtc: &Nvrtc, bundle: &Path) -> bool {
    if !nvrtc.bundles_headers() {
        return false;
    }
    let unpacked = Cache::make_folder(bundle).and_then(|()| {
        nvrtc
            .install_headers(bundle)
            .map_err(|error| error.to_string())
    });
    if let Err(reason) = &unpacked {
        log::warn!("the headers that NVRTC carries are not used: {reason}");
    }
    unpacked.is_ok()
}

/// Adds the directories below a root of headers.
fn add(root: &Path, found: &mut Vec<PathBuf>) {
    if root.join(MARK).is_file() && !found.iter().any(|it| it == root) {
        found.push(root.to_path_buf());
    }
    for cccl in [root.join("cccl"), root.to_path_buf()] {
        if cccl.join(CCCL_MARK).is_dir() && !found.contains(&cccl) {
            found.push(cccl);
        }
    }
}

/// Where headers may be, by where the library is.
fn roots(path: &Path) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    let mut above = path.parent();
    // Libraries are in `lib`, `lib64`, `bin/x64` or `targets/…/lib` below the root.
    for _ in 0..3 {
        let Some(directory) = above.and_then(Path::parent) else {
            break;
        };
        roots.push(directory.join("include"));
        above = Some(directory);
        // Before CUDA 13 each of Python's packages has a folder of its own.
        if directory.file_name().is_some_and(|it| it == "nvidia") {
            roots.push(directory.join("cuda_runtime/include"));
            roots.push(directory.join("cuda_cccl/include"));
            break;
        }
    }
    for variable in ["CUDA_HOME", "CUDA_PATH"] {
        if let Some(root) = std::env::var_os(variable).filter(|it| !it.is_empty()) {
            roots.push(PathBuf::from(root).join("include"));
        }
    }
    roots
}

/// What to do about a header that was not found.
pub(crate) fn remedy(header: &str, major: u32) -> String {
    let is_in = |folders: &[&str]| folders.iter().any(|it| header.starts_with(it));
    let package = if is_in(&["cuda/", "cub/", "thrust/", "nv/"]) {
        "nvidia-cuda-cccl"
    } else if is_in(&["crt/"]) && major >= 13 {
        "nvidia-cuda-crt"
    } else if is_in(&["curand"]) {
        "nvidia-curand"
    } else if is_in(&[
        "cuda",
        "cooperative_groups",
        "crt/",
        "mma.h",
        "cuComplex.h",
        "vector_",
        "math_constants.h",
    ]) {
        "nvidia-cuda-runtime"
    } else {
        return format!(
            "give `{header}` by `Program::header`, or its directory by `CompileOptions::include_path`"
        );
    };
    let suffix = if major >= 13 {
        String::new()
    } else {
        format!("-cu{major}")
    };
    format!(
        "`{header}` is one of CUDA's headers: install the toolkit, or `pip install {package}{suffix}` beside NVRTC, or give its directory by \
         `CompileOptions::include_path`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_found_in_the_layouts_of_toolkits_and_packages() {
        let base = std::env::temp_dir().join(format!("cuda-nvrtc-headers-{}", std::process::id()));
        for (library, headers, cccl) in [
            (
                "toolkit/lib64/libnvrtc.so",
                "toolkit/include",
                "toolkit/include/cccl",
            ),
            (
                "t12/targets/x86_64-linux/lib/libnvrtc.so",
                "t12/targets/x86_64-linux/include",
                "t12/targets/x86_64-linux/include",
            ),
            ("win/bin/x64/nvrtc.dll", "win/include", "win/include/cccl"),
            (
                "a/nvidia/cu13/lib/libnvrtc.so.13",
                "a/nvidia/cu13/include",
                "a/nvidia/cu13/include/cccl",
            ),
            (
                "b/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
                "b/nvidia/cuda_runtime/include",
                "b/nvidia/cuda_cccl/include",
            ),
        ] {
            let (headers, cccl) = (base.join(headers), base.join(cccl));
            std::fs::create_dir_all(cccl.join(CCCL_MARK)).unwrap();
            std::fs::create_dir_all(&headers).unwrap();
            std::fs::write(headers.join(MARK), "").unwrap();
            let mut expected = vec![headers, cccl];
            expected.dedup();
            assert_eq!(
                directories(&base.join(library), None),
                expected,
                "{library}"
            );
        }
        std::fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn the_package_of_a_header_is_named() {
        assert!(remedy("cuda_fp16.h", 13).contains("pip install nvidia-cuda-runtime`"));
        assert!(remedy("cuda/std/array", 12).contains("pip install nvidia-cuda-cccl-cu12`"));
        assert!(remedy("crt/host_defines.h", 13).contains("nvidia-cuda-crt`"));
        assert!(remedy("mine.h", 13).contains("Program::header"));
    }
}
