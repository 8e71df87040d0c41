//! Which operations are ordered, whatever the order of execution: vector clocks, and what each operation touched.
//!
//! An operation comes after those before it in its stream, after what its stream has waited for, after what the default stream's rules
//! imply, and after everything that the host had waited for when it was enqueued. The host counts as one: its threads order each other by
//! means that no driver sees. Two operations that touch the same bytes are compared when the second is executed, so what is found does
//! not depend on which that is.

pub(crate) mod byte_set;
pub(crate) mod check;
pub(crate) mod clock;
pub(crate) mod history;
pub(crate) mod touched;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::state::context::ContextRef;
use crate::state::queue::{OperationId, StreamId};
use clock::{Clock, Mark};

/// What an operation comes after.
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    pub(crate) mark: Mark,
    /// The last operation of its own stream that comes before it: itself, unless it may begin ahead of others.
    reach: OperationId,
    clock: Arc<Clock>,
    /// What the host knew when it enqueued it.
    host: Arc<Clock>,
    /// The same for a kernel that has not waited for the one before it, where that one can be told apart.
    ahead: Option<OperationId>,
}

impl Moment {
    /// Whether an operation comes before this one, or is this one.
    fn knows(&self, mark: Mark) -> bool {
        mark == self.mark
            || mark.stream == self.mark.stream && mark.operation <= self.reach
            || self.host.knows(mark)
            || self.clock.knows(mark)
    }

    /// The same operation as long as it has not waited for the kernel before it; nothing where it begins when that one has ended.
    pub(crate) fn ahead(&self) -> Option<Self> {
        let reach = self.ahead?;
        Some(Self {
            reach,
            ahead: None,
            ..self.clone()
        })
    }

    /// This operation and everything before it.
    pub(crate) fn seen(&self) -> Clock {
        let mut seen = Clock::clone(&self.clock);
        seen.add(self.mark);
        seen
    }
}

/// When an operation may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// A kernel, when the operation before it has ended.
    Kernel,
    /// A kernel, before the kernel before it has ended.
    Dependent,
    /// An event's record, which keeps nothing apart.
    Record,
    /// Anything else, when the operation before it has ended.
    Other,
}

/// A stream.
#[derive(Debug)]
struct Line {
    context: ContextRef,
    legacy: bool,
    blocking: bool,
    clock: Arc<Clock>,
    last: Option<Mark>,
    /// Where the last operation is a kernel: the last operation that comes before all that it does.
    before_kernel: Option<OperationId>,
}

impl Line {
    /// All of its operations and everything before them.
    fn add_to(&self, clock: &mut Clock) {
        clock.join(&self.clock);
        if let Some(last) = self.last {
            clock.add(last);
        }
    }
}

/// The streams of a context that are no more.
#[derive(Debug, Default)]
struct Gone {
    blocking: Clock,
    all: Clock,
}

/// What comes after an operation is ordered behind, beyond what was known when it was enqueued: of a host function, what the host had waited
/// for when it returned; of a wait for a word, those who wrote it.
#[derive(Debug)]
struct Handoff {
    function: Mark,
    known: Arc<Clock>,
}

/// The order of an instance's operations; all of it is empty where nobody asks for the check.
#[derive(Debug)]
pub(crate) struct Order {
    on: bool,
    host: Arc<Clock>,
    lines: BTreeMap<StreamId, Line>,
    gone: BTreeMap<ContextRef, Gone>,
    handoffs: Vec<Handoff>,
}

impl Order {
    pub(crate) fn new(on: bool) -> Self {
        Self {
            on,
            host: Arc::default(),
            lines: BTreeMap::new(),
            gone: BTreeMap::new(),
            handoffs: Vec::new(),
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// Adds a stream.
    pub(crate) fn open(
        &mut self,
        stream: StreamId,
        context: ContextRef,
        legacy: bool,
        blocking: bool,
    ) {
        if self.on {
            let line = Line {
                context,
                legacy,
                blocking,
                clock: Arc::default(),
                last: None,
                before_kernel: None,
            };
            self.lines.insert(stream, line);
        }
    }

    /// Adds an operation at the end of a stream.
    pub(crate) fn enqueue(
        &mut self,
        stream: StreamId,
        operation: OperationId,
        start: Start,
    ) -> Moment {
        let mark = Mark { stream, operation };
        let implied = self.implied(stream);
        let host = Arc::clone(&self.host);
        let Some(line) = self.lines.get_mut(&stream) else {
            return Moment {
                mark,
                reach: operation,
                clock: Arc::default(),
                host,
                ahead: None,
            };
        };
        if !line.clock.includes(&implied) {
            Arc::make_mut(&mut line.clock).join(&implied);
        }
        line.last = Some(mark);
        // Whether a kernel that began early has waited before those that follow begin is not known here: what it may overlap, they may.
        let ahead = line.before_kernel.filter(|_| start == Start::Dependent);
        let before = OperationId(operation.0.saturating_sub(1));
        line.before_kernel = match start {
            Start::Kernel | Start::Dependent => Some(ahead.unwrap_or(before)),
            Start::Record => line.before_kernel,
            Start::Other => None,
        };
        Moment {
            mark,
            reach: operation,
            clock: Arc::clone(&line.clock),
            host,
            ahead,
        }
    }

    /// What the default stream's rules put before the next operation of a stream.
    fn implied(&self, stream: StreamId) -> Clock {
        let mut implied = Clock::default();
        let Some(line) = self.lines.get(&stream) else {
            return implied;
        };
        if !line.legacy && !line.blocking {
            return implied;
        }
        let before = |other: &&Line| {
            other.context == line.context
                && (line.legacy && other.blocking || line.blocking && other.legacy)
        };
        for other in self.lines.values().filter(before) {
            if other.last.is_some_and(|last| !line.clock.knows(last)) {
                other.add_to(&mut implied);
            }
        }
        if let Some(gone) = self.gone.get(&line.context).filter(|_| line.legacy) {
            implied.join(&gone.blocking);
        }
        implied
    }

    /// Puts everything in `seen` before the later operations of a stream.
    pub(crate) fn wait(&mut self, stream: StreamId, seen: &Clock) {
        if let Some(line) = self.lines.get_mut(&stream) {
            line.before_kernel = None;
            if !line.clock.includes(seen) {
                Arc::make_mut(&mut line.clock).join(seen);
            }
        }
    }

    /// What comes before the end of a stream.
    pub(crate) fn of_stream(&self, stream: StreamId) -> Clock {
        let mut seen = Clock::default();
        if let Some(line) = self.lines.get(&stream) {
            line.add_to(&mut seen);
        }
        seen
    }

    /// What comes before the end of all streams of some contexts.
    pub(crate) fn of_contexts(&self, choose: impl Fn(ContextRef) -> bool) -> Clock {
        let mut seen = Clock::default();
        for line in self.lines.values().filter(|line| choose(line.context)) {
            line.add_to(&mut seen);
        }
        for (_, gone) in self.gone.iter().filter(|(context, _)| choose(**context)) {
            seen.join(&gone.all);
        }
        seen
    }

    /// Whether an operation comes before another one, or is the same.
    pub(crate) fn is_before(&self, mark: Mark, moment: &Moment) -> bool {
        let handed =
            |handoff: &Handoff| moment.knows(handoff.function) && handoff.known.knows(mark);
        moment.knows(mark) || self.handoffs.iter().any(handed)
    }

    /// The moment of a call that waits for nothing: what the host knows.
    pub(crate) fn now(&self) -> Moment {
        Moment {
            mark: Mark {
                stream: StreamId(0),
                operation: OperationId(0),
            },
            reach: OperationId(0),
            clock: Arc::default(),
            host: Arc::clone(&self.host),
            ahead: None,
        }
    }

    /// Notes that a host function returned: what the host knows by now comes before what follows it in its stream.
    pub(crate) fn hand_off(&mut self, function: Mark) {
        if self.on && !self.host.is_empty() {
            let known = Arc::clone(&self.host);
            self.handoffs.push(Handoff { function, known });
        }
    }

    /// Puts everything in `known` before what follows an operation that has been enqueued.
    pub(crate) fn put_before(&mut self, operation: Mark, known: Clock) {
        if self.on && !known.is_empty() {
            let known = Arc::new(known);
            self.handoffs.push(Handoff {
                function: operation,
                known,
            });
        }
    }

    fn host_learns(&mut self, seen: &Clock) {
        if !self.host.includes(seen) {
            Arc::make_mut(&mut self.host).join(seen);
        }
    }

    /// Lets go of streams that are gone, and of knowledge about operations of which nothing is remembered. Nothing may be enqueued.
    fn shrink(&mut self, lives: impl Fn(StreamId) -> bool, remembered: &BTreeSet<StreamId>) {
        self.handoffs.clear();
        // No access is left that the host knows of.
        self.host = Arc::default();
        let gone = &mut self.gone;
        self.lines.retain(|stream, line| {
            let stays = lives(*stream);
            if !stays {
                let entry = gone.entry(line.context).or_default();
                line.add_to(&mut entry.all);
                if line.blocking {
                    line.add_to(&mut entry.blocking);
                }
            } else if line.clock.len() > 16 {
                Arc::make_mut(&mut line.clock).retain(|mark| remembered.contains(&mark.stream));
            }
            stays
        });
        for entry in gone.values_mut() {
            entry.all.retain(|mark| remembered.contains(&mark.stream));
            entry
                .blocking
                .retain(|mark| remembered.contains(&mark.stream));
        }
        gone.retain(|_, entry| !entry.all.is_empty());
    }
}
