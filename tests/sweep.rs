//! Every driver call of every operation fails in turn: no panic, no leak, no mistake that a check finds, and no success that is none.

mod devices;
mod launches;
mod libraries;
mod memory;
mod modules;
mod streams;

use std::collections::{BTreeMap, BTreeSet};

use cuda_driver::{Context, Driver, Result};
use cuda_sim::{Builder, DeviceConfig, Failure, Leak, Simulator, Sweep, SweepReport};
use cuda_sys::CUdevice_attribute;

use crate::support::bench::Bench;

/// An operation: the public items that it is about, and a program that uses them and asserts its results.
pub(crate) struct Operation {
    pub(crate) items: &'static [&'static str],
    pub(crate) run: fn(&Driver) -> Result<()>,
}

/// All operations.
fn operations() -> impl Iterator<Item = &'static Operation> {
    [
        devices::OPERATIONS,
        launches::OPERATIONS,
        memory::OPERATIONS,
        libraries::OPERATIONS,
        modules::OPERATIONS,
        streams::OPERATIONS,
    ]
    .into_iter()
    .flatten()
}

/// The primary context of the first device, as an operation retains it.
pub(crate) fn context(driver: &Driver) -> Result<Context> {
    driver.device(0)?.primary_context()
}

fn driver(simulator: &Simulator) -> Driver {
    Driver::simulated_by(simulator).expect("nothing fails yet")
}

/// Leaks that are right: the memory of a default stream is freed with its context current, and a drop that is refused that has nobody to
/// tell.
fn is_right(failure: &Failure, leak: &Leak) -> bool {
    failure.excuses(leak) || failure.symbol == "cuCtxPushCurrent_v2"
}

/// Three devices, the last without memory pools, behind a driver that has all functions which are called.
fn builder() -> Builder {
    let mut devices = vec![DeviceConfig::h200(); 3];
    let pools = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    devices[2].attributes.push((pools, 0));
    let builder = Simulator::builder().devices(devices);
    builder.driver_version(13_020).call_sites(true)
}

fn sweep() -> Sweep {
    Sweep::new().builder(builder).leaks_allowed(is_right)
}

/// Sweeps over a share of the operations.
fn share(number: usize, of: usize) {
    if Bench::only_software().is_none() {
        return;
    }
    let mut wrong = Vec::new();
    for operation in operations().skip(number).step_by(of) {
        let report: SweepReport = sweep().run_with(driver, |_, driver| (operation.run)(driver));
        if !report.is_clean() {
            wrong.push(format!("{}: {report}", operation.items.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_call_of_the_first_third_fails_in_turn() {
    share(0, 3);
}

#[test]
fn every_call_of_the_second_third_fails_in_turn() {
    share(1, 3);
}

#[test]
fn every_call_of_the_last_third_fails_in_turn() {
    share(2, 3);
}

/// A driver that knows neither libraries nor the parameters of kernels, and loads kernels when they are launched.
fn older_builder() -> Builder {
    builder().driver_version(11_040)
}

#[test]
fn every_call_of_launches_and_libraries_fails_in_turn_on_an_older_driver() {
    if Bench::only_software().is_none() {
        return;
    }
    let older = older_builder().build().expect("a simulator");
    let mut wrong = Vec::new();
    let mut swept: BTreeSet<&str> = BTreeSet::new();
    for operation in launches::OPERATIONS.iter().chain(libraries::OPERATIONS) {
        // Some need what only newer drivers have.
        if (operation.run)(&driver(&older)).is_err() {
            continue;
        }
        swept.extend(operation.items);
        let sweep = sweep().builder(older_builder);
        let report: SweepReport = sweep.run_with(driver, |_, driver| (operation.run)(driver));
        if !report.is_clean() {
            wrong.push(format!("{}: {report}", operation.items.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    for item in [
        "Function::launch",
        "kernels!",
        "In",
        "Driver::load_library_ptx",
    ] {
        assert!(swept.contains(item), "{item}");
    }
}

#[test]
fn every_call_of_the_initialisation_fails_in_turn() {
    if Bench::only_software().is_some() {
        let load = |simulator: &Simulator| -> Result<()> {
            let driver = Driver::simulated_by(simulator)?;
            assert_eq!(driver.version().major, 13);
            Ok(())
        };
        sweep().run(load).assert_clean();
    }
}

/// The safe items of the table of coverage, by driver function; functions that none wraps are left out.
fn covered() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let table = include_str!("../cuda-driver/COVERAGE.md");
    let rows = table.lines().filter(|line| line.starts_with("| `cu"));
    let safe = rows.filter(|row| !row.contains("checked tier only"));
    safe.map(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        let symbols = cells[3].split('`').skip(1).step_by(2);
        let function = symbols.last().unwrap_or("");
        let items = cells[4].split(", through").next().unwrap_or("");
        let items = items.split('`').skip(1).step_by(2);
        let plain = |item: &'static str| item.trim_start_matches("unsafe ");
        (
            function,
            items.map(plain).filter(|it| it.contains("::")).collect(),
        )
    })
    .collect()
}

#[test]
fn no_operation_is_forgotten() {
    let Some(bench) = Bench::only_software() else {
        return;
    };
    drop(bench);
    let simulator = builder().build().expect("a simulator");
    let driver = driver(&simulator);
    for operation in operations() {
        (operation.run)(&driver).unwrap_or_else(|error| panic!("{:?}: {error}", operation.items));
    }
    let swept: BTreeSet<&str> = operations().flat_map(|it| it.items).copied().collect();
    let mut forgotten = Vec::new();
    for (symbol, items) in covered() {
        if !symbol.is_empty() && simulator.call_count(symbol) == 0 {
            forgotten.push(format!("{symbol} is called by no operation"));
        }
        // The library is loaded by its initialisation, and the end of a guard is swept with its start.
        let elsewhere = ["Driver::load", "Driver::version", "CurrentContext::drop"];
        let missing = items
            .iter()
            .filter(|item| !swept.contains(*item) && !elsewhere.contains(item));
        forgotten.extend(missing.map(|item| format!("{item} is no item of an operation")));
    }
    assert!(forgotten.is_empty(), "{forgotten:#?}");
}
