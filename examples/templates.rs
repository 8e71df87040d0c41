//! Instances of a template, compiled at run time and found by the names that C++ gives to them.
//!
//! Needs NVRTC: NVIDIA's toolkit, or `pip install nvidia-cuda-nvrtc`.

use std::fmt::Debug;

use bytemuck::Pod;
use cuda_driver::{Driver, LaunchConfig, Stream};
use cuda_nvrtc::{CompileCu, CompileOptions, CompiledModule, ErrorKind, Program, Standard};

const SOURCE: &str = r#"
#include "operations.h"

template<class T, template<class> class Operation>
__global__ void fold(const T *values, T *result, int n) {
    T folded = Operation<T>::start;
    for (int i = 0; i < n; i++) folded = Operation<T>::apply(folded, values[i]);
    *result = folded;
}
"#;

/// A header that exists only here.
const OPERATIONS: &str = "
template<class T> struct Sum { static constexpr T start = 0; __device__ static T apply(T a, T b) { return a + b; } };
template<class T> struct Product { static constexpr T start = 1; __device__ static T apply(T a, T b) { return a * b; } };
";

/// Folds the numbers by one instance of the kernel.
fn fold<T: Pod + Debug>(
    module: &CompiledModule,
    stream: &Stream,
    instance: &str,
    values: &[T],
) -> Result<T, Box<dyn std::error::Error>> {
    let kernel = module.function(instance)?;
    let values = stream.upload(values)?;
    let mut result = stream.zeroed::<T>(1)?;
    let n = i32::try_from(values.len())?;
    // SAFETY: the one thread reads the `n` values and writes the one result.
    unsafe { kernel.launch(stream, LaunchConfig::new(1, 1), (&values, &mut result, n)) }?;
    let folded = result.to_vec()?.remove(0);
    println!(
        "{instance:20} {folded:?}, by `{}`",
        module.compiled().name(instance)?
    );
    Ok(folded)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::load_or_simulated()?;
    println!("{driver}");
    let context = driver.device(0)?.primary_context()?;
    let stream = context.create_stream()?;

    let program = Program::new(SOURCE)
        .name("fold.cu")
        .header("operations.h", OPERATIONS)
        .instance("fold<float, Sum>")
        .instance("fold<int, Product>")
        .instance("fold<double, Product>");
    let options = CompileOptions::new().standard(Standard::Cpp17);
    let module = match context.compile_cu_with(&program, &options) {
        Err(error) if error.kind() == ErrorKind::LibraryNotFound => {
            println!("{error}");
            return Ok(());
        }
        other => other?,
    };

    assert_eq!(
        fold(&module, &stream, "fold<float, Sum>", &[1.5_f32, 2.5, 3.0])?,
        7.0
    );
    assert_eq!(
        fold(&module, &stream, "fold<int, Product>", &[2, 3, 7])?,
        42
    );
    assert_eq!(
        fold(&module, &stream, "fold<double, Product>", &[0.5, 8.0])?,
        4.0
    );
    Ok(())
}
