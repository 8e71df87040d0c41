//! What changes, lies or stands in the way around the cache.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use cuda_nvrtc::{Cache, CacheUse, CompileOptions, Compiler, ErrorKind, Program};

use super::build::{empty_directory, load, nvrtc};

/// A compiler in a directory of this name, with a cache in it.
fn cached(name: &str) -> (Compiler, PathBuf) {
    let directory = empty_directory(name);
    nvrtc(&directory.join("lib"), 12, 0);
    let compiler = load(&directory.join("lib")).with_cache(Cache::at(directory.join("cache")));
    (compiler, directory)
}

fn use_of(compiler: &Compiler, program: &Program, options: &CompileOptions) -> CacheUse {
    let compiled = compiler.compile(program, options).unwrap();
    compiled.cache_use().clone()
}

#[test]
fn a_header_that_changes_while_it_is_compiled_is_not_kept_under_its_old_text() {
    let (compiler, directory) = cached("cache_meanwhile");
    let header = directory.join("a.h");
    std::fs::write(&header, "1").unwrap();
    let path = header.to_str().unwrap();
    let program = Program::new(format!("#include \"{path}\"\nCHANGES({path})"));
    let options = CompileOptions::new();
    let CacheUse::NotKept(reason) = use_of(&compiler, &program, &options) else {
        panic!("it was kept")
    };
    assert!(reason.contains("changed meanwhile"), "{reason}");
    std::fs::write(&header, "1").unwrap();
    assert_ne!(use_of(&compiler, &program, &options), CacheUse::Found);
}

#[test]
fn a_compiler_that_is_replaced_keeps_nothing_under_its_old_name() {
    let (compiler, directory) = cached("cache_replaced");
    let library = directory.join("lib/libnvrtc.so.12");
    let file = std::fs::File::options().append(true).open(library).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    let used = use_of(&compiler, &"x".into(), &CompileOptions::new());
    assert_eq!(
        used,
        CacheUse::NotKept("the files of the compiler have been replaced".into())
    );
}

#[test]
fn the_end_of_a_symbolic_link_appears() {
    let (compiler, directory) = cached("cache_links");
    let include = directory.join("include");
    std::fs::create_dir_all(directory.join("far")).unwrap();
    std::fs::create_dir_all(&include).unwrap();
    std::os::unix::fs::symlink("../far/a.h", include.join("a.h")).unwrap();
    std::os::unix::fs::symlink("../far/deep", include.join("deep")).unwrap();
    std::fs::write(include.join("b.h"), "").unwrap();
    let options = CompileOptions::new().include_path(&include);
    for (name, target) in [("a.h", "far/a.h"), ("deep/c.h", "far/deep/c.h")] {
        let program = Program::new(format!("#include <b.h>\n#if __has_include(<{name}>)"));
        std::thread::sleep(Duration::from_millis(2200));
        assert_eq!(use_of(&compiler, &program, &options), CacheUse::Kept);
        assert_eq!(use_of(&compiler, &program, &options), CacheUse::Found);
        let target = directory.join(target);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, "now").unwrap();
        assert_eq!(
            use_of(&compiler, &program, &options),
            CacheUse::Kept,
            "{name}"
        );
    }
}

#[test]
fn paths_that_the_compiler_would_cut_are_refused() {
    let (compiler, _) = cached("cache_blanks");
    for end in [" ", "\t", "\n", "\r", "\u{b}", "\u{c}"] {
        for options in [
            CompileOptions::new().include_path(format!("include{end}")),
            CompileOptions::new().pre_include(format!("a.h{end}")),
        ] {
            let error = compiler.compile("x", &options).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.to_string().contains("ends with a blank"), "{error}");
        }
    }
}

#[test]
fn what_lies_in_the_directory_of_the_cache_neither_blocks_nor_is_lost() {
    let (compiler, directory) = cached("cache_foreign");
    let options = CompileOptions::new();
    assert_eq!(use_of(&compiler, &"x".into(), &options), CacheUse::Kept);
    let entries = directory.join("cache/entries-1");
    let entry = std::fs::read_dir(&entries)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    std::fs::write(entries.join("thesis.txt"), "mine").unwrap();
    // A pipe in the place of an entry, a directory, a link to a device, and a link to itself.
    let make_pipe = || {
        assert!(
            Command::new("mkfifo")
                .arg(&entry)
                .status()
                .unwrap()
                .success()
        )
    };
    let link = |to: &str| std::os::unix::fs::symlink(to, &entry).unwrap();
    let places: [&dyn Fn(); 4] = [
        &make_pipe,
        &|| std::fs::create_dir(&entry).unwrap(),
        &|| link("/dev/zero"),
        &|| link(entry.file_name().unwrap().to_str().unwrap()),
    ];
    for place in places {
        std::fs::remove_file(&entry).unwrap();
        place();
        let used = use_of(&compiler, &"x".into(), &options);
        assert_ne!(used, CacheUse::Found);
        if entry.is_dir() {
            std::fs::remove_dir(&entry).unwrap();
            assert!(matches!(used, CacheUse::NotKept(_)));
            assert_eq!(use_of(&compiler, &"x".into(), &options), CacheUse::Kept);
        }
    }
    compiler.cache().clear().unwrap();
    assert_eq!(compiler.cache().size_in_bytes().unwrap(), 0);
    assert_eq!(std::fs::read(entries.join("thesis.txt")).unwrap(), b"mine");
}

#[test]
fn a_full_disk_keeps_nothing_and_leaves_nothing() {
    // Nothing longer than a block can be written by this process's child.
    let (_, directory) = cached("cache_full");
    let output = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 1; exec \"$0\" --exact hostile_cache::compiles_on_a_full_disk",
        ])
        .arg(std::env::current_exe().unwrap())
        .env("CUDA_NVRTC_TEST_FULL", &directory)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    let left = std::fs::read_dir(directory.join("cache/entries-1")).unwrap();
    assert_eq!(left.count(), 0);
}

/// The child of the test before.
#[test]
fn compiles_on_a_full_disk() {
    let Some(root) = std::env::var_os("CUDA_NVRTC_TEST_FULL").map(PathBuf::from) else {
        return;
    };
    let compiler = load(&root.join("lib")).with_cache(Cache::at(root.join("cache")));
    let options = CompileOptions::new().define("LONG", "x".repeat(5000));
    let CacheUse::NotKept(reason) = use_of(&compiler, &"x".into(), &options) else {
        panic!("it was kept")
    };
    assert!(reason.contains("cannot write"), "{reason}");
}

#[test]
fn what_is_included_before_comes_from_the_working_directory() {
    let (compiler, directory) = cached("cache_before");
    let header = directory.join("a.h");
    let depth = std::env::current_dir().unwrap().components().count();
    let relative = "../".repeat(depth) + header.strip_prefix("/").unwrap().to_str().unwrap();
    let options = CompileOptions::new().pre_include(relative);
    // The compiler does not look beside the source for it.
    let program = Program::new("x").name("/nowhere/x.cu");
    for text in ["1", "2"] {
        std::fs::write(&header, text).unwrap();
        assert_eq!(use_of(&compiler, &program, &options), CacheUse::Kept);
        assert_eq!(use_of(&compiler, &program, &options), CacheUse::Found);
    }
}
