//! Executes a kernel ahead of the one before it: programmatic dependent launch.
//!
//! Where two kernels follow each other in a stream and the second may begin early, the seed chooses whether it does: then the first runs when
//! a thread of the second waits for it (`griddepcontrol.wait`), or afterwards where none does. Whatever was chosen, what the second does
//! before it waits is held to be unordered with the first.

use std::sync::Arc;

use cuda_sim_machine::{Abandoned, FaultKind, Memory, Prerequisite};
use parking_lot::Mutex;

use super::OVERHEAD;
use super::kernel::{Queued, Ran, Ready, kernel_of};
use crate::report::Report;
use crate::state::State;
use crate::state::access::DeviceView;
use crate::state::context::ContextRef;
use crate::state::order::Moment;
use crate::state::order::check::Touch;
use crate::state::order::history::{Actor, What};
use crate::state::queue::{KernelWork, OperationId, Work};

/// The kernel before one that began early: it has ended, or runs as soon as somebody waits for it.
#[derive(Debug)]
pub(super) struct Before<'a> {
    /// Memory for those who have not waited.
    view: DeviceView<'a>,
    pending: Mutex<Option<Pending<'a>>>,
}

impl<'a> Before<'a> {
    /// It has ended.
    pub(super) fn done(view: DeviceView<'a>) -> Self {
        Self {
            view,
            pending: Mutex::new(None),
        }
    }

    /// What those have touched who have not waited.
    pub(super) fn take_touched(&self) -> Vec<Touch> {
        self.view.take_touched()
    }
}

/// A kernel that has not run, or what came of it.
enum Pending<'a> {
    Ready(Box<Ready<'a>>),
    Ran(Ran),
}

impl std::fmt::Debug for Pending<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ready(_) => "Ready",
            Self::Ran(_) => "Ran",
        })
    }
}

impl Prerequisite for Before<'_> {
    fn memory(&self) -> &dyn Memory {
        &self.view
    }

    fn wait(&self) -> Result<(), Abandoned> {
        let mut pending = self.pending.lock();
        if let Some(Pending::Ready(ready)) = &*pending {
            let ran = ready.run(None);
            *pending = Some(Pending::Ran(ran));
        }
        match &*pending {
            Some(Pending::Ran(Ran { result: Err(_), .. })) => Err(Abandoned),
            _ => Ok(()),
        }
    }
}

impl State {
    /// The launch behind an operation, if it may begin early and the seed says that it does. In its queue nothing is left of it to be done.
    pub(super) fn take_dependent(
        &mut self,
        id: OperationId,
    ) -> Option<(Box<KernelWork>, Moment, u64)> {
        let queue = self.queues.get(&self.operations.get(&id)?.stream)?;
        let next = *queue.operations.get(1)?;
        let first = queue.operations.front() == Some(&id);
        let operation = self.operations.get_mut(&next)?;
        let may_begin = match &operation.work {
            Work::Kernel(work) => work.dependent && operation.after.is_empty(),
            _ => false,
        };
        // A kernel that is made to fail is counted when its turn comes.
        if !first || !may_begin || !self.kernel_faults.is_empty() {
            return None;
        }
        if self.random.below(2) != Some(1) {
            return None;
        }
        match std::mem::replace(&mut operation.work, Work::Wait) {
            Work::Kernel(work) => Some((work, operation.moment.clone(), operation.call)),
            other => {
                operation.work = other;
                None
            }
        }
    }

    /// Executes two launches of which the second begins before the first.
    pub(super) fn execute_pair(
        &mut self,
        context: ContextRef,
        first: &Queued<'_>,
        second: &Queued<'_>,
    ) -> u64 {
        let (Some(one), Some(other)) = (kernel_of(first.work), kernel_of(second.work)) else {
            return OVERHEAD;
        };
        let of_first = self.settings(context, one, first.call);
        let of_second = self.settings(context, other, second.call);
        let before = Before {
            view: self.view(context, other).ahead(),
            pending: Mutex::new(Some(Pending::Ready(Box::new(
                self.prepare(context, one, first.work, of_first),
            )))),
        };
        let ready = self.prepare(context, other, second.work, of_second);
        let ran = ready.run(Some(&before));
        let early = before.view.take_touched();
        let pending = before.pending.into_inner();
        let abandoned = matches!(&ran.result, Err(fault) if fault.kind == FaultKind::Abandoned);
        let earlier = match pending {
            Some(Pending::Ran(ran)) => Some(ran),
            // It goes with the other one where that failed before.
            Some(Pending::Ready(ready)) => ran.result.is_ok().then(|| ready.run(None)),
            None => None,
        };
        self.note_early(second, early);
        let mut time = 0;
        if let Some(earlier) = earlier {
            time += self.settle(context, first, earlier);
        }
        if abandoned {
            // What it had printed and what was found in it stays.
            let Ran { printed, found, .. } = ran;
            self.keep_printed(printed);
            for finding in found {
                self.add_report(Report::of_finding(finding, second.call));
            }
            return time;
        }
        time + self.settle(context, second, ran)
    }

    pub(super) fn note_early(&mut self, launch: &Queued<'_>, touched: Vec<Touch>) {
        let Some(moment) = launch.moment.ahead() else {
            return;
        };
        let actor = Actor {
            what: What::KernelAhead(Arc::clone(&launch.work.module), launch.work.kernel),
            moment,
            call: launch.call,
        };
        self.note_accesses(&Arc::new(actor), touched);
    }
}
