//! Programmatic dependent launch: a kernel may begin before the one before it in its stream has ended.

use std::collections::BTreeSet;

use cuda_driver::{In, LaunchConfig, Out, Result, kernels};
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

kernels! {
    /// Kernels of `dependent.cu`.
    unsafe extern Dependent from ptx env!("DEPENDENT_PTX") {
        #[launch(grid = 4, block = 64)]
        safe fn produce(values: &mut [u32; 256], value: u32, steps: u32);

        #[launch(grid = 4, block = 64, waits)]
        safe fn consume(values: &[u32; 256], results: &mut [u32; 256]);
    }
}

/// `consume`, which may start early.
const EARLY: fn() -> cuda_driver::ExtendedLaunchConfig =
    || LaunchConfig::new(4, 64).programmatic_dependent();

fn steps(bench: &Bench) -> u32 {
    if bench.is_real() { 200_000 } else { 50 }
}

#[test]
fn what_waits_by_itself_waits_for_other_streams_too() -> Test {
    let bench = Bench::new();
    if !has_it(&bench) {
        return Ok(());
    }
    let kernels = Dependent::load(bench.context())?;
    let steps = steps(&bench);
    for _ in 0..bench.repeats() {
        let (stream, other) = (bench.stream(), bench.stream());
        let mut in_front = stream.zeroed::<u32>(THREADS)?;
        let mut values = other.zeroed::<u32>(THREADS)?;
        let mut results = stream.zeroed::<u32>(THREADS)?;
        kernels.produce(&other, &mut values, 100, 4 * steps)?;
        kernels.produce(&stream, &mut in_front, 1, steps)?;
        // It waits for an event of the other stream, behind a kernel that lets it begin.
        kernels.consume_with(EARLY(), &stream, &values, &mut results)?;
        // What comes later on the other stream waits for it, and so does the end of the memory.
        kernels.produce(&other, &mut values, 7, 1)?;
        drop(values);
        assert_eq!(results.to_vec()?, expected());
    }
    Ok(())
}

#[test]
fn several_in_a_row_wait_for_the_first() -> Test {
    let bench = Bench::new();
    if !has_it(&bench) {
        return Ok(());
    }
    let kernels = Dependent::load(bench.context())?;
    let stream = bench.stream();
    for _ in 0..bench.repeats() {
        let mut values = stream.zeroed::<u32>(THREADS)?;
        let mut unrelated = stream.zeroed::<u32>(THREADS)?;
        let mut results = stream.zeroed::<u32>(THREADS)?;
        let nothing = stream.zeroed::<u32>(THREADS)?;
        kernels.produce(&stream, &mut values, 100, steps(&bench))?;
        kernels.consume_with(EARLY(), &stream, &nothing, &mut unrelated)?;
        kernels.consume_with(EARLY(), &stream, &nothing, &mut unrelated)?;
        kernels.consume_with(EARLY(), &stream, &values, &mut results)?;
        drop(values);
        assert_eq!(results.to_vec()?, expected());
    }
    Ok(())
}

#[test]
fn host_memory_is_there_before_it_is_read_and_after_it_is_written() -> Test {
    let bench = Bench::new();
    if !has_it(&bench) {
        return Ok(());
    }
    let kernels = Dependent::load(bench.context())?;
    let stream = bench.stream();
    let mut in_front = stream.zeroed::<u32>(THREADS)?;
    for round in 0..bench.repeats() {
        let values = [round as u32 + 1; THREADS];
        let (mut once, mut twice) = ([0; THREADS], [0; THREADS]);
        kernels.produce(&stream, &mut in_front, 1, steps(&bench))?;
        kernels.consume_with(EARLY(), &stream, In(&values), Out(&mut once))?;
        let mut on_device = stream.zeroed::<u32>(THREADS)?;
        kernels.consume_with(EARLY(), &stream, In(&once), &mut on_device)?;
        kernels.consume_with(EARLY(), &stream, &on_device, Out(&mut twice))?;
        assert_eq!((once[5], twice), (values[0] * 2, [values[0] * 8; THREADS]));
    }
    Ok(())
}
