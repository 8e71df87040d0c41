//! Which compiler is found, with programs of the shell in place of compilers, and which places are named when there is none.

use std::path::Path;

use super::*;
use crate::scratch::Scratch;

const TOOLKIT: &str = r#"echo "nvcc: compiler driver"; echo "Cuda compilation tools, release 12.4, V12.4.131"; echo "Build some""#;

fn environment(folder: &Scratch, variables: &[(&str, &str)]) -> Environment {
    let path = |value: &str| {
        let names = value
            .split(':')
            .map(|name| folder.join(name).display().to_string());
        names.collect::<Vec<_>>().join(":")
    };
    let given = variables.iter().map(|(name, value)| (*name, path(value)));
    Environment::of(folder.path(), given.collect::<Vec<_>>())
}

fn found(folder: &Scratch, variables: &[(&str, &str)]) -> (String, Origin) {
    let nvcc = match find(&environment(folder, variables)) {
        Ok(nvcc) => nvcc,
        Err(error) => panic!("{error}"),
    };
    let path = nvcc.path().strip_prefix(folder.path()).unwrap();
    (path.display().to_string(), nvcc.origin)
}

fn refused(folder: &Scratch, variables: &[(&str, &str)]) -> String {
    let error = find(&environment(folder, variables)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoCompiler);
    error
        .to_string()
        .replace(&folder.path().display().to_string(), "ROOT")
}

/// A toolkit of pip's packages for CUDA 13.
fn pip(folder: &Scratch, packages: &str) -> String {
    for file in [
        "include/cuda_runtime.h",
        "include/crt/host_defines.h",
        "nvvm/bin/cicc",
    ] {
        folder.write(&format!("{packages}/nvidia/cu13/{file}"), "");
    }
    let nvcc = format!("{packages}/nvidia/cu13/bin/nvcc");
    folder.script(&nvcc, TOOLKIT);
    nvcc
}

/// Every way to find a compiler, all at once: each place wins over those after it.
#[test]
fn the_order_of_places() {
    let folder = Scratch::new();
    for root in [
        "named",
        "home",
        "path",
        "root",
        "usr/local/cuda",
        "usr/local/cuda-12.10",
        "usr/local/cuda-12.9",
        "opt/cuda",
        "usr/lib/nvidia-cuda-toolkit",
    ] {
        folder.script(&format!("{root}/bin/nvcc"), TOOLKIT);
    }
    let venv = pip(&folder, "venv/lib/python3.12/site-packages");
    let conda = pip(&folder, "conda/lib/python3.9/site-packages");
    let system = pip(&folder, "system");
    folder.script("tools/nvcc", TOOLKIT);
    let python = format!(
        "echo; echo /nowhere; echo {}",
        folder.join("system").display()
    );
    folder.script("python/python3", &python);
    let all = [
        ("NVCC", "named/bin/nvcc"),
        ("CUDA_HOME", "home"),
        ("CUDA_PATH", "path"),
        ("CUDA_ROOT", "root"),
        ("VIRTUAL_ENV", "venv"),
        ("CONDA_PREFIX", "conda"),
        ("PATH", "empty:tools:python"),
    ];
    let expected = [
        ("named/bin/nvcc", Origin::Variable("NVCC")),
        ("home/bin/nvcc", Origin::Variable("CUDA_HOME")),
        ("path/bin/nvcc", Origin::Variable("CUDA_PATH")),
        ("root/bin/nvcc", Origin::Variable("CUDA_ROOT")),
        (
            &venv,
            Origin::Packages(folder.join("venv/lib/python3.12/site-packages")),
        ),
        (
            &conda,
            Origin::Packages(folder.join("conda/lib/python3.9/site-packages")),
        ),
        ("tools/nvcc", Origin::Path),
    ];
    for (first, (path, origin)) in expected.into_iter().enumerate() {
        assert_eq!(found(&folder, &all[first..]), (path.to_owned(), origin));
    }
    let mut only_python = vec![("PATH", "empty:python")];
    for place in [
        "usr/local/cuda",
        "usr/local/cuda-12.10",
        "usr/local/cuda-12.9",
        "opt/cuda",
        "usr/lib/nvidia-cuda-toolkit",
    ] {
        assert_eq!(
            found(&folder, &only_python),
            (format!("{place}/bin/nvcc"), Origin::UsualPlace)
        );
        std::fs::remove_dir_all(folder.join(place)).unwrap();
    }
    assert_eq!(
        found(&folder, &only_python),
        (system, Origin::Packages(folder.join("system")))
    );
    only_python.clear();
    assert!(refused(&folder, &only_python).contains("python3: not in PATH"));
}

/// Every set of variables: the first in order that names a usable compiler wins, whatever the others name.
#[test]
fn all_sets_of_variables() {
    let folder = Scratch::new();
    let names = [
        "CUDA_HOME",
        "CUDA_PATH",
        "CUDA_ROOT",
        "CONDA_PREFIX",
        "PATH",
    ];
    for root in ["good", "conda"] {
        folder.script(&format!("{root}/bin/nvcc"), TOOLKIT);
    }
    // Each variable: not set, set to a folder without a compiler, to one whose compiler fails, or to a good one.
    folder.script("bad/bin/nvcc", "echo broken >&2; exit 3");
    let values = [None, Some("empty"), Some("bad"), Some("good")];
    let bin = |value: &str| format!("{value}/bin");
    for set in 0..4_usize.pow(5) {
        let choice = |index: usize| values[set / 4_usize.pow(u32::try_from(index).unwrap()) % 4];
        let path = choice(4).map(bin);
        let mut variables: Vec<(&str, &str)> = (0..4)
            .filter_map(|index| Some((names[index], choice(index)?)))
            .collect();
        variables.extend(path.as_deref().map(|path| ("PATH", path)));
        let winner = (0..5).find(|&index| choice(index) == Some("good"));
        let result = find(&environment(&folder, &variables));
        let origin = winner.map(|index| {
            if index == 4 {
                Origin::Path
            } else {
                Origin::Variable(names[index])
            }
        });
        assert_eq!(
            result.as_ref().ok().map(|nvcc| &nvcc.origin),
            origin.as_ref(),
            "{variables:?}"
        );
        if let Err(error) = result {
            let text = error.to_string();
            for (index, name) in names.iter().enumerate() {
                let says = match choice(index) {
                    Some("bad") => "exit status: 3): broken",
                    Some(_) if index < 3 => "not there",
                    _ => "",
                };
                let mut lines = text
                    .lines()
                    .filter(|line| line.trim_start().starts_with(name));
                assert!(lines.any(|line| line.contains(says)), "{name} in {text}");
            }
        }
    }
}

#[test]
fn a_named_compiler_is_taken_or_refused_but_never_replaced() {
    let folder = Scratch::new();
    folder.script("tools/nvcc", TOOLKIT);
    folder.script("tools/nvcc-12", TOOLKIT);
    folder.script("tools/gcc", "echo gcc 12");
    folder.script("old/bin/nvcc", &TOOLKIT.replace("12.4", "10.2"));
    let named = |name: &str| {
        let variables = [
            ("PATH".to_owned(), folder.join("tools").into_os_string()),
            ("NVCC".to_owned(), name.into()),
        ];
        find(&Environment::of(folder.path(), variables)).map(|nvcc| nvcc.path().to_owned())
    };
    let inside = |name: &str| folder.join(name).display().to_string();
    assert_eq!(named("nvcc-12").unwrap(), folder.join("tools/nvcc-12"));
    assert_eq!(
        named("").unwrap(),
        folder.join("tools/nvcc"),
        "empty counts as not set"
    );
    for (name, why) in [
        ("nvcc-13".to_owned(), "is not in PATH"),
        (inside("nowhere/nvcc"), "does not run: No such file"),
        (inside("tools"), "is a folder: name the program in it"),
        (
            "gcc".to_owned(),
            "is no nvcc: asked for its version it says \"gcc 12\"",
        ),
        (
            inside("old/bin/nvcc"),
            "is of CUDA 10.2.131, and the oldest that is supported is 11.0.0",
        ),
    ] {
        let error = named(&name).unwrap_err().to_string();
        assert!(
            error.contains(why) && error.contains(&name) && error.contains("NVCC"),
            "{error}"
        );
    }
}

#[test]
fn incomplete_packages_of_pip_are_named() {
    let folder = Scratch::new();
    let packages = "venv/lib/python3.11/site-packages/nvidia";
    folder.script(&format!("{packages}/cu13/bin/nvcc"), TOOLKIT);
    let refused_now = || refused(&folder, &[("VIRTUAL_ENV", "venv")]);
    let lacks = "without the packages that it needs: pip install nvidia-cuda-runtime nvidia-cuda-crt nvidia-nvvm";
    assert!(refused_now().contains(lacks), "{}", refused_now());
    folder.write(&format!("{packages}/cu13/include/cuda_runtime.h"), "");
    folder.write(&format!("{packages}/cu13/include/crt/host_defines.h"), "");
    assert!(refused_now().contains("pip install nvidia-nvvm\n"));
    folder.write(&format!("{packages}/cu13/nvvm/bin/cicc"), "");
    assert_eq!(
        found(&folder, &[("VIRTUAL_ENV", "venv")]).0,
        format!("{packages}/cu13/bin/nvcc")
    );
}

/// Up to CUDA 12, pip's package of the compiler has the assembler only.
#[test]
fn packages_without_the_compiler_are_told_apart() {
    let folder = Scratch::new();
    folder.write(
        "venv/lib/python3.11/site-packages/nvidia/cuda_nvcc/bin/ptxas",
        "",
    );
    let error = refused(&folder, &[("VIRTUAL_ENV", "venv")]);
    let says = "cuda_nvcc has no nvcc: pip's packages have it from CUDA 13 on, under the name nvidia-cuda-nvcc";
    assert!(error.contains(says), "{error}");
}

/// Packages with a folder of their own each, as pip had them up to CUDA 12.
#[test]
fn headers_in_other_packages_are_added() {
    let folder = Scratch::new();
    let packages = "venv/lib/python3.11/site-packages/nvidia";
    folder.script(&format!("{packages}/cuda_nvcc/bin/nvcc"), TOOLKIT);
    folder.write(&format!("{packages}/cuda_nvcc/nvvm/bin/cicc"), "");
    folder.write(
        &format!("{packages}/cuda_nvcc/include/crt/host_defines.h"),
        "",
    );
    folder.write(
        &format!("{packages}/cuda_runtime/include/cuda_runtime.h"),
        "",
    );
    let nvcc = find(&environment(&folder, &[("VIRTUAL_ENV", "venv")])).unwrap();
    assert_eq!(
        nvcc.includes(),
        [folder.join(&format!("{packages}/cuda_runtime/include"))]
    );
}

#[test]
fn the_newest_toolkit_of_pip_is_taken() {
    let folder = Scratch::new();
    let packages = "venv/lib/python3.11/site-packages";
    let older = pip(&folder, packages);
    let newer = older.replace("cu13", "cu101");
    folder.script(&newer, TOOLKIT);
    for file in [
        "include/cuda_runtime.h",
        "include/crt/host_defines.h",
        "nvvm/bin/cicc",
    ] {
        folder.write(&format!("{packages}/nvidia/cu101/{file}"), "");
    }
    assert_eq!(found(&folder, &[("VIRTUAL_ENV", "venv")]).0, newer);
}

#[test]
fn the_error_lists_all_that_was_looked_at() {
    let folder = Scratch::new();
    folder.script("python/python3", "exit 1");
    let error = refused(
        &folder,
        &[
            ("CUDA_PATH", "toolkit"),
            ("CONDA_PREFIX", "conda"),
            ("PATH", "python"),
        ],
    );
    let expected = "found no usable nvcc. Looked at:
  NVCC: not set
  CUDA_HOME: not set
  CUDA_PATH: ROOT/toolkit/bin/nvcc: not there
  CUDA_ROOT: not set
  VIRTUAL_ENV: not set
  CONDA_PREFIX: no nvcc in pip's packages
  PATH: no nvcc in it
  ROOT/usr/local/cuda/bin/nvcc: not there
  ROOT/opt/cuda/bin/nvcc: not there
  ROOT/usr/lib/nvidia-cuda-toolkit/bin/nvcc: not there
  pip's packages of ROOT/python/python3: it fails (exit status: 1)
Install the CUDA toolkit";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn the_variables_that_were_asked_for_are_known() {
    let folder = Scratch::new();
    folder.script("bin/nvcc", TOOLKIT);
    let asked = |variables: &[(&str, &str)]| {
        let environment = environment(&folder, variables);
        assert!(find(&environment).is_ok());
        environment.asked()
    };
    assert_eq!(asked(&[("NVCC", "bin/nvcc")]), ["NVCC"]);
    assert_eq!(asked(&[("CUDA_HOME", "")]), ["CUDA_HOME", "NVCC"]);
    let all = [
        "CONDA_PREFIX",
        "CUDA_HOME",
        "CUDA_PATH",
        "CUDA_ROOT",
        "NVCC",
        "VIRTUAL_ENV",
    ];
    assert_eq!(asked(&[("PATH", "bin")]), all);
}

#[test]
fn a_path_that_is_no_program_is_refused() {
    let folder = Scratch::new();
    let text = folder.write("bin/nvcc", "not a program");
    let error = named(
        &Environment::of(folder.path(), [("", "")]),
        Path::new(&text),
        Origin::Script,
    )
    .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("does not run: Permission denied"),
        "{error}"
    );
}
