//! Numbers at the ends of their ranges: errors, never a panic, and never a context that is lost.

use cuda_driver::{
    Dim3, ExtendedLaunchConfig, LaunchConfig, MemorySyncDomain, MemorySyncDomainMap, SharedCarveout,
};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::load;

const NOTHING: &str =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry nothing() { ret; }";

const NUMBERS: [u32; 8] = [0, 1, 2, 33, 1024, 65_536, 0x8000_0000, u32::MAX];

/// The number in each dimension, one after the other.
fn in_each(number: u32) -> [Dim3; 4] {
    [
        Dim3::new(number, 1, 1),
        Dim3::new(1, number, 1),
        Dim3::new(1, 1, number),
        Dim3::new(number, number, number),
    ]
}

/// Grids that one can wait for.
fn is_short(config: &LaunchConfig) -> bool {
    config.grid.volume() <= 64 || config.grid.volume() > 1 << 48
}

#[test]
fn sizes_of_launches() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let nothing = load(bench.context(), NOTHING, "nothing");
    let mut all = Vec::new();
    for number in NUMBERS {
        for size in in_each(number) {
            all.push(LaunchConfig::new(size, 32));
            all.push(LaunchConfig::new(1, size));
        }
        all.push(LaunchConfig::new(1, 1).with_dynamic_shared_bytes(number));
        all.push(LaunchConfig::for_len_with_block(usize::MAX, number));
        all.push(LaunchConfig::for_len_with_block(0, number));
    }
    let mut ran = 0;
    for config in all {
        let prepared = nothing.prepare(config);
        let _blocks =
            nothing.active_blocks_per_multiprocessor(config.block, config.dynamic_shared_bytes);
        let _bytes = nothing.available_dynamic_shared_bytes(config.grid.x, config.block);
        if !is_short(&config) {
            continue;
        }
        // SAFETY: the kernel does nothing.
        let launched = unsafe { nothing.launch(&stream, config, ()) };
        assert_eq!(
            prepared.is_ok(),
            launched.is_ok(),
            "{config:?}: {launched:?}"
        );
        ran += u32::from(launched.is_ok());
    }
    assert!(ran > 8, "{ran} ran");
    stream.synchronize()?;
    Ok(())
}

#[test]
fn attributes_of_launches() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let nothing = load(bench.context(), NOTHING, "nothing");
    let plain = ExtendedLaunchConfig::from(LaunchConfig::new((4, 2), 32));
    let mut all = vec![plain.cooperative().with_cluster(2)];
    for number in NUMBERS {
        for size in in_each(number) {
            all.push(plain.with_cluster(size));
            all.push(plain.with_preferred_cluster(size));
            all.push(plain.with_cluster(2).with_preferred_cluster(size));
            all.push(
                plain
                    .with_cluster(size)
                    .cooperative()
                    .programmatic_dependent(),
            );
        }
        let byte = number.to_le_bytes()[0];
        all.push(plain.with_priority(number.cast_signed()));
        all.push(plain.with_shared_carveout(SharedCarveout::Percent(byte)));
        let map = MemorySyncDomainMap {
            default: byte,
            remote: !byte,
        };
        all.push(plain.with_memory_sync_domain_map(map));
        all.push(plain.with_memory_sync_domain(MemorySyncDomain::Remote));
    }
    let mut ran = 0;
    for config in all {
        let _prepared = nothing.prepare(config);
        let _size = nothing.max_cluster_size(config);
        let _count = nothing.max_active_clusters(config);
        // SAFETY: the kernel does nothing.
        ran += u32::from(unsafe { nothing.launch(&stream, config, ()) }.is_ok());
    }
    assert!(ran > 8, "{ran} ran");
    stream.synchronize()?;
    assert!(!bench.context().is_poisoned());
    Ok(())
}

#[test]
fn block_sizes_of_a_closure() {
    let bench = Bench::new();
    let nothing = load(bench.context(), NOTHING, "nothing");
    for number in NUMBERS {
        let _best = nothing.potential_block_size(|_| number);
        let flags = cuda_driver::OccupancyFlags::default();
        let _best = nothing
            .potential_block_size_with(number, flags, |threads| threads.wrapping_mul(number));
    }
    let inner = nothing.clone();
    let best = nothing.potential_block_size(|_| {
        assert!(
            inner.potential_block_size(|_| 0).is_err(),
            "the driver is asking"
        );
        0
    });
    assert!(best.is_ok());
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        nothing.potential_block_size(|_| panic!("of the test"))
    }));
    assert!(panic.is_err());
    assert!(nothing.potential_block_size(|_| 0).is_ok(), "as before");
}
