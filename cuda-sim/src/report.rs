//! What the checks found, as values.

mod allocation;
mod json;
mod race;

use std::fmt;

use cuda_sim_machine::{Fault, FaultKind, Finding, FindingKind, MemoryFault, Place, SourceLine};

use crate::site::CallSite;
use crate::state::space::{Block, Presence, Space};

pub use allocation::AllocationInfo;
pub use race::{AccessKind, Race, RaceSide};

/// What kind of mistake a report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReportKind {
    /// An access outside all allocations.
    OutOfBounds,
    /// An access to memory that is there but closed: another device's without peer access, or written where kernels may only read.
    NoAccess,
    /// An access to memory that was freed, or to the shared memory of a block that has ended.
    UseAfterFree,
    /// An access to stream-ordered memory before its allocation was executed.
    UseBeforeAllocation,
    /// An access whose address is not a multiple of its size.
    Misaligned,
    /// A read of bytes that nothing had written.
    UninitialisedRead,
    /// Two operations touch the same bytes, at least one of them writes, and nothing orders them: see [`Report::race`].
    Race,
    /// The host changed memory of an asynchronous copy after the call and before the copy was executed.
    HostBufferChanged,
    /// A release of what is no allocation: released already, the middle of one, or never made.
    InvalidFree,
    /// The kernel executed `trap`.
    Trap,
    /// An `assert` of the kernel failed.
    Assert,
    /// The kernel released memory that it cannot release.
    BadFree,
    /// Two threads of a block or cluster access the same shared memory, and nothing orders them; or a block of a cluster ends, and nothing made
    /// it wait for another one, or for an asynchronous operation, that uses its shared memory.
    SharedRace,
    /// Two threads of a kernel access the same global memory, and nothing orders them.
    GlobalRace,
    /// Threads of a warp synchronise in a way that has no meaning, or an asynchronous operation is one that cannot be.
    Synchronisation,
    /// A call through an address at which there is no function, or not one that can be called so.
    BadCall,
    /// The kernel's calls are nested too deep.
    StackOverflow,
    /// Threads of a kernel, or streams, wait for each other.
    Deadlock,
    /// The limit on a kernel's instructions or time was reached.
    Timeout,
    /// The software driver does not implement what was asked of it.
    Unsupported,
    /// A launch that makes no sense.
    InvalidLaunch,
    /// A handle was used whose object is gone.
    DestroyedHandle,
    /// A host function made a call that it must not make.
    HostFunction,
    /// A mistake of the software driver itself.
    Internal,
}

impl ReportKind {
    /// The kind of a bad access to `size` bytes at `address`.
    pub(crate) fn of_access(space: &Space, address: u64, size: usize) -> Self {
        let covering = space.covering(address);
        let heap = covering.and_then(|it| Some((it, space.heaps.get(&it.address)?)));
        if let Some((block, heap)) = heap {
            let freed = heap.was_freed((address - block.address) as usize);
            return if freed {
                Self::UseAfterFree
            } else {
                Self::OutOfBounds
            };
        }
        let end = |block: &Block| address - block.address + size as u64;
        match covering.map(|block| (block.presence, end(block))) {
            Some((Presence::Pending, _)) => Self::UseBeforeAllocation,
            Some((Presence::Freed, _)) => Self::UseAfterFree,
            Some((Presence::Live(len), end)) if end <= len as u64 => Self::NoAccess,
            Some((Presence::Live(_), _)) => Self::OutOfBounds,
            None if space.former(address).is_some() => Self::UseAfterFree,
            None => Self::OutOfBounds,
        }
    }
}

/// A mistake that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// What kind of mistake.
    pub kind: ReportKind,
    /// All of it in words.
    pub message: String,
    /// Number of the call that enqueued the operation, or that made the mistake.
    pub call: u64,
    /// The kernel, where one was running.
    pub kernel: Option<String>,
    /// Line of the instruction in the PTX.
    pub line: Option<u32>,
    /// The instruction as it stands there.
    pub instruction: Option<String>,
    /// The line of the source that the instruction was compiled from, where the PTX says so (`nvcc -lineinfo`).
    pub source: Option<SourceLine>,
    /// Coordinates of the block.
    pub block: Option<[u32; 3]>,
    /// Coordinates of the thread in its block.
    pub thread: Option<[u32; 3]>,
    /// First byte of the access.
    pub address: Option<u64>,
    /// Bytes of the access.
    pub size: Option<usize>,
    /// Where the call was made, if [`Builder::call_sites`](crate::Builder::call_sites) asked for it.
    pub site: Option<CallSite>,
    /// The allocation that the address is in, was in, or is nearest to; nothing for one in the first 4 GiB, where no allocation is: an offset
    /// in shared or local memory, or what came of a null pointer.
    pub allocation: Option<AllocationInfo>,
    /// Both sides of a race.
    pub race: Option<Box<Race>>,
    /// The other thread of a mistake that two threads of a kernel make.
    pub other: Option<Box<Place>>,
}

impl Report {
    pub(crate) fn new(kind: ReportKind, message: String, call: u64) -> Self {
        Self {
            kind,
            message,
            call,
            kernel: None,
            line: None,
            instruction: None,
            source: None,
            block: None,
            thread: None,
            address: None,
            size: None,
            site: None,
            allocation: None,
            race: None,
            other: None,
        }
    }

    /// The report of a mistake of one thread or two.
    pub(crate) fn of_finding(finding: Finding, call: u64) -> Self {
        let kind = match finding.kind {
            FindingKind::ReadAfterWrite
            | FindingKind::WriteAfterRead
            | FindingKind::WriteAfterWrite
            | FindingKind::OutlivesBlock
            | FindingKind::ReadBeforeArrival
            | FindingKind::WriteBeforeArrival
            | FindingKind::MissingProxyFence
            | FindingKind::OperationOutlivesBlock => ReportKind::SharedRace,
            FindingKind::UninitialisedRead { .. }
            | FindingKind::UninitialisedShared { .. }
            | FindingKind::UninitialisedLocal { .. } => ReportKind::UninitialisedRead,
            FindingKind::GlobalRace { .. } => ReportKind::GlobalRace,
            _ => ReportKind::Synchronisation,
        };
        let mut report = Self::new(kind, finding.to_string(), call);
        report.at(&finding.second);
        report.kernel = Some(finding.kernel);
        report.address = finding.address;
        if let FindingKind::UninitialisedRead { size, .. }
        | FindingKind::UninitialisedShared { size }
        | FindingKind::UninitialisedLocal { size }
        | FindingKind::GlobalRace { size, .. } = finding.kind
        {
            report.size = Some(size);
        }
        if finding.first != finding.second {
            report.other = Some(Box::new(finding.first));
        }
        report
    }

    fn at(&mut self, place: &Place) {
        self.line = Some(place.line);
        self.instruction = Some(place.instruction.clone());
        self.source = place.source.clone();
        self.block = Some(place.block);
        self.thread = Some(place.thread);
    }

    /// The report of a kernel's fault.
    pub(crate) fn of_fault(fault: &Fault, kind: ReportKind, call: u64) -> Self {
        let mut report = Self::new(kind, fault.to_string(), call);
        match fault.kind {
            FaultKind::Timeout { .. } => report
                .message
                .push_str("; `Builder::instruction_limit` sets it"),
            FaultKind::Overtime { .. } => {
                report.message.push_str("; `Builder::time_limit` sets it")
            }
            _ => {}
        }
        report.kernel = Some(fault.kernel.clone());
        if let Some(place) = &fault.place {
            report.at(place);
        }
        match &fault.kind {
            FaultKind::Memory(MemoryFault { address, size, .. })
            | FaultKind::Misaligned { address, size }
            | FaultKind::OutOfRange { address, size, .. }
            | FaultKind::OutsideCluster { address, size, .. }
            | FaultKind::BlockEnded { address, size, .. } => {
                report.address = Some(*address);
                report.size = Some(*size);
            }
            _ => {}
        }
        report
    }
}

/// One line; the alternate form `{:#}` has one for each part.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let break_ = if f.alternate() { "\n  " } else { "; " };
        write!(f, "{:?}: {}", self.kind, self.message)?;
        match &self.race {
            Some(race) => write!(f, "{break_}{}{break_}{}", race.first, race.second)?,
            None => write!(f, " (from {})", call_at(self.call, self.site.as_ref()))?,
        }
        match (&self.allocation, self.address) {
            (Some(allocation), Some(address)) => {
                write!(f, "{break_}{}", allocation.around(address))
            }
            _ => Ok(()),
        }
    }
}

/// A call by number, and by place where that is known.
pub(crate) fn call_at(call: u64, site: Option<&CallSite>) -> String {
    match site {
        Some(site) => format!("call {call} at {site}"),
        None => format!("call {call}"),
    }
}
