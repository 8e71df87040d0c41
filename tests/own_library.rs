//! The tests that the README proposes to authors of libraries, for a small library.

mod my_library;

use cuda_driver::Driver;
use cuda_driver::simulator::{Simulator, sweep};

fn doubles(simulator: &Simulator) -> cuda_driver::Result<()> {
    let context = Driver::simulated_by(simulator)?
        .device(0)?
        .primary_context()?;
    assert_eq!(my_library::double(&context, &[1.0, 2.0])?, [2.0, 4.0]);
    Ok(())
}

#[test]
fn no_mistake_in_any_order_of_execution() -> cuda_driver::Result<()> {
    for seed in 0..8 {
        let simulator = Simulator::builder()
            .seed(seed)
            .racecheck(true) // of shared memory
            .global_races(true) // of global memory: a missing `__threadfence()`, for instance
            .call_sites(true) // reports name the lines of the program
            .build()
            .unwrap();
        doubles(&simulator)?;
        simulator.assert_clean(); // no race between operations, no bad access, no leak
    }
    Ok(())
}

#[test]
fn every_failure_of_the_driver_is_borne() {
    sweep(doubles).assert_clean(); // no panic, no leak, no wrong result
}
