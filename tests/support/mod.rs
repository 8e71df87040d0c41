//! What all tests share: the driver that the environment chooses, a bench for each test, kernels and child processes.
//!
//! `CUDA_TEST_DRIVER` is `software` (the default), `auto` (the real driver if there is one) or `real` (fail without one);
//! `CUDA_TEST_SEED` chooses the software driver's order of execution, `CUDA_TEST_CHECKS` its further checks, of which no test may then
//! find anything unexpected: `race`, `global`, `init` and `sync`, separated by commas, or `all`.

pub(crate) mod bench;
pub(crate) mod child;
pub(crate) mod foreign;
pub(crate) mod kernels;
pub(crate) mod log_lines;
pub(crate) mod raw;

use std::sync::OnceLock;

use cuda_driver::Driver;

/// The result of a test: `?` on any error fails it at that line.
pub(crate) type Test = Result<(), Failure>;

/// Never made: its conversion panics, so that the failure is seen before what follows from it.
#[derive(Debug)]
pub(crate) enum Failure {}

impl<E: std::fmt::Display> From<E> for Failure {
    #[track_caller]
    fn from(error: E) -> Self {
        panic!("{error}")
    }
}

/// The driver that the tests run on.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// A software driver for each test, with that seed.
    Software(u64),
    /// The machine's driver, which all tests share.
    Real(Driver),
}

/// The choice of the environment, printed when it is made.
pub(crate) fn choice() -> &'static Choice {
    static CHOICE: OnceLock<Choice> = OnceLock::new();
    CHOICE.get_or_init(|| {
        let wanted = std::env::var("CUDA_TEST_DRIVER").unwrap_or_else(|_| "software".into());
        let seed = std::env::var("CUDA_TEST_SEED").map_or(20_240_607, |text| {
            text.parse().expect("CUDA_TEST_SEED is a number")
        });
        let software = Choice::Software(seed);
        let choice = match wanted.as_str() {
            "software" => software,
            "auto" => Driver::load().map_or_else(
                |error| {
                    eprintln!("no real driver: {error}");
                    software
                },
                Choice::Real,
            ),
            "real" => Choice::Real(Driver::load().expect("CUDA_TEST_DRIVER=real")),
            other => panic!("CUDA_TEST_DRIVER is software, auto or real, not `{other}`"),
        };
        match &choice {
            Choice::Software(seed) => eprintln!("tests run on the software driver, seed {seed}"),
            Choice::Real(driver) => eprintln!("tests run on the {driver}"),
        }
        choice
    })
}

/// The numbers from 0 on, as elements that differ from one another.
pub(crate) fn numbers(len: usize) -> Vec<u32> {
    (0..len).map(|it| it as u32).collect()
}

/// A size in elements or repeats: the same everywhere but under Miri, which is ten thousand times slower and gets a 256th, and at least 64.
pub(crate) const fn sized(len: usize) -> usize {
    let small = if len / 256 < 64 { 64 } else { len / 256 };
    if cfg!(miri) && small < len {
        small
    } else {
        len
    }
}
