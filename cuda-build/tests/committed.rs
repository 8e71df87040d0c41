//! Committed PTX: how it is written, when it is taken, and what is said about it. A program of the shell stands for the compiler.
#![cfg(unix)]

mod support;

use support::Project;

const BUILD: &str = r#"
    cuda_build::Build::new().file("kernels/a.cu").committed("kernels/ptx").without_declarations().run();
"#;

/// What the program of the shell makes of this is itself.
const SOURCE: &str = "#include \"a.h\"
.version 7.0
.target sm_52
.address_size 64
.visible .entry first(.param .u64 a) { ret; }
";

const UPDATE: &[(&str, &str)] = &[("CUDA_BUILD_COMMITTED", "update")];
const CHECK: &[(&str, &str)] = &[("CUDA_BUILD_COMMITTED", "check")];
const IGNORE: &[(&str, &str)] = &[("CUDA_BUILD_COMMITTED", "ignore")];
const NO_COMPILER: &[(&str, &str)] = &[("NVCC", "/nowhere/nvcc")];

fn project(name: &str) -> Project {
    let project = Project::new(name, BUILD);
    project.write("kernels/a.cu", SOURCE);
    project.write("kernels/a.h", "// nothing\n");
    project
}

#[test]
fn what_is_committed_is_taken_while_it_fits() {
    let project = project("committed-fits");
    let built = project.build();
    assert!(
        built.success()
            && built
                .says("kernels/ptx/a.ptx is not there: CUDA_BUILD_COMMITTED=update cargo build"),
        "{built}"
    );
    assert!(project.build_in(UPDATE).success());
    let committed = project.read("kernels/ptx/a.ptx");
    assert!(committed.contains("// cuda-build: input kernels/a.cu\n// cuda-build: input kernels/a.h\n// cuda-build: nvcc 12.4.131\n"));
    project.compiled();
    // It fits: no compiler is needed, nor asked if there is one.
    for variables in [NO_COMPILER, &[], CHECK] {
        let built = project.build_in(variables);
        assert!(built.success() && !built.says("warning"), "{built}");
        assert_eq!(project.run_with(variables), committed.clone() + "\n");
    }
    assert!(project.compiled().is_empty());
    assert!(project.build_in(IGNORE).success());
    assert_eq!(project.compiled(), ["kernels/a.cu"]);
    // Written again, it is the same.
    assert!(project.build_in(UPDATE).success());
    assert_eq!(project.read("kernels/ptx/a.ptx"), committed);
}

#[test]
fn what_does_not_fit_is_compiled_anew_or_taken_with_a_warning() {
    let project = project("committed-stale");
    assert!(project.build_in(UPDATE).success());
    let committed = project.read("kernels/ptx/a.ptx");
    for (change, to, back) in [
        ("kernels/a.h", "// something\n", "// nothing\n"),
        ("kernels/a.cu", &*SOURCE.replace("first", "second"), SOURCE),
        (
            "kernels/ptx/a.ptx",
            &*committed.replace("first", "third"),
            &*committed,
        ),
    ] {
        project.compiled();
        project.write(change, to);
        let built = project.build();
        assert!(
            built.success() && built.says("kernels/ptx/a.ptx is not up to date"),
            "{change}: {built}"
        );
        assert!(
            project.run().contains(if change == "kernels/a.cu" {
                "second"
            } else {
                "first"
            }),
            "{change}"
        );
        assert_eq!(
            project.read("kernels/ptx/a.ptx").contains("third"),
            change.ends_with("ptx"),
            "nothing writes it unasked"
        );
        let built = project.build_in(NO_COMPILER);
        assert!(
            built.success()
                && built.says("the committed PTX of kernels/a.cu is older than its source"),
            "{change}: {built}"
        );
        let built = project.build_in(CHECK);
        assert!(!built.success());
        assert!(built.says("error: committed-stale@0.1.0: kernels/ptx/a.ptx was not made of what kernels/a.cu and its headers are now"));
        assert!(built.says("make it with CUDA_BUILD_COMMITTED=update cargo build, and commit it"));
        project.write(change, back);
        assert!(project.build_in(CHECK).success(), "{change}");
    }
    project.build_script(&BUILD.replace(".run()", ".define(\"N\", \"2\").run()"));
    assert!(!project.build_in(CHECK).success());
}

#[test]
fn without_compiler_and_committed_ptx_the_error_says_both() {
    let project = project("committed-missing");
    let built = project.build_in(NO_COMPILER);
    assert!(!built.success());
    assert!(
        built.says("no PTX of kernels/a.cu is committed, and there is no compiler:"),
        "{built}"
    );
    assert!(
        built.says("cannot use the nvcc /nowhere/nvcc, which NVCC names"),
        "{built}"
    );
    let built = project.build_in(CHECK);
    assert!(
        !built.success() && built.says("kernels/ptx/a.ptx is not there: make it with"),
        "{built}"
    );
    let built = project.build_in(&[("CUDA_BUILD_COMMITTED", "maybe")]);
    assert!(
        !built.success() && built.says("it can be `update`, `check` or `ignore`, or not be set"),
        "{built}"
    );
}
