//! Work that was enqueued and has not been executed: one queue for each stream, and edges between operations.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use cuda_sys::{CUhostFn, CUstreamCallback};

use crate::state::State;
use crate::state::context::ContextRef;
use crate::state::module::Loaded;
use crate::state::order::{Moment, Start};
use crate::state::transfer::{Copy, Fill};
use crate::state::word::{Condition, Word};

/// The number of a stream: never reused, unlike its handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StreamId(pub(crate) u64);

/// The number of an operation, in the order of the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct OperationId(pub(crate) u64);

/// The operations of one stream; outlives the stream's handle.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) context: ContextRef,
    /// The legacy default stream.
    pub(crate) legacy: bool,
    /// Ordered with the legacy default stream.
    pub(crate) blocking: bool,
    pub(crate) operations: VecDeque<OperationId>,
    /// How many of them are launches.
    launches: usize,
    /// Whether the head is being executed elsewhere (a host function).
    pub(crate) running: bool,
    /// When the last executed operation ended, in nanoseconds of the virtual clock.
    pub(crate) end: u64,
    /// Whether the stream's handle is gone.
    pub(crate) closed: bool,
}

/// When a recorded event was reached: nanoseconds of the virtual clock, 0 before.
pub(crate) type Stamp = Arc<AtomicU64>;

/// A launch, checked and ready to run.
#[derive(Debug)]
pub(crate) struct KernelWork {
    pub(crate) module: Arc<Loaded>,
    pub(crate) kernel: usize,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Blocks of a cluster, where the launch has clusters.
    pub(crate) cluster: Option<[u32; 3]>,
    pub(crate) dynamic_shared: u32,
    pub(crate) params: Vec<u8>,
    /// It may begin before the kernel before it in its stream has ended.
    pub(crate) dependent: bool,
    /// Address of the workspace of a cooperative launch; 0 for other launches.
    pub(crate) workspace: u64,
}

/// What an operation does.
#[derive(Debug)]
pub(crate) enum Work {
    Kernel(Box<KernelWork>),
    Copy(Box<Copy>),
    Fill(Fill),
    /// Makes stream-ordered memory accessible.
    Allocate {
        address: u64,
        size: usize,
    },
    /// Makes stream-ordered memory inaccessible.
    Free {
        address: u64,
    },
    /// The point that an event marks.
    Record {
        stamp: Stamp,
    },
    /// Nothing: carries edges.
    Wait,
    /// Writes a word.
    Put(Word),
    /// Waits until a word has some value.
    Await {
        word: Word,
        condition: Condition,
    },
    /// A host function with its argument.
    HostFunction {
        function: CUhostFn,
        data: usize,
    },
    /// A stream callback with the stream's handle and its argument.
    Callback {
        function: CUstreamCallback,
        stream: u64,
        data: usize,
    },
}

impl Work {
    /// When it may begin.
    fn start(&self) -> Start {
        match self {
            Self::Kernel(work) if work.dependent => Start::Dependent,
            Self::Kernel(_) => Start::Kernel,
            Self::Record { .. } => Start::Record,
            _ => Start::Other,
        }
    }

    /// Whether the host may do something that what follows relies on.
    fn is_with_host(&self) -> bool {
        matches!(
            self,
            Self::HostFunction { .. } | Self::Callback { .. } | Self::Await { .. }
        )
    }
}

/// An operation that waits for its turn.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) stream: StreamId,
    pub(crate) context: ContextRef,
    /// Operations that must be executed first, besides those before it in its stream.
    pub(crate) after: Vec<OperationId>,
    /// Operations that have this one in `after`.
    pub(crate) followers: Vec<OperationId>,
    pub(crate) work: Work,
    /// Whether it was enqueued as a launch.
    is_launch: bool,
    /// The earliest start by the virtual clock.
    pub(crate) not_before: u64,
    /// Number of the call that enqueued it.
    pub(crate) call: u64,
    /// What it comes after, whatever the order of execution.
    pub(crate) moment: Moment,
}

impl State {
    /// A new queue.
    pub(crate) fn open_queue(
        &mut self,
        context: ContextRef,
        legacy: bool,
        blocking: bool,
    ) -> StreamId {
        self.stream_ids += 1;
        let id = StreamId(self.stream_ids);
        let operations = VecDeque::new();
        self.order.open(id, context, legacy, blocking);
        self.queues.insert(
            id,
            Queue {
                context,
                legacy,
                blocking,
                operations,
                launches: 0,
                running: false,
                end: 0,
                closed: false,
            },
        );
        id
    }

    /// Adds an operation at the end of a stream, after what the stream's kind implies and after `after`.
    pub(crate) fn enqueue(
        &mut self,
        stream: StreamId,
        work: Work,
        after: &[OperationId],
        call: u64,
    ) -> OperationId {
        self.operation_ids += 1;
        let id = OperationId(self.operation_ids);
        let Some(queue) = self.queues.get(&stream) else {
            return id;
        };
        let (context, legacy, blocking) = (queue.context, queue.legacy, queue.blocking);
        let is_launch = matches!(work, Work::Kernel(_));
        for earlier in after.iter().filter_map(|edge| self.operations.get(edge)) {
            self.order.wait(stream, &earlier.moment.seen());
        }
        let moment = self.order.enqueue(stream, id, work.start());
        let pending = |edge: &OperationId| self.operations.contains_key(edge);
        let mut edges: Vec<OperationId> = after.iter().copied().filter(pending).collect();
        let mut not_before = self.clock.max(queue.end);
        for (other_id, other) in &self.queues {
            let implied = legacy && other.blocking || blocking && other.legacy;
            if implied && *other_id != stream && other.context == context {
                edges.extend(other.operations.back());
                not_before = not_before.max(other.end);
            }
        }
        if let Some(queue) = self.queues.get_mut(&stream) {
            queue.operations.push_back(id);
            queue.launches += usize::from(is_launch);
        }
        edges.sort_unstable();
        edges.dedup();
        for edge in &edges {
            if let Some(operation) = self.operations.get_mut(edge) {
                operation.followers.push(id);
            }
        }
        if work.is_with_host() {
            self.with_host.insert(id);
        }
        if let Work::Await { word, .. } = &work {
            let read = word.address..word.address + word.width as u64;
            self.space
                .watches
                .touch(std::iter::once(read), std::iter::empty(), None);
        }
        let followers = Vec::new();
        let operation = Operation {
            stream,
            context,
            after: edges,
            followers,
            work,
            is_launch,
            not_before,
            call,
            moment,
        };
        self.operations.insert(id, operation);
        id
    }

    /// The first launch of a stream in which as many wait as can.
    pub(crate) fn full_queue(&self, stream: StreamId) -> Option<OperationId> {
        let limit = self.options.launch_queue;
        let queue = self.queues.get(&stream)?;
        if queue.launches < limit {
            return None;
        }
        let is_launch = |id: &&OperationId| self.operations.get(id).is_some_and(|it| it.is_launch);
        queue.operations.iter().find(is_launch).copied()
    }

    /// Whether an operation has been executed.
    pub(crate) fn is_done(&self, operation: OperationId) -> bool {
        !self.operations.contains_key(&operation)
    }

    /// The last operation of a stream that has not been executed.
    pub(crate) fn last_operation(&self, stream: StreamId) -> Option<OperationId> {
        self.queues
            .get(&stream)
            .and_then(|queue| queue.operations.back())
            .copied()
    }

    /// All operations of a context that have not been executed.
    pub(crate) fn operations_of(&self, context: ContextRef) -> Vec<OperationId> {
        self.operations
            .iter()
            .filter(|(_, operation)| operation.context == context)
            .map(|(id, _)| *id)
            .collect()
    }

    /// Takes the head operation off its queue and tells those that wait for it when it ended.
    pub(crate) fn finish(&mut self, id: OperationId, end: u64) {
        let Some(operation) = self.operations.remove(&id) else {
            return;
        };
        self.with_host.remove(&id);
        self.space.watches.forget(id);
        if let Work::Record { stamp } = &operation.work {
            stamp.store(end, Relaxed);
        }
        for follower in &operation.followers {
            if let Some(other) = self.operations.get_mut(follower) {
                other.after.retain(|edge| *edge != id);
                other.not_before = other.not_before.max(end);
            }
        }
        if let Some(queue) = self.queues.get_mut(&operation.stream) {
            if queue.operations.front() == Some(&id) {
                queue.operations.pop_front();
            } else {
                queue.operations.retain(|entry| *entry != id);
            }
            queue.launches -= usize::from(operation.is_launch);
            queue.running = false;
            queue.end = queue.end.max(end);
            if queue.closed && queue.operations.is_empty() {
                self.queues.remove(&operation.stream);
            }
        }
    }

    /// Drops all work of a context unexecuted.
    pub(crate) fn discard_work(&mut self, context: ContextRef) {
        for id in self.operations_of(context) {
            self.finish(id, self.clock);
        }
        self.queues.retain(|_, queue| queue.context != context);
    }
}

/// When an event was reached.
pub(crate) fn reached(stamp: &AtomicU64) -> Option<u64> {
    Some(stamp.load(Relaxed)).filter(|time| *time > 0)
}
