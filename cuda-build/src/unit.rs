//! What became of one source: its image, its PTX, and what is known of its kernels.

use std::path::PathBuf;

use crate::declare::{Declaration, TypeNames};
use crate::interface::{Interface, Names, Probe};
use crate::{Error, Format, Source};

/// A source with its image.
#[derive(Debug)]
pub(crate) struct Unit {
    /// The name of the image.
    pub(crate) name: String,
    /// The image's file, in `cuda-build` of `OUT_DIR`.
    pub(crate) image: PathBuf,
    pub(crate) format: Format,
    /// PTX of the same source, which tells what its kernels take.
    pub(crate) ptx: String,
    pub(crate) probe: Probe,
    pub(crate) names: Names,
    /// Bytes of `long` where it was compiled.
    pub(crate) size_of_long: usize,
}

impl Unit {
    /// What its kernels take.
    pub(crate) fn interface(&self, source: &Source) -> Result<Interface, Error> {
        let mut interface = Interface::read(&self.ptx, &source.shown())?;
        interface.take_types(&self.probe);
        interface.take_names(&self.names);
        Ok(interface)
    }

    /// The declaration of its kernels; nothing if it has none.
    pub(crate) fn declaration(
        &self,
        source: &Source,
        types: &TypeNames,
    ) -> Result<Option<String>, Error> {
        let mut types = types.clone();
        types.size_of_long = self.size_of_long;
        let image = format!(
            "{} concat!(env!(\"OUT_DIR\"), {:?})",
            self.format.name(),
            self.place_in_out_dir()
        );
        let declaration = Declaration {
            name: &self.name,
            type_name: source.type_name.as_deref(),
            source: &source.shown(),
            image: &image,
            interface: &self.interface(source)?,
            kernels: &source.kernels,
            types: &types,
        };
        declaration.text()
    }

    /// The image's file as it follows `OUT_DIR`.
    pub(crate) fn place_in_out_dir(&self) -> String {
        format!("/cuda-build/{}.{}", self.name, self.format.name())
    }
}
