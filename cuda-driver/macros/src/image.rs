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
    let Some(path) = resolve(&path, span) else {
        return Ok(None);
    };
    std::fs::read_to_string(&path).map(Some).map_err(|error| {
        let text = format!("cannot read the PTX `{}`: {error}", path.display());
        Error::new(span, text)
    })
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
