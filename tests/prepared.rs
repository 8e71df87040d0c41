//! Prepared launches: checked once, with everything that a launch could be refused for.

use cuda_driver::{ErrorKind, ExtendedLaunchConfig, Function, LaunchConfig, MemorySyncDomainMap};
use cuda_driver::{PreparedLaunch, SharedCarveout};

use crate::support::bench::Bench;
use crate::support::kernels::{SHARED_DYNAMIC, VECTOR_ADD, load};
use crate::support::{Test, numbers};

#[test]
fn a_prepared_launch_runs_many_times_on_any_stream_of_its_context() -> Test {
    let bench = Bench::new();
    let (home, other) = (bench.stream(), bench.stream());
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let a = home.upload(&[1.5_f32; 1000])?;
    let mut sum = home.zeroed::<f32>(1000)?;
    let prepared: PreparedLaunch = add.prepare(LaunchConfig::for_len(1000))?;
    assert_eq!(prepared.function().name(), "vector_add");
    assert_eq!(prepared.config(), LaunchConfig::for_len(1000));
    for stream in [&home, &other, &home] {
        // SAFETY: the kernel reads `a` and writes `sum`, a thousand elements each.
        unsafe { prepared.launch(stream, (&a, &a, &mut sum, 1000_u32)) }?;
        assert_eq!(sum.to_vec()?, [3.0; 1000]);
        stream.zero(&mut sum)?;
    }
    let attributes = LaunchConfig::for_len(1000).with_priority(-1).cooperative();
    let prepared: PreparedLaunch<ExtendedLaunchConfig> = add.prepare(attributes)?;
    let clone = prepared.clone();
    drop((add, prepared));
    // SAFETY: as above.
    unsafe { clone.launch(&home, (&a, &a, &mut sum, 1000_u32)) }?;
    assert_eq!(sum.to_vec()?, [3.0; 1000]);
    Ok(())
}

#[test]
fn the_arguments_are_compared_at_each_launch() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let a = stream.zeroed::<f32>(1)?;
    let prepared =
        load(bench.context(), VECTOR_ADD, "vector_add").prepare(LaunchConfig::new(1, 1))?;
    // SAFETY: the launch must be refused.
    let error = unsafe { prepared.launch(&stream, (&a, &a)) }.expect_err("two are too few");
    assert_eq!(error.kind(), ErrorKind::ArgumentMismatch);
    Ok(())
}

#[test]
fn a_launch_that_was_prepared_is_one_call() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let a = stream.upload(&[1.5_f32; 1000])?;
    let mut sum = stream.zeroed::<f32>(1000)?;
    let config = LaunchConfig::for_len(1000);
    let plain = add.prepare(config)?;
    let (result, calls) = bench.calls_of(|| {
        // SAFETY: the kernel reads `a` and writes `sum`, a thousand elements each.
        unsafe { plain.launch(&stream, (&a, &a, &mut sum, 1000_u32)) }
    });
    assert_eq!((result?, calls.as_str()), ((), "1 × cuLaunchKernel"));
    let cases = [
        (config.into(), "1 × cuLaunchKernel"),
        (config.cooperative(), "1 × cuLaunchCooperativeKernel"),
        (config.with_priority(-1), "1 × cuLaunchKernelEx"),
    ];
    for (config, expected) in cases {
        let prepared = add.prepare::<ExtendedLaunchConfig>(config)?;
        let (result, calls) = bench.calls_of(|| {
            // SAFETY: as above.
            unsafe { prepared.launch(&stream, (&a, &a, &mut sum, 1000_u32)) }
        });
        assert_eq!((result?, calls.as_str()), ((), expected));
    }
    Ok(())
}

#[test]
fn shared_memory_is_allowed_as_needed_and_never_lowered() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let reverse = load(bench.context(), SHARED_DYNAMIC, "reverse_blocks");
    let large = LaunchConfig::new(1, 32).with_dynamic_shared_bytes(100_000);
    let small = LaunchConfig::new(1, 32).with_dynamic_shared_bytes(60_000);
    let large = reverse.prepare(large)?;
    // The same kernel by another object.
    let again = reverse.module().function("reverse_blocks")?;
    let small = again.prepare(small)?;
    assert_eq!(reverse.attributes()?.max_dynamic_shared_bytes, 100_000);
    let mut data = stream.upload(&numbers(32))?;
    for prepared in [&large, &small] {
        // SAFETY: the kernel reverses 32 numbers.
        unsafe { prepared.launch(&stream, (&mut data,)) }?;
    }
    assert_eq!(data.to_vec()?, numbers(32));
    let most = bench
        .context()
        .device()
        .max_shared_memory_per_block_optin()?;
    let config = LaunchConfig::new(1, 32).with_dynamic_shared_bytes(u32::try_from(most)? + 1);
    let error = reverse.prepare(config).expect_err("no device has so much");
    assert_eq!(error.kind(), ErrorKind::LaunchTooLarge);
    assert!(
        error.to_string().contains(&format!(
            "this device can give the kernel {most} bytes at most"
        )),
        "{error}"
    );
    Ok(())
}

/// Demands that a configuration is refused when it is prepared, and with what text.
fn refused(function: &Function, config: ExtendedLaunchConfig, text: &str) {
    let error = function.prepare(config).expect_err(text);
    assert_eq!(error.kind(), ErrorKind::LaunchTooLarge, "{error}");
    let message = error.to_string();
    assert!(
        message.starts_with("cannot prepare a launch of `vector_add`: ") && message.contains(text),
        "{message} ({text})"
    );
    assert!(
        error.remedy().is_some() && error.call().is_none(),
        "{message}"
    );
}

#[test]
fn what_a_launch_would_be_refused_for_is_refused_when_it_is_prepared() -> Test {
    let bench = Bench::new();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let plain =
        |grid: (u32, u32), block| ExtendedLaunchConfig::from(LaunchConfig::new(grid, block));
    refused(&add, plain((0, 1), 32), "has a dimension of zero");
    refused(
        &add,
        plain((1, 1), 2048),
        "2048 threads per block exceed the device's limit",
    );
    refused(
        &add,
        plain((1, 100_000), 32),
        "100000 in the grid's y dimension exceed",
    );
    let device = bench.context().device();
    let most = add.active_blocks_per_multiprocessor(1024, 0)? * device.multiprocessor_count()?;
    let fits = LaunchConfig::new(most, 1024).cooperative();
    add.prepare(fits)?;
    refused(
        &add,
        LaunchConfig::new(most + 1, 1024).cooperative(),
        &format!("exceed the {most} that the device runs at once"),
    );
    if !device.supports_cluster_launch()? {
        return Ok(());
    }
    let plain = LaunchConfig::new(30, 256);
    add.prepare(plain.with_cluster(2))?;
    refused(
        &add,
        plain.with_cluster(4),
        "30 blocks along x, which is no multiple of the cluster's 4",
    );
    refused(&add, plain.with_cluster((2, 0)), "has a dimension of zero");
    refused(
        &add,
        plain.with_cluster(15),
        "15 blocks per cluster exceed the 8 that every device allows",
    );
    refused(
        &add,
        plain.with_cluster(2).with_preferred_cluster(5),
        "no multiple of the cluster's 2",
    );
    add.allow_non_portable_clusters()?;
    refused(
        &add,
        plain.with_cluster(30),
        "30 blocks per cluster exceed the 16",
    );
    refused(
        &add,
        plain.with_shared_carveout(SharedCarveout::Percent(101)),
        "101 percent is more than all",
    );
    let map = MemorySyncDomainMap {
        default: 0,
        remote: 200,
    };
    refused(
        &add,
        plain.with_memory_sync_domain_map(map),
        "domain 200 is not one of the device's",
    );
    Ok(())
}
