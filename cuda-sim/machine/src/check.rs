//! Mistakes of a launch's threads among themselves that a launch can be asked to look for.

use std::fmt;

use crate::Place;
use crate::exec::RANK_SHIFT;

/// What to look for. All of it costs time, and all blocks run on one thread.
///
/// # What `race` sees
/// Two threads of a block, or of the blocks of a cluster, access the same byte of shared memory, at least one of them writes, and nothing
/// orders the two: no barrier of the block, named or not, or of the cluster, that both (or threads in between) have gone through, and no
/// `.sync` instruction of their warp. It judges the accesses that were executed, whatever order they had this time. A block that ends while
/// nothing has made it wait for those that use its shared memory is a mistake of the same kind.
///
/// Nothing is said about accesses that are atomic, volatile or otherwise strong on both sides; such accesses to one address also order
/// what comes before and after them, `mbarrier` instructions included, so that flags and locks work, and may hide a race. Nothing is said
/// about two writes of the same value, or about the lanes of one instruction.
///
/// What an asynchronous operation (`cp.async.bulk`, `cp.reduce.async.bulk`, `st.async`, `red.async`) reads and writes in shared memory is in
/// use from its start until a thread has waited for it, by the phase of its barrier or by its group, and for other threads until they are
/// ordered behind that one. Copies from shared memory see what threads wrote there only behind a `fence.proxy.async`.
///
/// # What `global_race` sees
/// The same of global memory, for all threads of the launch. Threads of different clusters are ordered by fences and flags as the memory
/// model has it: what a thread did before a fence (`__threadfence()`) and a strong write behind it (atomic, volatile, relaxed), or before a
/// release, comes before what another one does after it has read that value, or a later one, and gone through a fence, or acquired it. Barriers
/// of blocks carry this on to the other threads, so that barriers of grids, locks, queues and "the last block" are in order, if the fences are
/// there. The scope of accesses and fences counts: what is strong for a block only is not for others.
///
/// Nothing is said about accesses that are strong enough on both sides, about a write of what is there already, about the lanes of one
/// instruction, and about asynchronous copies. Of each four bytes, the last write and two reads are remembered, of the last
/// 16 MiB that the launch has touched. Inside a cluster, strong accesses to one address order what comes before and after them without any
/// fence, as above.
///
/// # What `unwritten` sees
/// A thread reads bytes of shared or local memory of which nothing had written any since the block or thread began. Where some had been
/// written, as in padding that is copied along, nothing is said; nor from the moment on when the block has executed an instruction that writes
/// there in ways that are not followed (asynchronous copies). Compilers may read ahead what is not used then: such a read is
/// found, too.
///
/// # What `sync` sees
/// Threads of one warp that meet at a barrier from different instructions where the form wants the whole warp at one (`bar.sync`,
/// `barrier.sync.aligned`), and `.sync` instructions of a warp by a lane that its own mask does not name, or with different masks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checks {
    /// Accesses to shared memory that race.
    pub race: bool,
    /// Accesses to global memory that race.
    pub global_race: bool,
    /// Reads of shared and local memory that nothing had written.
    pub unwritten: bool,
    /// Barriers that a warp reaches divided, and wrong masks.
    pub sync: bool,
}

/// What a thread does to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Access {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It changes it atomically.
    Update,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Update => "changes atomically",
        })
    }
}

/// What is missing between two accesses for an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// Everything.
    Order,
    /// The second thread has read what was to tell it of the first access, without a fence afterwards.
    Fence,
    /// Both are atomic or otherwise strong, but only among the threads of their own blocks or clusters.
    Scope,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// A read of what another thread writes.
    ReadAfterWrite,
    /// A write of what another thread reads.
    WriteAfterRead,
    /// Two writes.
    WriteAfterWrite,
    /// An access to the shared memory of another block of the cluster, which ends without having waited for it. Both places are the same.
    OutlivesBlock,
    /// A read of what an asynchronous operation writes, for which the thread has not waited.
    ReadBeforeArrival,
    /// A write of what an asynchronous operation reads or writes, for which the thread has not waited.
    WriteBeforeArrival,
    /// An asynchronous copy of what a thread wrote to shared memory, without a `fence.proxy.async` in between.
    MissingProxyFence,
    /// An asynchronous operation that uses the shared memory of a block which has ended without waiting for it. Both places are the same.
    OperationOutlivesBlock,
    /// A read of shared memory that nothing had written. Both places are the same.
    UninitialisedShared {
        /// Bytes that the thread reads.
        size: usize,
    },
    /// The same of local memory.
    UninitialisedLocal {
        /// Bytes that the thread reads.
        size: usize,
    },
    /// One warp is at different barrier instructions.
    DividedBarrier,
    /// The mask of a `.sync` instruction does not name the lane that executes it.
    NotInMask,
    /// Lanes that meet at a `.sync` instruction have different masks.
    DifferentMasks,
    /// Accesses of two threads of the launch to the same global memory.
    GlobalRace {
        /// What the first thread does.
        first: Access,
        /// What the second thread does.
        second: Access,
        /// Bytes that the second thread accesses.
        size: usize,
        /// What is missing.
        cause: Cause,
    },
    /// A read of global memory that nothing had written, which every launch looks for: of each instruction, the first one in the order in
    /// which blocks start, for the first instructions that have one. One thread makes it: both places are the same.
    UninitialisedRead {
        /// Bytes that the thread reads.
        size: usize,
        /// Index of the first of these that nothing had written.
        first: usize,
    },
}

impl FindingKind {
    /// Whether it is about memory that nothing had written.
    pub(crate) fn is_of_unwritten(self) -> bool {
        matches!(
            self,
            Self::UninitialisedShared { .. } | Self::UninitialisedLocal { .. }
        )
    }

    /// Whether it is about shared memory, where it has an address.
    pub(crate) fn is_in_shared(self) -> bool {
        !matches!(
            self,
            Self::UninitialisedLocal { .. }
                | Self::UninitialisedRead { .. }
                | Self::GlobalRace { .. }
        )
    }

    /// Whether a barrier between two threads is what is missing.
    fn is_race(self) -> bool {
        matches!(
            self,
            Self::ReadAfterWrite | Self::WriteAfterRead | Self::WriteAfterWrite
        )
    }
}

/// A mistake of the threads of a launch. Of each pair of instructions, the first is reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind of mistake.
    pub kind: FindingKind,
    /// The kernel that was launched.
    pub kernel: String,
    /// What was executed first.
    pub first: Place,
    /// What was executed then.
    pub second: Place,
    /// The byte of shared memory that both access, with the number of the block in its cluster from bit 24 on, or the first byte of
    /// global memory that the second one accesses.
    pub address: Option<u64>,
    /// The shared variable that the byte lies in, where there is one.
    pub variable: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            FindingKind::ReadAfterWrite => "reads what another thread writes",
            FindingKind::WriteAfterRead => "writes what another thread reads",
            FindingKind::WriteAfterWrite => "writes what another thread writes",
            FindingKind::OutlivesBlock => {
                "uses the shared memory of a block of its cluster that may have ended by then: that block waits for no barrier of the cluster \
                 to which this thread comes afterwards"
            }
            FindingKind::ReadBeforeArrival => {
                "reads what an asynchronous operation writes, without having waited for it"
            }
            FindingKind::WriteBeforeArrival => {
                "writes what an asynchronous operation uses, without having waited for it"
            }
            FindingKind::MissingProxyFence => {
                "copies asynchronously what a thread wrote before; nothing makes that visible to asynchronous copies, which takes a \
                 fence.proxy.async behind the write and before the copy"
            }
            FindingKind::OperationOutlivesBlock => {
                "starts an operation that uses the shared memory of a block, which has ended without having waited for it"
            }
            FindingKind::DividedBarrier => {
                "comes to a barrier at which another part of its warp is, at another instruction"
            }
            FindingKind::NotInMask => "is not in the mask of the instruction that it executes",
            FindingKind::DifferentMasks => "has another mask than a lane that it meets",
            FindingKind::UninitialisedRead { .. }
            | FindingKind::UninitialisedShared { .. }
            | FindingKind::UninitialisedLocal { .. } => "reads what nothing had written",
            FindingKind::GlobalRace { second, .. } => match second {
                Access::Read => "reads global memory that another thread writes",
                Access::Write => "writes global memory that another thread uses",
                Access::Update => "changes global memory atomically that another thread uses",
            },
        };
        write!(f, "kernel `{}`", self.kernel)?;
        if self.second.function != self.kernel {
            write!(f, ", function `{}`", self.second.function)?;
        }
        write!(f, ", {}: {what}", self.second)?;
        match (self.kind, self.address) {
            (FindingKind::UninitialisedRead { size, first: 0 }, Some(address)) => {
                write!(f, ": address {address:#x}, {size} bytes")?;
            }
            (FindingKind::UninitialisedRead { size, first }, Some(address)) => write!(
                f,
                ": address {address:#x}, {size} bytes, of which byte {first} is the first such"
            )?,
            (FindingKind::UninitialisedLocal { size }, Some(address)) => {
                write!(f, ": {size} bytes at {address:#x} of its local memory")?;
            }
            (FindingKind::GlobalRace { size, cause, .. }, Some(address)) => {
                let why = self.why_unordered(cause);
                write!(f, ": address {address:#x}, {size} bytes; {why}")?;
            }
            (kind, Some(address)) => {
                let (rank, offset) = (address >> RANK_SHIFT, address & ((1 << RANK_SHIFT) - 1));
                if rank == 0 {
                    write!(f, ", byte {offset:#x} of shared memory")?;
                } else {
                    write!(
                        f,
                        ", byte {offset:#x} of the shared memory of block {rank} of the cluster"
                    )?;
                }
                if let Some(variable) = &self.variable {
                    write!(f, ", in `{variable}`")?;
                }
                if kind.is_race() {
                    f.write_str(", without a barrier between")?;
                }
            }
            (_, None) => {}
        }
        match self.kind {
            FindingKind::GlobalRace { first, .. } => {
                write!(f, "; the other thread {first} it: {}", self.first)
            }
            _ if self.first != self.second => write!(f, "; the other: {}", self.first),
            _ => Ok(()),
        }
    }
}

impl Finding {
    /// What is missing between two accesses to global memory, and what to do.
    fn why_unordered(&self, cause: Cause) -> &'static str {
        match cause {
            Cause::Fence => {
                "it has read what the other one told it without a fence afterwards (`__threadfence()`, or a load that acquires)"
            }
            Cause::Scope => {
                "both are atomic or volatile, but one only among the threads of its own block or cluster (take the scope of the device)"
            }
            Cause::Order if self.first.block == self.second.block => {
                "nothing orders the two (a barrier between them would, `__syncthreads()`)"
            }
            Cause::Order => {
                "nothing orders the two, which are in different blocks (atomic operations on the data do, a fence (`__threadfence()`) and a flag between them, a \
                 barrier of the grid, or another launch)"
            }
        }
    }
}
