//! What a compiler says: warnings, and errors with what to do about them.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use crate::nvcc::Nvcc;
use crate::{Error, ErrorKind};

/// The lines that a compiler wrote, without blank ones and without the names of files that some announce.
pub(super) fn lines(output: &Output, source: &Path) -> Vec<String> {
    let text = [&output.stderr, &output.stdout].map(|bytes| String::from_utf8_lossy(bytes));
    let announced = source.file_name().unwrap_or_default().to_string_lossy();
    let lines = text.iter().flat_map(|text| text.lines());
    lines
        .map(|line| line.trim_end().to_owned())
        .filter(|line| !line.is_empty() && *line != announced && !line.starts_with("tmpxft_"))
        .collect()
}

/// The error of a compilation that failed.
pub(super) fn refused(nvcc: &Nvcc, command: &Command, source: &Path, output: &Output) -> Error {
    let lines = lines(output, source);
    let mut message = format!("cannot compile {}: nvcc says", source.display());
    for line in &lines {
        let _ = write!(message, "\n  {line}");
    }
    if lines.is_empty() {
        let _ = write!(message, " nothing, but ends with {}", output.status);
    }
    if let Some(remedy) = remedy(nvcc, &lines) {
        let _ = write!(message, "\n{remedy}");
    }
    let _ = write!(
        message,
        "\nThe compiler is {nvcc}.\nThe command was: {}",
        shown(command)
    );
    Error::new(ErrorKind::Compile, message)
}

/// A command as it can be typed.
fn shown(command: &Command) -> String {
    let words = [command.get_program()]
        .into_iter()
        .chain(command.get_args());
    let words: Vec<String> = words.map(quoted).collect();
    words.join(" ")
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=+./,:@%\\".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// What to do, for the failures that have nothing to do with the source.
fn remedy(nvcc: &Nvcc, lines: &[String]) -> Option<String> {
    let says = |text: &str| lines.iter().any(|line| line.contains(text));
    if says("Unsupported gpu architecture") || says("is not defined for option 'gpu-architecture'")
    {
        let known = known_architectures(nvcc)?;
        return Some(format!("CUDA {} compiles for {known}.", nvcc.version()));
    }
    remedy_of_text(lines)
}

fn remedy_of_text(lines: &[String]) -> Option<String> {
    let says = |text: &str| lines.iter().any(|line| line.contains(text));
    let host = "name another one with `host_compiler` or in the variable NVCC_CCBIN";
    if says("unsupported GNU version") || says("unsupported clang version") {
        return Some(format!(
            "This nvcc does not know so new a C++ compiler: {host}, or let it try by `flag(\"-allow-unsupported-compiler\")`."
        ));
    }
    if says("unsupported Microsoft Visual Studio version") {
        return Some(format!(
            "This nvcc does not know this version of Visual C++: {host}, or let it try by `flag(\"-allow-unsupported-compiler\")`."
        ));
    }
    if says("Cannot find compiler 'cl.exe'") {
        return Some(format!(
            "nvcc needs Visual C++: run Cargo in a developer prompt of Visual Studio, or {host}."
        ));
    }
    let missing = [
        "gcc: not found",
        "g++: not found",
        "gcc: command not found",
        "Failed to preprocess host compiler properties",
    ];
    if missing.iter().any(|text| says(text)) {
        return Some(format!(
            "nvcc needs a C++ compiler: install gcc or clang, or {host}."
        ));
    }
    if says("cuda_runtime.h: No such file") {
        return Some(
            "The headers of the CUDA runtime are not installed: the toolkit has them, and pip's package nvidia-cuda-runtime.".into(),
        );
    }
    let of_cccl = ["nv/target: No such file", "cuda/std/", "cub/", "thrust/"];
    if of_cccl.iter().any(|text| says(text)) && says("No such file") {
        return Some(
            "The headers of the CUDA Core Compute Libraries are not installed: the toolkit has them, and pip's package nvidia-cuda-cccl.".into(),
        );
    }
    None
}

/// The architectures that a compiler lists.
fn known_architectures(nvcc: &Nvcc) -> Option<String> {
    let output = Command::new(nvcc.path())
        .arg("--list-gpu-arch")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut numbers: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("compute_"))
        .collect();
    numbers.sort_by_key(|number| number.parse().unwrap_or(u32::MAX));
    let names: Vec<String> = numbers
        .iter()
        .map(|number| format!("sm_{number}"))
        .collect();
    Some(names.join(", ")).filter(|names| !names.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What compilers say that lack something, and what is said about it.
    #[test]
    fn failures_that_are_not_the_source_s_have_remedies() {
        for (line, expected) in [
            (
                "host_config.h:132:2: error: #error -- unsupported GNU version! gcc versions later than 11",
                "so new a C++ compiler: name another",
            ),
            (
                "nvcc fatal   : Cannot find compiler 'cl.exe' in PATH",
                "developer prompt of Visual Studio",
            ),
            ("sh: 1: gcc: not found", "install gcc or clang"),
            (
                "<command-line>: fatal error: cuda_runtime.h: No such file or directory",
                "nvidia-cuda-runtime",
            ),
            (
                "cuda_fp16.h:4100:10: fatal error: nv/target: No such file or directory",
                "nvidia-cuda-cccl",
            ),
            (
                "a.cu:1:10: fatal error: cub/cub.cuh: No such file or directory",
                "nvidia-cuda-cccl",
            ),
        ] {
            let said = remedy_of_text(&[line.to_owned()]).unwrap_or_default();
            assert!(said.contains(expected), "{line}: {said}");
        }
        assert_eq!(
            remedy_of_text(&["a.cu(3): error: identifier \"m\" is undefined".into()]),
            None
        );
        assert_eq!(
            remedy_of_text(&["a.cu:1:10: fatal error: mine.h: No such file or directory".into()]),
            None
        );
    }

    #[test]
    fn commands_can_be_typed() {
        let mut command = Command::new("/opt/my tools/nvcc");
        command.args(["--ptx", "-DNAME=\"x\"", "", "it's.cu"]);
        assert_eq!(
            shown(&command),
            r#"'/opt/my tools/nvcc' --ptx '-DNAME="x"' '' 'it'\''s.cu'"#
        );
    }
}
