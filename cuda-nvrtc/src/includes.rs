//! Which files a program may include: a superset of what the compiler reads, found without it.
//!
//! Conditions are not evaluated: every `#include` and `__has_include` of every text counts, wherever it stands, and every
//! file that one of them could mean is taken. So a file that the compiler reads is never missed; one too many costs only the
//! time to read it. Where a text includes what only the preprocessor can know, the set is not known, and that is said.

mod scan;
mod snapshot;
mod unchanged;

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::program::Program;
use scan::Scanned;
pub(crate) use snapshot::Snapshot;
pub(crate) use unchanged::{Expected, Signature};

/// Files at most; more are not followed.
const MOST_FILES: usize = 20_000;
/// What the compiler adds to a name without an extension.
const SUFFIX: &str = ".stdh";
/// Bytes of all files at most.
const MOST_BYTES: u64 = 512 << 20;

/// The files that a program may include.
#[derive(Debug, Default)]
pub(crate) struct Includes {
    /// Each with its content, in an order that depends on the program and the files only.
    pub(crate) files: Vec<(PathBuf, Vec<u8>)>,
    /// Names that mean no file and no header in memory.
    pub(crate) missing: Vec<String>,
    /// Why the set does not tell what the program depends on, if it does not.
    pub(crate) unknown: Option<String>,
    /// The state of all that was looked at.
    pub(crate) snapshot: Snapshot,
}

/// Whether a program can include anything at all.
pub(crate) fn has_any(program: &Program, options: Options<'_>) -> bool {
    let mut texts = std::iter::once(program.source())
        .chain(program.headers().map(|it| it.1))
        .chain(options.definitions());
    !options.pre_includes.is_empty()
        || texts.any(|text| memchr::memmem::find(text.as_bytes(), b"nclude").is_some())
}

/// The options that say what is included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options<'a> {
    /// What is included before the first line.
    pub(crate) pre_includes: &'a [String],
    /// All arguments of the compiler; among them macros, which may ask for headers.
    pub(crate) arguments: &'a [String],
}

impl<'a> Options<'a> {
    fn definitions(self) -> impl Iterator<Item = &'a str> {
        let arguments = self.arguments.iter().map(String::as_str);
        arguments
            .filter(|it| !it.starts_with("--include-path=") && !it.starts_with("--pre-include="))
    }
}

/// Finds the files that a program may include from `directories`.
pub(crate) fn find(program: &Program, directories: &[PathBuf], options: Options<'_>) -> Includes {
    let mut search = Search {
        program,
        directories,
        source_directory: parent(Path::new(program.file_name())),
        known: HashMap::new(),
        looked_at: HashMap::new(),
        bytes: 0,
        includes: Includes::default(),
    };
    let source_directory = search.source_directory.clone();
    // These come from the working directory, wherever the source lies.
    for name in options.pre_includes {
        search.resolve(name, Path::new(""));
    }
    for definition in options.definitions() {
        search.text(definition.as_bytes(), definition, &source_directory);
    }
    search.text(
        program.source().as_bytes(),
        program.file_name(),
        &source_directory,
    );
    for (name, text) in program.headers() {
        search.text(text.as_bytes(), name, &parent(Path::new(name)));
    }
    // Files are added at the end while the ones before them are scanned.
    let mut next = 0;
    while let Some((path, content)) = search.includes.files.get_mut(next) {
        let (path, content) = (path.clone(), std::mem::take(content));
        search.text(&content, &path.display().to_string(), &parent(&path));
        if let Some((_, place)) = search.includes.files.get_mut(next) {
            *place = content;
        }
        next += 1;
    }
    search.includes
}

struct Search<'a> {
    program: &'a Program,
    directories: &'a [PathBuf],
    /// The directory that the program's name lies in, which the compiler searches too.
    source_directory: PathBuf,
    /// The names that were resolved, by the directory of the text that includes them.
    known: HashMap<PathBuf, HashSet<String>>,
    /// The paths that were looked at, and whether each is a file.
    looked_at: HashMap<PathBuf, bool>,
    bytes: u64,
    includes: Includes,
}

impl Search<'_> {
    /// Takes in what a text includes.
    fn text(&mut self, text: &[u8], name: &str, directory: &Path) {
        let Scanned { names, unknown } = scan::scan(text);
        if let Some((line, reason)) = unknown {
            self.unknown(|| format!("{name}:{line} {reason}"));
        }
        for name in names {
            self.resolve(&name, directory);
        }
    }

    /// Takes in every file that `name` could mean in a text that lies in `directory`.
    fn resolve(&mut self, name: &str, directory: &Path) {
        if !self
            .known
            .entry(directory.to_path_buf())
            .or_default()
            .insert(name.to_owned())
        {
            return;
        }
        let in_memory = self.program.headers().any(|(it, _)| it == name);
        let mut places = vec![directory.join(name), self.source_directory.join(name)];
        places.extend(self.directories.iter().map(|it| it.join(name)));
        // A name without an extension is tried with the compiler's own one too.
        if Path::new(name).extension().is_none() {
            let extended: Vec<PathBuf> = places.iter().map(|it| with_suffix(it)).collect();
            places.extend(extended);
        }
        let mut found = in_memory;
        for path in places {
            found |= self.file(path);
        }
        if !found && !self.includes.missing.iter().any(|it| it == name) {
            self.includes.missing.push(name.to_owned());
        }
    }

    /// Takes in a file, if it is one; whether it is.
    fn file(&mut self, path: PathBuf) -> bool {
        if let Some(&is_file) = self.looked_at.get(&path) {
            return is_file;
        }
        // A pipe or a device would block or never end.
        let is_file = self.includes.snapshot.is_file(&path);
        self.looked_at.insert(path.clone(), is_file);
        if !is_file {
            return false;
        }
        // Some files have no end, or are larger than any memory.
        let room = MOST_BYTES.saturating_sub(self.bytes).saturating_add(1);
        let Some(content) = read_at_most(&path, room) else {
            self.unknown(|| format!("`{}` cannot be read", path.display()));
            return true;
        };
        self.bytes = self.bytes.saturating_add(content.len() as u64);
        if self.includes.files.len() >= MOST_FILES || self.bytes > MOST_BYTES {
            self.unknown(|| "it includes too many files".into());
            return true;
        }
        self.includes.files.push((path, content));
        true
    }

    fn unknown(&mut self, reason: impl FnOnce() -> String) {
        if self.includes.unknown.is_none() {
            self.includes.unknown = Some(reason());
        }
    }
}

fn read_at_most(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(limit).read_to_end(&mut content).ok()?;
    Some(content)
}

fn with_suffix(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(SUFFIX);
    path.into()
}

/// The directory of a file, empty for the working directory.
fn parent(path: &Path) -> PathBuf {
    path.parent().map(Path::to_path_buf).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_OPTIONS: Options<'_> = Options {
        pre_includes: &[],
        arguments: &[],
    };

    fn directory(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("cuda-nvrtc-{name}-{}", std::process::id()));
        for (file, text) in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    fn found(includes: &Includes, root: &Path) -> Vec<String> {
        let paths = includes
            .files
            .iter()
            .map(|(path, _)| path.strip_prefix(root).unwrap());
        paths
            .map(|it| it.to_str().unwrap().replace('\\', "/"))
            .collect()
    }

    #[test]
    fn every_file_that_could_be_meant_is_found() {
        let root = directory(
            "includes",
            &[
                ("a/one.h", "#if 0\n#include \"two.h\"\n#endif\n"),
                ("a/two.h", "#include <deep/three.h>\n"),
                ("b/two.h", "#pragma once\n"),
                (
                    "b/deep/three.h",
                    "#include \"four.h\"\n#include \"../two.h\"",
                ),
                ("b/deep/four.h", "#include <one.h>\n#include \"gone.h\"\n"),
                ("source/beside.h", ""),
            ],
        );
        let program =
            Program::new("#include <one.h>\n#include \"beside.h\"\n#include \"memory.h\"")
                .name(root.join("source/x.cu").to_str().unwrap())
                .header("memory.h", "#include \"lost.h\"");
        let includes = find(&program, &[root.join("a"), root.join("b")], NO_OPTIONS);
        assert_eq!(
            found(&includes, &root),
            [
                "a/one.h",
                "source/beside.h",
                "a/two.h",
                "b/two.h",
                "b/deep/three.h",
                "b/deep/four.h",
                "b/deep/../two.h"
            ]
        );
        assert_eq!(includes.missing, ["lost.h", "gone.h"]);
        assert_eq!(includes.unknown, None);
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn what_only_the_preprocessor_knows_is_said() {
        let includes = find(
            &Program::new("\n#include HEADER\n").name("k.cu"),
            &[],
            NO_OPTIONS,
        );
        assert_eq!(
            includes.unknown.as_deref(),
            Some("k.cu:2 includes what a macro names")
        );
        let includes = find(
            &Program::new("").header("t.h", "int x; // __TIME__"),
            &[],
            NO_OPTIONS,
        );
        assert_eq!(includes.unknown.as_deref(), Some("t.h:1 uses `__TIME__`"));
    }

    #[test]
    fn what_options_include_is_found() {
        let root = directory("options", &[("in/asked.h", ""), ("in/plain.stdh", "")]);
        let pre_includes = ["before.h".to_owned()];
        let arguments = [
            "--include-path=include".to_owned(),
            "--define-macro=THERE=__has_include(<asked.h>)".to_owned(),
        ];
        let options = Options {
            pre_includes: &pre_includes,
            arguments: &arguments,
        };
        let program = Program::new("#include <plain>").name(root.join("x.cu").to_str().unwrap());
        let includes = find(&program, &[root.join("in")], options);
        assert_eq!(found(&includes, &root), ["in/asked.h", "in/plain.stdh"]);
        assert_eq!(includes.missing, ["before.h"]);
        let nothing = Program::new("");
        assert!(has_any(&nothing, options) && !has_any(&nothing, NO_OPTIONS));
        let only = |arguments| Options {
            pre_includes: &[],
            arguments,
        };
        assert!(
            has_any(&nothing, only(&arguments[1..])) && !has_any(&nothing, only(&arguments[..1]))
        );
        let timed = ["-DT=__TIME__".to_owned()];
        assert!(find(&nothing, &[], only(&timed)).unknown.is_some());
        std::fs::remove_dir_all(&root).unwrap();
    }
}
