//! Teaches the whole way: load a hand-written kernel, move data to the device, launch it, and read the result.

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

    let module = context.load_ptx(include_str!(env!("VECTOR_ADD_PTX")))?;
    let vector_add = module.function("vector_add")?;
    let config = LaunchConfig::for_len(a.len());
    let n = u32::try_from(a.len())?;
    // SAFETY: the kernel reads `a` and `b` and writes `sum`, each at indices below `n`.
    unsafe { vector_add.launch(&stream, config, (&a, &b, &mut sum, n)) }?;

    let sum = sum.to_vec()?;
    assert!((0..sum.len()).all(|i| sum[i] == host_a[i] + host_b[i]));
    println!("all {} sums are right, up to {}", sum.len(), sum[999_999]);
    Ok(())
}
