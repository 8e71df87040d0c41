//! Teaches the whole way: load a hand-written kernel, move data to the device, launch, and read the result.

use cuda_driver::{Driver, LaunchConfig, Result};

fn main() -> Result<()> {
    let driver = Driver::load_or_simulated()?;
    let context = driver.device(0)?.primary_context()?;
    println!("{driver}: {}", context.device().name()?);

    let host_a: Vec<f32> = (0..1_000_000).map(|i| i as f32).collect();
    let host_b: Vec<f32> = (0..1_000_000).map(|i| 2.0 * i as f32).collect();

    let stream = context.create_stream()?;
    let a = stream.upload(&host_a)?;
    let b = stream.upload(&host_b)?;
    let mut sum = stream.zeroed::<f32>(a.len())?;

    let module = context.load_ptx(include_str!("kernels/vector_add.ptx"))?;
    let vector_add = module.function("vector_add")?;
    let config = LaunchConfig::for_len(a.len());
    let n = u32::try_from(a.len())?;
    // SAFETY: the kernel reads `a` and `b` and writes `sum`, each at indices below `n`.
    unsafe { vector_add.launch(&stream, config, (&a, &b, &mut sum, n)) }?;

    let result = sum.to_vec()?;
    let wrong = (0..result.len()).find(|&i| result[i] != host_a[i] + host_b[i]);
    if let Some(i) = wrong {
        println!("element {i}: {} + {} gave {}", host_a[i], host_b[i], result[i]);
        std::process::exit(1);
    }
    println!("{} sums are right; the last is {}", result.len(), result[result.len() - 1]);
    Ok(())
}
