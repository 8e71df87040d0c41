//! Why an image was refused: versions, targets, and the source lines that the compiler complains about. Runs only after
//! the failure.

use std::collections::BTreeSet;
use std::fmt::Write;

use cuda_sys::{CUjit_option, CUresult};

use super::image::Facts;
use super::ptx;
use crate::device::{ComputeCapability, Device};
use crate::driver::{Driver, Version};
use crate::error::Error;

/// Lines shown before and after a line that the log names.
const AROUND: usize = 1;
/// How many named lines are shown at most.
const MOST: usize = 8;

/// What an image was loaded for.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) driver: &'a Driver,
    /// The device, unless it was for whichever comes.
    pub(crate) device: Option<&'a Device>,
}

/// Says what does not fit: the PTX's version and the driver's, or the image's target and the device's.
#[cold]
pub(crate) fn explain(
    error: Error,
    target: Target<'_>,
    facts: &Facts,
    options: &[CUjit_option],
) -> Error {
    let version = target.driver.version();
    let Some(status) = error.status() else {
        return error;
    };
    match status {
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION | CUresult::CUDA_ERROR_INVALID_PTX => {
            explain_target(explain_version(error, version, facts), target, facts)
        }
        CUresult::CUDA_ERROR_INVALID_IMAGE if facts.is_text && !facts.is_ptx => {
            let error = error.because("the text is not PTX, which begins with `.version`");
            match facts.remedy {
                Some(remedy) => error.remedied_by(remedy),
                None => error,
            }
        }
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => {
            let error = error.because(format!("{}, but {}", device(target), facts.made_for));
            match capability(target) {
                Some(capability) => error.remedied_by(compile_for(capability)),
                None => error,
            }
        }
        CUresult::CUDA_ERROR_INVALID_SOURCE if options.contains(&CUjit_option::CU_JIT_TARGET) => {
            error.because(format!(
                "{}, and the target that was chosen makes no code for it",
                device(target)
            ))
        }
        CUresult::CUDA_ERROR_INVALID_VALUE if !options.is_empty() => error
            .because(format!(
                "this driver (CUDA {version}) refuses the image or one of the options {options:?}"
            ))
            .remedied_by("load it without options to find out which"),
        _ => error,
    }
}

fn capability(target: Target<'_>) -> Option<ComputeCapability> {
    target.device.and_then(|it| it.compute_capability().ok())
}

/// How to make code for a device, and for newer ones.
fn compile_for(capability: ComputeCapability) -> String {
    let number = format!("{}{}", capability.major, capability.minor);
    format!(
        "compile for it with PTX for newer ones, `nvcc -gencode arch=compute_{number},code=[sm_{number},compute_{number}]`, or \
         load PTX"
    )
}

fn device(target: Target<'_>) -> String {
    match capability(target) {
        Some(capability) => format!("the device has compute capability {capability}"),
        None => "the device's compute capability is not known".into(),
    }
}

/// Drivers call PTX invalid whose target is newer than the device.
fn explain_target(error: Error, target: Target<'_>, facts: &Facts) -> Error {
    let invalid = error.status() == Some(CUresult::CUDA_ERROR_INVALID_PTX);
    let (Some(wanted), Some(capability)) = (facts.target.as_deref(), capability(target)) else {
        return error;
    };
    if invalid && ptx::capability(wanted).is_some_and(|needed| needed > capability) {
        error
            .because(format!("{}, but the PTX is for `{wanted}`", device(target)))
            .remedied_by(format!("emit PTX for `{}` or lower", capability.target()))
    } else {
        error
    }
}

/// Older drivers call PTX invalid that is only too new.
fn explain_version(error: Error, cuda: Version, facts: &Facts) -> Error {
    let unsupported = error.status() == Some(CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    let Some(version) = facts.version else {
        return error;
    };
    match ptx::newest_for(cuda) {
        Some(newest) if version > newest => error
            .because(format!(
                "the PTX is of version {version}{}, but this driver (CUDA {cuda}) takes PTX up to {newest}",
                ptx::toolkit_of(version)
                    .map(|toolkit| format!(", which toolkits of CUDA {toolkit} write"))
                    .unwrap_or_default()
            ))
            .remedied_by(format!(
                "update the driver, or emit PTX with an older toolkit or with `.version {newest}` or lower"
            )),
        None if unsupported => error.because(format!(
            "the PTX is of version {version}, which is newer than this driver (CUDA {cuda}) takes"
        )),
        _ => error,
    }
}

/// The log, with the lines of the source that it names.
#[cold]
pub(crate) fn with_source(mut log: String, source: &str) -> String {
    let named = lines_named(&log);
    let total = source.lines().count();
    let shown: BTreeSet<usize> = named
        .iter()
        .take(MOST)
        .filter(|&&line| (1..=total).contains(&line))
        .flat_map(|&line| line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND))
        .collect();
    let mut last = None;
    for (number, line) in (1..).zip(source.lines()) {
        if !shown.contains(&number) {
            continue;
        }
        if last.is_some_and(|last| last + 1 != number) {
            log.push_str("\n      …");
        }
        last = Some(number);
        let mark = if named.contains(&number) { '>' } else { ' ' };
        // Writing to a String does not fail.
        let _ = write!(log, "\n{mark}{number:>6} | {line}");
    }
    log
}

/// The numbers that follow the word `line`.
fn lines_named(log: &str) -> BTreeSet<usize> {
    let mut lines = BTreeSet::new();
    let mut rest = log;
    while let Some((_, after)) = rest.split_once("line ") {
        rest = after;
        let digits = after.find(|it: char| !it.is_ascii_digit());
        let digits = after.get(..digits.unwrap_or(after.len())).unwrap_or("");
        lines.extend(digits.parse::<usize>());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_around_those_named_are_shown_once() {
        let source = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine";
        let log = "ptxas application ptx input, line 2; error : a\nptxas …, line 3; b\nline 9; c\nline 400";
        let shown = with_source(log.into(), source);
        let expected = "
      1 | one
>     2 | two
>     3 | three
      4 | four
      …
      8 | eight
>     9 | nine";
        assert_eq!(shown.strip_prefix(log), Some(expected));
    }

    #[test]
    fn a_log_that_names_no_line_stays_as_it_is() {
        assert_eq!(with_source("fatal: line".into(), "x"), "fatal: line");
        assert_eq!(with_source("line 0; error".into(), "x"), "line 0; error");
    }

    #[test]
    fn a_hostile_log_is_harmless() {
        let log = format!("line {}; line {}", usize::MAX, u128::MAX);
        assert_eq!(with_source(log.clone(), "x"), log);
    }
}
