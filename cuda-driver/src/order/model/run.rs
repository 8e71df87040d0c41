//! Running a program, its threads in a random interleaving.

use std::cell::Cell;
use std::sync::Arc;

use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::super::{Access, Effect, Operation, Order, Queue, Range, Rules};
use super::program::{Program, Random, Step, UNITS};
use super::world::{self, Recorder, Use, World};

thread_local! {
    static YIELDER: Cell<*const Yielder<(), ()>> = const { Cell::new(std::ptr::null()) };
}

/// Lets the other thread of the program run, if there is one.
pub(super) fn preempt() {
    let yielder = YIELDER.get();
    if yielder.is_null() {
        return;
    }
    // SAFETY: the pointer is set only while the coroutine runs whose yielder it is.
    unsafe { &*yielder }.suspend(());
    YIELDER.set(yielder);
}

pub(super) type Blocks = [Order<Recorder>; 2];

/// Takes a step; the blocks are two.
pub(super) fn run_step<R: Rules>(blocks: &[Order<Recorder>], step: Step) {
    match step {
        Step::Enqueue(number, uses) => {
            let mut accesses: Vec<Access<'_, Recorder>> = uses
                .iter()
                .flatten()
                .map(|part| Access {
                    order: &blocks[part.block],
                    range: part.range,
                    effect: part.effect,
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
                        effect: write.into(),
                    },
                );
            });
            blocks[block].forget::<R>(|event| events.contains(event));
        }
    }
}

/// Runs a program under the rules and says whether it has a race.
pub(super) fn races<R: Rules>(program: &Program, random: &mut Random) -> bool {
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
            effect: Effect::Write,
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
            effect: Effect::Write,
        };
        World::with(|world| world.enqueue(home, [all]));
    }
    World::with(|world| world.has_race())
}

/// Runs two threads in a random interleaving of what lies between the places where they can be preempted.
pub(super) fn run_threads<R: Rules>(
    blocks: &[Order<Recorder>],
    threads: &[Vec<Step>; 2],
    random: &mut Random,
) {
    let blocks: *const [Order<Recorder>] = blocks;
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

pub(super) type Stack = corosensei::stack::DefaultStack;

thread_local! {
    static STACKS: std::cell::RefCell<Vec<Stack>> = const { std::cell::RefCell::new(Vec::new()) };
}

pub(super) fn stack() -> Stack {
    STACKS.with_borrow_mut(Vec::pop).unwrap_or_else(|| {
        Stack::new(256 << 10).unwrap_or_else(|error| panic!("no stack: {error}"))
    })
}

pub(super) fn give_stack(stack: Stack) {
    STACKS.with_borrow_mut(|stacks| stacks.push(stack));
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
