//! Executes kernels.

use std::collections::VecDeque;
use std::sync::Arc;

use cuda_sim_machine::{
    Fault, FaultKind, Finding, Kernel, Launch, Limits, Output, Prerequisite, Statistics, Window,
};
use cuda_sys::{CUlimit, CUresult};

use super::OVERHEAD;
use super::dependent::Before;
use crate::code;
use crate::report::{Report, ReportKind};
use crate::site::Sites;
use crate::state::State;
use crate::state::access::DeviceView;
use crate::state::context::ContextRef;
use crate::state::order::Moment;
use crate::state::order::check::Touch;
use crate::state::order::history::{Actor, What};
use crate::state::queue::{KernelWork, OperationId};
use crate::state::services::KernelServices;
use crate::state::space::Space;

/// Bytes of a thread's stack in a context that has not set the limit.
pub(crate) const DEFAULT_STACK: u32 = 1024;

/// A launch that was enqueued.
pub(super) struct Queued<'a> {
    pub(super) work: &'a KernelWork,
    pub(super) moment: Moment,
    pub(super) call: u64,
}

/// A launch that is ready to run.
pub(super) struct Ready<'a> {
    space: &'a Space,
    kernel: &'a Kernel,
    work: &'a KernelWork,
    view: DeviceView<'a>,
    settings: Settings,
    sites: &'a Sites,
}

/// What the state says about a launch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    heap: Option<u64>,
    limits: Limits,
    grid_id: u64,
    call: u64,
    seed: u64,
    checks: cuda_sim_machine::Checks,
    threads: usize,
}

/// What came of a launch.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) result: Result<Statistics, Fault>,
    touched: Vec<Touch>,
    pub(super) printed: VecDeque<(Output, Vec<u8>)>,
    pub(super) found: Vec<Finding>,
}

impl Ready<'_> {
    pub(super) fn run(&self, prerequisite: Option<&dyn Prerequisite>) -> Ran {
        let (work, settings) = (self.work, self.settings);
        let services = KernelServices::new(self.space, settings.heap, (settings.call, self.sites));
        let launch = Launch {
            grid: work.grid,
            block: work.block,
            cluster: work.cluster,
            dynamic_shared: work.dynamic_shared,
            params: &work.params,
            globals: &work.module.globals,
            code: work.module.code,
            workspace: work.workspace,
            grid_id: settings.grid_id,
            seed: settings.seed,
            prerequisite,
            services: &services,
            checks: settings.checks,
            limits: settings.limits,
            threads: settings.threads,
        };
        let result = cuda_sim_machine::run(self.kernel, &work.module.program, &launch, &self.view);
        let touched = self.view.take_touched();
        let (printed, found) = services.into_parts();
        Ran {
            result,
            touched,
            printed,
            found,
        }
    }
}

impl State {
    /// Executes a launch, and perhaps the next one of its stream ahead of it; returns how long it took.
    pub(super) fn execute_kernel(
        &mut self,
        id: OperationId,
        context: ContextRef,
        launch: &Queued<'_>,
    ) -> u64 {
        let Some(kernel) = kernel_of(launch.work) else {
            return OVERHEAD;
        };
        if let Some(code) = self.due_kernel_fault(kernel.name()) {
            self.poison(context, code);
            return 2 * OVERHEAD;
        }
        match self.take_dependent(id) {
            Some((work, moment, call)) => {
                let dependent = Queued {
                    work: &work,
                    moment,
                    call,
                };
                self.execute_pair(context, launch, &dependent)
            }
            None => self.execute_one(context, launch),
        }
    }

    /// Executes a launch whose predecessors have been executed.
    fn execute_one(&mut self, context: ContextRef, launch: &Queued<'_>) -> u64 {
        let Some(kernel) = kernel_of(launch.work) else {
            return OVERHEAD;
        };
        let settings = self.settings(context, kernel, launch.call);
        let ready = self.prepare(context, kernel, launch.work, settings);
        if launch.moment.ahead().is_none() {
            let ran = ready.run(None);
            return self.settle(context, launch, ran);
        }
        let before = Before::done(self.view(context, kernel).ahead());
        let ran = ready.run(Some(&before));
        self.note_early(launch, before.take_touched());
        self.settle(context, launch, ran)
    }

    pub(super) fn settings(&mut self, context: ContextRef, kernel: &Kernel, call: u64) -> Settings {
        self.grids += 1;
        let heap = if kernel.uses_heap() {
            self.heap(context, call)
        } else {
            None
        };
        Settings {
            heap,
            limits: Limits {
                stack_bytes: self.stack_bytes(context),
                ..self.options.limits
            },
            grid_id: self.grids,
            call,
            seed: if self.options.shuffle_blocks {
                self.random.next() | 1
            } else {
                0
            },
            checks: self.options.checks,
            threads: self.options.threads,
        }
    }

    /// Memory as a kernel sees it.
    pub(super) fn view(&self, context: ContextRef, kernel: &Kernel) -> DeviceView<'_> {
        DeviceView::new(
            &self.space,
            self.reach(context),
            self.order.is_on(),
            kernel.interaction().is_none(),
        )
    }

    pub(super) fn prepare<'a>(
        &'a self,
        context: ContextRef,
        kernel: &'a Kernel,
        work: &'a KernelWork,
        settings: Settings,
    ) -> Ready<'a> {
        Ready {
            space: &self.space,
            kernel,
            work,
            view: self.view(context, kernel),
            settings,
            sites: &self.sites,
        }
    }

    /// Keeps what came of a launch; returns how long it took.
    pub(super) fn settle(&mut self, context: ContextRef, launch: &Queued<'_>, ran: Ran) -> u64 {
        let call = launch.call;
        self.keep_printed(ran.printed);
        for finding in ran.found {
            self.add_report(Report::of_finding(finding, call));
        }
        let actor = Actor {
            what: What::Kernel(Arc::clone(&launch.work.module), launch.work.kernel),
            moment: launch.moment.clone(),
            call,
        };
        self.note_accesses(&Arc::new(actor), ran.touched);
        match ran.result {
            Ok(Statistics { instructions, .. }) => 2 * OVERHEAD + instructions / 100,
            Err(fault) => {
                let (mut result, mut kind) = classify(&fault.kind);
                match &fault.kind {
                    FaultKind::Memory(fault) => {
                        kind = ReportKind::of_access(&self.space, fault.address, fault.size);
                    }
                    // Only where the device's own `free` looks does it notice the mistake itself.
                    FaultKind::BadFree { address, .. } if self.space.in_heap(*address) => {
                        result = code::LAUNCH_FAILED;
                    }
                    _ => {}
                }
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
}

pub(super) fn kernel_of(work: &KernelWork) -> Option<&Kernel> {
    work.module.program.kernels().get(work.kernel)
}

/// The driver's code for a kernel's fault, and what kind of report it makes.
fn classify(kind: &FaultKind) -> (CUresult, ReportKind) {
    match kind {
        FaultKind::Memory(_) => (code::ILLEGAL_ADDRESS, ReportKind::OutOfBounds),
        FaultKind::Misaligned { .. } => (code::MISALIGNED_ADDRESS, ReportKind::Misaligned),
        // A device takes what would be another block's address there for an illegal instruction.
        FaultKind::OutOfRange {
            window: Window::Shared,
            address,
            ..
        } if address >> 24 != 0 => (code::ILLEGAL_INSTRUCTION, ReportKind::OutOfBounds),
        FaultKind::OutsideCluster { own_only: true, .. } => {
            (code::ILLEGAL_INSTRUCTION, ReportKind::OutOfBounds)
        }
        FaultKind::OutOfRange {
            window: Window::Shared | Window::Local | Window::Param,
            ..
        } => (code::ILLEGAL_ADDRESS, ReportKind::OutOfBounds),
        FaultKind::OutsideCluster { .. } => (code::LAUNCH_FAILED, ReportKind::OutOfBounds),
        FaultKind::BlockEnded { .. } => (code::LAUNCH_FAILED, ReportKind::UseAfterFree),
        FaultKind::BadCall { .. } => (code::ILLEGAL_INSTRUCTION, ReportKind::BadCall),
        FaultKind::Assert { .. } => (code::ASSERT, ReportKind::Assert),
        FaultKind::BadFree { .. } => (code::ILLEGAL_ADDRESS, ReportKind::BadFree),
        FaultKind::Trap => (code::LAUNCH_FAILED, ReportKind::Trap),
        FaultKind::StackOverflow { .. } => (code::ILLEGAL_ADDRESS, ReportKind::StackOverflow),
        FaultKind::Deadlock { .. } => (code::LAUNCH_TIMEOUT, ReportKind::Deadlock),
        FaultKind::Timeout { .. } | FaultKind::Overtime { .. } => {
            (code::LAUNCH_TIMEOUT, ReportKind::Timeout)
        }
        FaultKind::MissingLanes { .. } => (code::LAUNCH_FAILED, ReportKind::Synchronisation),
        FaultKind::Unsupported(_) => (code::NOT_SUPPORTED, ReportKind::Unsupported),
        FaultKind::Asynchronous(_) => (code::LAUNCH_FAILED, ReportKind::Synchronisation),
        _ => (code::LAUNCH_FAILED, ReportKind::InvalidLaunch),
    }
}
