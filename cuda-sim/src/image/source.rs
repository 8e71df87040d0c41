//! What a caller's pointer to an image means: how it starts tells what it is, and what it is tells where it ends.

use std::ffi::c_void;

use crate::args::In;
use crate::code;
use crate::image::fatbin;
use crate::image::{Refusal, refuse};

/// How the structure starts that a compiler makes for a container, to be registered when a program starts.
const WRAPPER: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();
/// How an ELF file starts.
const ELF: [u8; 4] = [0x7f, b'E', b'L', b'F'];
/// The machine number of a cubin, and where it stands.
const CUDA_MACHINE: [u8; 2] = 190u16.to_le_bytes();
const MACHINE: std::ops::Range<usize> = 18..20;

/// An image as a caller passes it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a> {
    /// The text of a module, up to its NUL.
    Text(&'a [u8]),
    /// A whole container.
    Fatbin(&'a [u8]),
    /// The machine code of a GPU.
    Cubin,
}

impl<'a> Source<'a> {
    /// What bytes of a known length are: the content of a file, for instance.
    ///
    /// # Errors
    /// `INVALID_IMAGE` where they are nothing known.
    pub(crate) fn of_bytes(bytes: &'a [u8]) -> Result<Self, Refusal> {
        if bytes.starts_with(&fatbin::MAGIC) {
            return Ok(Self::Fatbin(bytes));
        }
        if bytes.starts_with(&ELF) {
            return of_elf(bytes);
        }
        Ok(Self::Text(
            bytes.split(|byte| *byte == 0).next().unwrap_or(&[]),
        ))
    }

    /// What a pointer points to. The caller promises that it is as long as it says itself: text ends with a NUL, and the other forms tell
    /// their length in their headers.
    ///
    /// # Errors
    /// `INVALID_VALUE` for null, `INVALID_IMAGE` for what is nothing known.
    pub(crate) fn of_pointer(image: &'a In<u8>) -> Result<Self, Refusal> {
        let null = |result| refuse(result, "no image was passed");
        // Each byte is read only if those before it allow that there is one more.
        let mut magic = [0; 4];
        for (index, place) in magic.iter_mut().enumerate() {
            *place = image.at(index).map_err(null)?;
            if *place == 0 {
                return Ok(Self::Text(image.bytes(index).map_err(null)?));
            }
        }
        match magic {
            fatbin::MAGIC => Self::of_container(image),
            ELF => of_elf(image.bytes(MACHINE.end).map_err(null)?),
            _ => {
                let text = image.text().map_err(null)?;
                Ok(Self::Text(text))
            }
        }
    }

    fn of_container(image: &'a In<u8>) -> Result<Self, Refusal> {
        let damaged = |message| {
            refuse(
                code::INVALID_IMAGE,
                format!("of the fatbin that was passed, {message}"),
            )
        };
        let header = image
            .bytes(fatbin::HEADER)
            .map_err(|result| refuse(result, "no image was passed"))?;
        let extent = fatbin::extent(header).map_err(damaged)?;
        let bytes = image
            .bytes(extent)
            .map_err(|result| refuse(result, "no image was passed"))?;
        Ok(Self::Fatbin(bytes))
    }
}

fn of_elf<'a>(bytes: &[u8]) -> Result<Source<'a>, Refusal> {
    if bytes.get(MACHINE) == Some(&CUDA_MACHINE) {
        Ok(Source::Cubin)
    } else {
        Err(refuse(
            code::INVALID_IMAGE,
            "the image is an ELF file, but not for a GPU",
        ))
    }
}

/// The container that a registration structure names; the pointer itself where it is none.
pub(crate) fn registered(image: In<c_void>) -> In<c_void> {
    let bytes = image.cast::<u8>();
    for (index, expected) in WRAPPER.into_iter().enumerate() {
        if bytes.at(index) != Ok(expected) {
            return image;
        }
    }
    // The structure: its magic number, a version, the container, and a pointer that the linker uses.
    let container = image.cast::<*const u8>().at(1);
    container.map_or(image, |container| In::from_pointer(container.cast()))
}
