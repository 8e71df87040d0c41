//! Options, headers and hostile programs, with the real NVRTC.

use cuda_driver::{Driver, LaunchConfig};
use cuda_nvrtc::{
    Architecture, Cache, CacheUse, CompileOptions, ErrorKind, Output, Program, Standard,
};

use super::{compilers, runs_here};

#[test]
fn a_kernel_as_libraries_write_it_runs() {
    // A generic element-wise kernel, an in-block sum and a tiled transposition, with a generated, unrolled body.
    let unroll = 4;
    let body: String = (0..unroll).map(|k| format!("        acc += term<T>(x[min(i * {unroll} + {k}, n - 1)], i * {unroll} + {k} < n);\n")).collect();
    let program = Program::new(format!(
        "template<class T> __device__ T term(T value, bool there) {{ return there ? value * value : T(0); }}
template<class T, int BLOCK> __global__ void sum_of_squares(const T *__restrict__ x, T *out, int n) {{
    __shared__ T part[BLOCK];
    T acc = T(0);
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i * {unroll} < n; i += gridDim.x * BLOCK) {{
{body}    }}
    part[threadIdx.x] = acc;
    for (int half = BLOCK / 2; half > 0; half /= 2) {{
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }}
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}}"
    ))
    .instance("sum_of_squares<float, 128>");
    let context = Driver::simulated()
        .unwrap()
        .device(0)
        .unwrap()
        .primary_context()
        .unwrap();
    let stream = context.create_stream().unwrap();
    for compiler in compilers().iter().filter(|it| runs_here(it)) {
        let options = CompileOptions::new()
            .standard(Standard::Cpp17)
            .fuse_multiply_add(false)
            .restrict();
        let module = compiler
            .compile_for(context.device(), &program, &options)
            .unwrap()
            .load(&context)
            .unwrap();
        let numbers: Vec<f32> = (0..1001_u16).map(|it| f32::from(it % 7)).collect();
        let device = stream.upload(&numbers).unwrap();
        let mut out = stream.zeroed::<f32>(1).unwrap();
        let kernel = module.function("sum_of_squares<float,128>").unwrap();
        // SAFETY: the kernel reads the `n` numbers and writes the one sum.
        unsafe {
            kernel.launch(
                &stream,
                LaunchConfig::new(2, 128),
                (&device, &mut out, 1001_i32),
            )
        }
        .unwrap();
        let expected: f32 = numbers.iter().map(|it| it * it).sum();
        assert_eq!(out.to_vec().unwrap(), [expected], "{compiler:?}");
    }
}

#[test]
fn options_reach_the_compiler() {
    let source = "#if !defined(A) || A != 3 || defined(B)\n#error macros\n#endif\nextern \"C\" __global__ void f(float *x) { *x = *x / 3.0f; }";
    for compiler in compilers() {
        let compiler = compiler.with_cache(Cache::disabled());
        let options = CompileOptions::new()
            .define("A", 3)
            .define("B", 1)
            .undefine("B")
            .architecture(Architecture::new(8, 0));
        let ptx = compiler.compile(source, &options).unwrap();
        assert!(
            ptx.ptx().unwrap().contains("div.rn.f32")
                && ptx.ptx().unwrap().contains(".target sm_80")
        );
        assert_eq!(
            ptx.cache_use(),
            &CacheUse::NotKept("the cache is disabled".into())
        );
        let ptx = compiler
            .compile(source, &options.clone().fast_math().line_info())
            .unwrap();
        assert!(ptx.ptx().unwrap().contains(".ftz") && ptx.ptx().unwrap().contains(".loc"));
        let cubin = compiler
            .compile(
                source,
                &options.clone().output(Output::Cubin).max_registers(32),
            )
            .unwrap();
        assert_eq!(cubin.image().get(..4), Some(&b"\x7fELF"[..]));
        let error = compiler
            .compile(source, &options.clone().raw("--nonsense"))
            .unwrap_err();
        assert!(
            error.kind() == ErrorKind::InvalidOption && error.log().contains("--nonsense"),
            "{error}"
        );
        let error = compiler
            .compile(
                source,
                &options.clone().architecture(Architecture::new(3, 0)),
            )
            .unwrap_err();
        assert!(
            error.kind() == ErrorKind::UnsupportedArchitecture
                && error.to_string().contains("only for "),
            "{error}"
        );
        let error = compiler
            .compile(source, &options.raw("--dlink-time-opt"))
            .err();
        assert!(error.is_none_or(|it| it.kind() == ErrorKind::WrongOutput));
    }
}

#[test]
fn a_name_expression_that_names_nothing_is_told_apart() {
    for compiler in compilers() {
        for expression in ["nothing<int>", "f); int x = (3", ""] {
            let program = Program::new("__global__ void f() {}").instance(expression);
            let error = compiler
                .compile(&program, &CompileOptions::new())
                .unwrap_err();
            assert_ne!(error.kind(), ErrorKind::Compilation, "{error}");
        }
    }
}

#[test]
fn hostile_sources_and_options_are_errors() {
    let mut random = 0x2545_f491_u32;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        usize::try_from(random).unwrap()
    };
    let pieces = [
        "template<",
        ">",
        "class ",
        "T",
        "(",
        ")",
        "{",
        "}",
        ";",
        "__global__ ",
        "void ",
        "f",
        "#",
        "include ",
        "\"",
        "'",
        "\\",
        "\n",
        "0x",
        "1e",
        "*",
        "&",
        "::",
        "asm(\"",
        "R\"(",
        "é",
        "\u{1}",
        "/*",
        "*/",
        "//",
        "decltype",
        "auto ",
        "...",
        "[[",
        "]]",
    ];
    for compiler in compilers() {
        let compiler = compiler.with_cache(Cache::disabled());
        for _ in 0..10 {
            let source: String = (0..next() % 60)
                .map(|_| pieces[next() % pieces.len()])
                .collect();
            let option: String = (0..1 + next() % 5)
                .map(|_| pieces[next() % pieces.len()])
                .collect();
            // Neither result is wrong; the process is still there.
            drop(compiler.compile(source.as_str(), &CompileOptions::new()));
            drop(compiler.compile("", &CompileOptions::new().raw(option)));
        }
        for source in ["a\0b", "\0"] {
            let error = compiler
                .compile(source, &CompileOptions::new())
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
    }
}

#[test]
fn threads_compile_at_once() {
    for compiler in compilers() {
        let compiler = compiler.with_cache(Cache::disabled());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let compiler = &compiler;
                scope.spawn(move || {
                    for round in 0..3 {
                        let source =
                            format!("extern \"C\" __global__ void kernel_{thread}_{round}() {{}}");
                        let compiled = compiler.compile(source, &CompileOptions::new()).unwrap();
                        assert!(
                            compiled
                                .ptx()
                                .unwrap()
                                .contains(&format!(".entry kernel_{thread}_{round}"))
                        );
                    }
                });
            }
        });
    }
}

#[test]
fn cudas_headers_are_found_or_named() {
    for compiler in compilers() {
        let source = "#include <cuda_fp16.h>\nextern \"C\" __global__ void twice(__half *x) { *x = *x + *x; }";
        match compiler.compile(source, &CompileOptions::new()) {
            Ok(compiled) => assert!(compiled.ptx().unwrap().contains(".entry twice")),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::MissingHeader, "{error}");
                assert!(
                    error.remedy().unwrap().contains("pip install nvidia-cuda-"),
                    "{error}"
                );
            }
        }
        let error = compiler
            .compile(source, &CompileOptions::new().cuda_headers(false))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MissingHeader);
    }
}
