//! The Rust file that the package includes.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::unit::Unit;
use crate::{Error, Format};

/// Writes a file, unless it is there with the same content.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    fs::write(path, text).map_err(|error| Error::io("cannot write", path, error))
}

/// The constant with the image of a unit.
pub(crate) fn constant(text: &mut String, unit: &Unit) {
    let (ty, include) = match unit.format {
        Format::Ptx => ("str", "include_str"),
        Format::Cubin | Format::Fatbin => ("[u8]", "include_bytes"),
    };
    let name = format!("{}_{}", unit.name, unit.format.name()).to_uppercase();
    let _ = write!(
        text,
        "\n/// The image of `{}`.\n#[allow(dead_code)]\npub const {name}: &{ty} = {include}!(concat!(env!(\"OUT_DIR\"), {:?}));\n",
        unit.name,
        unit.place_in_out_dir()
    );
}
