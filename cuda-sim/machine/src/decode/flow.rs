//! What a kernel's instructions read and write, statement by statement, and what follows from it: which registers are read before they
//! are written.

use std::collections::{HashMap, HashSet};

use cuda_ptx::Operand;

use super::names::each_name;
use crate::code::{Code, Instr, NONE, Op};

/// A row of 32 or 64 bits. Predicates are not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Row {
    Word(u32),
    Double(u32),
}

/// What a statement does with rows.
#[derive(Debug)]
pub(super) struct Step {
    /// The instructions that it was decoded to.
    first: u32,
    pub(super) end: u32,
    reads: Vec<Row>,
    /// Rows that it may write.
    pub(super) changes: Vec<Row>,
    /// Whether those rows hold its result afterwards in each lane that comes past it.
    settles: bool,
}

/// What all statements of a function do with rows.
#[derive(Debug, Default)]
pub(super) struct Flow {
    steps: Vec<Step>,
    /// How many statements write a row.
    writers: HashMap<Row, u32>,
    /// Rows that lanes may read of each other, also of lanes that have never come to where the row is written.
    exposed: HashSet<Row>,
}

/// How a statement uses its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Each lane reads its own operands, and writes the first one unless that is an address.
    Lanes,
    /// Each lane reads its own operands.
    Reads,
    /// Anything else.
    Other,
}

fn use_of(opcode: &str, pushed: &[Instr]) -> Use {
    let alone = |it: &Instr| matches!(it.op, Op::Alu(_) | Op::SetPredicate(..) | Op::SetWord(..));
    let control = |it: &Instr| {
        matches!(
            it.op,
            Op::Branch
                | Op::BranchIndexed
                | Op::Return
                | Op::Exit
                | Op::Trap
                | Op::BarrierSync
                | Op::BarrierArrive
                | Op::ClusterArrive
                | Op::ClusterWait
        )
    };
    if pushed.iter().all(control) {
        Use::Reads
    } else if pushed.iter().all(alone) || matches!(opcode, "ld" | "ldu" | "st") {
        Use::Lanes
    } else {
        Use::Other
    }
}

impl Flow {
    /// Adds a statement that was decoded to the instructions from `first`; `rows` says which rows a name has.
    pub(super) fn add<'a>(
        &mut self,
        opcode: &str,
        operands: &[Operand<'a>],
        (first, pushed): (usize, &[Instr]),
        rows: &mut impl FnMut(&'a str) -> Vec<Row>,
    ) {
        let kind = use_of(opcode, pushed);
        let guarded = pushed.iter().any(|it| it.guard != NONE);
        let mut step = Step {
            first: first as u32,
            end: (first + pushed.len()) as u32,
            reads: Vec::new(),
            changes: Vec::new(),
            settles: kind == Use::Lanes && !guarded,
        };
        for (index, operand) in operands.iter().enumerate() {
            let is_result = index == 0 && !matches!(operand, Operand::Address { .. });
            each_name(operand, &mut |name| {
                // Video instructions write some parts of a word: `%r1.h0`.
                let (whole, part) = name.split_once('.').unwrap_or((name, ""));
                let mut found = rows(name);
                if found.is_empty() {
                    found = rows(whole);
                }
                let is_write = is_result && kind == Use::Lanes;
                if is_write || kind == Use::Other {
                    for &row in &found {
                        *self.writers.entry(row).or_default() += 1;
                    }
                    step.changes.extend(&found);
                    step.settles &= part.is_empty();
                }
                if kind == Use::Other {
                    self.exposed.extend(&found);
                }
                if !is_write {
                    step.reads.extend(found);
                }
            });
        }
        self.steps.push(step);
    }

    /// Whether one statement alone writes the row.
    pub(super) fn has_one_writer(&self, row: Row) -> bool {
        self.writers.get(&row) == Some(&1)
    }

    /// The rows that some lane may read before it has written them; nothing where the function is too large to tell.
    pub(super) fn unset_when_read(&self, code: &Code, blocks: &[Block]) -> Option<HashSet<Row>> {
        let width = (code.rows.words + code.rows.doubles).div_ceil(64);
        if blocks.len().saturating_mul(width) > MOST_WORDS {
            return None;
        }
        let number = |row: Row| match row {
            Row::Word(row) => row as usize,
            Row::Double(row) => code.rows.words + row as usize,
        };
        let (mut read, mut written) = (Vec::new(), Vec::new());
        for block in blocks {
            let (mut reads, mut writes) = (Bits::new(width), Bits::new(width));
            for step in self.steps(block) {
                for row in step.reads.iter().map(|&row| number(row)) {
                    if !writes.has(row) {
                        reads.add(row);
                    }
                }
                if step.settles {
                    step.changes.iter().for_each(|&row| writes.add(number(row)));
                }
            }
            read.push(reads);
            written.push(writes);
        }
        // Backwards, for what a block's successors read it must have written, or else its predecessors.
        let mut changed = true;
        while changed {
            changed = false;
            for index in (0..blocks.len()).rev() {
                for &next in &blocks[index].next {
                    let wanted = read[next].clone();
                    changed |= read[index].add_all_but(&wanted, &written[index]);
                }
            }
        }
        let first = read.first()?;
        let all = (0..code.rows.words as u32)
            .map(Row::Word)
            .chain((0..code.rows.doubles as u32).map(Row::Double));
        let mut unset: HashSet<Row> = all.filter(|&row| first.has(number(row))).collect();
        unset.extend(&self.exposed);
        Some(unset)
    }

    /// The statements of a block.
    pub(super) fn steps(&self, block: &Block) -> &[Step] {
        self.steps.get(block.first..block.end).unwrap_or(&[])
    }

    /// The statements between places where control can come or go.
    pub(super) fn blocks(&self, code: &Code) -> Vec<Block> {
        let step_at = |target: u32| self.steps.partition_point(|step| step.first < target);
        let last_of = |index: usize| {
            let step = &self.steps[index];
            code.instructions
                .get(step.first as usize..step.end as usize)?
                .last()
        };
        // Where control can go from a statement, besides the next one; and whether it can go there.
        let targets = |index: usize| match last_of(index) {
            Some(it) => {
                let stays = it.guard != NONE;
                match it.op {
                    Op::Branch => (vec![step_at(it.target)], stays),
                    Op::BranchIndexed => {
                        let table = &code.tables[it.target as usize];
                        (table.iter().map(|&to| step_at(to)).collect(), stays)
                    }
                    Op::Return | Op::Exit | Op::Trap => (Vec::new(), stays),
                    _ => (Vec::new(), true),
                }
            }
            None => (Vec::new(), true),
        };
        let count = self.steps.len();
        let mut starts = HashSet::from([0]);
        for index in 0..count {
            let (targets, stays) = targets(index);
            if !targets.is_empty() || !stays {
                starts.insert(index + 1);
            }
            starts.extend(targets);
        }
        let mut starts: Vec<usize> = starts.into_iter().filter(|&it| it < count).collect();
        starts.sort_unstable();
        let ends = starts.iter().skip(1).copied().chain([count]);
        let block_at = |step: usize| starts.binary_search(&step).ok();
        let blocks = starts.iter().zip(ends).map(|(&first, end)| {
            let (targets, stays) = targets(end - 1);
            let all = targets.into_iter().chain(stays.then_some(end));
            Block {
                first,
                end,
                next: all.filter_map(block_at).collect(),
            }
        });
        blocks.collect()
    }
}

/// Statements that run one after the other.
#[derive(Debug)]
pub(super) struct Block {
    first: usize,
    end: usize,
    /// Blocks that can follow.
    next: Vec<usize>,
}

/// Words of all sets of rows together, beyond which a function is too large.
const MOST_WORDS: usize = 1 << 20;

/// A set of rows by their numbers.
#[derive(Debug, Clone)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(width: usize) -> Self {
        Self(vec![0; width])
    }

    fn has(&self, number: usize) -> bool {
        self.0
            .get(number / 64)
            .is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    fn add(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }

    /// Adds the members of a set that are not in another; says whether any of them is new.
    fn add_all_but(&mut self, other: &Self, except: &Self) -> bool {
        let mut new = 0;
        for ((word, other), except) in self.0.iter_mut().zip(&other.0).zip(&except.0) {
            let more = other & !except & !*word;
            *word |= more;
            new |= more;
        }
        new != 0
    }
}
