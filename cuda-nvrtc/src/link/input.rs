//! What is linked.

use std::borrow::Cow;

use crate::compiled::Compiled;
use crate::error::{Error, Result};
use crate::options::Output;

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

    /// Checks what some versions of the linker crash on.
    pub(super) fn check(&self) -> Result<()> {
        if self.kind != Kind::Ptx {
            return Ok(());
        }
        let text = self.bytes.strip_suffix(b"\0").unwrap_or(&self.bytes);
        let refuse = |reason: &str| {
            Err(Error::invalid(format!(
                "the input `{}` {reason}",
                self.name
            )))
        };
        if text.contains(&0) {
            return refuse("has a NUL inside");
        }
        match begins_with_version(text) {
            true => Ok(()),
            false => refuse("is no PTX, which begins with `.version`"),
        }
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

/// Whether the first word after blanks and comments is `.version`.
fn begins_with_version(mut text: &[u8]) -> bool {
    loop {
        text = text.trim_ascii_start();
        let end = if text.starts_with(b"//") {
            memchr::memchr(b'\n', text)
        } else if text.starts_with(b"/*") {
            memchr::memmem::find(text, b"*/").map(|at| at + 2)
        } else {
            return text.starts_with(b".version");
        };
        text = end.and_then(|end| text.get(end..)).unwrap_or(&[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_is_told_from_other_texts() {
        for text in [".version 7.0", "\n // a\n/* b */ .version 8.0"] {
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
        ] {
            let error = LinkInput::ptx(text).named("x.ptx").check().unwrap_err();
            assert!(error.to_string().contains("`x.ptx`"), "{error}");
        }
    }
}
