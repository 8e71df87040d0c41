//! Random programs against the protocol, on streams that only record, judged by reachability.
//!
//! A program has one or two blocks, three streams and one or two threads (under Rust's borrow rules), uses ranges, lets
//! the host wait, and frees at the end. What it enqueues makes a graph: stream order, event waits and what the host waited
//! for. Two uses of the same bytes, one of them a write, without a path between them are a race. The sound rules must
//! have none; each rule switched off must have some.

mod world;

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::{Access, Operation, Order, Queue, Range, Rules};
use world::{Recorder, Use, World};

thread_local! {
    static YIELDER: Cell<*const Yielder<(), ()>> = const { Cell::new(std::ptr::null()) };
}

/// Lets the other thread of the program run, if there is one.
fn preempt() {
    let yielder = YIELDER.get();
    if yielder.is_null() {
        return;
    }
    // SAFETY: the pointer is set only while the coroutine runs whose yielder it is.
    unsafe { &*yielder }.suspend(());
    YIELDER.set(yielder);
}

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

/// A small, fast generator of random numbers; the same programs on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// One step of a program.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// An operation on a stream, with one range of a block or of two.
    Enqueue(u64, [Option<Use>; 2]),
    /// The host waits for a block, for its writes or for everything, and then uses it itself.
    Host(usize, bool),
}

const UNITS: u64 = 4;

fn random_use(random: &mut Random, block: usize, write: Option<bool>, part: (u64, u64)) -> Use {
    let start = part.0 + random.below(part.1 - part.0);
    let end = start + 1 + random.below(part.1 - start);
    Use {
        block,
        range: Range { start, end },
        write: write.unwrap_or_else(|| random.coin()),
    }
}

fn random_step(random: &mut Random, write: Option<bool>, part: (u64, u64)) -> Step {
    if part == (0, UNITS) && random.below(8) == 0 {
        let writes = write.unwrap_or_else(|| random.coin());
        return Step::Host(usize::from(random.coin()), writes);
    }
    let stream = 1 + random.below(3);
    let first = usize::from(random.below(4) == 0);
    let mut uses = [Some(random_use(random, first, write, part)), None];
    if random.below(3) == 0 {
        uses[1] = Some(random_use(random, 1 - first, write, part));
    }
    Step::Enqueue(stream, uses)
}

/// A whole program: steps before, two threads or none, steps after.
#[derive(Debug)]
struct Program {
    before: Vec<Step>,
    threads: Option<[Vec<Step>; 2]>,
    after: Vec<Step>,
}

impl Program {
    fn random(random: &mut Random) -> Self {
        let whole = (0, UNITS);
        let counts = [random.below(3), random.below(3), 1 + random.below(3)];
        let threads = match counts[1] {
            0 => None,
            1 => {
                let mut thread = || {
                    (0..2)
                        .map(|_| random_step(random, Some(false), whole))
                        .collect()
                };
                Some([thread(), thread()])
            }
            _ => {
                let half = UNITS / 2;
                let mut thread = |part| {
                    (0..2)
                        .map(|_| random_step(random, None, part))
                        .collect::<Vec<_>>()
                };
                Some([thread((0, half)), thread((half, UNITS))])
            }
        };
        Self {
            before: (0..counts[0])
                .map(|_| random_step(random, None, whole))
                .collect(),
            threads,
            after: (0..counts[2])
                .map(|_| random_step(random, None, whole))
                .collect(),
        }
    }
}

type Blocks = [Order<Recorder>; 2];

fn run_step<R: Rules>(blocks: &Blocks, step: Step) {
    match step {
        Step::Enqueue(number, uses) => {
            let mut accesses: Vec<Access<'_, Recorder>> = uses
                .iter()
                .flatten()
                .map(|part| Access {
                    order: &blocks[part.block],
                    range: part.range,
                    write: part.write,
                })
                .collect();
            let stream = Recorder(number);
            let result = Operation::run::<R, _>(&stream, &mut accesses, || {
                World::with(|world| world.enqueue(number, uses.iter().flatten().copied()));
                Ok(())
            });
            assert!(result.is_ok(), "recording does not fail");
        }
        Step::Host(block, write) => {
            let Ok(events) = blocks[block].pending::<R>(!write);
            World::with(|world| {
                world.host(
                    &events,
                    Use {
                        block,
                        range: Range {
                            start: 0,
                            end: UNITS,
                        },
                        write,
                    },
                );
            });
            blocks[block].forget::<R>(|event| events.contains(event));
        }
    }
}

/// Runs a program under the rules and says whether it has a race.
fn races<R: Rules>(program: &Program, random: &mut Random) -> bool {
    World::reset();
    let homes = [1, 1 + random.below(2)];
    let blocks: Blocks = homes.map(|home| Order::at_home(Arc::new(Recorder(home)), true));
    for (block, home) in homes.into_iter().enumerate() {
        let all = Use {
            block,
            range: Range {
                start: 0,
                end: UNITS,
            },
            write: true,
        };
        World::with(|world| world.enqueue(home, [all]));
    }
    for &step in &program.before {
        run_step::<R>(&blocks, step);
    }
    if let Some(threads) = &program.threads {
        run_threads::<R>(&blocks, threads, random);
    }
    for &step in &program.after {
        run_step::<R>(&blocks, step);
    }
    for (block, home) in homes.into_iter().enumerate() {
        assert!(blocks[block].gather(&Recorder(home)).is_ok());
        let all = Use {
            block,
            range: Range {
                start: 0,
                end: UNITS,
            },
            write: true,
        };
        World::with(|world| world.enqueue(home, [all]));
    }
    World::with(|world| world.has_race())
}

/// Runs two threads in a random interleaving of what lies between the places where they can be preempted.
fn run_threads<R: Rules>(blocks: &Blocks, threads: &[Vec<Step>; 2], random: &mut Random) {
    let blocks: *const Blocks = blocks;
    let mut running: Vec<(usize, Coroutine<(), (), ()>)> = threads
        .iter()
        .cloned()
        .enumerate()
        .map(|(thread, steps)| {
            let coroutine = Coroutine::with_stack(stack(), move |yielder: &Yielder<(), ()>, ()| {
                for step in steps {
                    YIELDER.set(yielder);
                    // SAFETY: the blocks outlive the coroutines, which all end in this function.
                    run_step::<R>(unsafe { &*blocks }, step);
                }
            });
            (thread, coroutine)
        })
        .collect();
    World::with(World::fork);
    while !running.is_empty() {
        let index = usize::try_from(random.below(running.len() as u64)).unwrap_or(0);
        World::with(|world| world.switch(running[index].0));
        let result = running[index].1.resume(());
        YIELDER.set(std::ptr::null());
        if matches!(result, CoroutineResult::Return(())) {
            let (_, coroutine) = running.swap_remove(index);
            give_stack(coroutine.into_stack());
        }
    }
    World::with(World::join);
}

type Stack = corosensei::stack::DefaultStack;

thread_local! {
    static STACKS: std::cell::RefCell<Vec<Stack>> = const { std::cell::RefCell::new(Vec::new()) };
}

fn stack() -> Stack {
    STACKS.with_borrow_mut(Vec::pop).unwrap_or_else(|| {
        Stack::new(256 << 10).unwrap_or_else(|error| panic!("no stack: {error}"))
    })
}

fn give_stack(stack: Stack) {
    STACKS.with_borrow_mut(|stacks| stacks.push(stack));
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
                write,
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
                write: true,
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
                write: true,
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
            write: false,
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

impl Queue for Recorder {
    type Event = world::Event;
    type Error = std::convert::Infallible;
    type Domain = ();

    fn number(&self) -> u64 {
        self.0
    }

    fn domain(&self) -> &() {
        &()
    }

    fn reserve(&self) -> Result<world::Event, Self::Error> {
        Ok(World::with(World::new_event))
    }

    fn record(&self, event: &world::Event) -> Result<(), Self::Error> {
        preempt();
        World::with(|world| world.record(self.0, event));
        preempt();
        Ok(())
    }

    fn wait(&self, event: &world::Event) -> Result<(), Self::Error> {
        World::with(|world| world.wait(self.0, event));
        Ok(())
    }

    fn finish(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    fn lost() -> Self::Error {
        unreachable!("recording does not fail")
    }

    fn is_refusal(_: &Self::Error) -> bool {
        true
    }
}
