//! What is linked.

use std::borrow::Cow;

use cuda_driver::image;

use crate::compiled::Compiled;
use crate::error::{Error, Result};
use crate::options::Output;

/// What LTO-IR begins with.
const LTO_IR: &[u8] = &[0xed, b'C', b'N', 0x7f];
/// The newest version of PTX whose syntax is known.
const NEWEST: (u32, u32) = (9, 5);

/// One input of a [`Linker`](crate::Linker).
#[derive(Clone, Debug)]
pub struct LinkInput<'a> {
    pub(super) kind: Kind,
    bytes: Cow<'a, [u8]>,
    name: String,
}

/// The kinds of input, by their numbers in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum Kind {
    Cubin = 1,
    Ptx = 2,
    LtoIr = 3,
    Fatbin = 4,
    Object = 5,
    Library = 6,
}

impl<'a> LinkInput<'a> {
    /// A compiled program: PTX, a relocatable cubin or LTO-IR.
    #[must_use]
    pub fn compiled(compiled: &'a Compiled) -> Self {
        match compiled.output() {
            Output::Ptx => Self::new(Kind::Ptx, terminated(compiled.image())),
            Output::Cubin => Self::new(Kind::Cubin, compiled.image()),
            Output::LtoIr => Self::new(Kind::LtoIr, compiled.image()),
        }
    }

    /// PTX.
    #[must_use]
    pub fn ptx(text: &str) -> Self {
        Self::new(Kind::Ptx, terminated(text.as_bytes()))
    }

    /// A relocatable cubin.
    ///
    /// # Safety
    /// It comes from a compiler for the GPU and is unchanged: the linker does not defend itself against others.
    #[must_use]
    pub unsafe fn cubin(image: &'a [u8]) -> Self {
        Self::new(Kind::Cubin, image)
    }

    /// LTO-IR.
    ///
    /// # Safety
    /// As [`cubin`](Self::cubin).
    #[must_use]
    pub unsafe fn lto_ir(image: &'a [u8]) -> Self {
        Self::new(Kind::LtoIr, image)
    }

    /// A fat binary.
    ///
    /// # Safety
    /// As [`cubin`](Self::cubin).
    #[must_use]
    pub unsafe fn fatbin(image: &'a [u8]) -> Self {
        Self::new(Kind::Fatbin, image)
    }

    /// An object file of the host, with relocatable code for the GPU in it.
    ///
    /// # Safety
    /// As [`cubin`](Self::cubin).
    #[must_use]
    pub unsafe fn object(image: &'a [u8]) -> Self {
        Self::new(Kind::Object, image)
    }

    /// An archive of such object files, such as `libcudadevrt.a`.
    ///
    /// # Safety
    /// As [`cubin`](Self::cubin).
    #[must_use]
    pub unsafe fn archive(image: &'a [u8]) -> Self {
        Self::new(Kind::Library, image)
    }

    /// The name that messages call it by.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    fn new(kind: Kind, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self {
            kind,
            bytes: bytes.into(),
            name: format!("{kind:?}"),
        }
    }

    /// Refuses what a look at it tells to be damaged; the linker crashes on much of that.
    pub(super) fn check(&self) -> Result<()> {
        let bytes = &*self.bytes;
        let checked = match self.kind {
            Kind::Ptx => return self.check_ptx(bytes.strip_suffix(b"\0").unwrap_or(bytes)),
            Kind::LtoIr if bytes.starts_with(LTO_IR) => Ok(()),
            Kind::LtoIr => return self.refuse("is no LTO-IR: it starts otherwise"),
            Kind::Cubin => image::check_cubin(bytes),
            Kind::Fatbin => image::check_fatbin(bytes),
            Kind::Object => image::check_object(bytes),
            Kind::Library => image::check_archive(bytes),
        };
        checked.or_else(|error| self.refuse(&format!("is refused: {error}")))
    }

    fn check_ptx(&self, text: &[u8]) -> Result<()> {
        if text.contains(&0) {
            return self.refuse("has a NUL inside");
        }
        let Some(version) = version(text) else {
            return self.refuse("is no PTX, which begins with `.version`");
        };
        // A newer version may have a newer syntax.
        if version > NEWEST {
            return Ok(());
        }
        let text = String::from_utf8_lossy(text);
        match cuda_ptx::Module::parse(&text) {
            Ok(_) => Ok(()),
            Err(error) => self.refuse(&format!("is no PTX that can be read: {error}")),
        }
    }

    #[cold]
    fn refuse(&self, reason: &str) -> Result<()> {
        let name = &self.name;
        Err(Error::invalid(format!("the input `{name}` {reason}")))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// A text with the NUL behind it that C expects.
fn terminated(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() + 1);
    bytes.extend_from_slice(text);
    bytes.push(0);
    bytes
}

/// The version of PTX; nothing if the first word after blanks and comments is not `.version`.
fn version(mut text: &[u8]) -> Option<(u32, u32)> {
    loop {
        text = text.trim_ascii_start();
        let end = if text.starts_with(b"//") {
            memchr::memchr(b'\n', text)
        } else if text.starts_with(b"/*") {
            memchr::memmem::find(text, b"*/").map(|at| at + 2)
        } else {
            let rest = text.strip_prefix(b".version")?.trim_ascii_start();
            let mut digits = rest.split(|byte| !byte.is_ascii_digit());
            let mut number = || std::str::from_utf8(digits.next()?).ok()?.parse().ok();
            return Some((number()?, number()?));
        };
        text = end.and_then(|end| text.get(end..)).unwrap_or(&[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_is_told_from_other_texts() {
        for text in [
            ".version 7.0 .target sm_80",
            "\n // a\n/* b */ .version 8.0\n.target sm_90",
        ] {
            LinkInput::ptx(text).check().unwrap();
        }
        for text in [
            "",
            "//",
            "/*",
            "/* .version",
            "extern",
            ".version 7.0\n\0",
            "\0.version",
            ".version 8",
            ".version 8.0\n.target sm_80\n.visible .func table; .b32 x) f() {",
        ] {
            let error = LinkInput::ptx(text).named("x.ptx").check().unwrap_err();
            assert!(error.to_string().contains("`x.ptx`"), "{error}");
        }
        // What is newer is the linker's concern.
        LinkInput::ptx(".version 99.0 ???").check().unwrap();
    }

    #[test]
    fn damaged_binaries_never_reach_the_linker() {
        type Constructor = unsafe fn(&'static [u8]) -> LinkInput<'static>;
        let whole: &[u8] = b"!<arch>\n";
        let truncated: &[u8] = b"\x7fELF\x02\x01\x01";
        let cases: [(Constructor, &[u8]); 6] = [
            (LinkInput::cubin, truncated),
            (LinkInput::cubin, b""),
            (LinkInput::lto_ir, truncated),
            (LinkInput::fatbin, whole),
            (LinkInput::object, truncated),
            (LinkInput::archive, truncated),
        ];
        for (constructor, bytes) in cases {
            // SAFETY: nothing is linked.
            let input = unsafe { constructor(bytes) };
            let error = input.named("x").check().unwrap_err();
            assert!(error.to_string().contains("the input `x` is"), "{error}");
        }
        // SAFETY: nothing is linked.
        unsafe { LinkInput::archive(whole) }.check().unwrap();
    }
}
