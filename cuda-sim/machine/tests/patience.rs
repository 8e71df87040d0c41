//! Launches that take long: who hears of them, and when they are given up.

mod support;

use std::sync::Mutex;
use std::time::Duration;

use cuda_sim_machine::{FaultKind, Launch, Output, Program, Services, StillRunning, run};
use support::*;

/// Keeps what it is told of launches.
#[derive(Debug, Default)]
struct Listener(Mutex<Vec<(String, Option<u32>, Duration)>>);

impl Services for Listener {
    fn print(&self, _: Output, _: &[u8]) {}

    fn allocate(&self, _: u64) -> u64 {
        0
    }

    fn free(&self, _: u64) -> Result<(), String> {
        Ok(())
    }

    fn still_running(&self, launch: &StillRunning<'_>) {
        let line = launch.place.map(|place| place.line);
        let told = (launch.kernel.to_owned(), line, launch.age);
        self.0.lock().unwrap().push(told);
    }
}

/// Runs until a quarter of a second is over; gives what was told meanwhile.
fn endless(program: &Program, grid: u32, threads: usize) -> Vec<(String, Option<u32>, Duration)> {
    let params = Params::default().u64(0);
    let listener = Listener::default();
    let mut launch = Launch::new([grid, 1, 1], [64, 1, 1], &params.0);
    launch.services = &listener;
    launch.threads = threads;
    launch.limits.time = Some(Duration::from_millis(250));
    launch.limits.notice = Some(Duration::from_millis(20));
    let fault = run(
        program.kernel("k").unwrap(),
        program,
        &launch,
        &Arena::new(),
    )
    .unwrap_err();
    assert!(
        matches!(fault.kind, FaultKind::Overtime { limit, instructions }
            if limit == Duration::from_millis(250) && instructions > 0),
        "{fault}"
    );
    listener.0.into_inner().unwrap()
}

#[test]
fn an_endless_kernel_is_told_of_with_its_place_and_given_up() {
    let independent = program(&thread_kernel("", "L: bra L;"));
    let interacting = program(&thread_kernel(
        "",
        "ld.param.u64 %d0, [out]; fence.acq_rel.gpu;\nL: bra L;",
    ));
    for (program, grid, threads) in [
        (&independent, 1, 1),
        (&independent, 64, 4),
        (&interacting, 3, 1),
    ] {
        let told = endless(program, grid, threads);
        // At 20, 40, 80 and 160 milliseconds, or fewer times where the machine is busy.
        assert!((1..=4).contains(&told.len()), "{told:?}");
        for (kernel, line, age) in &told {
            assert_eq!(kernel, "k");
            assert!(line.is_some() && *age >= Duration::from_millis(20));
        }
    }
}

#[test]
fn blocks_that_end_do_not_keep_a_launch_alive() {
    // Each block ends soon, but there are very many of them.
    let program = program(&thread_kernel("", "mov.u32 %r1, 1; ret;"));
    let told = endless(&program, i32::MAX as u32, 1);
    assert!(!told.is_empty());
}
