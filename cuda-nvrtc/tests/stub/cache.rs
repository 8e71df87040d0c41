//! The cache.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use cuda_nvrtc::{Architecture, Cache, CacheUse, CompileOptions, Compiler, Program};

use super::build::{empty_directory, load, nvrtc};

/// A compiler in a directory of this name, with a cache in it.
fn cached(name: &str) -> (Compiler, PathBuf) {
    let directory = empty_directory(name);
    nvrtc(&directory.join("lib"), 12, 0);
    let compiler = load(&directory.join("lib")).with_cache(Cache::at(directory.join("cache")));
    (compiler, directory)
}

fn use_of(compiler: &Compiler, program: &Program, options: &CompileOptions) -> CacheUse {
    compiler
        .compile(program, options)
        .unwrap()
        .cache_use()
        .clone()
}

fn entries(compiler: &Compiler) -> Vec<PathBuf> {
    let directory = compiler.cache().directory().unwrap().join("entries-1");
    std::fs::read_dir(directory)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect()
}

#[test]
fn what_was_compiled_once_is_found_with_everything() {
    let (compiler, _) = cached("cache_found");
    let program = Program::new("\nWARN").instance("f<int>");
    let options = CompileOptions::new().architecture(Architecture::new(8, 0));
    let first = compiler.compile(&program, &options).unwrap();
    let second = compiler.compile(&program, &options).unwrap();
    assert_eq!(
        (first.cache_use(), second.cache_use()),
        (&CacheUse::Kept, &CacheUse::Found)
    );
    assert_eq!(first.image(), second.image());
    assert_eq!(
        (first.log(), first.warnings()),
        (second.log(), second.warnings())
    );
    assert_eq!(second.name("f<int>").unwrap(), "_Zf<int>");
    assert_eq!(second.architecture(), Some(Architecture::new(8, 0)));
    let path = &entries(&compiler)[0];
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        compiler.cache().size_in_bytes().unwrap(),
        path.metadata().unwrap().len()
    );
    compiler.cache().clear().unwrap();
    assert_eq!(use_of(&compiler, &program, &options), CacheUse::Kept);
}

#[test]
fn everything_that_matters_makes_another_entry() {
    let (compiler, directory) = cached("cache_keys");
    let include = directory.join("include");
    std::fs::create_dir_all(include.join("late")).unwrap();
    std::fs::write(include.join("a.h"), "#include \"b.h\"").unwrap();
    std::fs::write(include.join("b.h"), "1").unwrap();
    let program = Program::new("#include <a.h>").header("m.h", "x");
    let plain = CompileOptions::new()
        .include_path(include.join("late"))
        .include_path(&include);
    let mut programs = vec![(program.clone(), plain.clone())];
    programs.push((
        Program::new("#include <a.h> ").header("m.h", "x"),
        plain.clone(),
    ));
    programs.push((program.clone().name("other.cu"), plain.clone()));
    programs.push((
        Program::new("#include <a.h>").header("m.h", "y"),
        plain.clone(),
    ));
    programs.push((program.clone().header("n.h", ""), plain.clone()));
    programs.push((program.clone().instance("f"), plain.clone()));
    programs.push((program.clone(), plain.clone().define("A", 1)));
    programs.push((program.clone(), plain.clone().define("A", "")));
    programs.push((
        program.clone(),
        plain.clone().architecture(Architecture::new(8, 0)),
    ));
    programs.push((program.clone(), plain.clone().raw("-w")));
    for (program, options) in &programs {
        assert_eq!(
            use_of(&compiler, program, options),
            CacheUse::Kept,
            "{program:?} {options:?}"
        );
    }
    for (program, options) in &programs {
        assert_eq!(use_of(&compiler, program, options), CacheUse::Found);
    }
    let changed = |what: &str| {
        assert_eq!(
            use_of(&compiler, &program, &plain),
            CacheUse::Kept,
            "{what}"
        )
    };
    // A header that is included by a header, and one that now shadows it.
    std::fs::write(include.join("b.h"), "2").unwrap();
    changed("the content of a header");
    std::fs::write(include.join("late/b.h"), "2").unwrap();
    changed("a header in an earlier directory");
    std::fs::remove_file(include.join("late/b.h")).unwrap();
    assert_eq!(use_of(&compiler, &program, &plain), CacheUse::Found);
    // The compiler's own files.
    let library = directory.join("lib/libnvrtc.so.12");
    let file = std::fs::OpenOptions::new()
        .append(true)
        .open(library)
        .unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    let updated = load(&directory.join("lib")).with_cache(compiler.cache().clone());
    assert_eq!(use_of(&updated, &program, &plain), CacheUse::Kept);
}

#[test]
fn files_that_have_not_changed_are_not_read_again_and_changes_are_seen() {
    let (compiler, directory) = cached("cache_notes");
    let (first, second) = (directory.join("first"), directory.join("second"));
    std::fs::create_dir_all(&first).unwrap();
    std::fs::create_dir_all(second.join("sub")).unwrap();
    std::fs::write(second.join("a.h"), "#include \"sub/b.h\"").unwrap();
    std::fs::write(second.join("sub/b.h"), "1").unwrap();
    let program = Program::new("#include <a.h>");
    let options = CompileOptions::new()
        .include_path(&first)
        .include_path(&second);
    let notes = || {
        entries(&compiler)
            .iter()
            .filter(|it| it.extension().is_some())
            .count()
    };
    let expect = |expected: CacheUse| assert_eq!(use_of(&compiler, &program, &options), expected);
    expect(CacheUse::Kept);
    // What has just changed could change again without a sign.
    assert_eq!(notes(), 0);
    let settle = || std::thread::sleep(std::time::Duration::from_millis(2200));
    settle();
    expect(CacheUse::Found);
    assert_eq!(notes(), 1);
    expect(CacheUse::Found);
    // The same size and the same time of the content, which programs can set.
    let path = second.join("sub/b.h");
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    std::fs::write(&path, "2").unwrap();
    std::fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(time)
        .unwrap();
    expect(CacheUse::Kept);
    settle();
    expect(CacheUse::Found);
    std::fs::create_dir(first.join("sub")).unwrap();
    std::fs::write(first.join("sub/b.h"), "1").unwrap();
    expect(CacheUse::Kept);
    // A damaged note is none.
    for note in entries(&compiler)
        .iter()
        .filter(|it| it.extension().is_some())
    {
        std::fs::write(note, "cuda-nvrtc inc 2 and nonsense").unwrap();
    }
    expect(CacheUse::Found);
}

#[test]
fn damaged_entries_are_compiled_anew() {
    let (compiler, _) = cached("cache_damage");
    let (program, options) = (Program::new("x"), CompileOptions::new());
    assert_eq!(use_of(&compiler, &program, &options), CacheUse::Kept);
    let path = entries(&compiler).remove(0);
    let whole = std::fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for damaged in [&b""[..], &whole[..whole.len() - 1], &flipped, &[0; 4096]] {
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(use_of(&compiler, &program, &options), CacheUse::Kept);
        assert_eq!(use_of(&compiler, &program, &options), CacheUse::Found);
    }
}

#[test]
fn what_may_depend_on_more_is_not_kept_and_says_why() {
    let (compiler, _) = cached("cache_uncacheable");
    let plain = CompileOptions::new();
    for (source, options, reason) in [
        (
            "#include HEADER",
            plain.clone(),
            "program.cu:1 includes what a macro names",
        ),
        ("__TIME__", plain.clone(), "program.cu:1 uses `__TIME__`"),
        (
            "",
            plain.clone().raw("--time=-"),
            "the option `--time=-` may read or write files",
        ),
    ] {
        for _ in 0..2 {
            assert_eq!(
                use_of(&compiler, &source.into(), &options),
                CacheUse::NotKept(reason.into())
            );
        }
    }
    let disabled = compiler.with_cache(Cache::disabled());
    assert_eq!(
        use_of(&disabled, &"".into(), &plain),
        CacheUse::NotKept("the cache is disabled".into())
    );
}

#[test]
fn a_directory_that_others_can_write_to_is_not_used() {
    let (compiler, directory) = cached("cache_permissions");
    let (program, options) = (Program::new("x"), CompileOptions::new());
    assert_eq!(use_of(&compiler, &program, &options), CacheUse::Kept);
    let entries = directory.join("cache/entries-1");
    std::fs::set_permissions(&entries, PermissionsExt::from_mode(0o777)).unwrap();
    for _ in 0..2 {
        let CacheUse::NotKept(reason) = use_of(&compiler, &program, &options) else {
            panic!("it was used")
        };
        assert!(reason.contains("others can write"), "{reason}");
    }
    let unwritable = compiler.with_cache(Cache::at("/proc/nowhere"));
    assert!(matches!(
        use_of(&unwritable, &program, &options),
        CacheUse::NotKept(_)
    ));
}

#[test]
fn the_limit_is_kept() {
    let (compiler, _) = cached("cache_limit");
    let compiler = compiler
        .clone()
        .with_cache(compiler.cache().clone().with_limit(20_000));
    let options = CompileOptions::new().define("LONG", "x".repeat(3000));
    for number in 0..20 {
        let program = Program::new(format!("{number}"));
        assert_eq!(use_of(&compiler, &program, &options), CacheUse::Kept);
        assert_eq!(use_of(&compiler, &program, &options), CacheUse::Found);
        assert!(compiler.cache().size_in_bytes().unwrap() <= 20_000);
    }
    assert!(entries(&compiler).len() > 2);
    let options = CompileOptions::new().define("LONG", "x".repeat(30_000));
    assert!(matches!(
        use_of(&compiler, &"".into(), &options),
        CacheUse::NotKept(_)
    ));
}

/// The child of the next test: compiles the same programs as its siblings.
#[test]
fn compiles() {
    let Some(root) = std::env::var_os("CUDA_NVRTC_TEST_ROOT").map(PathBuf::from) else {
        return;
    };
    let compiler =
        load(&root.join("lib")).with_cache(Cache::at(root.join("cache")).with_limit(100_000));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..100 {
                    let number = round % 20;
                    let name = format!("k{number}");
                    let options = CompileOptions::new().define("LONG", "x".repeat(500 * number));
                    let compiled = compiler
                        .compile(Program::new(&*name).instance(&*name), &options)
                        .unwrap();
                    assert_eq!(compiled.name(&name).unwrap(), format!("_Z{name}"));
                    assert!(!matches!(compiled.cache_use(), CacheUse::NotKept(_)));
                }
            });
        }
    });
}

#[test]
fn processes_and_threads_share_a_cache() {
    let (compiler, directory) = cached("cache_processes");
    let children: Vec<_> = (0..3)
        .map(|_| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command
                .args(["--exact", "cache::compiles"])
                .env("CUDA_NVRTC_TEST_ROOT", &directory);
            command.spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert!(compiler.cache().size_in_bytes().unwrap() <= 100_000);
    assert!(
        entries(&compiler).iter().all(|it| !it
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with('.'))
    );
}
