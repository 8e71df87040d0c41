//! One compilation.

use std::borrow::Cow;
use std::ffi::CString;

use cuda_driver::Version;

use super::plan::Plan;
use crate::compiled::Parts;
use crate::diagnostic::{self, Diagnostic, Severity};
use crate::error::{Error, ErrorKind, Result};
use crate::headers;
use crate::nvrtc::{Nvrtc, RawProgram};
use crate::program::{Encoded, Program, c_text};
use crate::stack;

/// What the compiler calls the list of name expressions.
const NAMES: &str = "__nv_name_map";
/// Files that are larger than this are not read for an excerpt, in bytes.
const LARGEST: u64 = 16 << 20;

/// Compiles on a thread of its own, whose stack is large enough.
pub(super) fn compile(
    nvrtc: &Nvrtc,
    program: &Program,
    encoded: &Encoded,
    plan: &Plan,
    mut arguments: Vec<String>,
) -> Result<Parts> {
    let mut all = plan.arguments();
    all.append(&mut arguments);
    let arguments: Vec<CString> = all
        .iter()
        .map(|it| c_text(it, || format!("the option `{it}`").into()))
        .collect::<Result<_>>()?;
    let work = || here(nvrtc, program, encoded, plan, &arguments);
    stack::run(program.len(), &work)?
}

fn here(
    nvrtc: &Nvrtc,
    program: &Program,
    encoded: &Encoded,
    plan: &Plan,
    arguments: &[CString],
) -> Result<Parts> {
    let mut raw = RawProgram::create(nvrtc, encoded)?;
    let compiled = raw.compile(arguments);
    let log = raw.log()?;
    if let Err(error) = compiled {
        return Err(explain(error, log, program, nvrtc.version()));
    }
    let image = raw.image(plan.output)?;
    if image.is_empty() {
        return Err(Error::new(
            ErrorKind::WrongOutput,
            format!("the compiler made no {:?}", plan.output),
        )
        .remedied_by("leave out the raw options that ask for something else"));
    }
    let names = program
        .instances()
        .zip(&encoded.instances)
        .map(|(expression, text)| {
            let name = raw.lowered_name(text).map_err(|error| {
                error.because(format!(
                    "nothing of the name `{expression}` has been compiled"
                ))
            })?;
            Ok((expression.to_owned(), name))
        })
        .collect::<Result<_>>()?;
    Ok(Parts {
        output: plan.output,
        architecture: plan.architecture,
        version: nvrtc.version(),
        image,
        names,
        log,
    })
}

/// Says why a program does not compile: how many errors, the log, and the lines that it speaks of.
#[cold]
fn explain(error: Error, log: String, program: &Program, version: Version) -> Error {
    let diagnostics = diagnostic::parse(&log);
    let is_error = |it: &&Diagnostic| it.severity == Severity::Error;
    let error = match (error.kind(), diagnostics.iter().filter(is_error).count()) {
        (ErrorKind::Compilation, 1) => error.because("there is an error"),
        (ErrorKind::Compilation, count @ 2..) => error.because(format!("there are {count} errors")),
        _ => error,
    };
    let is_of_names = |it: &Diagnostic| it.file == NAMES;
    let error = if !diagnostics.is_empty() && diagnostics.iter().all(is_of_names) {
        error
            .of_kind(ErrorKind::NameExpression)
            .because("a name expression names nothing in the program")
    } else {
        error
    };
    let error = match missing_header(&diagnostics) {
        Some(header) => {
            let remedy = headers::remedy(header, version.major);
            error.of_kind(ErrorKind::MissingHeader).remedied_by(remedy)
        }
        None => error,
    };
    let excerpt = diagnostic::excerpt(&diagnostics, |file| text_of(program, file));
    error.with_log(log, diagnostics, excerpt)
}

/// The header that was not found, if that is the error.
fn missing_header(diagnostics: &[Diagnostic]) -> Option<&str> {
    diagnostics.iter().find_map(|it| {
        let (_, rest) = it.message.split_once("not open source file \"")?;
        rest.split('"').next()
    })
}

/// The text of a file that a diagnostic names: one in memory, or one on disk.
fn text_of<'a>(program: &'a Program, file: &str) -> Option<Cow<'a, str>> {
    if let Some(text) = program.text_of(file) {
        return Some(Cow::Borrowed(text));
    }
    let size = std::fs::metadata(file)
        .ok()
        .filter(|it| it.is_file())?
        .len();
    if size > LARGEST {
        return None;
    }
    let bytes = std::fs::read(file).ok()?;
    Some(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
}
