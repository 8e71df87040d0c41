//! Programs on one block that several owners use at once, as global variables are: no borrow rules hold, but every
//! operation is tracked.

use super::program::{Random, Step, UNITS, random_use};
use super::run::run_threads;
use super::world::{Recorder, World};
use super::{All, Effect, Order, ReadsRemoveWrites, Rules, WritesRemoveOverlapped};

/// An operation that reads or writes a range, or may do anything with the whole.
fn random_operation(random: &mut Random) -> Step {
    let mut part = random_use(random, 0, None, (0, UNITS));
    if random.below(3) == 0 {
        part.effect = Effect::Unknown;
        part.range.start = 0;
        part.range.end = UNITS;
    }
    Step::Enqueue(1 + random.below(3), [Some(part), None])
}

/// How many of that many programs of two threads race under the rules.
fn count<R: Rules>(programs: u64, seed: u64) -> u64 {
    let mut random = Random(seed);
    let mut found = 0;
    for _ in 0..programs {
        World::reset();
        let blocks: [Order<Recorder>; 1] = [Order::homeless(())];
        let mut thread = || {
            let steps = 1 + random.below(4);
            (0..steps).map(|_| random_operation(&mut random)).collect()
        };
        let threads: [Vec<Step>; 2] = [thread(), thread()];
        run_threads::<R>(&blocks, &threads, &mut random);
        found += u64::from(World::with(|world| world.has_race()));
    }
    found
}

#[test]
fn operations_of_threads_that_conflict_have_an_order() {
    assert_eq!(count::<All>(30_000, 4), 0);
}

#[test]
fn the_rules_are_needed_here_too() {
    assert!(count::<ReadsRemoveWrites>(30_000, 5) > 0);
    assert!(count::<WritesRemoveOverlapped>(30_000, 6) > 0);
}
