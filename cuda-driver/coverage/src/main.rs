//! Writes `cuda-driver/COVERAGE.md`: for each function of the driver the safe item that calls it, or why there is none.
//!
//! `cargo run -p cuda-driver-coverage` writes the file; with `-- --check` it fails if the file is not what it would write.
//!
//! The functions come from the table that the bindings are made of, the safe items from the code of `cuda-driver`: a
//! public item carries `#[doc(alias = "cuMemAllocAsync")]` for each function that it stands for. The reasons are in
//! `data/reasons.tsv`, and the groups' titles in `data/groups.tsv`.

mod api;
mod coverage;
mod markdown;
mod reasons;
mod scan;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The command that writes the file, as it stands in messages and in the file itself.
const COMMAND: &str = "cargo run -p cuda-driver-coverage";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = match arguments.as_slice() {
        [] => false,
        [only] if only == "--check" => true,
        _ => {
            eprintln!("usage: {COMMAND} [-- --check]");
            return ExitCode::from(2);
        }
    };
    match run(check) {
        Ok(message) => {
            println!("{message}");
            ExitCode::SUCCESS
        }
        Err(problems) => {
            for problem in problems {
                eprintln!("error: {problem}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Writes the file or compares with it, and says what was done, or everything that is wrong.
fn run(check: bool) -> Result<String, Vec<String>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = package.join("../COVERAGE.md");
    let text = generate(package)?;
    if !check {
        std::fs::write(&target, text)
            .map_err(|error| vec![format!("cannot write {}: {error}", target.display())])?;
        return Ok("wrote cuda-driver/COVERAGE.md".into());
    }
    let present = read(&target).map_err(|error| vec![error])?;
    match first_difference(&present, &text) {
        None => Ok("cuda-driver/COVERAGE.md is current".into()),
        Some(difference) => Err(vec![format!(
            "cuda-driver/COVERAGE.md is stale, {difference}; write it anew with `{COMMAND}`"
        )]),
    }
}

/// The text of the file.
fn generate(package: &Path) -> Result<String, Vec<String>> {
    let one = |error| vec![error];
    let root = package.join("../..");
    let table = read(&root.join("cuda-sys/generator/data/driver_api.tsv")).map_err(one)?;
    let functions = api::parse(&table).map_err(one)?;
    let reasons = read(&package.join("data/reasons.tsv")).map_err(one)?;
    let reasons = reasons::parse(&reasons, &functions)?;
    let titles = read(&package.join("data/groups.tsv")).map_err(one)?;
    let titles = reasons::titles(&titles, &functions)?;
    let library = PathBuf::from("src/lib.rs");
    let driver = package.join("..");
    let code = scan::scan(&library, &|path| read(&driver.join(path)))?;
    let rows = coverage::cover(&functions, &code, &reasons)?;
    Ok(markdown::render(&rows, &titles))
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Where two texts differ for the first time, in words.
fn first_difference(present: &str, wanted: &str) -> Option<String> {
    if present == wanted {
        return None;
    }
    let (mut present, mut wanted) = (present.lines(), wanted.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (present.next(), wanted.next()) {
            (Some(left), Some(right)) if left == right => {}
            (None, None) => return Some("in its line ends".into()),
            (left, right) => {
                let quote =
                    |line: Option<&str>| line.map_or("nothing".into(), |it| format!("`{it}`"));
                let (left, right) = (quote(left), quote(right));
                return Some(format!("line {number} is {left} and should be {right}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn equal_texts_have_no_difference() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
    }

    #[test]
    fn the_first_differing_line_is_named() {
        let expected = "line 2 is `b` and should be `c`";
        assert_eq!(
            first_difference("a\nb\n", "a\nc\n").as_deref(),
            Some(expected)
        );
        let expected = "line 2 is nothing and should be `c`";
        assert_eq!(first_difference("a\n", "a\nc\n").as_deref(), Some(expected));
        assert_eq!(
            first_difference("a\r\n", "a\n").as_deref(),
            Some("in its line ends")
        );
    }
}
