//! Occupancy: the questions, and the configurations that follow from the answers.

use cuda_driver::{ErrorKind, LaunchConfig, OccupancyFlags};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::{SHARED_DYNAMIC, VECTOR_ADD, load};

#[test]
fn blocks_of_a_multiprocessor_are_limited_by_threads_and_shared_memory() -> Test {
    let bench = Bench::new();
    let device = bench.context().device();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let threads = device.max_threads_per_multiprocessor()?;
    for block in [32, 256, 1024] {
        let blocks = add.active_blocks_per_multiprocessor(block, 0)?;
        assert!(
            blocks > 0 && blocks * block <= threads,
            "{blocks} of {block}"
        );
        assert_eq!(
            blocks,
            add.active_blocks_per_multiprocessor_with(block, 0, OccupancyFlags::DEFAULT)?
        );
        assert_eq!(blocks, add.active_blocks_per_multiprocessor((block, 1), 0)?);
    }
    let reverse = load(bench.context(), SHARED_DYNAMIC, "reverse_blocks");
    let all = device.max_shared_memory_per_multiprocessor()?;
    let few = reverse.active_blocks_per_multiprocessor(32, 48 << 10)?;
    assert!(few > 0 && usize::try_from(few)? * (48 << 10) <= all);
    assert!(few < reverse.active_blocks_per_multiprocessor(32, 0)?);
    let error = add
        .active_blocks_per_multiprocessor(0, 0)
        .expect_err("no threads");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let subject = "compute the occupancy of `vector_add`";
    assert_eq!(error.subject(), subject);
    Ok(())
}

#[test]
fn the_best_block_size_fills_the_device_and_respects_the_limit() -> Test {
    let bench = Bench::new();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let best = add.potential_block_size(|_| 0)?;
    let multiprocessors = bench.context().device().multiprocessor_count()?;
    let blocks = add.active_blocks_per_multiprocessor(best.block, 0)?;
    assert_eq!(best.min_grid, blocks * multiprocessors);
    let limited = add.potential_block_size_with(128, OccupancyFlags::DEFAULT, |_| 0)?;
    assert!(limited.block <= 128 && limited.block > 0);
    let config = LaunchConfig::for_kernel(&add, 1_000_000)?;
    assert_eq!(
        config,
        LaunchConfig::for_len_with_block(1_000_000, best.block)
    );
    Ok(())
}

#[test]
fn shared_memory_may_depend_on_the_block_size() -> Test {
    let bench = Bench::new();
    let reverse = load(bench.context(), SHARED_DYNAMIC, "reverse_blocks");
    let mut asked = Vec::new();
    // Above 64 threads a block wants more than a multiprocessor has.
    let best = reverse.potential_block_size(|threads| {
        asked.push(threads);
        if threads > 64 { u32::MAX } else { 1024 }
    })?;
    assert!(best.block <= 64 && best.block > 0, "{best:?}");
    assert!(asked.contains(&best.block) && asked.iter().any(|it| *it > 64));
    Ok(())
}

#[test]
fn a_panic_in_the_closure_arrives_and_the_next_question_works() -> Test {
    let bench = Bench::new();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let ask = || add.potential_block_size(|_| panic!("no idea"));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask))
        .expect_err("the panic comes through");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"no idea"));
    assert!(add.potential_block_size(|_| 0)?.block > 0);
    Ok(())
}

#[test]
fn the_closure_cannot_call_the_driver_and_loses_nothing_by_trying() -> Test {
    let bench = Bench::new();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let mut kinds = Vec::new();
    let best = add.potential_block_size(|threads| {
        let inner = add.potential_block_size(|_| 0);
        kinds.push(inner.expect_err("it is not allowed").kind());
        threads
    })?;
    assert!(best.block > 0);
    assert!(!kinds.is_empty() && kinds.iter().all(|it| *it == ErrorKind::InHostFunction));
    Ok(())
}

#[test]
fn more_blocks_leave_each_less_shared_memory() -> Test {
    let bench = Bench::new();
    let reverse = load(bench.context(), SHARED_DYNAMIC, "reverse_blocks");
    let one = reverse.available_dynamic_shared_bytes(1, 128)?;
    let many = reverse.available_dynamic_shared_bytes(8, 128)?;
    assert!(one > many && many > 0, "{one}, {many}");
    let active = reverse.active_blocks_per_multiprocessor(128, u32::try_from(one)?)?;
    assert!(active >= 1, "{one}, {active}");
    let error = reverse
        .available_dynamic_shared_bytes(1_000_000, 1024)
        .expect_err("so many do not fit");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn clusters_are_counted_where_the_device_has_them() -> Test {
    let bench = Bench::new();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    if !bench.context().device().supports_cluster_launch()? {
        eprintln!("skipped, needs a device with clusters");
        return Ok(());
    }
    let config = LaunchConfig::new(64, 256).with_cluster(4);
    assert!(add.max_cluster_size(config)? >= 8);
    let multiprocessors = bench.context().device().multiprocessor_count()?;
    let clusters = add.max_active_clusters(config)?;
    let blocks = add.active_blocks_per_multiprocessor(256, 0)?;
    assert!(clusters > 0 && clusters * 4 <= blocks * multiprocessors);
    add.allow_non_portable_clusters()?;
    assert!(add.max_cluster_size(config)? >= 8);
    Ok(())
}

#[test]
fn clusters_need_a_driver_that_knows_them() {
    let Some(bench) = Bench::only_software_with(|it| it.driver_version(11_040)) else {
        return;
    };
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let config = LaunchConfig::new(64, 256).with_cluster(4);
    for result in [
        add.max_cluster_size(config),
        add.max_active_clusters(config),
    ] {
        let error = result.expect_err("the driver is too old");
        assert_eq!(error.kind(), ErrorKind::NotSupported, "{error}");
    }
}
