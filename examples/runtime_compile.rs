//! Compiles CUDA C++ at run time: a kernel whose loop is unrolled as often as the program decides.
//!
//! Needs NVRTC: NVIDIA's toolkit, or `pip install nvidia-cuda-nvrtc`. A second run takes the kernels from the cache.

use cuda_driver::{Driver, LaunchConfig};
use cuda_nvrtc::{CacheUse, CompileCu, ErrorKind};

/// A kernel that evaluates a polynomial at each number, every term written out.
fn polynomial(coefficients: &[f32]) -> String {
    let terms: String = coefficients
        .iter()
        .rev()
        .map(|coefficient| format!("    y = y * x + {coefficient:?}f;\n"))
        .collect();
    format!(
        "extern \"C\" __global__ void polynomial(const float *xs, float *ys, unsigned n) {{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i], y = 0;
{terms}    ys[i] = y;
}}"
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::load_or_simulated()?;
    println!("{driver}");
    let context = driver.device(0)?.primary_context()?;
    let stream = context.create_stream()?;

    let numbers: Vec<f32> = (0..1000_u16).map(|i| f32::from(i) / 1000.0).collect();
    let xs = stream.upload(&numbers)?;
    let mut ys = stream.zeroed::<f32>(xs.len())?;

    for coefficients in [&[1.0, 2.0, 3.0][..], &[0.5, -1.0, 0.25, 4.0, -2.0]] {
        let module = match context.compile_cu(polynomial(coefficients)) {
            Err(error) if error.kind() == ErrorKind::LibraryNotFound => {
                println!("{error}");
                return Ok(());
            }
            other => other?,
        };
        let kernel = module.function("polynomial")?;
        let config = LaunchConfig::for_len(xs.len());
        let n = u32::try_from(xs.len())?;
        // SAFETY: the kernel reads `n` numbers of `xs` and writes as many to `ys`.
        unsafe { kernel.launch(&stream, config, (&xs, &mut ys, n)) }?;

        let expected = |x: f32| coefficients.iter().rev().fold(0.0_f32, |y, c| y * x + c);
        let results = ys.to_vec()?;
        for (&x, y) in numbers.iter().zip(results) {
            assert!((y - expected(x)).abs() < 1e-4, "at {x}: {y}");
        }
        let from = match module.compiled().cache_use() {
            CacheUse::Found => "found in the cache",
            _ => "compiled",
        };
        println!(
            "{} terms: {from}, and right at {} points",
            coefficients.len(),
            xs.len()
        );
    }

    // What is wrong with a source, the error says with its lines.
    let wrong = "__global__ void wrong(float *x) {\n    *x = y;\n}\n";
    if let Err(error) = context.compile_cu(wrong) {
        println!("{error}");
    }
    Ok(())
}
