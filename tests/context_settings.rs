//! Limits and preferences of contexts.

use cuda_driver::{CacheConfig, ContextFlags, ErrorKind, Limit};

use crate::support::Test;
use crate::support::bench::Bench;

#[test]
fn a_limit_can_be_set_and_read() -> Test {
    let bench = Bench::new();
    let context = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    context.set_limit(Limit::StackSize, 4096)?;
    assert_eq!(context.limit(Limit::StackSize)?, 4096);
    // The limits of other contexts are their own.
    let other = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    assert!(other.limit(Limit::StackSize)? > 0);
    assert!(other.limit(Limit::PrintfBufferSize)? > 0);
    assert!(other.limit(Limit::MallocHeapSize)? > 0);
    Ok(())
}

#[test]
fn every_limit_can_be_read_or_is_not_supported() {
    let bench = Bench::new();
    let limits = [
        Limit::StackSize,
        Limit::PrintfBufferSize,
        Limit::MallocHeapSize,
        Limit::DeviceRuntimeSyncDepth,
        Limit::DeviceRuntimePendingLaunchCount,
        Limit::MaxL2FetchGranularity,
        Limit::PersistingL2CacheSize,
    ];
    for limit in limits {
        if let Err(error) = bench.context().limit(limit) {
            assert_eq!(error.subject(), format!("read the limit {limit:?}"));
            let status = error.status();
            assert_eq!(
                status,
                Some(cuda_sys::CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT),
                "{error}"
            );
        }
    }
}

#[test]
fn a_limit_out_of_range_is_an_error_that_names_it() -> Test {
    let bench = Bench::new();
    let context = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    let error = context
        .set_limit(Limit::StackSize, usize::MAX / 2)
        .expect_err("too much");
    assert!(error.to_string().contains("StackSize"), "{error}");
    assert!(
        matches!(
            error.kind(),
            ErrorKind::InvalidArgument | ErrorKind::OutOfMemory
        ),
        "{error}"
    );
    Ok(())
}

#[test]
fn the_cache_configuration_can_be_set_and_read() -> Test {
    let bench = Bench::new();
    let context = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    for config in [
        CacheConfig::PreferShared,
        CacheConfig::PreferL1,
        CacheConfig::PreferEqual,
    ] {
        context.set_cache_config(config)?;
        // Devices that cannot divide it may ignore the preference.
        let now = context.cache_config()?;
        assert!(now == config || now == CacheConfig::PreferNone, "{now:?}");
    }
    assert_eq!(CacheConfig::default(), CacheConfig::PreferNone);
    Ok(())
}

#[test]
fn the_priorities_are_a_range_around_zero() -> Test {
    let bench = Bench::new();
    let range = bench.context().stream_priority_range()?;
    assert!(range.start() <= range.end(), "{range:?}");
    assert!(range.contains(&0), "{range:?}");
    Ok(())
}
