//! Matrix instructions: products of matrices in kernels from `nvcc`, with instructions of PTX by hand and with the fragments of `mma.h`.

use cuda_driver::{Function, LaunchConfig};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::{MATRIX, load};

/// A bench whose device has these instructions, with the checks of blocks on the software driver; `None`, with a word, on an older device.
fn bench() -> Option<Bench> {
    let bench = Bench::with(|builder| builder.racecheck(true).synccheck(true));
    let capability = bench.context().device().compute_capability();
    let has = capability.is_ok_and(|it| it.major >= 8);
    if !has {
        eprintln!("skipped, needs a device of compute capability 8.0");
    }
    has.then_some(bench)
}

fn kernel(bench: &Bench, name: &str) -> Function {
    load(bench.context(), MATRIX, name)
}

/// Whole numbers from -4 to 4, whose products and sums no type here rounds.
fn number(index: usize, seed: usize) -> i32 {
    ((index * 7919 + seed * 104_729) / 13 % 9) as i32 - 4
}

fn numbers(count: usize, seed: usize) -> Vec<i32> {
    (0..count).map(|index| number(index, seed)).collect()
}

/// The bits of a half that is such a number.
fn half(value: i32) -> u16 {
    if value == 0 {
        return 0;
    }
    let single = (value as f32).to_bits();
    let rest = (single & 0x7fff_ffff) >> 13;
    (single >> 16 & 0x8000) as u16 | (rest - (112 << 10)) as u16
}

fn halves(values: &[i32]) -> Vec<u16> {
    values.iter().copied().map(half).collect()
}

/// `a b` of matrices by rows.
fn product(a: &[i32], b: &[i32], [m, n, k]: [usize; 3]) -> Vec<i32> {
    let mut sums = vec![0; m * n];
    for row in 0..m {
        for column in 0..n {
            sums[row * n + column] = (0..k).map(|at| a[row * k + at] * b[at * n + column]).sum();
        }
    }
    sums
}

/// A matrix by columns, as one by rows.
fn transposed<T: Copy>(values: &[T], columns: usize) -> Vec<T> {
    let rows = values.len() / columns;
    let at = |index: usize| values[index % rows * columns + index / rows];
    (0..values.len()).map(at).collect()
}

fn grid(columns: usize, rows: usize, threads: u32) -> LaunchConfig {
    LaunchConfig::new((columns as u32, rows as u32), threads)
}

#[test]
fn a_tiled_product_with_ldmatrix_and_mma() -> Test {
    let Some(bench) = bench() else { return Ok(()) };
    let stream = bench.stream();
    let multiply = kernel(&bench, "product_of_halves");
    let [m, n, k] = [128, 64, 96];
    let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
    let (from_a, from_b) = (stream.upload(&halves(&a))?, stream.upload(&halves(&b))?);
    let mut sums = stream.zeroed::<f32>(m * n)?;
    let config = grid(n / 64, m / 64, 128);
    // SAFETY: the kernel reads `m` times `k` and `k` times `n` halves and writes `m` times `n` results.
    unsafe {
        multiply.launch(
            &stream,
            config,
            (&from_a, &from_b, &mut sums, n as i32, k as i32),
        )
    }?;
    let expected: Vec<f32> = product(&a, &b, [m, n, k])
        .iter()
        .map(|&it| it as f32)
        .collect();
    assert_eq!(sums.to_vec()?, expected);
    Ok(())
}

#[test]
fn a_product_of_fragments() -> Test {
    let Some(bench) = bench() else { return Ok(()) };
    let stream = bench.stream();
    let multiply = kernel(&bench, "product_of_fragments");
    let [m, n, k] = [48, 32, 80];
    let (a, b) = (numbers(m * k, 3), numbers(k * n, 4));
    let from_a = stream.upload(&halves(&a))?;
    let from_b = stream.upload(&transposed(&halves(&b), n))?;
    let mut sums = stream.zeroed::<f32>(m * n)?;
    let config = grid(n / 16, m / 16, 32);
    // SAFETY: as above; `b` by columns.
    unsafe {
        multiply.launch(
            &stream,
            config,
            (&from_a, &from_b, &mut sums, n as i32, k as i32),
        )
    }?;
    let halved = |&it: &i32| it as f32 / 2.0;
    let expected: Vec<f32> = product(&a, &b, [m, n, k]).iter().map(halved).collect();
    assert_eq!(sums.to_vec()?, expected);
    Ok(())
}

#[test]
fn a_product_of_bytes() -> Test {
    let Some(bench) = bench() else { return Ok(()) };
    let stream = bench.stream();
    let multiply = kernel(&bench, "product_of_bytes");
    let [m, n, k] = [64, 24, 48];
    let (a, b) = (numbers(m * k, 5), numbers(k * n, 6));
    let bytes = |values: &[i32]| -> Vec<i8> { values.iter().map(|&it| it as i8 * 31).collect() };
    let from_a = stream.upload(&transposed(&bytes(&a), k))?;
    let from_b = stream.upload(&bytes(&b))?;
    let mut sums = stream.zeroed::<i32>(m * n)?;
    let config = grid(n / 8, m / 32, 32);
    // SAFETY: as above; `a` and the results by columns.
    unsafe {
        multiply.launch(
            &stream,
            config,
            (&from_a, &from_b, &mut sums, n as i32, k as i32),
        )
    }?;
    let scaled: Vec<i32> = product(&a, &b, [m, n, k])
        .iter()
        .map(|it| it * 961 + 7)
        .collect();
    assert_eq!(sums.to_vec()?, transposed(&scaled, n));
    Ok(())
}

#[test]
fn a_product_of_doubles() -> Test {
    let Some(bench) = bench() else { return Ok(()) };
    let stream = bench.stream();
    let multiply = kernel(&bench, "product_of_doubles");
    let [m, n, k] = [16, 24, 32];
    let (a, b) = (numbers(m * k, 7), numbers(k * n, 8));
    let doubles = |values: &[i32]| -> Vec<f64> { values.iter().map(|&it| it.into()).collect() };
    let (from_a, from_b) = (stream.upload(&doubles(&a))?, stream.upload(&doubles(&b))?);
    let mut sums = stream.zeroed::<f64>(m * n)?;
    let config = grid(n / 8, m / 8, 32);
    // SAFETY: as above.
    unsafe {
        multiply.launch(
            &stream,
            config,
            (&from_a, &from_b, &mut sums, n as i32, k as i32),
        )
    }?;
    assert_eq!(sums.to_vec()?, doubles(&product(&a, &b, [m, n, k])));
    Ok(())
}

#[test]
fn a_transpose_by_ldmatrix() -> Test {
    let Some(bench) = bench() else { return Ok(()) };
    let stream = bench.stream();
    let transpose = kernel(&bench, "transpose_halves");
    let (rows, columns) = (48, 32);
    let values: Vec<u16> = (0..rows * columns).map(|it| it as u16).collect();
    let from = stream.upload(&values)?;
    let mut to = stream.zeroed::<u16>(rows * columns)?;
    let config = grid(columns / 16, rows / 16, 32);
    // SAFETY: the kernel reads and writes as many halves as there are.
    unsafe { transpose.launch(&stream, config, (&from, &mut to, columns as i32)) }?;
    assert_eq!(to.to_vec()?, transposed(&values, columns));
    Ok(())
}
