//! How long a program's kernels take to compile, and to find in the cache: `cargo run --release -p cuda-nvrtc --example cache_times`.
//!
//! Each time is that of a process of its own, from the search for the compiler to the compiled image, because that is what
//! the second run of a program costs. An argument is a file to compile instead of the built-in kernels.

use std::process::Command;
use std::time::Instant;

use cuda_nvrtc::{Cache, CacheUse, CompileOptions, Compiler, ErrorKind, Program};

const PLAIN: &str = "extern \"C\" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}";
const HALF: &str = "#include <cuda_fp16.h>
extern \"C\" __global__ void twice(__half *x) { x[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x]; }";
const GROUPS: &str = "#include <cooperative_groups.h>
extern \"C\" __global__ void wait() { cooperative_groups::this_grid().sync(); }";

/// How many processes each time is the least of.
const RUNS: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(flag), Some(name)) if flag == "--child" => child(&name),
        (Some(file), _) => report(&[&file]),
        (None, _) => report(&["plain", "cuda_fp16.h", "cooperative_groups.h"]),
    }
}

/// Compiles one program, and writes how it went and how many microseconds it took.
fn child(name: &str) -> Result<(), Box<dyn std::error::Error>> {
    let program = match name {
        "plain" => PLAIN.into(),
        "cuda_fp16.h" => HALF.into(),
        "cooperative_groups.h" => GROUPS.into(),
        file => Program::from_file(file)?,
    };
    let options = CompileOptions::new().architecture(cuda_nvrtc::Architecture::new(9, 0));
    let begin = Instant::now();
    let compiled = Compiler::find().and_then(|compiler| compiler.compile(&program, &options));
    let took = begin.elapsed();
    match compiled {
        Ok(compiled) => println!("{} {:?}", took.as_micros(), compiled.cache_use()),
        Err(error) if error.kind() == ErrorKind::LibraryNotFound => println!("0 {error}"),
        Err(error) => println!("0 {:?}", error.kind()),
    }
    Ok(())
}

fn report(names: &[&str]) -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::temp_dir().join(format!("cuda-nvrtc-times-{}", std::process::id()));
    let cache = Cache::at(&directory);
    println!("{:24} {:>12} {:>12}", "program", "cold", "warm");
    for name in names {
        let run = || -> Result<(u64, String), Box<dyn std::error::Error>> {
            let output = Command::new(std::env::current_exe()?)
                .args(["--child", name])
                .env("CUDA_NVRTC_CACHE_DIR", &directory)
                .output()?;
            let text = String::from_utf8(output.stdout)?;
            let (time, how) = text
                .trim()
                .split_once(' ')
                .ok_or("the child said nothing")?;
            Ok((time.parse()?, how.to_owned()))
        };
        let least = |cold: bool| -> Result<String, Box<dyn std::error::Error>> {
            let mut best = u64::MAX;
            for _ in 0..RUNS {
                if cold {
                    cache.clear()?;
                }
                let (time, how) = run()?;
                let expected = if cold {
                    CacheUse::Kept
                } else {
                    CacheUse::Found
                };
                if how != format!("{expected:?}") {
                    return Ok(how);
                }
                best = best.min(time);
            }
            Ok(format!("{}.{:03} ms", best / 1000, best % 1000))
        };
        println!("{name:24} {:>12} {:>12}", least(true)?, least(false)?);
    }
    std::fs::remove_dir_all(&directory)?;
    Ok(())
}
