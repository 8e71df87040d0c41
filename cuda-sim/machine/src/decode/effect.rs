//! What an instruction does to other clusters: whether those of a kernel may run in any order, and at the same time. Without clusters,
//! each block is one.

use std::collections::HashMap;

use cuda_ptx::{Instruction, Operand, Statement};

use super::names::each_name;
use crate::Interaction;
use crate::code::{Code, Instr, Op};

/// What an instruction does that other blocks could notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect<'a> {
    /// Nothing, or ordinary accesses: where blocks race through those, no order is promised.
    None,
    /// Changes a word of memory by this operation of this type, which gives the same in any order, as long as it is the only one.
    Commutes(&'a str, &'a str),
    /// Something whose result depends on when other blocks do what they do.
    Orders(&'static str),
}

impl Effect<'_> {
    /// What is to be remembered of it.
    pub(super) fn noted(self, source: u32) -> Option<Noted> {
        let (commutes, why) = match self {
            Self::None => return None,
            Self::Commutes(operation, ty) => (Some((operation.to_owned(), ty.to_owned())), MIXED),
            Self::Orders(why) => (None, why),
        };
        Some(Noted {
            source,
            commutes,
            why,
        })
    }
}

/// An [`Effect`] of a decoded function, with its statement.
#[derive(Debug, Clone)]
pub(crate) struct Noted {
    /// Index into [`Code::sources`].
    pub(crate) source: u32,
    /// The operation and type, where it commutes with itself.
    commutes: Option<(String, String)>,
    /// How it makes the order matter, alone or beside another operation.
    why: &'static str,
}

const FENCE: &str = "orders accesses to memory between blocks";
const STRONG: &str = "reads or writes memory that other blocks may use at the same time";
const OLD_VALUE: &str = "gives what other blocks left in memory";
const NOT_COMMUTATIVE: &str = "leaves in memory what depends on the order of blocks";
const MIXED: &str = "changes memory by another operation than before, and the two do not commute";
/// Of clocks, which count the instructions of the whole launch.
pub(super) const CLOCK: &str = "reads a clock that other blocks advance";
const UNKNOWN: &str = "is not known to be independent of other blocks";

/// What an instruction does, by its mnemonic (split at its dots) and by what it was decoded to.
///
/// Whatever reaches beyond the registers counts as ordered unless it is listed here.
pub(super) fn effect<'a>(
    mnemonic: &[&'a str],
    pushed: &[Instr],
    result_is_read: impl FnOnce() -> bool,
) -> Effect<'a> {
    let stays_inside = |space: &str| {
        matches!(
            space,
            "shared" | "shared::cta" | "shared::cluster" | "local" | "const"
        ) || space.starts_with("param")
    };
    let inside = mnemonic.iter().any(|part| stays_inside(part));
    // The blocks of a cluster always run together: what they do among themselves, other clusters do not notice.
    let block_scope = mnemonic.contains(&"cta") || mnemonic.contains(&"cluster");
    match mnemonic {
        // In shared memory, or an ordinary access.
        ["mbarrier", ..] | ["st" | "red" | "cp", "async", ..] => Effect::None,
        ["cp", "reduce", "async", "bulk", "shared::cluster", ..] => Effect::None,
        ["cp", "reduce", "async", "bulk", rest @ ..] => changes(rest),
        // Between ways to memory, not between blocks.
        ["fence", "proxy", "async" | "async::generic", ..] => Effect::None,
        ["ld" | "ldu" | "st", rest @ ..] => {
            let strong = |part: &&str| {
                matches!(
                    *part,
                    // `.cv` and `.wt` fetch anew and write through: programs pass flags with them.
                    "volatile" | "relaxed" | "acquire" | "release" | "mmio" | "cv" | "wt"
                )
            };
            if inside || block_scope || !rest.iter().any(strong) {
                Effect::None
            } else {
                Effect::Orders(STRONG)
            }
        }
        ["atom" | "red", ..] if inside => Effect::None,
        ["atom", ..] if result_is_read() => Effect::Orders(OLD_VALUE),
        ["atom" | "red", rest @ ..] => changes(rest),
        ["membar" | "fence", ..] if block_scope => Effect::None,
        ["membar" | "fence", ..] => Effect::Orders(FENCE),
        [
            "shfl" | "vote" | "activemask" | "isspacep" | "bar" | "barrier",
            ..,
        ]
        | ["alloca" | "stacksave" | "stackrestore", ..]
        // With a launch before that has not ended, all blocks run on one thread.
        | ["griddepcontrol", "wait"]
        | ["nanosleep" | "prefetch" | "prefetchu", ..] => Effect::None,
        _ if pushed.iter().all(|instr| is_internal(instr.op)) => Effect::None,
        _ => Effect::Orders(UNKNOWN),
    }
}

/// What `atom` and `red` do when nobody wants the old value.
fn changes<'a>(modifiers: &[&'a str]) -> Effect<'a> {
    let ordered = |part: &&str| matches!(*part, "acquire" | "release" | "acq_rel");
    if modifiers.iter().any(ordered) {
        return Effect::Orders(FENCE);
    }
    let operation = modifiers
        .iter()
        .find(|part| matches!(**part, "add" | "min" | "max" | "and" | "or" | "xor"));
    match (operation.copied(), modifiers.last().copied()) {
        // Additions wrap, so signs make no difference.
        (Some("add"), Some("u32" | "s32")) => Effect::Commutes("add", "u32"),
        (Some("add"), Some("u64" | "s64")) => Effect::Commutes("add", "u64"),
        (Some(operation), Some(ty @ ("u32" | "s32" | "u64" | "s64" | "b32" | "b64"))) => {
            Effect::Commutes(operation, ty)
        }
        _ => Effect::Orders(NOT_COMMUTATIVE),
    }
}

/// Whether an operation touches nothing but the registers and barriers of its own block, and the place where the lanes are.
fn is_internal(op: Op) -> bool {
    match op {
        Op::Alu(_)
        | Op::Nothing
        | Op::SetPredicate(..)
        | Op::SetWord(..)
        | Op::Collective(_)
        | Op::Branch
        | Op::BranchIndexed
        | Op::Call
        | Op::CallIndirect
        | Op::Return
        | Op::Exit
        | Op::Trap
        | Op::BarrierSync
        | Op::BarrierArrive
        | Op::BarrierReduce
        | Op::ClusterArrive
        | Op::ClusterWait => true,
        Op::Access(_) | Op::Poll(_) => false,
    }
}

/// The first instruction of a kernel's functions that makes the order of blocks matter.
pub(super) fn interaction<'c>(codes: impl Iterator<Item = &'c Code>) -> Option<Interaction> {
    let mut only: Option<&(String, String)> = None;
    for code in codes {
        for noted in &code.effects {
            match (&noted.commutes, only) {
                (Some(next), None) => {
                    only = Some(next);
                    continue;
                }
                (Some(next), Some(first)) if next == first => continue,
                (Some(_), Some(_)) | (None, _) => {}
            }
            let source = code.sources.get(noted.source as usize);
            return Some(Interaction {
                text: source.map_or_else(String::new, |source| source.text.clone()),
                line: source.map_or(0, |source| source.line),
                function: code.name.clone(),
                why: noted.why,
            });
        }
    }
    None
}

/// How often each name is mentioned by the instructions of a function.
#[derive(Debug, Default)]
pub(super) struct Mentions<'a>(HashMap<&'a str, usize>);

impl<'a> Mentions<'a> {
    pub(super) fn of(body: &[Statement<'a>]) -> Self {
        let mut mentions = Self::default();
        for statement in body {
            if let Statement::Instruction(instruction) = statement {
                mentions.add_instruction(instruction);
            }
        }
        mentions
    }

    /// Whether the result of an instruction is mentioned anywhere but there.
    pub(super) fn is_read(&self, result: Option<&Operand<'a>>) -> bool {
        match result {
            Some(Operand::Sink) => false,
            Some(Operand::Name(name)) => self.0.get(name).is_none_or(|&count| count > 1),
            _ => true,
        }
    }

    fn add(&mut self, name: &'a str) {
        *self.0.entry(name).or_default() += 1;
    }

    fn add_instruction(&mut self, instruction: &Instruction<'a>) {
        if let Some(guard) = &instruction.guard {
            self.add(guard.register);
        }
        for operand in &instruction.operands {
            each_name(operand, &mut |name| self.add(name));
        }
    }
}
