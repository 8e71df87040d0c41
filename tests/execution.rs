//! What kernels compute: constant memory, local arrays, shared memory, barriers, divergence, atomics.

use cuda_driver::{LaunchConfig, launch};

use crate::support::bench::Bench;
use crate::support::kernels::{CONST_MEMORY, load};
use crate::support::{Test, numbers};

const BARRIER: &str = include_str!("kernels/barrier.ptx");
const DIVERGENCE: &str = include_str!("kernels/divergence.ptx");
const LOCAL_ARRAY: &str = include_str!("kernels/local_array.ptx");

#[test]
fn constant_memory_has_its_initial_values() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let polynomial = load(bench.context(), CONST_MEMORY, "polynomial");
    let x = stream.upload(&[0.0_f32, 1.0, 2.0, -1.0])?;
    let mut y = stream.zeroed::<f32>(4)?;
    // SAFETY: the kernel reads and writes four elements.
    unsafe { launch!(stream, polynomial<<<1, 32>>>(&x, &mut y, 4_u32)) }?;
    assert_eq!(y.to_vec()?, [1.0, 10.0, 49.0, -2.0]);
    Ok(())
}

#[test]
fn local_arrays_are_each_threads_own() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let largest = load(bench.context(), LOCAL_ARRAY, "largest");
    let (rows, columns) = (50_usize, 40_usize);
    let host: Vec<i32> = (0..rows * columns)
        .map(|it| (it * 7919 % 1009) as i32 - 500)
        .collect();
    let values = stream.upload(&host)?;
    let mut out = stream.zeroed::<i32>(rows * 8)?;
    let config = LaunchConfig::for_len(rows);
    // SAFETY: the kernel reads 50 rows of 40 values and writes eight for each.
    unsafe { largest.launch(&stream, config, (&values, 40_u32, &mut out, 50_u32)) }?;
    let out = out.to_vec()?;
    for (row, kept) in host.chunks(columns).zip(out.chunks(8)) {
        let mut sorted = row.to_vec();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(kept, &sorted[..8]);
    }
    Ok(())
}

#[test]
fn barriers_make_shared_memory_complete() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let sums = load(bench.context(), BARRIER, "block_sums");
    let host: Vec<i32> = (0..1000).collect();
    let values = stream.upload(&host)?;
    let mut out = stream.zeroed::<i32>(4)?;
    // SAFETY: four blocks of 256 threads read up to a thousand values and write four sums.
    unsafe { launch!(stream, sums<<<4, 256>>>(&values, &mut out, 1000_u32)) }?;
    let expected: Vec<i32> = host.chunks(256).map(|it| it.iter().sum()).collect();
    assert_eq!(out.to_vec()?, expected);
    let sums = load(bench.context(), BARRIER, "warp_sums");
    let mut out = stream.zeroed::<i32>(32)?;
    // SAFETY: 32 blocks of one warp read up to a thousand values and write 32 sums.
    unsafe { launch!(stream, sums<<<32, 32>>>(&values, &mut out, 1000_u32)) }?;
    let expected: Vec<i32> = host.chunks(32).map(|it| it.iter().sum()).collect();
    assert_eq!(out.to_vec()?, expected);
    Ok(())
}

#[test]
fn barriers_that_count_see_all_threads() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let count = load(bench.context(), BARRIER, "count_odd");
    let host: Vec<i32> = (0..64)
        .chain((0..64).map(|it| it * 2))
        .chain((0..64).map(|it| it * 2 + 1))
        .collect();
    let values = stream.upload(&host)?;
    let mut out = stream.zeroed::<i32>(9)?;
    // SAFETY: three blocks of 64 threads read their values and write three numbers each.
    unsafe { launch!(stream, count<<<3, 64>>>(&values, &mut out)) }?;
    let out = out.to_vec()?;
    let truths: Vec<bool> = out.iter().map(|&it| it != 0).collect();
    assert_eq!([out[0], out[3], out[6]], [32, 0, 64]);
    assert_eq!([truths[1], truths[4], truths[7]], [false, false, true]);
    assert_eq!([truths[2], truths[5], truths[8]], [true, false, true]);
    Ok(())
}

#[test]
fn lanes_take_different_ways() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let collatz = load(bench.context(), DIVERGENCE, "collatz");
    let start = numbers(300);
    let values = stream.upload(&start)?;
    let mut steps = stream.zeroed::<u32>(300)?;
    let config = LaunchConfig::for_len(300);
    // SAFETY: the kernel reads and writes 300 elements.
    unsafe { collatz.launch(&stream, config, (&values, &mut steps, 300_u32)) }?;
    let steps_of = |start: &u32| {
        let (mut value, mut count) = (*start, 0_u32);
        while value > 1 {
            value = if value % 2 == 1 {
                3 * value + 1
            } else {
                value / 2
            };
            count += 1;
        }
        count
    };
    assert_eq!(
        steps.to_vec()?,
        start.iter().map(steps_of).collect::<Vec<_>>()
    );
    Ok(())
}

#[test]
fn lanes_of_one_warp_make_progress_independently() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let lock = load(bench.context(), DIVERGENCE, "lock");
    let (mut mutex, mut counter) = (stream.zeroed::<i32>(1)?, stream.zeroed::<i32>(1)?);
    // SAFETY: the kernel changes one element of each, under the lock.
    unsafe { launch!(stream, lock<<<2, 64>>>(&mut mutex, &mut counter)) }?;
    assert_eq!(counter.to_vec()?, [128]);
    assert_eq!(mutex.to_vec()?, [0]);
    Ok(())
}

#[test]
fn sixty_four_bit_and_floating_point_arithmetic_is_exact() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let floats = load(
        bench.context(),
        include_str!("kernels/arithmetic.ptx"),
        "floats64",
    );
    let (x, y) = ([1.5_f64, -7.25, 1e100, 0.1], [2.0_f64, 3.0, 1e-100, 0.2]);
    let (a, b) = (stream.upload(&x)?, stream.upload(&y)?);
    let mut out = stream.zeroed::<f64>(4 * 8)?;
    // SAFETY: the kernel reads four elements and writes eight for each.
    unsafe { floats.launch(&stream, LaunchConfig::for_len(4), (&a, &b, &mut out, 4_u32)) }?;
    for ((x, y), out) in x.iter().zip(&y).zip(out.to_vec()?.chunks(8)) {
        let expected = [
            x + y,
            x * y,
            x / y,
            x.mul_add(*y, 1.0),
            x.abs().sqrt(),
            x.min(*y),
        ];
        assert_eq!(out[..6], expected);
    }
    Ok(())
}
