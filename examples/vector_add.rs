//! Teaches the whole way: declare a hand-written kernel, move data to the device, launch it, and read the result.

use cuda_driver::{Driver, Result, kernels};

kernels! {
    unsafe extern Kernels from ptx env!("VECTOR_ADD_PTX") {
        /// `sum[i] = a[i] + b[i]`
        #[launch(for_len(sum))]
        safe fn vector_add(a: &[f32], b: &[f32; len(a)], sum: &mut [f32; len(a)], n: u32 = len(a));
    }
}

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

    let kernels = Kernels::load(&context)?;
    kernels.vector_add(&stream, &a, &b, &mut sum)?;

    let sum = sum.to_vec()?;
    assert!((0..sum.len()).all(|i| sum[i] == host_a[i] + host_b[i]));
    println!("all {} sums are right, up to {}", sum.len(), sum[999_999]);
    Ok(())
}
