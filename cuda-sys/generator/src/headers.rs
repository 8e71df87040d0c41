//! Reading the headers: one bindgen run per target, no system header involved.

use std::path::{Path, PathBuf};

use crate::Fallible;

/// The headers that must be found in the given directories.
pub(crate) const HEADERS: [&str; 5] = [
    "cuda.h",
    "cudaProfiler.h",
    "cudaGL.h",
    "cudaEGL.h",
    "cudaVDPAU.h",
];

/// The targets whose layouts are recorded; the first one also gives the types.
pub(crate) const TARGETS: [&str; 4] = [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "i686-unknown-linux-gnu",
    "x86_64-pc-windows-msvc",
];

/// The directories given on the command line, which hold [`HEADERS`] between them.
pub(crate) struct Headers {
    directories: Vec<PathBuf>,
}

impl Headers {
    /// Checks that each header is in one of `directories`.
    pub(crate) fn new(directories: Vec<PathBuf>) -> Fallible<Self> {
        let headers = Self { directories };
        for name in HEADERS {
            headers.find(name)?;
        }
        Ok(headers)
    }

    /// The path of one header.
    pub(crate) fn find(&self, name: &str) -> Fallible<PathBuf> {
        self.directories
            .iter()
            .map(|directory| directory.join(name))
            .find(|path| path.is_file())
            .ok_or_else(|| {
                format!(
                    "cannot find {name} in {:?}: give the directory that holds it",
                    self.directories
                )
                .into()
            })
    }

    /// The declarations as bindgen sees them on `target`.
    pub(crate) fn bind(&self, target: &str) -> Fallible<syn::File> {
        let shims = Path::new(env!("CARGO_MANIFEST_DIR")).join("shims");
        let mut builder = bindgen::Builder::default()
            .header(shims.join("all.h").display().to_string())
            .clang_arg(format!("--target={target}"))
            .clang_arg("-nostdinc")
            .clang_arg(format!("-I{}", shims.display()));
        for directory in &self.directories {
            builder = builder.clang_arg(format!("-I{}", directory.display()));
        }
        let bindings = builder
            .use_core()
            .default_enum_style(bindgen::EnumVariation::NewType {
                is_bitfield: false,
                is_global: false,
            })
            .generate_comments(false)
            .prepend_enum_name(false)
            .allowlist_file(r".*cuda[A-Za-z]*\.h")
            .allowlist_file(r".*vdpau\.h")
            .generate()
            .map_err(|error| format!("cannot read the headers for {target}: {error}"))?;
        syn::parse_file(&bindings.to_string())
            .map_err(|error| format!("cannot parse bindgen's output: {error}").into())
    }
}
