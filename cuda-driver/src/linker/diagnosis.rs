//! Why linking failed. Runs only after the failure.

use cuda_sys::{CUjit_option, CUresult};

use super::input::Input;
use crate::context::ContextCore;
use crate::driver::Driver;
use crate::error::{Error, ErrorKind};
use crate::module::{Facts, Image, JitTarget, explain, with_source};

/// Explains why no linker was made.
#[cold]
pub(super) fn of_options(error: Error, driver: &Driver, options: &[CUjit_option]) -> Error {
    let target = JitTarget {
        driver,
        device: None,
    };
    explain(error, target, &Facts::unknown(), options)
}

/// Explains why an input was refused.
#[cold]
pub(super) fn of_input(
    error: Error,
    context: &ContextCore,
    input: &Input<'_>,
    options: &[CUjit_option],
    log: String,
) -> Error {
    let target = JitTarget {
        driver: context.driver(),
        device: Some(context.device()),
    };
    let error = match input {
        Input::Image(image) => explain(error, target, &image.facts(), options),
        Input::Object(_) | Input::Archive(_) => error,
    };
    let error = said(error, &log);
    match input {
        Input::Image(image @ Image::Ptx(_)) => {
            let source = image.text().unwrap_or_default();
            error.with_log(with_source(log, &source))
        }
        _ => error.with_log(log),
    }
}

/// Explains why the link could not be completed.
#[cold]
pub(super) fn of_link(error: Error, log: String) -> Error {
    said(error, &log).with_log(log)
}

/// Puts what the log says of names into the error's own words.
fn said(error: Error, log: &str) -> Error {
    let undefined: Vec<(&str, &str)> = log.lines().filter_map(undefined).collect();
    if let Some((name, input)) = undefined.first() {
        let more = match undefined.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more of this kind)"),
        };
        return error
            .of_kind(ErrorKind::InvalidImage)
            .because(format!(
                "`{input}` refers to `{name}`, which no input defines{more}"
            ))
            .remedied_by("add the input that defines it, under the same (mangled) name");
    }
    if let Some((name, input, first)) = log.lines().find_map(defined_twice) {
        return error
            .of_kind(ErrorKind::InvalidImage)
            .because(format!("`{input}` defines `{name}`, and so does `{first}`"))
            .remedied_by("leave one of them out, or make them `static` or `.weak`");
    }
    let status = error.status();
    if status == Some(CUresult::CUDA_ERROR_INVALID_SOURCE)
        || status == Some(CUresult::CUDA_ERROR_UNKNOWN)
    {
        return match log.lines().find_map(|line| line.split_once("error   : ")) {
            Some((_, reason)) => error
                .of_kind(ErrorKind::InvalidImage)
                .because(reason.trim().to_owned()),
            None => error,
        };
    }
    error
}

/// The texts between single quotes in a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('\'').skip(1).step_by(2)
}

/// The name that a line of the log says to be undefined, and where it is used.
fn undefined(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once("Undefined reference to ")?;
    let mut parts = quoted(rest);
    Some((parts.next()?, parts.next()?))
}

/// The name that a line of the log says to be defined twice, and where.
fn defined_twice(line: &str) -> Option<(&str, &str, &str)> {
    let (_, rest) = line.split_once("Multiple definition of ")?;
    let mut parts = quoted(rest);
    Some((parts.next()?, parts.next()?, parts.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> Error {
        Error::from_status("cuLinkComplete", CUresult::CUDA_ERROR_INVALID_SOURCE)
    }

    #[test]
    fn names_that_nothing_defines() {
        let log = "error   : Undefined reference to '_Z3addii' in 'a.ptx'\n\
                   error   : Undefined reference to 'b' in 'a.ptx'";
        let error = of_link(failed(), log.into());
        let text = error.to_string();
        assert_eq!(error.kind(), ErrorKind::InvalidImage);
        assert!(
            text.contains("`a.ptx` refers to `_Z3addii`, which no input defines (and 1 more"),
            "{text}"
        );
        assert!(text.contains("add the input that defines it"), "{text}");
        assert!(text.ends_with("'b' in 'a.ptx'"), "{text}");
    }

    #[test]
    fn names_that_two_define() {
        let log = "error   : Multiple definition of 'x' in 'b', first defined in 'a'";
        let text = of_link(failed(), log.into()).to_string();
        assert!(text.contains("`b` defines `x`, and so does `a`"), "{text}");
    }

    #[test]
    fn other_errors_of_the_linker_are_the_reason() {
        let log = "error   : Size doesn't match for 'x' in 'b', first specified in 'a'";
        let text = of_link(failed(), log.into()).to_string();
        assert!(text.contains(": Size doesn't match for 'x'"), "{text}");
    }

    #[test]
    fn hostile_logs_are_harmless() {
        for log in [
            "Undefined reference to ",
            "Multiple definition of '",
            "''''",
            "error   : ",
        ] {
            assert!(!of_link(failed(), log.into()).to_string().is_empty());
        }
    }
}
