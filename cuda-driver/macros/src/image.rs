//! Reading the image while the program is compiled.

use std::path::{Path, PathBuf};

use proc_macro2::Span;
use syn::{Error, Result};

use crate::syntax::{Image, ImageKind, PathPart};

/// The text of a PTX image; nothing for other images, and where the compiler does not tell which file it reads.
pub(crate) fn read(image: &Image) -> Result<Option<String>> {
    if image.kind != ImageKind::Ptx {
        return Ok(None);
    }
    let mut path = String::new();
    for part in &image.path.parts {
        match part {
            PathPart::Text(text) => path.push_str(text),
            // A variable that is missing is an error of `env!`, in its place.
            PathPart::Environment(name) => match std::env::var(name) {
                Ok(value) => path.push_str(&value),
                Err(_) => return Ok(None),
            },
        }
    }
    let span = image.path.span;
    let Some(file) = resolve(&path, span) else {
        return Ok(None);
    };
    std::fs::read_to_string(&file).map(Some).map_err(|error| {
        let mut text = format!("cannot read the PTX `{}`", file.display());
        if let Some(source) = span.unwrap().local_file()
            && Path::new(&path).is_relative()
        {
            text.push_str(&format!(" (relative to `{}`)", source.display()));
            text.push_str(&format!(": {error}"));
            if let Some(better) = in_package(&path, &source) {
                text.push_str(&format!(
                    "; there is `{path}` in the package: write `{better:?}`"
                ));
            }
        } else {
            text.push_str(&format!(": {error}"));
        }
        Error::new(span, text)
    })
}

/// The path from a source file to a file that was meant relative to the package.
fn in_package(path: &str, source: &Path) -> Option<String> {
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    path_up(path, &package, source)
}

fn path_up(path: &str, package: &Path, source: &Path) -> Option<String> {
    if !package.join(path).is_file() {
        return None;
    }
    let package = package.canonicalize().ok()?;
    let folder = source.canonicalize().ok()?;
    let below = folder.parent()?.strip_prefix(&package).ok()?;
    Some("../".repeat(below.components().count()) + path)
}

/// The path relative to the file that it stands in, as `include_str!` has it.
fn resolve(path: &str, span: Span) -> Option<PathBuf> {
    let path = Path::new(path);
    if path.is_absolute() {
        return Some(path.to_owned());
    }
    let file = span.unwrap().local_file()?;
    Some(file.parent()?.join(path))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::path_up;

    #[test]
    fn a_path_relative_to_the_package_is_recognized() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = |path, source| path_up(path, package, &package.join(source));
        let better = path("Cargo.toml", "src/syntax/launch.rs");
        assert_eq!(better.as_deref(), Some("../../Cargo.toml"));
        let better = path("src/lib.rs", "src/image.rs");
        assert_eq!(better.as_deref(), Some("../src/lib.rs"));
        assert_eq!(path("lib.rs", "src/image.rs"), None);
        assert_eq!(path("src", "src/image.rs"), None);
    }
}
