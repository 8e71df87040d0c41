//! Random programs against the protocol, on streams that only record, judged by reachability.
//!
//! A program has one or two blocks, three streams and one or two threads (under Rust's borrow rules), uses ranges, lets
//! the host wait, and frees at the end. What it enqueues makes a graph: stream order, event waits and what the host waited
//! for. Two uses of the same bytes, one of them a write, without a path between them are a race. The sound rules must
//! have none; each rule switched off must have some.

mod program;
mod run;
mod shared;
mod world;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Access, Effect, Operation, Order, Range, Rules};
use program::{Program, Random, Step, UNITS};
use run::{preempt, races, run_step};
use world::{Recorder, Use, World};

/// Rules of which the ones named are switched off, with preemption everywhere.
macro_rules! rules {
    ($($name:ident { $($rule:ident),* })*) => {$(
        enum $name {}
        impl Rules for $name {
            $(const $rule: bool = false;)*

            fn preempt() {
                preempt();
            }

            fn lock<T>(entries: &Mutex<T>) -> MutexGuard<'_, T> {
                loop {
                    match entries.try_lock() {
                        Ok(guard) => return guard,
                        Err(std::sync::TryLockError::Poisoned(error)) => return error.into_inner(),
                        Err(std::sync::TryLockError::WouldBlock) => preempt(),
                    }
                }
            }
        }
    )*};
}

rules! {
    All {}
    MarkedBeforeEnqueue { MARK_AFTER_ENQUEUE }
    ClearedAfterRecord { CLEAR_BEFORE_RECORD }
    HomeNotEntered { HOME_IS_ENTERED }
    ReadsRemoveWrites { READS_KEEP_WRITES }
    WritesRemoveOverlapped { WRITES_REMOVE_ONLY_COVERED }
    SharedHomeUntracked { SHARED_HOME_IS_TRACKED }
}

/// How many of that many random programs race under the rules.
fn count<R: Rules>(programs: u64, seed: u64) -> u64 {
    let mut random = Random(seed);
    let mut found = 0;
    let mut smallest: Option<(usize, Program)> = None;
    for _ in 0..programs {
        let program = Program::random(&mut random);
        if races::<R>(&program, &mut random) {
            found += 1;
            let size = format!("{program:?}").len();
            if smallest.as_ref().is_none_or(|(least, _)| size < *least) {
                smallest = Some((size, program));
            }
        }
    }
    if let Some((_, program)) = smallest {
        println!("the smallest program with a race: {program:?}");
    }
    found
}

/// How many programs to run: a million where the code is optimised; the environment can ask for another number.
fn programs() -> u64 {
    let asked = std::env::var("CUDA_ORDER_PROGRAMS").ok();
    asked
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_000_000)
}

#[test]
fn sound_rules_have_no_race() {
    let half = programs().div_ceil(2);
    let other = std::thread::spawn(move || count::<All>(half, 1));
    let found = count::<All>(half, 2);
    let other = other.join().unwrap_or(u64::MAX);
    assert_eq!((found, other), (0, 0), "of {} programs", 2 * half);
}

/// Each rule is needed: without it some of the programs race.
fn needs<R: Rules>(rule: &str) {
    let found = count::<R>(30_000, 3);
    println!("without `{rule}`: {found} of 30000 programs race");
    assert!(
        found > 0,
        "the rule `{rule}` can be switched off without a race"
    );
}

#[test]
fn mark_comes_after_the_enqueue() {
    needs::<MarkedBeforeEnqueue>("the mark comes after the enqueue");
}

#[test]
fn mark_is_cleared_before_the_record() {
    needs::<ClearedAfterRecord>("the mark is cleared before the record");
}

#[test]
fn crossing_enters_home_as_a_write() {
    needs::<HomeNotEntered>("a crossing enters home as a write");
}

#[test]
fn reads_keep_writes() {
    needs::<ReadsRemoveWrites>("reads keep writes");
}

#[test]
fn writes_remove_only_what_they_cover() {
    needs::<WritesRemoveOverlapped>("writes remove only what they cover");
}

#[test]
fn shared_home_is_tracked() {
    needs::<SharedHomeUntracked>("a shared block is tracked at home too");
}

#[test]
fn two_readers_are_both_remembered() {
    World::reset();
    let block = [
        Order::at_home(Arc::new(Recorder(1)), true),
        Order::at_home(Arc::new(Recorder(1)), true),
    ];
    let whole = Range {
        start: 0,
        end: UNITS,
    };
    let part = |write| {
        [
            Some(Use {
                block: 0,
                range: whole,
                effect: bool::into(write),
            }),
            None,
        ]
    };
    World::with(|world| {
        world.enqueue(
            1,
            [Use {
                block: 0,
                range: whole,
                effect: Effect::Write,
            }],
        )
    });
    run_step::<All>(&block, Step::Enqueue(2, part(false)));
    run_step::<All>(&block, Step::Enqueue(3, part(false)));
    assert!(block[0].gather(&Recorder(1)).is_ok());
    World::with(|world| {
        world.enqueue(
            1,
            [Use {
                block: 0,
                range: whole,
                effect: Effect::Write,
            }],
        )
    });
    assert!(!World::with(|world| world.has_race()));
}

#[test]
fn many_readers_are_brought_down_to_one_entry() {
    World::reset();
    let order = Order::at_home(Arc::new(Recorder(1)), true);
    for number in 0..80 {
        let stream = Recorder(2 + number);
        let mut access = [Access {
            order: &order,
            range: Range { start: 0, end: 1 },
            effect: Effect::Read,
        }];
        assert!(Operation::run::<All, _>(&stream, &mut access, || Ok(())).is_ok());
    }
    let left = order
        .entries
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .len();
    assert!(left <= 66, "{left} entries");
}
