//! Where the driver library may be, and whether what is there is one.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::{Attempt, LoadError, MissingSymbol};
use crate::library::Source;
use crate::types::CUresult;
use crate::{Library, Symbol, origin};

/// The places in which [`Library::load`] looks, in this order.
#[cfg(all(unix, not(target_vendor = "apple")))]
pub(crate) const PLACES: &[&str] = &[
    // The system's own rules: LD_LIBRARY_PATH, the run path, the loader's cache.
    "libcuda.so.1",
    // Windows Subsystem for Linux, where the loader's cache may not know it.
    "/usr/lib/wsl/lib/libcuda.so.1",
    #[cfg(target_arch = "x86_64")]
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    #[cfg(target_arch = "aarch64")]
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    // Jetson boards.
    #[cfg(target_arch = "aarch64")]
    "/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1",
    #[cfg(target_arch = "aarch64")]
    "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/libcuda.so.1",
    // NixOS.
    "/run/opengl-driver/lib/libcuda.so.1",
    // Container runtimes that mount the driver there.
    "/usr/local/nvidia/lib64/libcuda.so.1",
];
/// The places in which [`Library::load`] looks, in this order.
#[cfg(windows)]
pub(crate) const PLACES: &[&str] = &["nvcuda.dll"];
/// The places in which [`Library::load`] looks, in this order; drivers for this system ended with CUDA 10.2.
#[cfg(target_vendor = "apple")]
pub(crate) const PLACES: &[&str] = &["libcuda.dylib", "/usr/local/cuda/lib/libcuda.dylib"];

/// The first of `places` that holds a driver.
pub(crate) fn load(places: &[&str]) -> Result<Library, LoadError> {
    let mut tried = Vec::new();
    let mut not_a_driver = None;
    let mut stub = None;
    for place in places.iter().map(Path::new) {
        let refusal = match open(place) {
            Ok(library) => return Ok(library),
            Err(refusal) => refusal,
        };
        tried.push(Attempt {
            place: place.to_path_buf(),
            reason: refusal.to_string(),
        });
        match refusal {
            Refusal::Absent(_) => {}
            Refusal::Stub(path) => stub = stub.or(Some(path)),
            Refusal::Foreign(path, missing) => {
                not_a_driver = not_a_driver.or(Some((path, missing)))
            }
        }
    }
    match (stub, not_a_driver) {
        (Some(path), _) => Err(LoadError::Stub { path, tried }),
        (None, Some((path, missing))) => Err(LoadError::MissingSymbol { path, missing }),
        (None, None) => Err(LoadError::NotFound { tried }),
    }
}

/// The driver at `path`.
pub(crate) fn load_from(path: &Path) -> Result<Library, LoadError> {
    open(path).map_err(|refusal| {
        let reason = refusal.to_string();
        let tried = vec![Attempt {
            place: path.to_path_buf(),
            reason,
        }];
        match refusal {
            Refusal::Absent(_) => LoadError::NotFound { tried },
            Refusal::Stub(path) => LoadError::Stub { path, tried },
            Refusal::Foreign(path, missing) => LoadError::MissingSymbol { path, missing },
        }
    })
}

/// Why what is in a place is not taken.
enum Refusal {
    Absent(String),
    Stub(PathBuf),
    Foreign(PathBuf, MissingSymbol),
}

impl core::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Absent(reason) => formatter.write_str(reason),
            Self::Stub(path) => write!(
                formatter,
                "is a toolkit's stub library ({})",
                path.display()
            ),
            Self::Foreign(path, missing) => {
                write!(
                    formatter,
                    "is not a CUDA driver ({} has no `{}`)",
                    path.display(),
                    missing.symbol()
                )
            }
        }
    }
}

/// Opens one library and looks whether it is a driver.
fn open(place: &Path) -> Result<Library, Refusal> {
    // SAFETY: loading runs the library's initialisers; they are the driver's own, or vouched for by `load_from`'s caller.
    let opened = unsafe { libloading::Library::new(place) };
    let opened = opened.map_err(|error| Refusal::Absent(reason(place, &error)))?;
    // Never closed: function pointers outlive everything, and a driver's threads would run into nothing.
    let library: &'static libloading::Library = Box::leak(Box::new(opened));
    let path = origin::of(library).unwrap_or_else(|| place.to_path_buf());
    if is_in_stubs(&path) {
        return Err(Refusal::Stub(path));
    }
    let library = Library::new(Source::Shared {
        library,
        path: path.clone(),
    });
    for symbol in ["cuDriverGetVersion", "cuInit"]
        .into_iter()
        .filter_map(Symbol::by_name)
    {
        if library.look_up(symbol).is_none() {
            return Err(Refusal::Foreign(path, MissingSymbol::new(symbol, None)));
        }
    }
    match library.ask_version() {
        Err(CUresult::CUDA_ERROR_STUB_LIBRARY) => Err(Refusal::Stub(path)),
        _ => Ok(library),
    }
}

/// The system's reason without the path, which some systems put in front of it.
fn reason(place: &Path, error: &libloading::Error) -> String {
    let text = error.to_string();
    let reason = text
        .strip_prefix(&format!("{}: ", place.display()))
        .unwrap_or(&text);
    reason.to_string()
}

/// Whether a toolkit keeps its stub libraries there.
fn is_in_stubs(path: &Path) -> bool {
    path.parent().and_then(Path::file_name) == Some(OsStr::new("stubs"))
}
