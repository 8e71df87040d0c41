//! Why a launch ended early, and where.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::MemoryFault;

/// An instruction, directive or operand that the machine does not implement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// The statement of the PTX, on one line.
    pub text: String,
    /// Its line.
    pub line: u32,
    /// The function or kernel in which it stands.
    pub function: String,
    /// What about it is not implemented.
    pub why: String,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "function `{}`, PTX line {} `{}`: {}",
            self.function, self.line, self.text, self.why
        )
    }
}

/// An instruction through which the blocks of a launch could influence each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interaction {
    /// The statement of the PTX, on one line.
    pub text: String,
    /// Its line.
    pub line: u32,
    /// The function or kernel in which it stands.
    pub function: String,
    /// How it makes the order of blocks matter.
    pub why: &'static str,
}

impl fmt::Display for Interaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "function `{}`, PTX line {} `{}`: {}",
            self.function, self.line, self.text, self.why
        )
    }
}

/// A space that belongs to a block or a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Shared memory of the block.
    Shared,
    /// Local memory of the thread.
    Local,
    /// Parameters of the kernel or of a called function.
    Param,
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Param => "param",
        })
    }
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// Global memory refused the access.
    Memory(MemoryFault),
    /// The address is not a multiple of the access size.
    Misaligned {
        /// The address, in the instruction's own space.
        address: u64,
        /// Bytes of the access.
        size: usize,
    },
    /// The access leaves the block's shared, the thread's local or the kernel's parameter memory.
    OutOfRange {
        /// Which space.
        window: Window,
        /// The offset within that space.
        address: u64,
        /// Bytes of the access.
        size: usize,
        /// Bytes that the space has.
        limit: u64,
    },
    /// The access names shared memory of the cluster that it cannot reach.
    OutsideCluster {
        /// The address, with the number of the block from bit 24 on.
        address: u64,
        /// Bytes of the access.
        size: usize,
        /// The instruction reaches the shared memory of its own block only.
        own_only: bool,
        /// What is wrong with it.
        why: String,
    },
    /// The access goes to the shared memory of a block that has ended.
    BlockEnded {
        /// The number of that block in the cluster.
        block: u32,
        /// The address, with the number of the block from bit 24 on.
        address: u64,
        /// Bytes of the access.
        size: usize,
    },
    /// The kernel executed `trap`.
    Trap,
    /// An `assert` of the kernel failed.
    Assert {
        /// What was asserted.
        message: String,
        /// The source file.
        file: String,
        /// The line in it.
        line: u32,
    },
    /// The kernel released memory that it cannot release.
    BadFree {
        /// The address.
        address: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The kernel, or a function that it calls, has an instruction that is not implemented; nothing was executed.
    Unsupported(Unsupported),
    /// Every thread that has not ended waits for another.
    Deadlock {
        /// What the named thread waits for.
        waits_for: String,
    },
    /// The limit on instructions was reached.
    Timeout {
        /// The limit.
        instructions: u64,
    },
    /// The launch has taken longer than its limit on time.
    Overtime {
        /// The limit.
        limit: Duration,
        /// Instructions executed until then by the warps that one thread of the host ran.
        instructions: u64,
    },
    /// An indexed branch names an entry that its table does not have.
    BranchOutOfTable {
        /// The index.
        index: u32,
        /// Entries of the table.
        entries: usize,
    },
    /// A barrier is used in a way that has no meaning.
    Barrier(String),
    /// An asynchronous operation that cannot be carried out.
    Asynchronous(String),
    /// A matrix instruction of which some lanes of the warp do not take part.
    MissingLanes {
        /// Bit *i* is set when lane *i* is missing.
        missing: u32,
    },
    /// A call through an address at which no function starts that the call could reach.
    BadCall {
        /// The address.
        address: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Calls are nested deeper than local memory allows.
    StackOverflow {
        /// Bytes of local memory that a thread may use.
        limit: u32,
    },
    /// The stack is given back in a way that has no meaning.
    Stack(String),
    /// The launch that a thread waited for has failed: see [`Prerequisite::wait`](crate::Prerequisite::wait).
    Abandoned,
    /// The launch itself makes no sense; nothing was executed.
    InvalidLaunch(String),
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(fault) => fault.fmt(f),
            Self::Misaligned { address, size } => {
                write!(
                    f,
                    "address {address:#x} is not a multiple of the access size, {size} bytes"
                )
            }
            Self::OutOfRange {
                window,
                address,
                size,
                limit,
            } => {
                write!(
                    f,
                    "{window} address {address:#x}, {size} bytes: outside the {limit} bytes of {window} memory"
                )
            }
            Self::OutsideCluster {
                address, size, why, ..
            } => {
                write!(f, "shared address {address:#x}, {size} bytes: {why}")
            }
            Self::BlockEnded {
                block,
                address,
                size,
            } => write!(
                f,
                "shared address {address:#x}, {size} bytes: it lies in block {block} of the cluster, which has ended; the blocks of a cluster \
                 must wait for each other before one ends whose shared memory another uses"
            ),
            Self::Trap => f.write_str("the kernel executed trap"),
            Self::Unsupported(what) => write!(f, "not implemented: {what}"),
            Self::Deadlock { waits_for } => write!(
                f,
                "deadlock: no thread can run; this one waits for {waits_for}"
            ),
            Self::Timeout { instructions } => write!(
                f,
                "the limit of {instructions} executed instructions is reached"
            ),
            Self::Overtime {
                limit,
                instructions,
            } => write!(
                f,
                "the limit of {limit:?} is over, after {instructions} executed instructions"
            ),
            Self::BranchOutOfTable { index, entries } => write!(
                f,
                "index {index} is outside the branch table of {entries} entries"
            ),
            Self::Barrier(why) | Self::Asynchronous(why) | Self::Stack(why) => f.write_str(why),
            Self::MissingLanes { missing } => write!(
                f,
                "the instruction needs all 32 lanes of the warp; lanes {missing:#010x} do not take part: they have ended, or the block has no \
                 threads for them"
            ),
            Self::Assert {
                message,
                file,
                line,
            } => write!(f, "assertion `{message}` failed ({file}:{line})"),
            Self::BadFree { address, why } => write!(f, "free of address {address:#x}: {why}"),
            Self::BadCall { address, why } => write!(f, "call of address {address:#x}: {why}"),
            Self::StackOverflow { limit } => write!(
                f,
                "calls need more than the {limit} bytes of local memory that a thread has"
            ),
            Self::Abandoned => f.write_str("the launch that it waited for has failed"),
            Self::InvalidLaunch(why) => f.write_str(why),
        }
    }
}

/// The line of the source from which an instruction was compiled, where the PTX says so (`.loc`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as the compiler names it.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 where it is not known.
    pub column: u32,
    /// Where the line belongs to a function that was put into another one: that function's name, file and line of the place.
    pub inlined: Option<(String, Arc<str>, u32)>,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        if let Some((function, file, line)) = &self.inlined {
            write!(f, " (`{function}`, inlined at {file}:{line})")?;
        }
        Ok(())
    }
}

/// Which thread executed which instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The function: the kernel's own name, or that of a function which it called.
    pub function: String,
    /// Line in the PTX.
    pub line: u32,
    /// The instruction as it stands there.
    pub instruction: String,
    /// The line of the source that it was compiled from.
    pub source: Option<SourceLine>,
    /// Coordinates of the block in the grid.
    pub block: [u32; 3],
    /// Coordinates of the thread in the block.
    pub thread: [u32; 3],
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(source) = &self.source {
            write!(f, "{source}, ")?;
        }
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        write!(
            f,
            "PTX line {} `{}`, block ({bx},{by},{bz}), thread ({tx},{ty},{tz})",
            self.line, self.instruction
        )
    }
}

/// The reason why a launch ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// The kernel that was launched.
    pub kernel: String,
    /// Where; nothing when no instruction was executed.
    pub place: Option<Box<Place>>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`", self.kernel)?;
        if let Some(place) = &self.place {
            if place.function != self.kernel {
                write!(f, ", function `{}`", place.function)?;
            }
            write!(f, ", {place}")?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl std::error::Error for Fault {}
