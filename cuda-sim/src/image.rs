//! What a module can be loaded from: PTX text here; machine code is recognised and refused.

use std::ffi::{CStr, c_void};

use cuda_ptx::Module;
use cuda_sys::CUresult;

use crate::args::{In, Text};
use crate::code;

/// Why an image cannot be loaded.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) result: CUresult,
    pub(crate) message: String,
}

fn refuse(result: CUresult, message: impl Into<String>) -> Refusal {
    Refusal {
        result,
        message: message.into(),
    }
}

/// First bytes of a fatbin, of a linked fatbin's wrapper, and of an ELF file.
const FATBIN: [u8; 4] = [0x50, 0xed, 0x55, 0xba];
const WRAPPER: [u8; 4] = [0xb1, 0x43, 0x62, 0x46];
const ELF: [u8; 4] = [0x7f, b'E', b'L', b'F'];
/// The machine number of a cubin.
const CUDA_MACHINE: u16 = 190;

/// The bytes of an image whose length only it knows: text up to its NUL; of anything else the first bytes, which tell what it is.
///
/// # Errors
/// A refusal where the image is null.
pub(crate) fn read(image: In<c_void>) -> Result<Vec<u8>, Refusal> {
    let bytes = image.cast::<u8>();
    let mut magic = Vec::new();
    for index in 0..4 {
        match bytes.at(index) {
            Ok(0) => break,
            Ok(byte) => magic.push(byte),
            Err(result) => return Err(refuse(result, "no image was passed")),
        }
    }
    if magic == ELF {
        // The header is 64 bytes long; the machine stands at byte 18.
        for index in 4..20 {
            magic.push(bytes.at(index).unwrap_or(0));
        }
        return Ok(magic);
    }
    if magic == FATBIN || magic == WRAPPER {
        return Ok(magic);
    }
    let text: Text = image.into_text();
    text.get()
        .map(CStr::to_bytes)
        .map(<[u8]>::to_vec)
        .map_err(|result| refuse(result, "no image was passed"))
}

/// The PTX of an image.
///
/// # Errors
/// Why there is none.
pub(crate) fn ptx_text(bytes: &[u8]) -> Result<String, Refusal> {
    if bytes.starts_with(&ELF) {
        if bytes.get(18..20) != Some(&CUDA_MACHINE.to_le_bytes()[..]) {
            return Err(refuse(
                code::INVALID_IMAGE,
                "the image is an ELF file, but not for a GPU",
            ));
        }
        return Err(refuse(
            code::NO_BINARY_FOR_GPU,
            "the image is machine code (a cubin), which the software driver cannot run; load PTX text instead",
        ));
    }
    if bytes.starts_with(&FATBIN) || bytes.starts_with(&WRAPPER) {
        return Err(refuse(
            code::NO_BINARY_FOR_GPU,
            "the image is a fatbin, which the software driver does not unpack; load PTX text instead",
        ));
    }
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or(&[]);
    let text = std::str::from_utf8(text).map_err(|_| {
        refuse(
            code::INVALID_IMAGE,
            "the image is neither text nor a known binary",
        )
    })?;
    if !text.contains(".version") {
        return Err(refuse(
            code::INVALID_IMAGE,
            "the image has no .version directive: it is not PTX",
        ));
    }
    Ok(text.to_owned())
}

/// The newest PTX that a driver takes.
fn newest_ptx(driver_version: i32) -> (u32, u32) {
    let (major, minor) = (
        (driver_version / 1000) as u32,
        (driver_version % 1000 / 10) as u32,
    );
    match (major, minor) {
        (..=11, _) => (7, minor),
        (12, ..=5) => (8, minor),
        (12, _) => (8, minor - 1),
        (_, _) => (major - 4, minor),
    }
}

/// The number in `sm_90a`.
pub(crate) fn target_number(target: &str) -> Option<u32> {
    target
        .strip_prefix("sm_")?
        .trim_end_matches(|letter: char| letter.is_ascii_alphabetic())
        .parse()
        .ok()
}

/// Parses PTX and checks that driver and device take it.
///
/// # Errors
/// Why not.
pub(crate) fn parse(
    text: &str,
    driver_version: i32,
    capability: (u32, u32),
) -> Result<Module<'_>, Refusal> {
    let module =
        Module::parse(text).map_err(|error| refuse(code::INVALID_PTX, format!("{error}")))?;
    let (version, newest) = (module.version(), newest_ptx(driver_version));
    if version > newest {
        return Err(refuse(
            code::UNSUPPORTED_PTX_VERSION,
            format!(
                "PTX version {}.{} is newer than {}.{}, the newest that this driver takes; compile for an older one",
                version.0, version.1, newest.0, newest.1
            ),
        ));
    }
    if module.address_size() != 64 {
        return Err(refuse(
            code::INVALID_PTX,
            "only modules with .address_size 64 can be loaded",
        ));
    }
    let device = capability.0 * 10 + capability.1;
    match target_number(module.target()) {
        Some(target) if target > device => Err(refuse(
            code::INVALID_PTX,
            format!(
                "the PTX is for {} and newer, the device is an sm_{device}",
                module.target()
            ),
        )),
        Some(_) => Ok(module),
        None => Err(refuse(
            code::INVALID_PTX,
            format!("`{}` is no architecture", module.target()),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_ptx_follows_the_driver() {
        let table = [
            (11040, (7, 4)),
            (11080, (7, 8)),
            (12000, (8, 0)),
            (12050, (8, 5)),
            (12060, (8, 5)),
            (12080, (8, 7)),
            (13000, (9, 0)),
        ];
        for (driver, ptx) in table {
            assert_eq!(newest_ptx(driver), ptx, "driver {driver}");
        }
    }

    #[test]
    fn targets_are_numbers_with_letters_after_them() {
        assert_eq!(target_number("sm_90a"), Some(90));
        assert_eq!(target_number("sm_100"), Some(100));
        assert_eq!(target_number("compute_90"), None);
    }
}
