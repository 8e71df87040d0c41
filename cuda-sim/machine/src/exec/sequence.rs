//! Clusters that do not influence each other: each runs to its end, on as many threads as pay. Without clusters, each block is one.
//!
//! Threads of the standard library, not of a pool that steals work: whoever launches holds locks of its own, and while it waited, a pool
//! might run another of its tasks on this thread, which then waits for the same lock for ever.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::exec::cluster::Cluster;
use crate::exec::grid::{Grid, TURN};
use crate::exec::ledger::{End, Ledger, Part};
use crate::exec::order::{Order, Start};
use crate::exec::unwritten::Unwritten;
use crate::{Fault, Statistics};

/// Instructions of warps, about a millisecond of them, that make another thread worth its start.
const WORTH_A_THREAD: u64 = 50_000;
/// Instructions that a part should have, so that the locks cost nothing beside it.
const WORTH_A_PART: u64 = 20_000;

/// More threads than any machine has cores.
const MOST_THREADS: usize = 1024;

/// What the threads of a launch share.
struct Shared<'a> {
    grid: &'a Grid<'a>,
    queue: Mutex<Queue>,
    ledger: Mutex<Ledger>,
    /// Parts with a higher number do not count any more.
    stop: AtomicU64,
    /// Instructions that a part may execute: one more than all may, so that to use them up is to exceed the limit.
    fuel: u64,
}

/// Clusters that no thread has taken yet.
struct Queue {
    order: Order,
    /// Parts that were taken.
    parts: u64,
    /// Clusters of the next part.
    size: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs all clusters; says too what they read that nothing had written.
pub(super) fn run(grid: &Grid<'_>) -> (Result<Statistics, Fault>, Unwritten) {
    let launch = grid.shape.launch;
    let shared = Shared {
        grid,
        queue: Mutex::new(Queue {
            order: Order::new(launch),
            parts: 0,
            size: 1,
        }),
        ledger: Mutex::new(Ledger::new(launch.limits.instructions)),
        stop: AtomicU64::new(u64::MAX),
        fuel: launch.limits.instructions.saturating_add(1),
    };
    let mut worker = Worker::new(&shared);
    worker.work(WORTH_A_THREAD);
    let helpers = shared.helpers(worker.executed());
    if helpers == 0 {
        worker.work(u64::MAX);
    } else {
        thread::scope(|scope| {
            for number in 1..=helpers {
                let help = || Worker::new(&shared).work(u64::MAX);
                let thread = thread::Builder::new().name(format!("blocks {number}"));
                // Where the system has no more threads, the others do all the work.
                if thread.spawn_scoped(scope, help).is_err() {
                    break;
                }
            }
            worker.work(u64::MAX);
        });
    }
    let ledger = shared
        .ledger
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let (outcome, unwritten) = ledger.close();
    let outcome = outcome.map_err(|end| match end {
        End::Fault(fault) => fault,
        End::Timeout(at) => grid.timeout(at),
    });
    (outcome, unwritten)
}

impl Shared<'_> {
    /// How many threads the blocks that are left deserve beside this one, which has executed so many instructions; sizes the parts, too.
    fn helpers(&self, executed: u64) -> usize {
        let mut queue = lock(&self.queue);
        let remaining = queue.order.remaining();
        if remaining == 0 || self.stop.load(Relaxed) != u64::MAX {
            return 0;
        }
        // Each part had one cluster until now.
        let average = (executed / queue.parts.max(1)).max(1);
        let launch = self.grid.shape.launch;
        let threads = if cfg!(miri) || launch.prerequisite.is_some() {
            1
        } else {
            launch.threads.clamp(1, MOST_THREADS) as u64
        };
        queue.size = (WORTH_A_PART / average)
            .min(remaining / (4 * threads))
            .max(1);
        let worth = average.saturating_mul(remaining) / WORTH_A_THREAD;
        (threads - 1).min(remaining).min(worth) as usize
    }
}

/// One thread of a launch.
struct Worker<'a> {
    shared: &'a Shared<'a>,
    /// The cluster that runs, or ran last.
    cluster: Cluster,
    running: bool,
    /// Clusters of the part that have not started, the next one last.
    starts: Vec<Start>,
    /// The part that is under way, and its number.
    part: Option<(u64, Part)>,
    /// Instructions of the parts before it.
    executed: u64,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared<'a>) -> Self {
        Self {
            shared,
            cluster: shared.grid.new_cluster(),
            running: false,
            starts: Vec::new(),
            part: None,
            executed: 0,
        }
    }

    /// Runs clusters until none is left that counts, or this thread has executed so many instructions.
    fn work(&mut self, until: u64) {
        while self.running || self.next_cluster() {
            let Some((number, part)) = &mut self.part else {
                return;
            };
            let (meter, unwritten) = (&mut part.meter, &mut part.unwritten);
            match self
                .shared
                .grid
                .advance(&mut self.cluster, TURN, meter, unwritten)
            {
                Ok(true) => {
                    part.blocks += self.cluster.len();
                    self.running = false;
                }
                Ok(false) if part.meter.fuel == 0 => {
                    part.at = self.shared.grid.current(&self.cluster);
                    return self.report();
                }
                Ok(false) if *number > self.shared.stop.load(Relaxed) => return,
                Ok(false) => {}
                Err(fault) => return self.fail(fault),
            }
            if self.executed() >= until {
                return;
            }
            // Between the clusters of a part, no time passes that counts.
            if (self.running || self.starts.is_empty())
                && let Err(fault) = self.check_age()
            {
                return self.fail(fault);
            }
        }
    }

    #[inline(always)]
    fn check_age(&self) -> Result<(), Fault> {
        let grid = self.shared.grid;
        grid.check_age(&self.cluster, self.executed())
    }

    /// Instructions that this thread has executed.
    fn executed(&self) -> u64 {
        let part = self.part.as_ref();
        self.executed + part.map_or(0, |(_, part)| part.meter.instructions)
    }

    /// Starts the next cluster of the part, or of the next part; says whether there was one.
    fn next_cluster(&mut self) -> bool {
        if self.starts.is_empty() {
            self.report();
            let mut queue = lock(&self.shared.queue);
            let size = queue.size as usize;
            while self.starts.len() < size
                && let Some(start) = queue.order.next()
            {
                self.starts.push(start);
            }
            self.starts.reverse();
            let mut part = Part::default();
            part.meter.fuel = self.shared.fuel;
            self.part = Some((queue.parts, part));
            queue.parts += 1;
        }
        let counts = |(number, _): &(u64, Part)| *number <= self.shared.stop.load(Relaxed);
        let Some(start) = self
            .starts
            .pop()
            .filter(|_| self.part.as_ref().is_some_and(counts))
        else {
            self.part = None;
            return false;
        };
        self.shared.grid.start(&mut self.cluster, start);
        self.running = true;
        true
    }

    /// The part ends with a fault.
    #[cold]
    fn fail(&mut self, fault: Fault) {
        if let Some((_, part)) = &mut self.part {
            part.fault = Some(fault);
        }
        self.report();
    }

    /// Enters what the part did into the ledger.
    fn report(&mut self) {
        self.executed = self.executed();
        self.running = false;
        if let Some((number, part)) = self.part.take()
            && lock(&self.shared.ledger).enter(number, part)
        {
            self.shared.stop.fetch_min(number, Relaxed);
        }
    }
}
