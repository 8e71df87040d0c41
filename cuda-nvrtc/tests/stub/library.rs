//! Versions, missing functions, errors, headers.

use cuda_driver::{Driver, Version};
use cuda_nvrtc::{
    Architecture, Cache, CacheUse, CompileOptions, Compiler, ErrorKind, Output, Program, Severity,
};

use super::build::{compiler, empty_directory, load, nvrtc};

#[test]
fn a_function_that_came_later_is_named_with_its_version() {
    let old = compiler("old", 11, 0);
    let options = CompileOptions::new().architecture(Architecture::new(8, 0));
    assert!(old.compile("", &options).unwrap().ptx().is_some());
    for (output, function, since) in [
        (Output::Cubin, "nvrtcGetCUBIN", "11.1"),
        (Output::LtoIr, "nvrtcGetLTOIR", "12.0"),
    ] {
        let error = old
            .compile("", &options.clone().output(output))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MissingSymbol);
        let text = error.to_string();
        assert!(
            text.contains("NVRTC 11.0 at")
                && text.contains(function)
                && text.contains(&format!("came with NVRTC {since}")),
            "{text}"
        );
        assert!(text.contains("pip install"), "{text}");
    }
    let device = Driver::simulated().unwrap().device(0).unwrap();
    let error = old
        .compile_for(&device, "", &CompileOptions::new())
        .unwrap_err();
    assert_eq!(error.call(), Some("nvrtcGetNumSupportedArchs"));
    assert_eq!(
        old.supported_architectures().unwrap_err().kind(),
        ErrorKind::MissingSymbol
    );
}

#[test]
fn a_device_newer_than_the_compiler_gets_ptx_of_the_newest_architecture() {
    let compiler = compiler("clamp", 12, 0);
    let device = Driver::simulated().unwrap().device(0).unwrap();
    let compiled = compiler
        .compile_for(&device, "", &CompileOptions::new())
        .unwrap();
    assert_eq!(
        (compiled.output(), compiled.architecture()),
        (Output::Ptx, Some(Architecture::new(8, 0)))
    );
    assert!(
        compiled
            .ptx()
            .unwrap()
            .contains("--gpu-architecture=compute_80\n")
    );
    let error = compiler
        .compile_for(&device, "", &CompileOptions::new().output(Output::Cubin))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnsupportedArchitecture);
    let text = error.to_string();
    assert!(
        text.contains("the architecture 90, only for 75, 80") && text.contains("newer NVRTC"),
        "{text}"
    );
    let error = compiler
        .compile(
            "",
            &CompileOptions::new().architecture(Architecture::new(5, 2)),
        )
        .unwrap_err();
    assert!(error.to_string().contains("older NVRTC"), "{error}");
    let error = compiler
        .compile("", &CompileOptions::new().output(Output::Cubin))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn versions_live_side_by_side() {
    let compilers = [
        compiler("side_11", 11, 8),
        compiler("side_12", 12, 4),
        compiler("side_13", 13, 0),
    ];
    for (compiler, (major, minor)) in compilers.iter().zip([(11, 8), (12, 4), (13, 0)]) {
        assert_eq!(compiler.version().unwrap(), Version { major, minor });
        let compiled = compiler.compile("", &CompileOptions::new()).unwrap();
        assert!(
            compiled
                .ptx()
                .unwrap()
                .contains(&format!("by {major}.{minor}\n"))
        );
        assert_eq!(compiled.compiler_version(), Version { major, minor });
    }
}

#[test]
fn missing_builtins_are_named() {
    let directory = empty_directory("no_builtins");
    nvrtc(&directory, 12, 6);
    std::fs::remove_file(directory.join("libnvrtc-builtins.so.12.6")).unwrap();
    let error = load(&directory)
        .compile("", &CompileOptions::new())
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.status()),
        (ErrorKind::BrokenLibrary, Some(7))
    );
    assert!(
        error
            .to_string()
            .contains("`libnvrtc-builtins` of version 12.6 belongs beside"),
        "{error}"
    );
}

#[test]
fn what_is_no_nvrtc_is_refused() {
    let directory = empty_directory("not_nvrtc");
    let load = |path: &std::path::Path| {
        // SAFETY: none of these files has initialisers.
        unsafe { Compiler::load_from(path) }.unwrap_err()
    };
    let error = load(&directory);
    assert_eq!(error.kind(), ErrorKind::LibraryNotFound);
    assert!(
        error.to_string().contains("there is no libnvrtc.so* in it"),
        "{error}"
    );
    assert_eq!(
        load(&directory.join("gone")).kind(),
        ErrorKind::LibraryNotFound
    );
    let path = directory.join("libnvrtc.so.12");
    std::fs::write(&path, "this is no library").unwrap();
    assert_eq!(load(&directory).kind(), ErrorKind::BrokenLibrary);
    nvrtc(&directory.join("other"), 12, 0);
    std::fs::copy(directory.join("other/libnvrtc-builtins.so.12.0"), &path).unwrap();
    let error = load(&path);
    assert!(
        error.to_string().contains("it has no `nvrtcVersion`"),
        "{error}"
    );
}

#[test]
fn logs_warnings_and_names_are_returned() {
    let compiler = compiler("logs", 12, 0);
    let program = Program::new("one\nWARN\nthree")
        .name("w.cu")
        .instance("f<int>");
    let compiled = compiler.compile(&program, &CompileOptions::new()).unwrap();
    let [warning] = compiled.warnings() else {
        panic!("{:?}", compiled.warnings())
    };
    assert_eq!(
        (warning.severity, warning.line, warning.number.as_str()),
        (Severity::Warning, 2, "7-D")
    );
    assert_eq!(compiled.name("f< int >").unwrap(), "_Zf<int>");
    let error = compiled.name("g<int>").unwrap_err();
    assert!(
        error.to_string().contains("compiled with `f<int>`"),
        "{error}"
    );
    let error = compiler
        .compile(program.clone().instance("unknown"), &CompileOptions::new())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NameExpression);

    let error = compiler
        .compile(Program::new("one\nERROR\nthree"), &CompileOptions::new())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot compile `program.cu`: there is an error (nvrtcCompileProgram: NVRTC_ERROR_COMPILATION)\nprogram.cu(2): error: stub error\n\
         program.cu:\n    1 | one\n>   2 | ERROR\n    3 | three"
    );
    let error = compiler
        .compile("", &CompileOptions::new().raw("--bad"))
        .unwrap_err();
    assert!(
        error.kind() == ErrorKind::InvalidOption && error.log().contains("--bad"),
        "{error}"
    );
}

#[test]
fn texts_that_c_cannot_take_are_refused() {
    let compiler = compiler("texts", 12, 0);
    let refused = |program: Program, options: CompileOptions, part: &str| {
        let error = compiler.compile(program, &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains(part), "{error}");
    };
    let (fine, plain) = (Program::new(""), CompileOptions::new());
    refused(
        Program::new("a\0"),
        plain.clone(),
        "the source has a NUL at byte 1",
    );
    refused(fine.clone().header("h\0", ""), plain.clone(), "`h\\0`");
    refused(
        fine.clone().header("h", "\0"),
        plain.clone(),
        "the header `h` has a NUL at byte 0",
    );
    refused(
        fine.clone().header("h", "").header("h", ""),
        plain.clone(),
        "two headers of the name `h`",
    );
    refused(fine.clone().name(""), plain.clone(), "is empty");
    refused(fine.clone().instance("f\0"), plain.clone(), "has a NUL");
    refused(
        fine.clone().instance("f\n#include <x>"),
        plain.clone(),
        "several lines",
    );
    refused(fine.clone(), plain.clone().raw("-a\0b"), "`-a\\0b`");
    refused(fine.clone(), plain.clone().define("1x", 2), "`1x`");
    refused(
        fine.clone(),
        plain.clone().define("x", "1\n2"),
        "several lines",
    );
    refused(fine, plain.include_path(""), "include path is empty");
}

#[test]
fn bundled_headers_are_unpacked_when_one_is_missing() {
    let directory = empty_directory("bundled");
    nvrtc(&directory.join("lib"), 13, 3);
    let compiler = load(&directory.join("lib")).with_cache(Cache::at(directory.join("cache")));
    let source = "#include <cuda_fp16.h>\nNEEDS(cuda_fp16.h)";
    let error = compiler
        .compile(source, &CompileOptions::new().cuda_headers(false))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingHeader);
    assert!(
        error
            .remedy()
            .unwrap()
            .contains("pip install nvidia-cuda-runtime`"),
        "{error}"
    );
    let compiled = compiler.compile(source, &CompileOptions::new()).unwrap();
    assert_eq!(compiled.cache_use(), &CacheUse::Kept);
    assert_eq!(
        compiler
            .compile(source, &CompileOptions::new())
            .unwrap()
            .cache_use(),
        &CacheUse::Found
    );
    // Without a place to unpack to, the error is what remains.
    let error = compiler
        .with_cache(Cache::disabled())
        .compile(source, &CompileOptions::new())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingHeader);
}
