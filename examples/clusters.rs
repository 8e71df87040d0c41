//! Teaches clusters of blocks, on devices of compute capability 9.0 and later: a histogram with more counters than the shared
//! memory of one block holds.

use cuda_driver::{ComputeCapability, Driver, Result, kernels};

/// Blocks of a cluster.
const BLOCKS: u32 = 8;
/// Counters, 100,000 bytes of them in each block.
const BINS: usize = 200_000;

kernels! {
    /// The kernel of `cluster_histogram.cu`.
    pub unsafe extern Kernels from ptx env!("CLUSTER_HISTOGRAM_PTX") {
        /// `counts[v] +=` how often `v` occurs in `values`.
        #[launch(grid = 32, block = 256, cluster = 8, shared = 100_000)]
        pub safe fn cluster_histogram(
            values: &[u32],
            n: u32 = len(values),
            counts: &mut [u32; 200_000],
            bins: u32 = len(counts),
        );
    }
}

fn main() -> Result<()> {
    let driver = Driver::load_or_simulated()?;
    let device = driver.device(0)?;
    println!("{driver}: {}", device.name()?);
    let capability = device.compute_capability()?;
    if capability < ComputeCapability::new(9, 0) {
        println!("clusters need compute capability 9.0, and this device has {capability}");
        return Ok(());
    }
    let context = device.primary_context()?;
    let kernels = Kernels::load(&context)?;
    let one_block = device.max_shared_memory_per_block_optin()?;
    println!(
        "{} bytes of counters; one block has room for {one_block}, a cluster of {BLOCKS} for all",
        BINS * size_of::<u32>()
    );

    let stream = context.create_stream()?;
    let values: Vec<u32> = (0..300_000_u32)
        .map(|i| i.wrapping_mul(2_654_435_761) % BINS as u32)
        .collect();
    let device_values = stream.upload(&values)?;
    let mut counts = stream.zeroed::<u32>(BINS)?;
    kernels.cluster_histogram(&stream, &device_values, &mut counts)?;

    let mut expected = vec![0; BINS];
    values
        .iter()
        .for_each(|&value| expected[value as usize] += 1);
    assert_eq!(counts.to_vec()?, expected);
    println!("all {} values are counted", values.len());
    Ok(())
}
