//! How sources are compiled.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::{Architecture, Error, Format};

/// The dialect of C++.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standard {
    /// C++11. Compilers up to CUDA 12.
    Cpp11,
    /// C++14. Compilers up to CUDA 12.
    Cpp14,
    /// C++17.
    Cpp17,
    /// C++20. Compilers from CUDA 12.
    Cpp20,
    /// C++23. Compilers from CUDA 13.
    Cpp23,
}

/// The options of one compilation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    pub(crate) format: Format,
    pub(crate) architectures: Vec<Architecture>,
    pub(crate) includes: Vec<PathBuf>,
    pub(crate) defines: Vec<(String, Option<String>)>,
    pub(crate) standard: Option<Standard>,
    pub(crate) fast_math: bool,
    pub(crate) line_info: bool,
    pub(crate) device_debug: bool,
    pub(crate) max_registers: Option<u32>,
    pub(crate) host_compiler: Option<PathBuf>,
    pub(crate) flags: Vec<OsString>,
}

impl Options {
    /// Whether the architectures fit the format.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let listed = || {
            let names: Vec<String> = self.architectures.iter().map(ToString::to_string).collect();
            names.join(", ")
        };
        match (self.format, self.architectures.len()) {
            (Format::Ptx, 2..) => Err(Error::usage(format!(
                "PTX is made for one architecture and runs on all later ones, but {} were asked for: ask for the oldest alone, or for \
                 Format::Fatbin",
                listed()
            ))),
            (Format::Cubin, 2..) => Err(Error::usage(format!(
                "a cubin is made for one architecture, but {} were asked for: ask for Format::Fatbin",
                listed()
            ))),
            (Format::Cubin | Format::Fatbin, 0) => Err(Error::usage(format!(
                "a {} needs an architecture: say which with `architecture`",
                self.format.name()
            ))),
            _ => Ok(()),
        }
    }

    /// The arguments that choose format and architectures.
    pub(crate) fn target(&self, format: Format) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec![format!("--{}", format.name()).into()];
        let oldest = self.architectures.iter().min();
        match (format, oldest) {
            (_, None) => {}
            (Format::Ptx, Some(oldest)) => {
                arguments.push(format!("-arch={}", oldest.virtual_name()).into());
            }
            (Format::Cubin, Some(only)) => arguments.push(format!("-arch={only}").into()),
            (Format::Fatbin, Some(_)) => {
                for architecture in &self.architectures {
                    arguments.push("-gencode".into());
                    let from = architecture.virtual_name();
                    arguments.push(format!("arch={from},code={architecture}").into());
                }
                let portable = self.architectures.iter().filter(|one| one.is_portable());
                if let Some(newest) = portable.max() {
                    let name = newest.virtual_name();
                    arguments.push("-gencode".into());
                    arguments.push(format!("arch={name},code={name}").into());
                }
            }
        }
        arguments
    }

    /// The arguments that have the same meaning for every format, except those that name places on this machine.
    pub(crate) fn language(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        for (name, value) in &self.defines {
            arguments.push(match value {
                Some(value) => format!("-D{name}={value}").into(),
                None => format!("-D{name}").into(),
            });
        }
        if let Some(standard) = self.standard {
            arguments.push(format!("-std={}", standard.name()).into());
        }
        if self.fast_math {
            arguments.push("--use_fast_math".into());
        }
        if self.device_debug {
            arguments.push("--device-debug".into());
        } else if self.line_info {
            arguments.push("--generate-line-info".into());
        }
        if let Some(registers) = self.max_registers {
            arguments.push(format!("--maxrregcount={registers}").into());
        }
        arguments.extend(self.flags.iter().cloned());
        arguments
    }

    /// The arguments that name places.
    pub(crate) fn places(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        for folder in &self.includes {
            arguments.push(joined("-I", folder));
        }
        if let Some(compiler) = &self.host_compiler {
            arguments.push("-ccbin".into());
            arguments.push(compiler.into());
        }
        arguments
    }
}

/// `-Ifolder`.
pub(crate) fn joined(option: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(path);
    argument
}

impl Standard {
    fn name(self) -> &'static str {
        match self {
            Self::Cpp11 => "c++11",
            Self::Cpp14 => "c++14",
            Self::Cpp17 => "c++17",
            Self::Cpp20 => "c++20",
            Self::Cpp23 => "c++23",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(format: Format, architectures: &[Architecture]) -> Result<String, String> {
        let options = Options {
            format,
            architectures: architectures.to_vec(),
            ..Options::default()
        };
        options.check().map_err(|error| error.to_string())?;
        let words: Vec<String> = options
            .target(format)
            .iter()
            .map(|word| word.display().to_string())
            .collect();
        Ok(words.join(" "))
    }

    #[test]
    fn architectures_become_arguments() {
        use Architecture as A;
        for (format, architectures, expected) in [
            (Format::Ptx, &[][..], "--ptx"),
            (Format::Ptx, &[A::new(8, 6)], "--ptx -arch=compute_86"),
            (
                Format::Cubin,
                &[A::HOPPER.specific()],
                "--cubin -arch=sm_90a",
            ),
            (
                Format::Fatbin,
                &[
                    A::BLACKWELL.family(),
                    A::TURING,
                    A::AMPERE,
                    A::BLACKWELL_RTX.specific(),
                ],
                "--fatbin -gencode arch=compute_100f,code=sm_100f -gencode arch=compute_75,code=sm_75 \
                 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_120a,code=sm_120a -gencode arch=compute_80,code=compute_80",
            ),
            (
                Format::Fatbin,
                &[A::HOPPER.specific()],
                "--fatbin -gencode arch=compute_90a,code=sm_90a",
            ),
        ] {
            assert_eq!(target(format, architectures).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn architectures_that_do_not_fit_the_format_are_refused() {
        let two = [Architecture::TURING, Architecture::HOPPER];
        assert!(target(Format::Ptx, &two).is_err_and(|text| {
            text.contains("but sm_75, sm_90 were asked for: ask for the oldest alone")
        }));
        assert!(
            target(Format::Cubin, &two).is_err_and(|text| text.contains("ask for Format::Fatbin"))
        );
        assert!(
            target(Format::Fatbin, &[])
                .is_err_and(|text| text.contains("a fatbin needs an architecture"))
        );
    }

    #[test]
    fn all_options_reach_the_compiler() {
        let options = Options {
            includes: vec!["include".into()],
            defines: vec![("N".into(), Some("4".into())), ("DEBUG".into(), None)],
            standard: Some(Standard::Cpp20),
            fast_math: true,
            line_info: true,
            max_registers: Some(32),
            host_compiler: Some("/usr/bin/clang".into()),
            flags: vec!["-Xptxas=-v".into()],
            ..Options::default()
        };
        let language = "-DN=4 -DDEBUG -std=c++20 --use_fast_math --generate-line-info --maxrregcount=32 -Xptxas=-v";
        assert_eq!(
            options.language(),
            language.split(' ').map(OsString::from).collect::<Vec<_>>()
        );
        assert_eq!(options.places(), ["-Iinclude", "-ccbin", "/usr/bin/clang"]);
        let debugged = Options {
            device_debug: true,
            ..options
        };
        assert!(debugged.language().contains(&"--device-debug".into()));
        assert!(
            !debugged.language().contains(&"--generate-line-info".into()),
            "nvcc refuses both"
        );
    }
}
