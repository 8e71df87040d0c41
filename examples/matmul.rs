//! Teaches two-dimensional launches: a matrix product in tiles of shared memory, compared with one computed on the CPU.

use cuda_driver::{Driver, LaunchConfig, Result};

/// Width and height of a block and of the kernel's tiles.
const TILE: u32 = 16;

fn main() -> Result<()> {
    let driver = Driver::load_or_simulated()?;
    let context = driver.device(0)?.primary_context()?;
    println!("{driver}: {}", context.device().name()?);
    let module = context.load_ptx(include_str!(env!("MATMUL_PTX")))?;
    let matmul = module.function("matmul")?;
    let needs = matmul.attributes()?;
    println!(
        "the kernel takes {} registers per thread and {} bytes of shared memory per block",
        needs.registers, needs.static_shared_bytes
    );
    let stream = context.create_stream()?;

    // None of these is a multiple of the tile, so blocks at the edges have threads with nothing to do.
    for (m, n, k) in [(1, 1, 1), (15, 17, 33), (131, 97, 83), (67, 200, 129)] {
        let host_a = matrix(m, k, 0);
        let host_b = matrix(k, n, 1);
        let a = stream.upload(&host_a)?;
        let b = stream.upload(&host_b)?;
        let mut c = stream.zeroed::<f32>(m * n)?;

        let (rows, columns, inner) = (u32::try_from(m)?, u32::try_from(n)?, u32::try_from(k)?);
        let grid = (columns.div_ceil(TILE), rows.div_ceil(TILE));
        let config = LaunchConfig::new(grid, (TILE, TILE));
        // SAFETY: the kernel reads m × k elements of `a` and k × n of `b`, and writes m × n of `c`, whatever the grid is; its
        // blocks have the shape that it expects.
        unsafe { matmul.launch(&stream, config, (&a, &b, &mut c, rows, columns, inner)) }?;

        let error = greatest_error(&c.to_vec()?, &reference(&host_a, &host_b, (m, n, k)));
        println!("{m} × {k} by {k} × {n}: greatest error {error:.1e}");
        // The elements are below 1: a sum of k products is rounded k times, by half an ulp of at most k each time.
        let bound = (k * k) as f64 * f64::from(f32::EPSILON) / 2.0;
        assert!(error <= bound, "the error exceeds {bound:.1e}");
    }
    Ok(())
}

/// A matrix of numbers between -1 and 1 that look like chance and are the same in each run.
fn matrix(rows: usize, columns: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let numbers = (0..rows * columns).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    });
    numbers.collect()
}

/// The product in double precision.
fn reference(a: &[f32], b: &[f32], (m, n, k): (usize, usize, usize)) -> Vec<f64> {
    let mut c = vec![0.0; m * n];
    for row in 0..m {
        for column in 0..n {
            let products = (0..k).map(|i| f64::from(a[row * k + i]) * f64::from(b[i * n + column]));
            c[row * n + column] = products.sum();
        }
    }
    c
}

/// The greatest difference of two elements; infinite where one is not a number.
fn greatest_error(result: &[f32], expected: &[f64]) -> f64 {
    let errors = result
        .iter()
        .zip(expected)
        .map(|(result, expected)| (f64::from(*result) - expected).abs());
    errors.fold(0.0, |greatest, error| {
        if error.is_nan() {
            f64::INFINITY
        } else {
            error.max(greatest)
        }
    })
}
