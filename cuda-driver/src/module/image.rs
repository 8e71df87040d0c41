//! Module images: which kind one is, and whether it is whole.
//!
//! The driver finds the end of an image in the image itself, so a truncated one would make it read past the slice.
//! Everything that tells it where to read is compared with the slice first.

mod archive;
mod cubin;
mod fatbin;
mod field;
mod variables;

pub(crate) use archive::MAGIC as ARCHIVE_MAGIC;

use std::borrow::Cow;
use std::ffi::{CString, c_void};
use std::fmt;

use super::ptx;
use crate::driver::Version;
use crate::error::{Error, ErrorKind, Result, count};

/// What the driver is given: an image that is whole, at an address that is aligned for it.
///
/// # Invariants
/// A text ends with NUL. A binary's headers name no byte beyond its end, and it starts at a multiple of 8.
pub(crate) enum Image<'a> {
    Ptx(CString),
    Cubin(Aligned<'a>),
    Fatbin(Aligned<'a>),
}

impl<'a> Image<'a> {
    /// PTX, whose NULs at the end are dropped before one is added.
    pub(crate) fn ptx(text: &str) -> Result<Self> {
        let text = text.trim_end_matches('\0');
        // A driver goes by the first bytes: what it takes for a binary, it reads as far as headers say that are not there.
        if let Some(first) = text.bytes().next()
            && first.is_ascii_control()
            && !first.is_ascii_whitespace()
        {
            return Err(Error::invalid(format!(
                "the PTX starts with the byte {first:#04x}, as binary images do and no text does"
            )));
        }
        let terminated = CString::new(text).map_err(|error| {
            let place = error.nul_position();
            let line = 1 + text.bytes().take(place).filter(|&it| it == b'\n').count();
            Error::invalid(format!(
                "the PTX contains a NUL in line {line} (byte {place}), where the driver would stop reading"
            ))
        })?;
        Ok(Self::Ptx(terminated))
    }

    pub(crate) fn cubin(bytes: &'a [u8]) -> Result<Self> {
        cubin::check(bytes).map_err(refused)?;
        Ok(Self::Cubin(Aligned::new(bytes)))
    }

    pub(crate) fn fatbin(bytes: &'a [u8]) -> Result<Self> {
        fatbin::check(bytes).map_err(refused)?;
        Ok(Self::Fatbin(Aligned::new(bytes)))
    }

    /// An image of the kind that its first bytes say.
    pub(crate) fn detect(bytes: &'a [u8]) -> Result<Self> {
        if bytes.starts_with(cubin::MAGIC) {
            return Self::cubin(bytes);
        }
        if bytes.starts_with(fatbin::MAGIC) {
            return Self::fatbin(bytes);
        }
        // Only comments may have characters that are not ASCII.
        let text = String::from_utf8_lossy(bytes);
        if ptx::is_ptx(&text) {
            return Self::ptx(&text);
        }
        Err(refused(unknown(bytes)))
    }

    /// The image with bytes of its own.
    pub(crate) fn into_owned(self) -> Image<'static> {
        match self {
            Self::Ptx(text) => Image::Ptx(text),
            Self::Cubin(image) => Image::Cubin(image.into_owned()),
            Self::Fatbin(image) => Image::Fatbin(image.into_owned()),
        }
    }

    pub(crate) fn as_ptr(&self) -> *const c_void {
        match self {
            Self::Ptx(text) => text.as_ptr().cast(),
            Self::Cubin(image) | Self::Fatbin(image) => image.as_ptr(),
        }
    }

    /// The size in bytes, the NUL of a text included.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Ptx(text) => text.as_bytes_with_nul().len(),
            Self::Cubin(image) | Self::Fatbin(image) => image.bytes().len(),
        }
    }

    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Ptx(text) => Some(text.to_string_lossy()),
            Self::Cubin(_) | Self::Fatbin(_) => None,
        }
    }

    /// The names of the global variables in it, as far as they can be read without the driver.
    pub(crate) fn variables(&self) -> Vec<Box<str>> {
        match self {
            Self::Ptx(text) => variables::of_ptx(&text.to_string_lossy()),
            Self::Cubin(image) => variables::of_cubin(image.bytes()),
            // Which of its parts the driver takes is not known.
            Self::Fatbin(_) => Vec::new(),
        }
    }

    /// What errors say of it, once it is gone.
    pub(crate) fn facts(&self) -> Facts {
        let text = self.text();
        let text = text.as_deref();
        Facts {
            is_text: text.is_some(),
            is_ptx: text.is_some_and(ptx::is_ptx),
            remedy: text.and_then(ptx::remedy_of_other_text),
            version: text.and_then(ptx::version),
            target: text.and_then(ptx::target).map(Box::from),
            made_for: self.made_for(),
        }
    }

    /// What the image was made for, in words, such as ``the PTX for `sm_80` ``.
    pub(crate) fn made_for(&self) -> String {
        match self {
            Self::Ptx(text) => match ptx::target(&text.to_string_lossy()) {
                Some(target) => format!("the PTX is for `{target}`"),
                None => "the PTX names no target".into(),
            },
            Self::Cubin(image) => match cubin::architecture(image.bytes()) {
                Some(number) => format!("the cubin is for `sm_{number}`"),
                None => "the cubin names no architecture".into(),
            },
            Self::Fatbin(image) => {
                let entries = fatbin::entries(image.bytes()).unwrap_or_default();
                let entries: Vec<_> = entries.iter().map(|entry| format!("`{entry}`")).collect();
                format!("the fat binary has {}", entries.join(", "))
            }
        }
    }
}

/// What errors say of an image.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Whether it is a text.
    pub(crate) is_text: bool,
    /// Whether the text begins as PTX does.
    pub(crate) is_ptx: bool,
    /// What to do with a text that begins otherwise.
    pub(crate) remedy: Option<&'static str>,
    /// The version that the PTX states.
    pub(crate) version: Option<Version>,
    /// The target that the PTX states.
    pub(crate) target: Option<Box<str>>,
    /// What it was made for, in words.
    pub(crate) made_for: String,
}

impl Facts {
    /// Nothing is known of the image.
    pub(crate) fn unknown() -> Self {
        Self {
            is_text: false,
            is_ptx: false,
            remedy: None,
            version: None,
            target: None,
            made_for: "the image has no code for it".into(),
        }
    }
}

impl fmt::Display for Image<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ptx(_) => "PTX",
            Self::Cubin(_) => "a cubin",
            Self::Fatbin(_) => "a fat binary",
        })
    }
}

/// Bytes that start at a multiple of 8: those given, or a copy of them.
///
/// # Invariants
/// A copy's first `len` bytes are the image.
pub(crate) enum Aligned<'a> {
    Given(&'a [u8]),
    Copy { words: Vec<u64>, len: usize },
}

impl<'a> Aligned<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        if bytes.as_ptr().addr().is_multiple_of(align_of::<u64>()) {
            return Self::Given(bytes);
        }
        Self::copy(bytes)
    }

    fn into_owned(self) -> Aligned<'static> {
        match self {
            Self::Given(bytes) => Aligned::copy(bytes),
            Self::Copy { words, len } => Aligned::Copy { words, len },
        }
    }

    fn copy(bytes: &[u8]) -> Self {
        let mut words = vec![0_u64; bytes.len().div_ceil(size_of::<u64>())];
        for (place, byte) in bytemuck::cast_slice_mut(&mut words).iter_mut().zip(bytes) {
            *place = *byte;
        }
        Self::Copy {
            words,
            len: bytes.len(),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Given(bytes) => bytes,
            Self::Copy { words, len } => bytemuck::cast_slice(words).get(..*len).unwrap_or(&[]),
        }
    }

    pub(crate) fn as_ptr(&self) -> *const c_void {
        self.bytes().as_ptr().cast()
    }
}

/// Refuses what is no whole cubin.
///
/// # Errors
/// [`ErrorKind::InvalidImage`], with what its headers name and what is not there.
pub fn check_cubin(bytes: &[u8]) -> Result<()> {
    cubin::check(bytes).map_err(refused)
}

/// Refuses what is no whole fat binary.
///
/// # Errors
/// As [`check_cubin`].
pub fn check_fatbin(bytes: &[u8]) -> Result<()> {
    fatbin::check(bytes).map_err(refused)
}

/// Refuses what is no whole object file of the host.
///
/// # Errors
/// As [`check_cubin`].
pub fn check_object(bytes: &[u8]) -> Result<()> {
    cubin::check_object(bytes).map_err(refused)
}

/// Refuses what is no whole archive.
///
/// # Errors
/// As [`check_cubin`].
pub fn check_archive(bytes: &[u8]) -> Result<()> {
    archive::check(bytes).map_err(refused)
}

fn refused(reason: String) -> Error {
    Error::new(ErrorKind::InvalidImage, reason)
}

/// Why bytes are none of the kinds.
fn unknown(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "it is empty".into();
    }
    if bytes.starts_with(fatbin::WRAPPER_MAGIC) {
        return "it is the wrapper that programs have around a fat binary, which only holds the \
                address of one"
            .into();
    }
    let start: Vec<_> = bytes.iter().take(8).map(|it| format!("{it:02x}")).collect();
    format!(
        "it is neither PTX (no `.version`) nor a cubin nor a fat binary: of its {}, the first are {}",
        count(bytes.len(), "byte"),
        start.join(" ")
    )
}

/// A fat binary that passes the checks.
#[cfg(all(test, feature = "simulator"))]
pub(super) fn sample_fatbin() -> Vec<u8> {
    fatbin::tests::sample()
}

/// The same with a compressed entry.
#[cfg(all(test, feature = "simulator"))]
pub(super) fn sample_compressed_fatbin() -> Vec<u8> {
    fatbin::tests::compressed_sample()
}

/// A cubin that passes the checks.
#[cfg(all(test, feature = "simulator"))]
pub(super) fn sample_cubin() -> Vec<u8> {
    cubin::tests::sample()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(bytes: &[u8]) -> String {
        match Image::detect(bytes) {
            Ok(image) => panic!("taken as {image}"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::InvalidImage);
                error.to_string()
            }
        }
    }

    #[test]
    fn kinds_are_told_by_content() {
        let ptx = Image::detect(b"// by hand\n.version 7.0\n.target sm_70\n\0");
        assert!(matches!(ptx, Ok(Image::Ptx(_))));
        let cubin = cubin::tests::sample();
        assert!(matches!(Image::detect(&cubin), Ok(Image::Cubin(_))));
        let fatbin = fatbin::tests::sample();
        assert!(matches!(Image::detect(&fatbin), Ok(Image::Fatbin(_))));
        assert!(reason(b"").contains("empty"));
        assert!(reason(b"hello").contains("68 65 6c 6c 6f"));
        assert!(reason(&[0xb1, 0x43, 0x62, 0x46, 0, 0]).contains("wrapper"));
    }

    #[test]
    fn a_nul_inside_ptx_is_refused_with_its_line() {
        let error = Image::ptx(".version 7.0\n.target\0sm_70\n").err();
        let error = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("line 2 (byte 20)"), "{error}");
    }

    #[test]
    fn a_text_that_drivers_take_for_a_binary_is_refused() {
        for text in ["\x7fELF", "\x7fELF\x02\x01", "\x7fTileIR", "\x01"] {
            let error = Image::ptx(text).err().map(|error| error.to_string());
            assert!(error.is_some_and(|error| error.contains("starts with the byte")));
        }
        for text in ["", "\n.version 7.0", "\t// x", "hello"] {
            assert!(matches!(Image::ptx(text), Ok(Image::Ptx(_))));
        }
    }

    #[test]
    fn nuls_at_the_end_of_ptx_are_dropped() -> Result<()> {
        let image = Image::ptx(".version 7.0\n\0\0")?;
        assert_eq!(image.text().as_deref(), Some(".version 7.0\n"));
        Ok(())
    }

    #[test]
    fn unaligned_bytes_are_copied() {
        let words: Vec<u64> = (0..9).map(|word| word * 0x0101_0203).collect();
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        for start in 0..8 {
            let image = Aligned::new(&bytes[start..start + 61]);
            assert!(image.as_ptr().addr().is_multiple_of(8));
            assert_eq!(image.bytes(), &bytes[start..start + 61]);
            assert_eq!(matches!(image, Aligned::Given(_)), start == 0);
        }
    }
}
