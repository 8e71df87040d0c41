//! Executes one operation: kernels, copies, fills, and memory that appears or goes in stream order.

mod dependent;
mod kernel;

use std::sync::Arc;

use cuda_sys::CUresult;

use crate::report::AccessKind;
use crate::state::State;
use crate::state::context::ContextRef;
use crate::state::order::history::{Actor, What};
use crate::state::queue::{OperationId, Work};
use crate::state::space::{Block, Data, Origin, Presence};
use crate::state::transfer::Fill;

pub(crate) use kernel::DEFAULT_STACK;
use kernel::Queued;

/// Nanoseconds that any operation takes by the virtual clock.
const OVERHEAD: u64 = 1_000;

impl State {
    /// Executes an operation and returns when it ended, by the virtual clock. The work of a poisoned context is passed over.
    pub(crate) fn execute(&mut self, id: OperationId) -> u64 {
        let Some(operation) = self.operations.get_mut(&id) else {
            return self.clock;
        };
        let (context, not_before, call) = (operation.context, operation.not_before, operation.call);
        let moment = operation.moment.clone();
        let stream_end = self
            .queues
            .get(&operation.stream)
            .map_or(0, |queue| queue.end);
        let keeps = matches!(operation.work, Work::Record { .. });
        let work = if keeps {
            Work::Wait
        } else {
            std::mem::replace(&mut operation.work, Work::Wait)
        };
        let start = not_before.max(stream_end);
        if keeps {
            return start.max(1);
        }
        if self.healthy(context).is_err() {
            return start;
        }
        let mark = moment.mark;
        let actor = |what| {
            let moment = moment.clone();
            Arc::new(Actor { what, moment, call })
        };
        start
            + match work {
                Work::Kernel(kernel) => {
                    let launch = Queued {
                        work: &kernel,
                        moment,
                        call,
                    };
                    self.execute_kernel(id, context, &launch)
                }
                Work::Copy(copy) => {
                    self.space
                        .watches
                        .touch(copy.reads(), copy.writes(), Some(id));
                    self.end_watch(id, call);
                    let mut touches = self.touches(AccessKind::Read, copy.reads());
                    touches.extend(self.touches(AccessKind::Write, copy.writes()));
                    self.note_accesses(&actor(What::Name("copy")), touches);
                    OVERHEAD + self.execute_copy(context, &copy, call)
                }
                Work::Fill(fill) => {
                    self.space
                        .watches
                        .touch(std::iter::empty(), fill.writes(), None);
                    let touches = self.touches(AccessKind::Write, fill.writes());
                    self.note_accesses(&actor(What::Name("fill")), touches);
                    OVERHEAD + self.execute_fill(context, &fill, call)
                }
                Work::Put(word) => {
                    let fill = Fill::of_word(&word);
                    self.space
                        .watches
                        .touch(std::iter::empty(), fill.writes(), None);
                    let touches = self.touches(AccessKind::Atomic, fill.writes());
                    self.note_accesses(&actor(What::Name("write of a word")), touches);
                    OVERHEAD + self.execute_fill(context, &fill, call)
                }
                Work::Await { word, .. } => {
                    let range = word.address..word.address + word.width as u64;
                    if self.check_live(context, vec![range], "wait", call) {
                        self.end_wait(&word, mark);
                    }
                    0
                }
                Work::Allocate { address, size } => {
                    // The pool has seen to it that the memory is free: what was before is another allocation's.
                    self.space.histories.forget(address);
                    let touches = self.touch_all(address);
                    let actor = actor(What::Name("allocation"));
                    self.note_accesses(&actor, touches);
                    if let Some(block) = self.space.at_mut(address) {
                        block.presence = Presence::Live(size);
                        forget(block);
                    }
                    0
                }
                Work::Free { address } => {
                    let touches = self.touch_all(address);
                    let actor = actor(What::Name("release"));
                    self.note_accesses(&actor, touches);
                    self.execute_free(address, call);
                    0
                }
                Work::Record { .. }
                | Work::Wait
                | Work::HostFunction { .. }
                | Work::Callback { .. } => 0,
            }
    }

    fn execute_free(&mut self, address: u64, call: u64) {
        let Some(block) = self.space.at_mut(address) else {
            return;
        };
        block.presence = Presence::Freed;
        forget(block);
        // A pool keeps its blocks.
        if !matches!(block.origin, Origin::Pool(_)) {
            self.release_block(address, call);
        }
    }

    /// Makes every later call on a context of that device fail with the error, as after a real fault: new contexts do not help.
    pub(crate) fn poison(&mut self, context: ContextRef, result: CUresult) {
        // What waits is not executed any more, and its memory is still lent: nothing has told the program yet.
        self.space.watches.lift_all();
        let device = self.device_of(context);
        if let Some(device) = self.devices.get_mut(device) {
            device.poison.get_or_insert(result);
        }
    }
}

/// Makes the contents unknown.
pub(crate) fn forget(block: &mut Block) {
    if let Data::Device(storage) = &mut block.data
        && let Some(storage) = Arc::get_mut(storage)
    {
        storage.poison();
    }
}
