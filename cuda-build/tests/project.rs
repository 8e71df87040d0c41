//! A package with a build script, built by Cargo: what is compiled when, and what the user sees.
//!
//! A program of the shell stands for the compiler: it writes down which sources it was given, and what they include.
#![cfg(unix)]

mod support;

use support::Project;

const TWO_SOURCES: &str = r#"
    cuda_build::Build::new().file("kernels/a.cu").file("kernels/b.cu").without_declarations().run();
"#;

fn project(name: &str) -> Project {
    let project = Project::new(name, TWO_SOURCES);
    project.write(
        "kernels/a.cu",
        "#include \"common.h\"\n#include \"only_a.h\"\n",
    );
    project.write("kernels/b.cu", "#include \"common.h\"\n");
    project.write("kernels/common.h", "");
    project.write("kernels/only_a.h", "");
    project
}

/// The first build compiles everything; then a touched file compiles exactly what includes it, and nothing compiles nothing.
#[test]
fn exactly_the_dependants_of_a_changed_file_are_compiled() {
    let project = project("dependants");
    assert!(project.build().success());
    assert_eq!(project.compiled(), ["kernels/a.cu", "kernels/b.cu"]);
    assert!(project.build().success());
    assert!(project.compiled().is_empty());
    for (file, dependants) in [
        ("kernels/only_a.h", &["kernels/a.cu"][..]),
        ("kernels/b.cu", &["kernels/b.cu"]),
        ("kernels/common.h", &["kernels/a.cu", "kernels/b.cu"]),
    ] {
        let text = project.read(file);
        project.write(file, &format!("{text}// changed\n"));
        assert!(project.build().success());
        assert_eq!(project.compiled(), dependants, "after a change of {file}");
        // Newer but of the same content: the build script runs, and has nothing to do.
        project.write(file, &format!("{text}// changed\n"));
        assert!(project.build().success());
        assert!(project.compiled().is_empty(), "after {file} was touched");
    }
    project.write("unrelated.txt", "");
    assert!(project.build().success());
    assert!(project.compiled().is_empty());
}

/// A header that appears where the compiler would find it first is one that was changed.
#[test]
fn a_header_that_hides_another_one_compiles_again() {
    let project = Project::new(
        "shadows",
        "cuda_build::Build::new().file(\"kernels/a.cu\").include(\"kernels/first\").include(\"kernels/second\")
            .without_declarations().run();",
    );
    project.write("kernels/a.cu", "#include \"x.h\"\n");
    project.write("kernels/first/unrelated.h", "");
    project.write("kernels/second/x.h", "second");
    assert!(project.run().contains("second"));
    assert_eq!(project.compiled(), ["kernels/a.cu"]);
    project.write("kernels/first/other.h", "");
    assert!(project.build().success());
    assert!(project.compiled().is_empty());
    project.write("kernels/first/x.h", "first");
    assert!(project.run().contains("first"));
    assert_eq!(project.compiled(), ["kernels/a.cu"]);
    project.write("kernels/x.h", "beside");
    assert!(project.run().contains("beside"));
    assert_eq!(project.compiled(), ["kernels/a.cu"]);
    assert!(project.build().success());
    assert!(project.compiled().is_empty());
}

#[test]
fn changed_options_and_variables_compile_again() {
    let project = project("options");
    assert!(project.build().success());
    assert_eq!(project.compiled().len(), 2);
    project.build_script(&TWO_SOURCES.replace(".run()", ".define(\"N\", \"4\").run()"));
    assert!(project.build().success());
    assert_eq!(project.compiled().len(), 2);
    assert!(project.build_with("NVCC_APPEND_FLAGS", "-DX").success());
    assert_eq!(project.compiled().len(), 2);
    assert!(project.build_with("NVCC_APPEND_FLAGS", "-DX").success());
    assert!(project.compiled().is_empty());
}

/// The image that the program finds is the one that was compiled last.
#[test]
fn the_program_sees_its_image() {
    let project = project("image");
    project.write("kernels/a.cu", "first");
    assert!(project.run().contains("first"));
    project.write("kernels/a.cu", "second");
    assert!(project.run().contains("second"));
}

#[test]
fn errors_and_warnings_are_shown_with_their_place() {
    let project = project("errors");
    project.write("kernels/a.cu", "#pragma warn unused variable\n");
    let built = project.build();
    assert!(built.success());
    assert!(built.says("warning: errors@0.1.0: kernels/a.cu(1): warning: unused variable"));
    project.write("kernels/a.cu", "#error no such thing\n");
    let built = project.build();
    assert!(!built.success());
    for line in [
        "error: errors@0.1.0: cannot compile kernels/a.cu: nvcc says",
        "kernels/a.cu(1): error: no such thing",
        "The compiler is nvcc 12.4.131 at ",
        "The command was: ",
    ] {
        assert!(built.says(line), "{line:?} in {built}");
    }
    // Repaired, it compiles again, though the content is that of an earlier success.
    project.write("kernels/a.cu", "#pragma warn unused variable\n");
    assert!(project.build().success());
}

#[test]
fn without_a_compiler_the_error_says_what_to_install() {
    let project = project("no-compiler");
    project.write("bin/python3", "");
    let built = project.build_with("NVCC", "/nowhere/nvcc");
    assert!(!built.success());
    assert!(built.says("error: no-compiler@0.1.0: cannot use the nvcc /nowhere/nvcc, which NVCC names: it does not run"), "{built}");
    assert!(built.says("build script logged errors"), "{built}");
}

#[test]
fn several_builds_of_one_script_have_files_of_their_own() {
    let project = project("several");
    let one = "cuda_build::Build::new().without_declarations()";
    let both = |second: &str| format!("{one}.file(\"kernels/a.cu\").run();\n{one}.{second}.run();");
    project.build_script(&both("file(\"kernels/b.cu\").generated(\"more.rs\")"));
    assert!(project.build().success());
    for (second, method) in [
        ("file(\"kernels/b.cu\")", "`generated`"),
        (
            "file(\"kernels/a.cu\").generated(\"more.rs\")",
            "`Source::name`",
        ),
    ] {
        project.build_script(&both(second));
        let built = project.build();
        assert!(
            !built.success()
                && built.says("another build of this build script has written")
                && built.says(method),
            "{built}"
        );
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let project = project("refused");
    for (body, why) in [
        (
            "file(\"kernels/none.cu\")",
            "there is no file kernels/none.cu in ",
        ),
        (
            "file(\"kernels\\\\a.cu\")",
            "there is no file kernels\\a.cu in ",
        ),
        ("file(\"kernels\\\\a.cu\")", "write its path with `/`"),
        (
            "file(\"kernels\")",
            "kernels is a folder: name each of its files",
        ),
        (
            "file(\"kernels/a.cu\").file(\"kernels/a.cu\")",
            "kernels/a.cu is named twice",
        ),
        (
            "file(\"kernels/a.cu\").file(cuda_build::Source::new(\"kernels/b.cu\").name(\"a\"))",
            "kernels/a.cu and kernels/b.cu would both be named a: give one another name with `Source::name`",
        ),
        (
            "file(\"kernels/a.cu\").format(cuda_build::Format::Cubin)",
            "a cubin needs an architecture",
        ),
        (
            "file(\"kernels/a.cu\")",
            "cannot read the kernels of kernels/a.cu: PTX line ",
        ),
    ] {
        project.build_script(&format!("cuda_build::Build::new().{body}.run();"));
        let built = project.build();
        assert!(!built.success() && built.says(why), "{body}: {built}");
    }
    project.build_script("cuda_build::Build::new().file(\"kernels/a.cu\").without_declarations().oldest_driver(12, 3).run();");
    let built = project.build();
    assert!(
        built.success() && built.says("nvcc 12.4.131 makes PTX that drivers of CUDA 12.3 refuse"),
        "{built}"
    );
    project.build_script("cuda_build::Build::new().file(\"kernels/a.cu\").without_declarations().oldest_driver(12, 4).run();");
    assert!(!project.build().says("warning"));
    project.build_script("cuda_build::Build::new().file(\"kernels/a.cu\").without_declarations().include(\"gone\").run();");
    let built = project.build();
    assert!(
        built.success() && built.says("warning: refused@0.1.0: there is no folder gone"),
        "{built}"
    );
}
