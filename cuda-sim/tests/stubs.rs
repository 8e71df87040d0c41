//! More functions that are not built than are kept apart. Alone in its process: it leaves none for others while it runs.

mod support;

use std::ptr;

use cuda_sim::Simulator;
use support::fails;

#[test]
fn more_stubs_than_there_are_still_say_no() {
    // Four instances resolve everything: more functions that are not built than are kept apart.
    let instances: Vec<Simulator> = (0..4).map(|_| Simulator::new()).collect();
    for simulator in &instances {
        let cuda = simulator.library();
        let exported = cuda_sys::SYMBOLS
            .iter()
            .filter(|symbol| cuda.resolve(symbol).is_ok())
            .count();
        assert_eq!(exported, 671);
        fails!(801, cuda, cuMipmappedArrayDestroy(ptr::null_mut()));
    }
}
