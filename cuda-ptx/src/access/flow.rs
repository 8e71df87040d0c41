//! Where control goes in a body, and what it reaches before a wait.

use std::collections::{HashMap, HashSet};

use crate::{Instruction, Operand, Statement};

/// The labels that the branches of a body mean.
pub(super) struct Flow {
    /// For each statement that names labels, those labels' statements; a table of branches has its own.
    targets: HashMap<usize, Vec<usize>>,
    /// For each label the statement behind it and behind all labels next to it.
    behind: HashMap<usize, usize>,
}

/// What of a body is executed.
pub(super) struct Reached {
    /// For each statement whether it is.
    pub(super) at_all: Vec<bool>,
    /// For each statement whether it may be before the thread has waited.
    pub(super) unwaited: Vec<bool>,
    /// Whether the function may return before the thread has waited.
    pub(super) returns_unwaited: bool,
}

/// The statements of the labels that are visible, innermost block last.
#[derive(Default)]
struct Labels<'a> {
    meanings: HashMap<&'a str, Vec<usize>>,
}

impl Flow {
    pub(super) fn new(body: &[Statement<'_>]) -> Self {
        let blocks = labels_of_blocks(body);
        let mut labels = Labels::default();
        labels.enter(blocks.first());
        let (mut opened, mut open) = (0, Vec::new());
        let mut targets = HashMap::new();
        for (index, statement) in body.iter().enumerate() {
            let named: &[Operand<'_>] = match statement {
                Statement::BlockStart(_) => {
                    opened += 1;
                    labels.enter(blocks.get(opened));
                    open.push(opened);
                    continue;
                }
                Statement::BlockEnd(_) => {
                    if let Some(block) = open.pop() {
                        labels.leave(blocks.get(block));
                    }
                    continue;
                }
                Statement::Instruction(it) if is_branch(it) => &it.operands,
                Statement::Directive(it) if it.name == ".branchtargets" => &it.arguments,
                _ => continue,
            };
            let found = named.iter().filter_map(|operand| {
                let name = operand.name()?;
                labels.meanings.get(name)?.last().copied()
            });
            targets.insert(index, found.collect());
        }
        Self {
            targets,
            behind: behind_labels(body),
        }
    }

    /// Walks through the body from its start. `waits` says whether a statement makes sure that the thread has waited.
    pub(super) fn reached(
        &self,
        body: &[Statement<'_>],
        waits: impl Fn(usize, &Instruction<'_>) -> bool,
    ) -> Reached {
        let (at_all, _) = self.walk(body, |_, _| false);
        let (unwaited, returns_unwaited) = self.walk(body, waits);
        Reached {
            at_all,
            unwaited,
            returns_unwaited,
        }
    }

    /// What is reached without passing what stops it, and whether the end of the function is.
    fn walk(
        &self,
        body: &[Statement<'_>],
        stops: impl Fn(usize, &Instruction<'_>) -> bool,
    ) -> (Vec<bool>, bool) {
        let mut reached = vec![false; body.len()];
        let mut tables = vec![];
        let mut is_expanded = HashSet::new();
        let mut returns = false;
        let mut waiting = vec![0];
        while let Some(index) = waiting.pop() {
            let Some(place) = reached.get_mut(index) else {
                returns = true;
                continue;
            };
            if std::mem::replace(place, true) {
                continue;
            }
            let Some(Statement::Instruction(instruction)) = body.get(index) else {
                waiting.push(index + 1);
                continue;
            };
            let is_guarded = instruction.guard.is_some();
            if !is_guarded && stops(index, instruction) {
                continue;
            }
            let mut goes_on = is_guarded;
            match instruction.opcode() {
                "bra" => waiting.extend(self.targets.get(&index).into_iter().flatten()),
                "brx" => tables.extend(self.targets.get(&index).into_iter().flatten()),
                "ret" => returns = true,
                "exit" | "trap" => {}
                _ => goes_on = true,
            }
            if goes_on {
                waiting.push(index + 1);
            }
            // A table is the directive behind the label.
            while let Some(label) = tables.pop() {
                let label = self.behind.get(&label).copied().unwrap_or(label);
                if is_expanded.insert(label) {
                    waiting.extend(self.targets.get(&label).into_iter().flatten());
                }
            }
        }
        (reached, returns)
    }
}

fn behind_labels(body: &[Statement<'_>]) -> HashMap<usize, usize> {
    let mut behind = HashMap::new();
    let mut next = body.len();
    for (index, statement) in body.iter().enumerate().rev() {
        match statement {
            Statement::Label(..) => {
                behind.insert(index, next);
            }
            _ => next = index,
        }
    }
    behind
}

fn is_branch(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.opcode(), "bra" | "brx")
}

/// The labels of each block, in the order in which blocks open; the body itself is the first.
fn labels_of_blocks<'a>(body: &[Statement<'a>]) -> Vec<Vec<(&'a str, usize)>> {
    let mut blocks = vec![Vec::new()];
    let mut open = vec![0];
    for (index, statement) in body.iter().enumerate() {
        match statement {
            Statement::BlockStart(_) => {
                open.push(blocks.len());
                blocks.push(Vec::new());
            }
            Statement::BlockEnd(_) => {
                open.pop();
            }
            Statement::Label(name, _) => {
                let block = open.last().and_then(|&block| blocks.get_mut(block));
                if let Some(block) = block {
                    block.push((*name, index));
                }
            }
            _ => {}
        }
    }
    blocks
}

impl<'a> Labels<'a> {
    fn enter(&mut self, block: Option<&Vec<(&'a str, usize)>>) {
        for (name, index) in block.into_iter().flatten() {
            self.meanings.entry(name).or_default().push(*index);
        }
    }

    fn leave(&mut self, block: Option<&Vec<(&'a str, usize)>>) {
        for (name, _) in block.into_iter().flatten() {
            self.meanings.get_mut(name).map(Vec::pop);
        }
    }
}
