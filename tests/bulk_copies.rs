//! Copies that run beside the threads: between global and shared memory, and between the blocks of a cluster.

use cuda_driver::{Function, LaunchConfig};
use cuda_sim::{Builder, Report, ReportKind};
use cuda_sys::CUresult;

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::{BULK_COPIES, load};

/// Seeds of the software driver, under which copies arrive at different times.
const SEEDS: [u64; 4] = [0, 1, 2, 9];

/// Benches whose devices have such copies: with the checks of blocks, several of the software driver, or the one of a GPU.
fn benches() -> impl Iterator<Item = Bench> {
    let bench = |seed| {
        let settings = |it: Builder| it.seed(seed).racecheck(true).synccheck(true);
        Bench::with(settings)
    };
    let mut real = false;
    SEEDS
        .into_iter()
        .map(bench)
        .take_while(move |it| !std::mem::replace(&mut real, it.is_real()))
        .filter(has_bulk_copies)
}

fn has_bulk_copies(bench: &Bench) -> bool {
    let capability = bench.context().device().compute_capability();
    let has = capability.is_ok_and(|it| it.major >= 9);
    if !has {
        eprintln!("skipped, needs a device with bulk copies");
    }
    has
}

fn kernel(bench: &Bench, name: &str) -> Function {
    load(bench.context(), BULK_COPIES, name)
}

#[test]
fn tiles_are_on_their_way_while_others_are_worked_on() -> Test {
    for bench in benches() {
        let stream = bench.stream();
        let add = kernel(&bench, "add_by_tiles");
        for tiles in [1, 2, 3, 7_u16] {
            let first: Vec<i32> = (0..4 * i32::from(tiles) * 128).collect();
            let mut numbers = stream.upload(&first)?;
            // SAFETY: the kernel adds to as many tiles of 128 numbers for each of its blocks.
            unsafe {
                add.launch(
                    &stream,
                    LaunchConfig::new(4, 128),
                    (&mut numbers, 1000_i32, i32::from(tiles)),
                )
            }?;
            let expected: Vec<i32> = first.iter().map(|it| it + 1000).collect();
            assert_eq!(numbers.to_vec()?, expected, "{tiles} tiles");
        }
    }
    Ok(())
}

#[test]
fn memory_adds_up_rows() -> Test {
    for bench in benches() {
        let stream = bench.stream();
        let add = kernel(&bench, "add_rows");
        let rows: Vec<u32> = (0..20 * 64).map(|it| it * it).collect();
        let matrix = stream.upload(&rows)?;
        let mut sums = stream.zeroed::<u32>(64)?;
        // SAFETY: the kernel adds 20 rows of 64 numbers to as many sums.
        unsafe { add.launch(&stream, LaunchConfig::new(20, 64), (&matrix, &mut sums)) }?;
        let sum = |column| rows.iter().skip(column).step_by(64).sum::<u32>();
        assert_eq!(sums.to_vec()?, (0..64).map(sum).collect::<Vec<_>>());
    }
    Ok(())
}

#[test]
fn one_copy_reaches_all_blocks_of_a_cluster() -> Test {
    for bench in benches() {
        let stream = bench.stream();
        let send = kernel(&bench, "send_to_all");
        let numbers: Vec<u32> = (0..64).map(|it| it * 7).collect();
        let device = stream.upload(&numbers)?;
        for cluster in [2, 4, 8_u32] {
            let mut out = stream.zeroed::<u32>(8 * 64)?;
            let config = LaunchConfig::new(8, 64).with_cluster(cluster);
            // SAFETY: the kernel reads 64 numbers and writes as many for each of its eight blocks.
            unsafe { send.launch(&stream, config, (&device, &mut out)) }?;
            for (block, received) in (0..).zip(out.to_vec()?.chunks(64)) {
                let expected: Vec<u32> = numbers.iter().map(|it| it + block % cluster).collect();
                assert_eq!(received, expected, "block {block} in clusters of {cluster}");
            }
        }
    }
    Ok(())
}

#[test]
fn stores_and_sums_arrive_in_the_next_block() -> Test {
    for bench in benches() {
        let stream = bench.stream();
        let send = kernel(&bench, "send_to_next");
        for cluster in [1, 2, 4, 8_u32] {
            let mut out = stream.zeroed::<[u32; 2]>(8 * 64)?;
            let mut sums = stream.zeroed::<u32>(8)?;
            let config = LaunchConfig::new(8, 64).with_cluster(cluster);
            // SAFETY: the kernel writes 64 pairs and a sum for each of its eight blocks.
            unsafe { send.launch(&stream, config, (&mut out, &mut sums)) }?;
            let (out, sums) = (out.to_vec()?, sums.to_vec()?);
            for (block, received) in (0..).zip(out.chunks(64)) {
                let from = (block % cluster + cluster - 1) % cluster;
                let pairs: Vec<[u32; 2]> = (0..64).map(|thread| [from, thread]).collect();
                assert_eq!(received, pairs, "block {block} in clusters of {cluster}");
                assert_eq!(sums[block as usize], 63 * 32 + 64 * from);
            }
        }
    }
    Ok(())
}

/// What a wrong kernel of 64 threads ends with, and what is reported.
fn wrong(name: &str, seed: u64) -> Option<(CUresult, Vec<Report>)> {
    let settings = |it: Builder| it.seed(seed).racecheck(true);
    let mut bench = Bench::only_software_with(settings)?;
    bench.allow_leaks();
    let stream = bench.stream();
    let numbers = stream.upload(&[1; 64]).expect("memory");
    let mut out = stream.zeroed::<i32>(64).expect("memory");
    let function = kernel(&bench, name);
    // SAFETY: the kernel reads and writes 64 numbers; what else it does wrong concerns its shared memory.
    unsafe { function.launch(&stream, LaunchConfig::new(1, 64), (&numbers, &mut out)) }
        .expect("it is enqueued");
    let status = match stream.synchronize() {
        Ok(()) => CUresult::CUDA_SUCCESS,
        Err(error) => error.status().expect("the driver's status"),
    };
    Some((status, bench.take_reports()))
}

#[test]
fn a_read_of_what_has_not_arrived_is_reported() {
    for seed in SEEDS {
        let Some((status, reports)) = wrong("read_too_early", seed) else {
            return;
        };
        assert_eq!(status, CUresult::CUDA_SUCCESS);
        let report = reports.first().expect("a report");
        assert_eq!(report.kind, ReportKind::SharedRace);
        let text = report.to_string();
        assert!(text.contains("without having waited for it"), "{text}");
        assert!(text.contains("cp.async.bulk"), "{text}");
    }
}

#[test]
fn a_barrier_that_expects_too_much_is_a_deadlock() {
    for seed in [0, 1] {
        let Some((status, reports)) = wrong("expect_too_much", seed) else {
            return;
        };
        assert_eq!(status, CUresult::CUDA_ERROR_LAUNCH_TIMEOUT);
        let report = reports.first().expect("a report");
        assert_eq!(report.kind, ReportKind::Deadlock);
        let text = report.to_string();
        assert!(
            text.contains("lacks 0 of 1 arrivals and 16 bytes"),
            "{text}"
        );
    }
}
