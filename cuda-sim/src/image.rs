//! What a module can be loaded from: PTX, by itself or in a fatbin. Machine code is recognised and refused.

pub(crate) mod fatbin;
mod source;

use std::sync::Arc;

use cuda_ptx::{Invalid, Module, Space};
use cuda_sim_machine::Program;
use cuda_sys::CUresult;

use crate::call::Call;
use crate::code;
use fatbin::{Kind, Reach};
pub(crate) use source::{Source, registered};

/// Why an image cannot be loaded.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) result: CUresult,
    pub(crate) message: String,
}

impl Refusal {
    /// The code of the refusal; what is not built is kept for the one who asks what a program needs.
    pub(crate) fn note(&self, call: &Call<'_>) -> CUresult {
        if self.result == code::NOT_SUPPORTED {
            call.instance.note_unsupported(self.message.clone());
        }
        self.result
    }
}

pub(crate) fn refuse(result: CUresult, message: impl Into<String>) -> Refusal {
    Refusal {
        result,
        message: message.into(),
    }
}

/// An image that was made ready to run.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    pub(crate) program: Arc<Program>,
    /// `10 * major + minor` of the PTX's `.target`.
    pub(crate) target: u32,
}

/// Makes an image ready to run on a device, its kernels with no more registers than `max_registers` where they state no bound.
///
/// # Errors
/// Why it cannot.
pub(crate) fn decode(
    source: Source<'_>,
    driver_version: i32,
    capability: (u32, u32),
    max_registers: Option<u32>,
) -> Result<Decoded, Refusal> {
    let text = ptx_text(source, capability.0 * 10 + capability.1)?;
    let module = parse(&text, driver_version, capability)?;
    complete(&module)?;
    let mut program = Program::for_processor(&module, crate::processor::host());
    if let Some(most) = max_registers {
        program.limit_registers(most);
    }
    Ok(Decoded {
        program: Arc::new(program),
        target: target_number(module.target()).unwrap_or(0),
    })
}

/// The PTX of an image for a device.
///
/// # Errors
/// Why there is none.
pub(crate) fn ptx_text(source: Source<'_>, device: u32) -> Result<String, Refusal> {
    match source {
        Source::Text(text) => as_ptx(text.to_vec()),
        Source::Cubin => Err(refuse(
            code::NO_BINARY_FOR_GPU,
            "the image is machine code (a cubin), which the software driver cannot run; load PTX instead",
        )),
        Source::Fatbin(bytes) => chosen(bytes, device),
    }
}

/// The PTX of a container that is written for the latest architecture that the device includes.
fn chosen(bytes: &[u8], device: u32) -> Result<String, Refusal> {
    let damaged = |message| {
        refuse(
            code::INVALID_IMAGE,
            format!("of the fatbin that was passed, {message}"),
        )
    };
    let entries = fatbin::entries(bytes).map_err(damaged)?;
    let best = entries
        .iter()
        .filter(|entry| entry.kind == Kind::Ptx && entry.reach.includes(entry.architecture, device))
        .max_by_key(|entry| (entry.architecture, entry.reach));
    let Some(best) = best else {
        let names: Vec<String> = entries.iter().map(ToString::to_string).collect();
        return Err(refuse(
            code::NO_BINARY_FOR_GPU,
            format!(
                "the fatbin has no PTX that an sm_{device} can be compiled for: it has {}; the software driver runs PTX only, so compile \
                 with -gencode arch=compute_{device},code=compute_{device}",
                if names.is_empty() {
                    String::from("nothing")
                } else {
                    names.join(", ")
                }
            ),
        ));
    };
    let text = best.unpack().map_err(|message| {
        refuse(
            code::UNKNOWN,
            format!("the fatbin's {best} cannot be unpacked: {message}"),
        )
    })?;
    let text = text.split(|byte| *byte == 0).next().unwrap_or(&[]);
    as_ptx(text.to_vec())
}

fn as_ptx(text: Vec<u8>) -> Result<String, Refusal> {
    // What is no text is no ASCII either, and refused with its line where it stands in PTX.
    let text = String::from_utf8_lossy(&text).into_owned();
    if starts_with_version(&text) {
        Ok(text)
    } else {
        Err(refuse(
            code::INVALID_IMAGE,
            "the image does not start with .version as PTX does, and is no known binary",
        ))
    }
}

/// Whether the first thing behind blanks and comments is `.version`, by which drivers know PTX.
fn starts_with_version(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let after = match (rest.strip_prefix("//"), rest.strip_prefix("/*")) {
            (Some(comment), _) => comment.split_once('\n'),
            (_, Some(comment)) => comment.split_once("*/"),
            (None, None) => return rest.starts_with(".version"),
        };
        rest = after.map_or("", |(_, after)| after.trim_start());
    }
}

/// The architecture that `.target` names, and for which devices it is.
pub(crate) fn target(name: &str) -> Option<(u32, Reach)> {
    let number = target_number(name)?;
    let reach = match name.as_bytes().last() {
        Some(b'a') => Reach::Exact,
        Some(b'f') => Reach::Family,
        _ => Reach::Later,
    };
    Some((number, reach))
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
fn target_number(target: &str) -> Option<u32> {
    let number = target.strip_prefix("sm_");
    number
        .or_else(|| target.strip_prefix("compute_"))?
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
    if !module.version_exists() {
        return Err(refuse(
            code::UNSUPPORTED_PTX_VERSION,
            format!("there is no version {}.{} of PTX", version.0, version.1),
        ));
    }
    if module.stated_address_size() == Some(32) {
        return Err(refuse(
            code::INVALID_PTX,
            "only modules with .address_size 64 can be loaded",
        ));
    }
    let device = capability.0 * 10 + capability.1;
    match target(module.target()) {
        Some((architecture, reach)) if !reach.includes(architecture, device) => Err(refuse(
            code::INVALID_PTX,
            match reach {
                Reach::Later => format!(
                    "the PTX is for {} and newer, the device is an sm_{device}",
                    module.target()
                ),
                Reach::Family | Reach::Exact => format!(
                    "the PTX is for {} and none other, the device is an sm_{device}",
                    module.target()
                ),
            },
        )),
        Some(_) => Ok(()),
        None => Err(refuse(
            code::INVALID_PTX,
            format!("`{}` is no architecture", module.target()),
        )),
    }?;
    check(&module)?;
    Ok(module)
}

/// Refuses what an assembler refuses; what is right but not implemented fails the launch that needs it instead.
fn check(module: &Module<'_>) -> Result<(), Refusal> {
    refuse_all(module.check())
}

/// Bytes of `.const` variables that a module may have.
const MOST_CONSTANTS: usize = 65_536;

/// Refuses a module that lacks functions, or that has more constants than fit.
///
/// # Errors
/// Why it cannot be loaded as it is.
fn complete(module: &Module<'_>) -> Result<(), Refusal> {
    refuse_all(module.unresolved())?;
    let constants = module.variables().iter();
    let sizes = constants
        .filter(|variable| variable.space == Space::Const)
        .map(|variable| variable.size().unwrap_or(usize::MAX));
    let size = sizes.fold(0, usize::saturating_add);
    if size > MOST_CONSTANTS {
        return Err(refuse(
            code::INVALID_PTX,
            format!("{size} bytes of .const variables where {MOST_CONSTANTS} are possible"),
        ));
    }
    Ok(())
}

fn refuse_all(wrong: Vec<Invalid<'_>>) -> Result<(), Refusal> {
    if wrong.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    Err(refuse(code::INVALID_PTX, lines.join("\n")))
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
        assert_eq!(target_number("compute_90"), Some(90));
        assert_eq!(target_number("gfx90"), None);
    }
}
