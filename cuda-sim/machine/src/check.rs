//! Mistakes of a block's or cluster's threads among themselves that a launch can be asked to look for.

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
/// about two writes of the same value, or about the lanes of one instruction. Matrix loads are not seen.
///
/// What an asynchronous operation (`cp.async.bulk`, `cp.reduce.async.bulk`, `st.async`, `red.async`) reads and writes in shared memory is in
/// use from its start until a thread has waited for it, by the phase of its barrier or by its group, and for other threads until they are
/// ordered behind that one. Copies from shared memory see what threads wrote there only behind a `fence.proxy.async`.
///
/// # What `sync` sees
/// Threads of one warp that meet at a barrier from different instructions where the form wants the whole warp at one (`bar.sync`,
/// `barrier.sync.aligned`), and `.sync` instructions of a warp by a lane that its own mask does not name, or with different masks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checks {
    /// Accesses to shared memory that race.
    pub race: bool,
    /// Barriers that a warp reaches divided, and wrong masks.
    pub sync: bool,
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
    /// One warp is at different barrier instructions.
    DividedBarrier,
    /// The mask of a `.sync` instruction does not name the lane that executes it.
    NotInMask,
    /// Lanes that meet at a `.sync` instruction have different masks.
    DifferentMasks,
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
    /// Whether a barrier between two threads is what is missing.
    fn is_race(self) -> bool {
        matches!(
            self,
            Self::ReadAfterWrite | Self::WriteAfterRead | Self::WriteAfterWrite
        )
    }
}

/// A mistake of the threads of a block. Of each pair of instructions, the first is reported.
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
    /// The byte of shared memory that both access, with the number of the block in its cluster from bit 24 on, or the first byte that is
    /// read.
    pub address: Option<u64>,
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
            FindingKind::UninitialisedRead { .. } => "reads what nothing had written",
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
                if kind.is_race() {
                    f.write_str(", without a barrier between")?;
                }
            }
            (_, None) => {}
        }
        if self.first != self.second {
            write!(f, "; the other: {}", self.first)?;
        }
        Ok(())
    }
}
