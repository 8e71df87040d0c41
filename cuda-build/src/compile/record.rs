//! What is known of an earlier compilation: with which command, from which contents, to which contents.
//!
//! The record is written last. An interrupted compilation leaves none, so that it is done again.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::fingerprint::Fingerprint;

/// An earlier compilation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// The compiler and its whole command line.
    pub(super) command: Fingerprint,
    /// What it wrote.
    pub(super) outputs: Vec<(PathBuf, Fingerprint)>,
    /// What it read.
    pub(super) inputs: Vec<(PathBuf, Fingerprint)>,
    /// What lay beside them that could hide them.
    pub(super) shadows: Fingerprint,
    /// What it said.
    pub(super) warnings: Vec<String>,
}

const FIRST_LINE: &str = "cuda-build record 2";

impl Record {
    /// The record in a file, if there is one that can be read.
    pub(super) fn read(path: &Path) -> Option<Self> {
        Self::parse(&fs::read_to_string(path).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let command = lines.next()?.strip_prefix("command ")?.parse().ok()?;
        let shadows = lines.next()?.strip_prefix("shadows ")?.parse().ok()?;
        let mut record = Self {
            command,
            shadows,
            outputs: Vec::new(),
            inputs: Vec::new(),
            warnings: Vec::new(),
        };
        for line in lines {
            let (what, rest) = line.split_once(' ')?;
            if what == "warning" {
                record.warnings.push(rest.to_owned());
                continue;
            }
            let (fingerprint, path) = rest.split_once(' ')?;
            let file = (PathBuf::from(path), fingerprint.parse().ok()?);
            match what {
                "input" => record.inputs.push(file),
                "output" => record.outputs.push(file),
                _ => return None,
            }
        }
        Some(record)
    }

    /// Writes the record; nothing if a name cannot be written in a line, so that the compilation is done again each time.
    pub(super) fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut text = format!(
            "{FIRST_LINE}\ncommand {}\nshadows {}\n",
            self.command, self.shadows
        );
        for (what, files) in [("output", &self.outputs), ("input", &self.inputs)] {
            for (file, fingerprint) in files {
                let Some(name) = file.to_str().filter(|name| !name.contains(['\n', '\r'])) else {
                    return Ok(());
                };
                let _ = writeln!(text, "{what} {fingerprint} {name}");
            }
        }
        for warning in &self.warnings {
            let _ = writeln!(text, "warning {warning}");
        }
        fs::write(path, text)
    }

    /// Whether the same command would read and write the same now. Relative paths start at `folder`.
    pub(super) fn holds(&self, command: Fingerprint, folder: &Path, inputs: &Inputs) -> bool {
        command == self.command
            && !self.outputs.is_empty()
            && !self.inputs.is_empty()
            && all_are(&self.outputs, |path| of_file(&folder.join(path)))
            && all_are(&self.inputs, |path| inputs.fingerprint(&folder.join(path)))
    }
}

fn all_are(files: &[(PathBuf, Fingerprint)], now: impl Fn(&Path) -> Option<Fingerprint>) -> bool {
    files
        .iter()
        .all(|(path, fingerprint)| now(path) == Some(*fingerprint))
}

/// Fingerprints of files that were read once in this build: sources share most of their headers.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    known: Mutex<HashMap<PathBuf, Option<Fingerprint>>>,
}

impl Inputs {
    /// The fingerprint of a file's contents, if it can be read. That of an earlier moment at worst: a record of it does not hold later.
    pub(super) fn fingerprint(&self, path: &Path) -> Option<Fingerprint> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(path) {
            return *known;
        }
        let fingerprint = of_file(path);
        known().insert(path.to_owned(), fingerprint);
        fingerprint
    }
}

/// The fingerprint of a file's contents, if it can be read.
pub(super) fn of_file(path: &Path) -> Option<Fingerprint> {
    Some(Fingerprint::of(&fs::read(path).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn record(folder: &Scratch) -> Record {
        folder.write("a.cu", "kernel");
        folder.write("out/a.ptx", "ptx");
        Record {
            command: Fingerprint::of(b"nvcc a.cu"),
            outputs: vec![(folder.join("out/a.ptx"), Fingerprint::of(b"ptx"))],
            inputs: vec![("a.cu".into(), Fingerprint::of(b"kernel"))],
            shadows: Fingerprint::EMPTY,
            warnings: vec!["a.cu(1): warning: so so".into()],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = Scratch::new();
        let record = record(&folder);
        let path = folder.join("a.record");
        assert_eq!(Record::read(&path), None);
        record.write(&path).unwrap();
        assert_eq!(Record::read(&path).as_ref(), Some(&record));
        assert!(record.holds(record.command, folder.path(), &Inputs::default()));
    }

    #[test]
    fn any_change_ends_a_record() {
        let folder = Scratch::new();
        let record = record(&folder);
        let holds = || record.holds(record.command, folder.path(), &Inputs::default());
        assert!(!record.holds(
            Fingerprint::of(b"nvcc -O3 a.cu"),
            folder.path(),
            &Inputs::default()
        ));
        folder.write("a.cu", "other");
        assert!(!holds());
        folder.write("a.cu", "kernel");
        assert!(holds());
        folder.write("out/a.ptx", "");
        assert!(!holds());
        fs::remove_file(folder.join("out/a.ptx")).unwrap();
        assert!(!holds());
    }

    #[test]
    fn damaged_records_are_no_records() {
        let good = format!("{FIRST_LINE}\ncommand 1\nshadows 1\ninput 2 a.cu\n");
        assert!(Record::parse(&good).is_some());
        for bad in [
            "",
            "cuda-build record 1\ncommand 1\n",
            &good.replace("command 1", "command"),
            &good.replace("command 1", "command x"),
            &good.replace("shadows 1\n", ""),
            &good.replace("input 2", "input"),
            &good.replace("input", "sideput"),
            &format!("{good}input"),
        ] {
            assert_eq!(Record::parse(bad), None, "{bad:?}");
        }
        // Cut off before the inputs it says nothing that could hold.
        let cut = Record::parse(&good[..good.find("input").unwrap()]).unwrap();
        assert!(!cut.holds(cut.command, Path::new("."), &Inputs::default()));
    }
}
