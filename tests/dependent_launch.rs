//! Programmatic dependent launch: a kernel may begin before the one before it in its stream has ended.

use std::collections::BTreeSet;

use cuda_driver::{LaunchConfig, Result};
use cuda_sim::{Builder, ReportKind};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::{DEPENDENT, load};

const THREADS: usize = 256;

/// What the kernel of that name makes of the numbers that another one writes right before it.
fn pair(bench: &Bench, name: &str, dependent: bool) -> Result<Vec<u32>> {
    let stream = bench.stream();
    let produce = load(bench.context(), DEPENDENT, "produce");
    let consume = load(bench.context(), DEPENDENT, name);
    let mut values = stream.zeroed::<u32>(THREADS)?;
    let mut results = stream.zeroed::<u32>(THREADS)?;
    stream.synchronize()?;
    let steps = if bench.is_real() { 200_000_u32 } else { 50 };
    let plain = LaunchConfig::new(4, 64);
    // SAFETY: both kernels write a number for each of their threads; the first one's number of the thread in its block.
    unsafe { produce.launch(&stream, plain, (&mut values, 100_u32, steps)) }?;
    if dependent {
        let config = plain.programmatic_dependent();
        // SAFETY: as above; `consume_early` races with `produce`, which its test wants.
        unsafe { consume.launch(&stream, config, (&values, &mut results)) }?;
    } else {
        // SAFETY: as above.
        unsafe { consume.launch(&stream, plain, (&values, &mut results)) }?;
    }
    results.to_vec()
}

fn expected() -> Vec<u32> {
    (0..256).map(|it| (100 + it % 64) * 2).collect()
}

fn has_it(bench: &Bench) -> bool {
    let capability = bench.context().device().compute_capability();
    let has = capability.is_ok_and(|it| it.major >= 9);
    if !has {
        eprintln!("skipped, needs a device with programmatic dependent launch");
    }
    has
}

#[test]
fn a_kernel_that_waits_finds_what_the_one_before_it_wrote() -> Test {
    let bench = Bench::new();
    if !has_it(&bench) {
        return Ok(());
    }
    for _ in 0..bench.repeats() {
        for name in ["consume", "consume_together"] {
            assert_eq!(pair(&bench, name, true)?, expected(), "{name}");
        }
        assert_eq!(pair(&bench, "consume_early", false)?, expected());
    }
    Ok(())
}

#[test]
fn a_kernel_that_does_not_wait_is_found() -> Test {
    let mut found = BTreeSet::new();
    for seed in 0..10 {
        let Some(bench) = Bench::only_software_with(|it: Builder| it.seed(seed)) else {
            return Ok(());
        };
        found.insert(pair(&bench, "consume_early", true)?);
        let reports = bench.take_reports();
        let [report] = reports.as_slice() else {
            panic!("{reports:?}");
        };
        assert_eq!(report.kind, ReportKind::Race);
        assert!(
            report
                .message
                .contains("before it executes griddepcontrol.wait"),
            "{report}"
        );
    }
    // Ahead of the kernel before it, and behind it.
    assert_eq!(found, BTreeSet::from([vec![0; THREADS], expected()]));
    Ok(())
}
