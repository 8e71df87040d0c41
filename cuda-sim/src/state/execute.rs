//! Executes one operation: kernels, copies, fills, and memory that appears or goes in stream order.

use std::sync::Arc;

use cuda_sim_machine::{FaultKind, Launch, Limits, Statistics, Window};
use cuda_sys::{CUlimit, CUresult};

use crate::code;
use crate::report::{AccessKind, Report, ReportKind};
use crate::state::State;
use crate::state::access::DeviceView;
use crate::state::context::ContextRef;
use crate::state::order::history::{Actor, What};
use crate::state::queue::{KernelWork, OperationId, Work};
use crate::state::services::KernelServices;
use crate::state::space::{Block, Data, Origin, Presence};
use crate::state::transfer::Fill;

/// Bytes of a thread's stack in a context that has not set the limit.
pub(crate) const DEFAULT_STACK: u32 = 1024;
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
        let actor = |what| Arc::new(Actor { what, moment, call });
        start
            + match work {
                Work::Kernel(kernel) => {
                    let what = What::Kernel(Arc::clone(&kernel.module), kernel.kernel);
                    self.execute_kernel(context, &kernel, &actor(what))
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

    fn execute_kernel(
        &mut self,
        context: ContextRef,
        work: &KernelWork,
        actor: &Arc<Actor>,
    ) -> u64 {
        let call = actor.call;
        let Some(kernel) = work.module.program.kernels().get(work.kernel) else {
            return OVERHEAD;
        };
        if let Some(code) = self.due_kernel_fault(kernel.name()) {
            self.poison(context, code);
            return 2 * OVERHEAD;
        }
        self.grids += 1;
        let heap = if kernel.uses_heap() {
            self.heap(context, call)
        } else {
            None
        };
        let limits = Limits {
            stack_bytes: self.stack_bytes(context),
            ..self.options.limits
        };
        let services = KernelServices::new(&self.space, heap);
        let launch = Launch {
            grid: work.grid,
            block: work.block,
            cluster: work.cluster,
            dynamic_shared: work.dynamic_shared,
            params: &work.params,
            globals: &work.module.globals,
            code: work.module.code,
            workspace: work.workspace,
            grid_id: self.grids,
            seed: if self.options.shuffle_blocks {
                self.random.next() | 1
            } else {
                0
            },
            services: &services,
            checks: self.options.checks,
            limits,
            threads: self.options.threads,
        };
        let view = DeviceView::new(
            &self.space,
            self.reach(context),
            self.order.is_on(),
            kernel.interaction().is_none(),
        );
        let result = cuda_sim_machine::run(kernel, &work.module.program, &launch, &view);
        let touched = view.take_touched();
        let (printed, found) = services.into_parts();
        self.keep_printed(printed);
        for finding in found {
            self.add_report(Report::of_finding(finding, call));
        }
        self.note_accesses(actor, touched);
        match result {
            Ok(Statistics { instructions, .. }) => 2 * OVERHEAD + instructions / 100,
            Err(fault) => {
                let (result, kind) = classify(&fault.kind);
                let kind = match &fault.kind {
                    FaultKind::Memory(fault) => {
                        ReportKind::of_access(&self.space, fault.address, fault.size)
                    }
                    _ => kind,
                };
                self.poison(context, result);
                self.add_report(Report::of_fault(&fault, kind, call));
                self.last_fault = Some(fault);
                2 * OVERHEAD
            }
        }
    }

    /// Bytes of stack for what cannot be known before a launch: `CU_LIMIT_STACK_SIZE`.
    fn stack_bytes(&self, context: ContextRef) -> u32 {
        let limit = CUlimit::CU_LIMIT_STACK_SIZE.0;
        let entry = self.contexts.get(context.handle).ok();
        let set = entry.and_then(|entry| entry.limits.get(&limit).copied());
        set.and_then(|bytes| u32::try_from(bytes).ok())
            .unwrap_or(DEFAULT_STACK)
    }

    /// Counts a launch; the code with which it is made to fail, if it is.
    fn due_kernel_fault(&mut self, name: &str) -> Option<CUresult> {
        let mut due = None;
        self.kernel_faults.retain_mut(|(kernel, remaining, code)| {
            if kernel == name || kernel == "*" {
                *remaining -= 1;
            }
            if *remaining == 0 {
                due.get_or_insert(*code);
            }
            *remaining > 0
        });
        due
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

/// The driver's code for a kernel's fault, and what kind of report it makes.
fn classify(kind: &FaultKind) -> (CUresult, ReportKind) {
    match kind {
        FaultKind::Memory(_) => (code::ILLEGAL_ADDRESS, ReportKind::OutOfBounds),
        FaultKind::Misaligned { .. } => (code::MISALIGNED_ADDRESS, ReportKind::Misaligned),
        FaultKind::OutOfRange {
            window: Window::Shared | Window::Local | Window::Param,
            ..
        } => (code::ILLEGAL_ADDRESS, ReportKind::OutOfBounds),
        FaultKind::OutsideCluster { .. } => (code::LAUNCH_FAILED, ReportKind::OutOfBounds),
        FaultKind::BlockEnded { .. } => (code::LAUNCH_FAILED, ReportKind::UseAfterFree),
        FaultKind::BadCall { .. } => (code::INVALID_PC, ReportKind::BadCall),
        FaultKind::Assert { .. } => (code::ASSERT, ReportKind::Assert),
        FaultKind::BadFree { .. } => (code::ILLEGAL_ADDRESS, ReportKind::BadFree),
        FaultKind::Trap => (code::LAUNCH_FAILED, ReportKind::Trap),
        FaultKind::StackOverflow { .. } => (code::HARDWARE_STACK_ERROR, ReportKind::StackOverflow),
        FaultKind::Deadlock { .. } => (code::LAUNCH_TIMEOUT, ReportKind::Deadlock),
        FaultKind::Timeout { .. } => (code::LAUNCH_TIMEOUT, ReportKind::Timeout),
        FaultKind::Unsupported(_) => (code::NOT_SUPPORTED, ReportKind::Unsupported),
        _ => (code::LAUNCH_FAILED, ReportKind::InvalidLaunch),
    }
}
