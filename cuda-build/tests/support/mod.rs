//! A package of its own in a folder for tests, and a program in place of the compiler.
#![allow(dead_code, reason = "each program of tests uses a part")]

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

/// Writes what it was given into a log, and as output all that the source includes. `#error` and `#pragma warn` do what they say.
const COMPILER: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then
    echo "nvcc: compiler driver"
    echo "Cuda compilation tools, release 12.4, V12.4.131"
    echo "Build of tests"
    exit 0
fi
while [ $# -gt 0 ]; do
    case "$1" in
        -o) output=$2; shift ;;
        --dependency-output) rule=$2; shift ;;
        -I*) path="$path ${1#-I}" ;;
        *) source=$1 ;;
    esac
    shift
done
echo "$source" >> "$FAKE_NVCC_LOG"
message=$(sed -n 's/^#error //p' "$source")
if [ -n "$message" ]; then
    echo "$source(1): error: $message" >&2
    exit 2
fi
sed -n "s|^#pragma warn |$source(1): warning: |p" "$source" >&2
folder=$(dirname "$source")
headers=$(sed -n 's/^#include "\(.*\)"/\1/p' "$source")
printf '%s : %s' "$output" "$source" > "$rule"
cat "$source" > "$output"
for header in $headers; do
    for place in "$folder" $path; do
        if [ -e "$place/$header" ]; then break; fi
    done
    printf ' \\\n    %s' "$place/$header" >> "$rule"
    cat "$place/$header" >> "$output"
done
echo >> "$rule"
"#;

/// A package with a build script.
pub(crate) struct Project {
    folder: PathBuf,
}

/// What came of a run of Cargo.
pub(crate) struct Built(Output);

impl Project {
    /// A package whose build script has this body. All packages share what Cargo builds of their dependencies.
    pub(crate) fn new(name: &str, body: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let project = Self { folder };
        for old in ["kernels", "src", "bin", "unrelated.txt", "log"] {
            let path = project.folder.join(old);
            drop(fs::remove_dir_all(&path));
            drop(fs::remove_file(&path));
        }
        let crate_folder = env!("CARGO_MANIFEST_DIR");
        let manifest = format!(
            "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[build-dependencies]\n\
             cuda-build = {{ path = {crate_folder:?} }}\n\n[workspace]\n"
        );
        project.write("Cargo.toml", &manifest);
        let lock = Path::new(crate_folder).join("../Cargo.lock");
        fs::copy(lock, project.folder.join("Cargo.lock")).unwrap();
        project.write(
            "src/main.rs",
            "mod kernels { include!(concat!(env!(\"OUT_DIR\"), \"/kernels.rs\")); }\nfn main() { println!(\"{}\", kernels::A_PTX); }\n",
        );
        project.compiler();
        project.build_script(body);
        project
    }

    pub(crate) fn build_script(&self, body: &str) {
        self.write("build.rs", &format!("fn main() {{\n{body}\n}}\n"));
    }

    fn compiler(&self) {
        use std::os::unix::fs::PermissionsExt as _;
        self.write("bin/nvcc", COMPILER);
        fs::set_permissions(
            self.folder.join("bin/nvcc"),
            fs::Permissions::from_mode(0o755),
        )
        .unwrap();
    }

    /// Writes a file, later than any build before.
    pub(crate) fn write(&self, name: &str, text: &str) {
        thread::sleep(Duration::from_millis(20));
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap()
    }

    pub(crate) fn build(&self) -> Built {
        self.cargo("build", &[])
    }

    pub(crate) fn build_with(&self, variable: &str, value: &str) -> Built {
        self.cargo("build", &[(variable, value)])
    }

    pub(crate) fn build_in(&self, variables: &[(&str, &str)]) -> Built {
        self.cargo("build", variables)
    }

    /// Runs the program and returns what it writes.
    pub(crate) fn run(&self) -> String {
        self.run_with(&[])
    }

    pub(crate) fn run_with(&self, variables: &[(&str, &str)]) -> String {
        let run = self.cargo("run", variables);
        assert!(run.success(), "{run}");
        String::from_utf8(run.0.stdout).unwrap()
    }

    fn cargo(&self, what: &str, variables: &[(&str, &str)]) -> Built {
        let mut command = Command::new(env!("CARGO"));
        command.args([what, "--offline"]).current_dir(&self.folder);
        for name in [
            "CUDA_HOME",
            "CUDA_PATH",
            "CUDA_ROOT",
            "NVCC_APPEND_FLAGS",
            "NVCC_PREPEND_FLAGS",
            "RUSTFLAGS",
        ] {
            command.env_remove(name);
        }
        command.env("NVCC", self.folder.join("bin/nvcc"));
        command.env("FAKE_NVCC_LOG", self.folder.join("log"));
        command.env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("target"),
        );
        command.envs(variables.iter().copied());
        Built(command.output().unwrap())
    }

    /// The sources that were compiled since the last call, in alphabetical order.
    pub(crate) fn compiled(&self) -> Vec<String> {
        let log = self.folder.join("log");
        let text = fs::read_to_string(&log).unwrap_or_default();
        drop(fs::remove_file(log));
        let mut sources: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        sources.sort();
        sources
    }
}

impl Built {
    pub(crate) fn success(&self) -> bool {
        if !self.0.status.success() {
            eprintln!("{self}");
        }
        self.0.status.success()
    }

    pub(crate) fn says(&self, text: &str) -> bool {
        self.to_string().contains(text)
    }
}

impl fmt::Display for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0.stderr))
    }
}
