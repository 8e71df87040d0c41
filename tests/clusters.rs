//! Clusters: blocks that wait for each other and reach each other's shared memory.

use cuda_driver::{Function, LaunchConfig};
use cuda_sim::ReportKind;
use cuda_sys::CUresult;

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::{CLUSTERS, load};

/// A bench whose device has clusters, with the checks of blocks on the software driver; `None`, with a word, on an older device.
fn bench() -> Option<Bench> {
    let bench = Bench::with(|builder| builder.racecheck(true).synccheck(true));
    has_clusters(&bench).then_some(bench)
}

fn has_clusters(bench: &Bench) -> bool {
    let capability = bench.context().device().compute_capability();
    let has = capability.is_ok_and(|it| it.major >= 9);
    if !has {
        eprintln!("skipped, needs a device with clusters");
    }
    has
}

fn kernel(bench: &Bench, name: &str) -> Function {
    load(bench.context(), CLUSTERS, name)
}

#[test]
fn clusters_sum_over_the_shared_memory_of_their_blocks() -> Test {
    let Some(bench) = bench() else { return Ok(()) };
    let stream = bench.stream();
    let sum = kernel(&bench, "cluster_sum");
    // Whole numbers, which add up exactly in any order.
    let values: Vec<f32> = (0..5000_u16).map(|it| f32::from(it % 17)).collect();
    let total: f32 = values.iter().sum();
    let device = stream.upload(&values)?;
    for cluster in [1, 2, 4, 8] {
        let mut sums = stream.zeroed::<f32>(16 / cluster as usize)?;
        let config = LaunchConfig::new(16, 64).with_cluster(cluster);
        // SAFETY: the kernel reads 5000 numbers and writes a sum for each cluster.
        unsafe { sum.launch(&stream, config, (&device, &mut sums, 5000_u32)) }?;
        let sums = sums.to_vec()?;
        assert_eq!(sums.iter().sum::<f32>(), total, "{cluster}: {sums:?}");
        assert!(sums.iter().all(|it| *it > 0.0), "{cluster}: {sums:?}");
    }
    Ok(())
}

#[test]
fn a_histogram_is_spread_over_a_cluster() -> Test {
    let Some(bench) = bench() else { return Ok(()) };
    let stream = bench.stream();
    let histogram = kernel(&bench, "cluster_histogram");
    let values: Vec<u32> = (0..4000_u32).map(|it| it * it % 1031).collect();
    let mut expected = vec![0_u32; 512];
    for value in &values {
        expected[(value % 512) as usize] += 1;
    }
    let device = stream.upload(&values)?;
    for cluster in [2, 4, 8_u32] {
        let mut counts = stream.zeroed::<u32>(512)?;
        let config = LaunchConfig::new(8, 96)
            .with_dynamic_shared_bytes(512 / cluster * 4)
            .with_cluster(cluster);
        // SAFETY: the kernel reads 4000 numbers and counts them in 512 bins, for which its blocks' shared memory has room.
        unsafe { histogram.launch(&stream, config, (&device, &mut counts, 4000_u32, 512_u32)) }?;
        assert_eq!(counts.to_vec()?, expected, "{cluster}");
    }
    Ok(())
}

#[test]
fn numbers_go_round_a_cluster() -> Test {
    let Some(bench) = bench() else { return Ok(()) };
    let stream = bench.stream();
    let ring = kernel(&bench, "cluster_ring");
    let first: Vec<u32> = (0..8 * 64).map(|it| it * 1000).collect();
    for (cluster, rounds) in [(2, 1), (4, 3), (8, 6), (4, 9_u32)] {
        let mut expected = first.clone();
        for round in 0..rounds {
            let before = expected.clone();
            for (at, value) in expected.iter_mut().enumerate() {
                let (block, thread) = (at / 64, at % 64);
                let rank = (block % cluster + cluster - 1) % cluster;
                let from = block - block % cluster + rank;
                *value = before[from * 64 + thread] + 1 + round * 3;
            }
        }
        let mut values = stream.upload(&first)?;
        let config = LaunchConfig::new(8, 64).with_cluster(u32::try_from(cluster)?);
        // SAFETY: the kernel replaces a number for each of its 512 threads.
        unsafe { ring.launch(&stream, config, (&mut values, rounds)) }?;
        assert_eq!(values.to_vec()?, expected, "{cluster}, {rounds} rounds");
    }
    Ok(())
}

#[test]
fn each_block_knows_its_place_in_the_cluster() -> Test {
    let Some(bench) = bench() else { return Ok(()) };
    let stream = bench.stream();
    let places = kernel(&bench, "cluster_places");
    let places_of = |cluster: Option<(u32, u32, u32)>| {
        let mut out = stream.zeroed::<[u32; 8]>(4 * 6 * 2)?;
        let plain = LaunchConfig::new((4, 6, 2), 32);
        // SAFETY: the kernel writes eight numbers for each of its 48 blocks.
        match cluster {
            // SAFETY: as above.
            Some(cluster) => unsafe {
                places.launch(&stream, plain.with_cluster(cluster), (&mut out,))
            },
            // SAFETY: as above.
            None => unsafe { places.launch(&stream, plain, (&mut out,)) },
        }?;
        out.to_vec()
    };
    for (index, place) in (0..).zip(places_of(Some((2, 3, 1)))?) {
        let (x, y) = (index % 4_u32, index / 4 % 6);
        let rank = x % 2 + y % 3 * 2;
        assert_eq!(
            place,
            [rank, 6, x % 2, y % 3, 0, x / 2, 2, 1],
            "block {index}"
        );
    }
    for (index, place) in (0..).zip(places_of(None)?) {
        assert_eq!(place, [0, 1, 0, 0, 0, index % 4_u32, 4, 0], "block {index}");
    }
    Ok(())
}

#[test]
fn a_kernel_can_say_itself_how_large_its_clusters_are() -> Test {
    let Some(bench) = bench() else { return Ok(()) };
    let stream = bench.stream();
    let pair = kernel(&bench, "cluster_pair");
    let mut values = stream.zeroed::<u32>(6)?;
    // SAFETY: the kernel writes a number for each of its six blocks.
    unsafe { pair.launch(&stream, LaunchConfig::new(6, 32), (&mut values,)) }?;
    assert_eq!(values.to_vec()?, [1, 0, 3, 2, 5, 4]);
    let wrong = [
        LaunchConfig::new(5, 32).into(),
        LaunchConfig::new(8, 32).with_cluster(4),
    ];
    for config in wrong {
        // SAFETY: the launch must be refused.
        let result = unsafe {
            pair.launch::<_, cuda_driver::ExtendedLaunchConfig, _>(&stream, config, (&mut values,))
        };
        let error = result.expect_err("the kernel has clusters of two blocks");
        assert_eq!(
            error.status(),
            Some(CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE),
            "{error}"
        );
    }
    Ok(())
}

#[test]
fn large_clusters_must_be_allowed() -> Test {
    let Some(bench) = bench() else { return Ok(()) };
    let stream = bench.stream();
    let sum = kernel(&bench, "cluster_sum");
    let config = LaunchConfig::new(32, 32).with_cluster(16);
    let values = stream.upload(&[1.0_f32; 1000])?;
    let mut sums = stream.zeroed::<f32>(2)?;
    // SAFETY: the kernel reads 1000 numbers and writes a sum for each of its two clusters; the first launch must be refused.
    let refused = unsafe { sum.launch(&stream, config, (&values, &mut sums, 1000_u32)) };
    let error = refused.expect_err("more than eight blocks must be allowed first");
    assert_eq!(
        error.status(),
        Some(CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE)
    );
    sum.allow_non_portable_clusters()?;
    assert_eq!(sum.max_cluster_size(LaunchConfig::new(32, 32))?, 16);
    // SAFETY: as above.
    unsafe { sum.launch(&stream, config, (&values, &mut sums, 1000_u32)) }?;
    assert_eq!(sums.to_vec()?.iter().sum::<f32>(), 1000.0);
    Ok(())
}

#[test]
fn all_clusters_of_a_cooperative_launch_run_at_once() -> Test {
    let Some(bench) = bench() else { return Ok(()) };
    let stream = bench.stream();
    let sum = kernel(&bench, "cluster_sum");
    let values = stream.upload(&[1.0_f32; 3000])?;
    let config = LaunchConfig::new(8, 64).with_cluster(4);
    let fitting = sum.max_active_clusters(config)?;
    let mut sums = stream.zeroed::<f32>(2)?;
    // SAFETY: the kernel reads 3000 numbers and writes a sum for each cluster; the second launch must be refused.
    unsafe {
        sum.launch(
            &stream,
            config.cooperative(),
            (&values, &mut sums, 3000_u32),
        )
    }?;
    assert_eq!(sums.to_vec()?.iter().sum::<f32>(), 3000.0);
    let blocks = (fitting + 1) * 4;
    let many = LaunchConfig::new(blocks, 64).with_cluster(4).cooperative();
    let mut sums = stream.zeroed::<f32>(fitting as usize + 1)?;
    // SAFETY: as above.
    let result = unsafe { sum.launch(&stream, many, (&values, &mut sums, 3000_u32)) };
    let error = result.expect_err("one cluster is too many");
    assert_eq!(
        error.status(),
        Some(CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
    );
    Ok(())
}

#[test]
fn the_memory_of_a_block_that_has_ended_is_gone() -> Test {
    const NAME: &str = "clusters::the_memory_of_a_block_that_has_ended_is_gone";
    let Some(bench) = Bench::to_ruin(NAME) else {
        return Ok(());
    };
    if !has_clusters(&bench) {
        return Ok(());
    }
    let stream = bench.stream();
    let too_late = kernel(&bench, "cluster_too_late");
    let mut values = stream.zeroed::<u32>(1)?;
    let config = LaunchConfig::new(2, 32).with_cluster(2);
    let steps = if bench.is_real() {
        1_000_000_u32
    } else {
        20_000
    };
    // SAFETY: the fault is what the test wants.
    unsafe { too_late.launch(&stream, config, (&mut values, steps)) }?;
    let error = stream.synchronize().expect_err("the block is gone");
    assert!(error.is_sticky(), "{error}");
    if !bench.is_real() {
        let reports = bench.take_reports();
        assert_eq!(reports[0].kind, ReportKind::UseAfterFree);
        assert!(reports[0].message.contains("which has ended"));
    }
    Ok(())
}

#[test]
fn a_block_that_does_not_wait_is_found_even_where_it_goes_well() -> Test {
    let settings = |builder: cuda_sim::Builder| builder.racecheck(true);
    let Some(bench) = Bench::only_software_with(settings) else {
        return Ok(());
    };
    let stream = bench.stream();
    let too_late = kernel(&bench, "cluster_too_late");
    let mut values = stream.zeroed::<u32>(1)?;
    let config = LaunchConfig::new(2, 1).with_cluster(2);
    // SAFETY: the kernel writes one number.
    unsafe { too_late.launch(&stream, config, (&mut values, 0_u32)) }?;
    let _either = stream.synchronize();
    let kinds: Vec<ReportKind> = bench.take_reports().iter().map(|it| it.kind).collect();
    assert!(
        matches!(
            kinds[..],
            [ReportKind::SharedRace] | [ReportKind::UseAfterFree]
        ),
        "{kinds:?}"
    );
    Ok(())
}
