//! With real compilers: the programs that `CUDA_BUILD_TEST_NVCC` names, separated as in `PATH`. Without it there is nothing to test with.
#![cfg(unix)]

mod support;

use std::env;
use std::path::PathBuf;

use support::Project;

const KERNELS: &str = r#"
#include "shared.h"
namespace ns { struct Params { float gain; double bias; int count; }; }
extern "C" __global__ void vectorAdd(const float *a, const float *b, float *sum, index_t n) {
    index_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}
__global__ void apply(ns::Params params, float4 *__restrict__ points, const unsigned char *mask, bool inverted, long steps) {
    if (mask[threadIdx.x] != inverted) points[threadIdx.x].x = params.gain * steps;
}
template <class T, int N> __global__ void scale(T *data, T by) { data[threadIdx.x] *= by * T(N); }
template __global__ void scale<float, 4>(float *, float);
template __global__ void scale<double, 2>(double *, double);
"#;

const BUILD: &str = r#"
    let vector_add = cuda_build::Kernel::new("vectorAdd").len("b", "len(a)").len("sum", "len(a)").value("n", "len(a)").vouch("for_len(sum)");
    cuda_build::Build::new()
        .file(cuda_build::Source::new("kernels/a.cu").kernel(vector_add))
        .rust_type("Params", "crate::Params")
        .committed("kernels/ptx")
        .run();
"#;

fn compilers() -> Vec<PathBuf> {
    let Some(named) = env::var_os("CUDA_BUILD_TEST_NVCC") else {
        eprintln!("skipped: CUDA_BUILD_TEST_NVCC names no compiler to test with");
        return Vec::new();
    };
    env::split_paths(&named).collect()
}

fn project(name: &str, body: &str) -> Project {
    let project = Project::new(name, body);
    project.write("kernels/a.cu", KERNELS);
    project.write("kernels/shared.h", "typedef unsigned int index_t;\n");
    project.write(
        "src/main.rs",
        "fn main() { println!(\"{}\", env!(\"OUT_DIR\")); }\n",
    );
    project
}

/// The declarations that were generated, without the constants before them.
fn declarations(project: &Project, variables: &[(&str, &str)]) -> String {
    let out = project.run_with(variables);
    let text = std::fs::read_to_string(PathBuf::from(out.trim()).join("kernels.rs")).unwrap();
    let start = text.find("::cuda_driver::kernels!").unwrap();
    text[start..].to_owned()
}

/// All compilers give the same declarations, and so does what was committed, where there is no compiler.
#[test]
fn declarations_do_not_depend_on_the_compiler() {
    for nvcc in compilers() {
        let nvcc = nvcc.to_str().unwrap();
        let project = project("real-declarations", BUILD);
        let expected = include_str!("real_compilers/declarations.rs");
        let made = declarations(&project, &[("NVCC", nvcc)]);
        assert_eq!(made, expected, "{nvcc}");
        assert!(
            project
                .build_in(&[("NVCC", nvcc), ("CUDA_BUILD_COMMITTED", "update")])
                .success()
        );
        assert!(
            project
                .read("kernels/ptx/a.ptx")
                .contains("input kernels/shared.h\n")
        );
        assert_eq!(
            declarations(&project, &[("NVCC", "/nowhere/nvcc")]),
            expected
        );
        assert!(
            project
                .build_in(&[("NVCC", "/nowhere/nvcc"), ("CUDA_BUILD_COMMITTED", "check")])
                .success()
        );
        project.write("kernels/shared.h", "typedef unsigned long index_t;\n");
        let built =
            project.build_in(&[("NVCC", "/nowhere/nvcc"), ("CUDA_BUILD_COMMITTED", "check")]);
        assert!(
            !built.success() && built.says("kernels/ptx/a.ptx was not made of what kernels/a.cu"),
            "{built}"
        );
    }
}

#[test]
fn binaries_are_made_for_the_architectures_asked_for() {
    for nvcc in compilers() {
        let nvcc = nvcc.to_str().unwrap();
        for (format, architectures, magic) in [
            (
                "Cubin",
                ".architecture(cuda_build::Architecture::AMPERE)",
                &b"\x7fELF"[..],
            ),
            (
                "Fatbin",
                ".architecture(cuda_build::Architecture::AMPERE).architecture(cuda_build::Architecture::HOPPER)",
                b"\x50\xed\x55\xba",
            ),
        ] {
            let extension = format.to_lowercase();
            let body = format!(
                "let images = cuda_build::Build::new().file(\"kernels/a.cu\").format(cuda_build::Format::{format}){architectures}
                    .standard(cuda_build::Standard::Cpp17).fast_math().line_info().max_registers(64).define(\"X\", \"1\").run();
                assert!(images.path(\"a\").unwrap().ends_with(\"a.{extension}\"));"
            );
            let project = project("real-binaries", &body);
            let text = declarations(&project, &[("NVCC", nvcc)]);
            assert!(
                text.contains(&format!(
                    "from {extension} concat!(env!(\"OUT_DIR\"), \"/cuda-build/a.{extension}\")"
                )),
                "{text}"
            );
            let out = PathBuf::from(project.run_with(&[("NVCC", nvcc)]).trim());
            let image =
                std::fs::read(out.join("cuda-build").join(format!("a.{extension}"))).unwrap();
            assert!(image.starts_with(magic), "{nvcc}: {format}");
        }
    }
}

#[test]
fn errors_have_their_line() {
    for nvcc in compilers() {
        let project = project("real-errors", BUILD);
        project.write(
            "kernels/a.cu",
            "#include \"shared.h\"\n\n__global__ void broken(index_t n) { return m; }\n",
        );
        let built = project.build_in(&[("NVCC", nvcc.to_str().unwrap())]);
        assert!(!built.success());
        for line in [
            "cannot compile kernels/a.cu: nvcc says",
            "kernels/a.cu(3): error: identifier \"m\" is undefined",
            "The command was: ",
        ] {
            assert!(built.says(line), "{line:?} in {built}");
        }
        project.write("kernels/a.cu", "#include \"missing.h\"\n");
        let built = project.build_in(&[("NVCC", nvcc.to_str().unwrap())]);
        assert!(
            built.says("kernels/a.cu:1:10: fatal error: missing.h: No such file or directory"),
            "{built}"
        );
        project.write("kernels/a.cu", KERNELS);
        project.build_script(&BUILD.replace(
            ".run()",
            ".architecture(cuda_build::Architecture::new(1, 3)).run()",
        ));
        let built = project.build_in(&[("NVCC", nvcc.to_str().unwrap())]);
        assert!(built.says("compiles for sm_"), "{built}");
    }
}
