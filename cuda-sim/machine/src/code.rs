//! Decoded instructions: what the warps execute.

use std::collections::{HashMap, HashSet};

use crate::SourceLine;
use crate::decode::Noted;
use crate::exec::{Env, LaneError, Reduction, Scope, Space};
use crate::ops::compare::{Combine, Test};
use crate::ops::matrix::{Fragment, Product};
use crate::ops::services::Service;
use crate::registers::Registers;

/// An operation on registers alone; it writes the lanes of the mask.
pub(crate) type Alu = fn(&Instr, &mut Registers, u32);
/// An operation that touches memory or the warp's surroundings.
pub(crate) type Access = fn(&Instr, &mut Scope, &mut Env<'_>, u32) -> Result<(), LaneError>;

/// How an instruction is carried out.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    /// Registers alone.
    Alu(Alu),
    /// Nothing, as do the `target` instructions from this one on: what they would write is there from the start.
    Nothing,
    /// A comparison that sets predicates.
    SetPredicate(Test, Combine),
    /// A comparison that sets a word to `target` or 0.
    SetWord(Test, Combine),
    /// Memory, special registers, exchange between lanes.
    Access(Access),
    /// Asks whether something has come to pass, which sets the predicate `dst[0]`: where it has not, others may run first.
    Poll(Access),
    /// As `Access`, once all lanes of the member mask (`src[3]`) have arrived.
    Collective(Access),
    /// To `target`.
    Branch,
    /// To the entry of `Code::tables[target]` that `src[0]` names.
    BranchIndexed,
    /// `Code::calls[target]`, of a function that the call names.
    Call,
    /// `Code::calls[target]`, of the function whose address is in the 64-bit row `src[0]`.
    CallIndirect,
    /// Back to the caller, or the thread's end.
    Return,
    /// The thread's end.
    Exit,
    /// The launch's end.
    Trap,
    /// Arrives at barrier `src[0]`, which expects `src[1]` threads (or all, when `imm` is 0), and waits.
    BarrierSync,
    /// Arrives there without waiting.
    BarrierArrive,
    /// As `BarrierSync`, and counts the lanes whose predicate `src[2]` is set.
    BarrierReduce,
    /// Arrives at the cluster's barrier, and hands on what was done before unless `imm` is 1.
    ClusterArrive,
    /// Waits there for all threads of the cluster.
    ClusterWait,
}

/// The `target` of barriers that want the whole warp at one instruction.
pub(crate) const ALIGNED: u32 = 1;
/// The `target` of an access to single elements that finds out how the lanes of its address row lie to each other.
pub(crate) const LEADS: u32 = 1;
/// The `target` of one whose address row has not changed since such an access, which all its lanes have executed.
pub(crate) const FOLLOWS: u32 = 2;
/// No guard, or no second destination.
pub(crate) const NONE: u32 = u32::MAX;

/// One decoded instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instr {
    pub(crate) op: Op,
    /// The predicate row that guards it, or [`NONE`].
    pub(crate) guard: u32,
    /// All ones when it runs where the guard is false.
    pub(crate) guard_flip: u32,
    /// Destination rows.
    pub(crate) dst: [u32; 2],
    /// Source rows.
    pub(crate) src: [u32; 4],
    /// A byte offset, a lookup table, or what else the operation takes.
    pub(crate) imm: i64,
    /// A branch target or an index into one of [`Code`]'s tables.
    pub(crate) target: u32,
    /// Index into [`Code::sources`].
    pub(crate) source: u32,
}

impl Instr {
    pub(crate) const fn new(op: Op, source: u32) -> Self {
        Self {
            op,
            guard: NONE,
            guard_flip: 0,
            dst: [NONE; 2],
            src: [0; 4],
            imm: 0,
            target: 0,
            source,
        }
    }
}

impl Instr {
    /// Whether a barrier wants the whole warp at this one instruction.
    pub(crate) const fn is_aligned(&self) -> bool {
        self.target == ALIGNED
    }

    pub(crate) const fn op_is_reduction(&self) -> bool {
        matches!(self.op, Op::BarrierReduce)
    }

    /// Whether lanes only come together there: every other collective instruction names a row in place of its destination.
    pub(crate) const fn is_warp_barrier(&self) -> bool {
        matches!(self.op, Op::Collective(_)) && matches!(self.dst, [NONE, NONE])
    }
}

/// The statement that an instruction comes from.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) line: u32,
    pub(crate) text: String,
    /// Index in [`Code::source_lines`].
    pub(crate) compiled_from: Option<u32>,
}

/// What a row holds before the first instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Init {
    /// The same value in every lane.
    Value(u64),
    /// The address of a module variable, plus an offset.
    Global(usize, i64),
    /// The address of a function.
    Function(usize),
    /// The address of a shared variable, plus an offset.
    Shared(usize, i64),
    /// An offset in the local memory of this call.
    Local(i64),
    /// Bytes of the kernel's parameter buffer: offset, size, whether the sign is extended.
    Param(u32, u8, bool),
    /// A special register that does not change while a warp runs.
    Special(Special),
}

/// Special registers that are fixed for a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    Tid(usize),
    Ntid(usize),
    Ctaid(usize),
    Nctaid(usize),
    /// The cluster's coordinates among clusters, and how many of these there are.
    Clusterid(usize),
    Nclusterid(usize),
    /// The block's coordinates in its cluster, and its number there.
    ClusterCtaid(usize),
    ClusterCtarank,
    ClusterNctaid(usize),
    ClusterNctarank,
    ExplicitCluster,
    Laneid,
    Warpid,
    Nwarpid,
    Gridid,
    Zero,
    One,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    DynamicSharedSize,
    TotalSharedSize,
    /// The half of the workspace's address that `%envreg1` (upper) or `%envreg2` (lower) has.
    WorkspaceHigh,
    WorkspaceLow,
}

/// Where an argument goes, or a returned value comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Transfer {
    /// Between parameter memories: from, to, bytes.
    Bytes(u32, u32, u32),
    /// Between 32-bit rows.
    Row32(u32, u32),
    /// Between 64-bit rows.
    Row64(u32, u32),
    /// Between predicate rows.
    Predicate(u32, u32),
}

/// Where a parameter or a returned value lies in the called function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Offset and size in its parameter memory.
    Bytes(u32, u32),
    /// A row of registers of that many bits.
    Row { bits: u32, row: u32 },
}

/// What both sides of a call agree on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Signature {
    pub(crate) returns: Vec<Slot>,
    pub(crate) params: Vec<Slot>,
}

/// Which function a call reaches.
#[derive(Debug, Clone)]
pub(crate) enum Callee {
    /// Index of the function in the program.
    Direct(usize),
    /// Whatever function of that signature the address names, out of the list if there is one.
    Indirect(Signature, Option<Vec<usize>>),
}

/// A call.
#[derive(Debug, Clone)]
pub(crate) struct CallSite {
    pub(crate) callee: Callee,
    pub(crate) arguments: Vec<Transfer>,
    pub(crate) results: Vec<Transfer>,
}

/// A call of a function of the device runtime.
#[derive(Debug, Clone)]
pub(crate) struct ServiceCall {
    pub(crate) service: Service,
    /// Offset and size of each argument in the caller's parameter memory.
    pub(crate) arguments: Vec<(u32, u32)>,
    /// The same of the returned value, where it is wanted.
    pub(crate) result: Option<(u32, u32)>,
}

/// An address: its row, whether that has 32 bits, an offset, and the space that the instruction names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pointer {
    pub(crate) row: u32,
    pub(crate) narrow: bool,
    pub(crate) offset: i64,
    pub(crate) space: Space,
}

/// An asynchronous operation as an instruction asks for it.
#[derive(Debug, Clone)]
pub(crate) struct Asynchronous {
    pub(crate) to: Pointer,
    pub(crate) given: Given,
    /// The barrier that counts the bytes; where there is none, the operation joins a group of the thread.
    pub(crate) barrier: Option<Pointer>,
    pub(crate) combine: Option<Reduction>,
    /// The row with the set of blocks that receive it.
    pub(crate) blocks: Option<u32>,
    /// The row with the set of bytes of each 16 that are written.
    pub(crate) bytes: Option<u32>,
}

/// What an asynchronous operation writes.
#[derive(Debug, Clone)]
pub(crate) enum Given {
    /// So many bytes of memory, which a row says.
    Memory(Pointer, u32),
    /// Registers: their rows, and the bytes of each.
    Registers(Vec<u32>, usize),
}

/// What an instruction does to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TouchKind {
    Read,
    Write,
    /// Reads and writes as one step.
    Update,
    /// Reads, and learns what was done before.
    Await,
}

/// An access to memory, as the checks see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touch {
    pub(crate) kind: TouchKind,
    /// Bytes of each lane.
    pub(crate) size: u32,
    /// Volatile, atomic, or with an order of its own, up to there.
    pub(crate) strong: Option<Reach>,
    /// Whether what its thread does afterwards comes after what made the value that it reads.
    pub(crate) acquires: bool,
    /// Whether what its thread did before comes before what reads the value that it writes.
    pub(crate) releases: bool,
}

/// Between which threads a strong access is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    Block,
    Cluster,
    /// All of the device, or of the system.
    Device,
}

/// The rows of a function.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowCounts {
    pub(crate) words: usize,
    pub(crate) doubles: usize,
    pub(crate) predicates: usize,
}

/// Rows that must be zero when a block begins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cleared {
    pub(crate) words: Vec<u32>,
    pub(crate) doubles: Vec<u32>,
}

/// A decoded function.
#[derive(Debug, Clone, Default)]
pub(crate) struct Code {
    pub(crate) name: String,
    pub(crate) instructions: Vec<Instr>,
    pub(crate) sources: Vec<Source>,
    /// The lines that its `.loc` directives name.
    pub(crate) source_lines: Vec<SourceLine>,
    pub(crate) rows: RowCounts,
    /// Initial contents of 32-bit rows.
    pub(crate) word_inits: Vec<(u32, Init)>,
    /// Initial contents of 64-bit rows.
    pub(crate) double_inits: Vec<(u32, Init)>,
    /// Of a kernel; all other rows keep what they hold, because lanes write them before they read them.
    pub(crate) cleared: Cleared,
    /// Predicate rows that are always true.
    pub(crate) true_rows: Vec<u32>,
    /// Row lists of vector accesses.
    pub(crate) vectors: Vec<Vec<u32>>,
    /// Multiplications of matrices.
    pub(crate) products: Vec<Product>,
    /// Matrices that are loaded or stored.
    pub(crate) fragments: Vec<Fragment>,
    /// Jump tables.
    pub(crate) tables: Vec<Vec<u32>>,
    pub(crate) calls: Vec<CallSite>,
    pub(crate) services: Vec<ServiceCall>,
    /// Asynchronous operations.
    pub(crate) operations: Vec<Asynchronous>,
    /// What instructions do to memory, by their index.
    pub(crate) touches: HashMap<u32, Touch>,
    /// Those that may write to shared or local memory without being among these.
    pub(crate) opaque: HashSet<u32>,
    /// Of a device function that has a body.
    pub(crate) signature: Option<Signature>,
    /// Functions whose address it takes.
    pub(crate) taken: Vec<usize>,
    /// Bytes of local variables.
    pub(crate) local_bytes: u32,
    /// Bytes of parameter memory for calls and, in device functions, for the function's own parameters.
    pub(crate) param_bytes: u32,
    /// An estimate of the 32-bit registers that a thread needs for it.
    pub(crate) pressure: u32,
    /// Shared variables that it names.
    pub(crate) shared: Vec<usize>,
    /// What it does that other blocks could notice.
    pub(crate) effects: Vec<Noted>,
}
