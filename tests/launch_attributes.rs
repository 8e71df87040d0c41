//! Launches with attributes: which call they make, what reaches the driver, and what old drivers do with them.

use cuda_driver::{
    AnyLaunchConfig, ClusterScheduling, Dim3, DynamicArgument, ErrorKind, ExtendedLaunchConfig,
    LaunchAttributes, LaunchConfig, MemorySyncDomain, MemorySyncDomainMap, SharedCarveout, launch,
};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::{VECTOR_ADD, load};

/// Launches with one attribute each, all of which every device with clusters takes.
fn each_attribute() -> Vec<ExtendedLaunchConfig> {
    let plain = LaunchConfig::for_len(1000);
    let map = MemorySyncDomainMap {
        default: 0,
        remote: 1,
    };
    vec![
        plain.with_cluster(1),
        plain.with_cluster_scheduling(ClusterScheduling::Spread),
        plain.with_cluster_scheduling(ClusterScheduling::LoadBalancing),
        plain.with_priority(0),
        plain.cooperative(),
        plain.with_memory_sync_domain(MemorySyncDomain::Default),
        plain.with_memory_sync_domain(MemorySyncDomain::Remote),
        plain.with_memory_sync_domain_map(map),
        plain.with_shared_carveout(SharedCarveout::Percent(50)),
        plain.with_shared_carveout(SharedCarveout::MaxL1),
        plain.with_cluster(1).cooperative().with_priority(-1),
        ExtendedLaunchConfig::from(plain),
    ]
}

#[test]
fn every_attribute_launches_the_same_kernel() -> Test {
    let bench = Bench::new();
    let device = bench.context().device();
    if device.compute_capability()?.major < 9 {
        eprintln!("skipped, needs a device with clusters");
        return Ok(());
    }
    let (home, other) = (bench.stream(), bench.stream());
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let a = home.upload(&[1.5_f32; 1000])?;
    for config in each_attribute() {
        let mut sum = home.zeroed::<f32>(1000)?;
        for stream in [&home, &other] {
            // SAFETY: the kernel reads `a` and writes `sum`, a thousand elements each; so do the next two.
            unsafe { add.launch(stream, config, (&a, &a, &mut sum, 1000_u32)) }?;
        }
        assert_eq!(sum.to_vec()?, [3.0; 1000], "{config:?}");
        home.zero(&mut sum)?;
        // SAFETY: as above.
        unsafe { launch!(home, add<<<config>>>(&a, &a, &mut sum, 1000_u32)) }?;
        assert_eq!(sum.to_vec()?, [3.0; 1000], "{config:?}");
        home.zero(&mut sum)?;
        let arguments = [
            DynamicArgument::read(&a),
            DynamicArgument::read(&a),
            DynamicArgument::write(&mut sum),
            DynamicArgument::value(&1000_u32),
        ];
        // SAFETY: as above.
        unsafe { add.launch_dynamic(&home, config, &arguments) }?;
        assert_eq!(sum.to_vec()?, [3.0; 1000], "{config:?}");
    }
    Ok(())
}

#[test]
fn attributes_that_say_nothing_are_a_plain_launch_and_others_one_extended_call() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let a = stream.upload(&[1.5_f32; 1000])?;
    let mut sum = stream.zeroed::<f32>(1000)?;
    for config in each_attribute() {
        let (result, calls) = bench.calls_of(|| {
            // SAFETY: the kernel reads `a` and writes `sum`, a thousand elements each.
            unsafe { add.launch(&stream, config, (&a, &a, &mut sum, 1000_u32)) }
        });
        result?;
        let expected = if config.attributes.is_empty() {
            "1 × cuLaunchKernel"
        } else if config == LaunchConfig::for_len(1000).cooperative() {
            "1 × cuLaunchCooperativeKernel"
        } else {
            "1 × cuLaunchKernelEx"
        };
        assert_eq!(calls, expected, "{config:?}");
    }
    Ok(())
}

#[test]
fn drivers_without_attributes_launch_cooperatively_and_refuse_the_rest_with_their_version() -> Test
{
    let Some(bench) = Bench::only_software_with(|it| it.driver_version(11_040)) else {
        return Ok(());
    };
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let a = stream.upload(&[1.5_f32; 1000])?;
    let mut sum = stream.zeroed::<f32>(1000)?;
    for config in each_attribute() {
        let (result, calls) = bench.calls_of(|| {
            // SAFETY: the kernel reads `a` and writes `sum`, a thousand elements each.
            unsafe { add.launch(&stream, config, (&a, &a, &mut sum, 1000_u32)) }
        });
        if config.attributes.is_empty() {
            assert_eq!((result?, calls.as_str()), ((), "1 × cuLaunchKernel"));
        } else if config == LaunchConfig::for_len(1000).cooperative() {
            assert_eq!(
                (result?, calls.as_str()),
                ((), "1 × cuLaunchCooperativeKernel")
            );
        } else {
            let error = result.expect_err("the driver is too old");
            assert_eq!(error.kind(), ErrorKind::NotSupported, "{error}");
            let message = error.to_string();
            assert!(
                message.starts_with("cannot launch `vector_add`: ")
                    && message.contains("came with CUDA 1")
                    && message.contains("the driver supports 11.4"),
                "{message}"
            );
        }
    }
    Ok(())
}

#[test]
fn each_attribute_names_the_version_that_brought_it() -> Test {
    let plain = LaunchConfig::for_len(1);
    let cases = [
        (
            11_080,
            plain.with_memory_sync_domain(MemorySyncDomain::Remote),
            "12.0",
        ),
        (
            12_000,
            plain.with_shared_carveout(SharedCarveout::MaxL1),
            "12.5",
        ),
        (
            12_060,
            plain.with_cluster(1).with_preferred_cluster(2),
            "12.8",
        ),
        (11_060, plain.programmatic_dependent(), "11.8"),
    ];
    for (version, config, first) in cases {
        let Some(bench) = Bench::only_software_with(|it| it.driver_version(version)) else {
            return Ok(());
        };
        let add = load(bench.context(), VECTOR_ADD, "vector_add");
        let stream = bench.stream();
        let a = stream.zeroed::<f32>(1)?;
        let mut sum = stream.zeroed::<f32>(1)?;
        // SAFETY: the launch must be refused.
        let result = unsafe { add.launch(&stream, config, (&a, &a, &mut sum, 1_u32)) };
        let error = result.expect_err("the driver is too old");
        let expected = format!("came with CUDA {first}, and the driver supports");
        assert!(error.to_string().contains(&expected), "{error}");
    }
    Ok(())
}

#[test]
fn both_configurations_tell_what_they_ask_for() {
    let plain = LaunchConfig::new(8, 32);
    let config = plain
        .with_cluster((2, 1))
        .with_preferred_cluster(4)
        .with_dynamic_shared_bytes(64)
        .programmatic_dependent();
    assert_eq!(plain.attributes(), LaunchAttributes::NONE);
    assert_eq!(plain.config(), plain);
    assert_eq!(config.config(), plain.with_dynamic_shared_bytes(64));
    assert_eq!(config.attributes().cluster, Some(Dim3::new(2, 1, 1)));
    assert!(config.attributes().programmatic_dependent && !config.attributes().cooperative);
}
