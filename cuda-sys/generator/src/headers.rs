//! Reading the headers: one bindgen run per target, no system header involved.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use quote::ToTokens;

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
        let builder = self
            .builder(target)
            .header_contents("bind.h", "#include <all.h>\n");
        let builder = builder.default_enum_style(bindgen::EnumVariation::NewType {
            is_bitfield: false,
            is_global: false,
        });
        let builder = builder
            .allowlist_file(r".*cuda[A-Za-z]*\.h")
            .allowlist_file(r".*vdpau\.h");
        generate(builder, target)
    }

    /// The values of constant C expressions on `target`, as clang computes them.
    pub(crate) fn evaluate(&self, target: &str, expressions: &[&str]) -> Fallible<Vec<i64>> {
        let mut probe = "#include <all.h>\nenum probes {\n".to_string();
        for (index, expression) in expressions.iter().enumerate() {
            let _ = writeln!(probe, "    PROBE_{index} = {expression},");
        }
        probe.push_str("};\n");
        let builder = self
            .builder(target)
            .header_contents("probe.h", &probe)
            .allowlist_type("probes");
        let file = generate(
            builder.default_enum_style(bindgen::EnumVariation::Consts),
            target,
        )?;
        let mut values = BTreeMap::new();
        for item in file.items {
            let syn::Item::Const(constant) = item else {
                continue;
            };
            if let Some(index) = constant.ident.to_string().strip_prefix("PROBE_") {
                let value = constant.expr.to_token_stream().to_string().replace(' ', "");
                values.insert(index.parse::<usize>()?, value.parse()?);
            }
        }
        if !values.keys().copied().eq(0..expressions.len()) {
            return Err(format!(
                "{target}: {} of {} expressions were evaluated",
                values.len(),
                expressions.len()
            )
            .into());
        }
        Ok(values.into_values().collect())
    }

    fn builder(&self, target: &str) -> bindgen::Builder {
        let shims = Path::new(env!("CARGO_MANIFEST_DIR")).join("shims");
        let builder = bindgen::Builder::default()
            .clang_arg(format!("--target={target}"))
            .clang_arg("-nostdinc")
            .clang_arg(format!("-I{}", shims.display()))
            .use_core()
            .generate_comments(false)
            .prepend_enum_name(false);
        let directories = self.directories.iter();
        directories.fold(builder, |builder, directory| {
            builder.clang_arg(format!("-I{}", directory.display()))
        })
    }
}

fn generate(builder: bindgen::Builder, target: &str) -> Fallible<syn::File> {
    let bindings = builder
        .generate()
        .map_err(|error| format!("cannot read the headers for {target}: {error}"))?;
    syn::parse_file(&bindings.to_string())
        .map_err(|error| format!("cannot parse bindgen's output: {error}").into())
}
