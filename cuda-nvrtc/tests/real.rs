//! The real NVRTC of this machine: each that the search finds, or those in the directories that `CUDA_NVRTC_TEST_PATHS` lists;
//! and the real nvJitLink, from `CUDA_NVJITLINK_TEST_PATHS`.

#[path = "real/link.rs"]
mod link;
#[path = "real/results.rs"]
mod results;

use std::path::PathBuf;

use cuda_driver::{Driver, LaunchConfig};
use cuda_nvrtc::{CompileOptions, Compiler, ErrorKind, Program, Severity};

/// The compilers under test; none is said, because then nothing is tested.
fn compilers() -> Vec<Compiler> {
    let found: Vec<Compiler> = match std::env::var_os("CUDA_NVRTC_TEST_PATHS") {
        Some(list) => std::env::split_paths(&list)
            .filter(|path| path != &PathBuf::new())
            // SAFETY: whoever set the variable vouches for the libraries.
            .map(|path| unsafe { Compiler::load_from(path) }.unwrap())
            .collect(),
        None => Compiler::find_all(),
    };
    if found.is_empty() {
        println!("skipped: there is no NVRTC; `pip install nvidia-cuda-nvrtc` installs one");
    }
    found
}

/// Whether the software driver, which is one of CUDA 13.0, takes its PTX.
fn runs_here(compiler: &Compiler) -> bool {
    let version = compiler.version().unwrap();
    (version.major, version.minor) <= (13, 0)
}

#[test]
fn a_compiled_kernel_runs() {
    let context = Driver::simulated()
        .unwrap()
        .device(0)
        .unwrap()
        .primary_context()
        .unwrap();
    let stream = context.create_stream().unwrap();
    let program = Program::new(
        "#include \"by.h\"\ntemplate<class T> __global__ void scale(T *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= BY; }",
    )
    .header("by.h", "#define BY 3")
    .instance("scale<float>")
    .instance("scale<int>");
    for compiler in compilers().iter().filter(|it| runs_here(it)) {
        let compiled = compiler
            .compile_for(context.device(), &program, &CompileOptions::new())
            .unwrap();
        assert_eq!(compiled.name("scale<float>").unwrap(), "_Z5scaleIfEvPT_i");
        let module = compiled.load(&context).unwrap();
        let mut numbers: Vec<f32> = (0..1000_u16).map(f32::from).collect();
        let mut device = stream.upload(&numbers).unwrap();
        let kernel = module.function("scale< float >").unwrap();
        // SAFETY: the kernel multiplies each of the `n` numbers.
        unsafe {
            kernel.launch(
                &stream,
                LaunchConfig::for_len(1000),
                (&mut device, 1000_i32),
            )
        }
        .unwrap();
        numbers.iter_mut().for_each(|it| *it *= 3.0);
        assert_eq!(device.to_vec().unwrap(), numbers, "{compiler:?}");
    }
}

#[test]
fn errors_carry_the_log_and_the_lines() {
    let program = Program::new("#include \"a.h\"\n__global__ void f(int *x) {\n    *x = y;\n}\n")
        .name("kernels/f.cu")
        .header("a.h", "__device__ int fine;\n__device__ int wrong = q;\n");
    for compiler in compilers() {
        let error = compiler
            .compile(&program, &CompileOptions::new())
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Compilation);
        assert_eq!(
            (error.call(), error.status()),
            (Some("nvrtcCompileProgram"), Some(6))
        );
        let places: Vec<_> = error
            .diagnostics()
            .iter()
            .map(|it| (it.file.as_str(), it.line, it.severity))
            .collect();
        assert_eq!(
            places,
            [
                ("a.h", 2, Severity::Error),
                ("kernels/f.cu", 3, Severity::Error)
            ]
        );
        let text = error.to_string();
        assert!(text.starts_with("cannot compile `kernels/f.cu`: there are 2 errors (nvrtcCompileProgram: NVRTC_ERROR_COMPILATION)\n"), "{text}");
        assert!(text.contains("a.h:\n    1 | __device__ int fine;\n>   2 | __device__ int wrong = q;\nkernels/f.cu:\n    2 | __global__ void f(int *x) {\n>   3 |     *x = y;\n    4 | }"), "{text}");
    }
}

#[test]
fn nesting_that_ends_an_ordinary_stack_is_compiled() {
    let program = format!(
        "__global__ void f(int *x) {{ *x = {}1{}; }}",
        "(".repeat(5000),
        ")".repeat(5000)
    );
    for compiler in compilers() {
        compiler.compile(&program, &CompileOptions::new()).unwrap();
    }
}
