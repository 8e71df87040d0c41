//! Registers that hold one value through the whole kernel, from before its first instruction: parameters, special registers and constants
//! that one statement alone moves to where they stay. Their rows are filled when a launch or a block begins, and that statement has
//! nothing left to do.

use std::collections::{HashMap, HashSet};

use super::flow::{Block, Row};
use super::notes::Notes;
use crate::code::{Cleared, Code, Init, Op};

/// Finds the registers that hold one value, and the rows that must be zero when a block begins.
pub(super) fn settle(code: &mut Code, notes: &Notes, blocks: &[Block]) {
    let Some(unset) = notes.flow.unset_when_read(code, blocks) else {
        code.cleared = cleared(code, None);
        return;
    };
    let words = code
        .word_inits
        .iter()
        .map(|&(row, init)| (Row::Word(row), init));
    let doubles = code
        .double_inits
        .iter()
        .map(|&(row, init)| (Row::Double(row), init));
    let mut values: HashMap<Row, Init> = words.chain(doubles).collect();
    for &(index, to, from) in &notes.copies {
        let settled = notes.flow.has_one_writer(to) && !unset.contains(&to);
        let (Some(&init), true) = (values.get(&from), settled) else {
            continue;
        };
        values.insert(to, init);
        match to {
            Row::Word(row) => code.word_inits.push((row, init)),
            Row::Double(row) => code.double_inits.push((row, init)),
        }
        if let Some(instr) = code.instructions.get_mut(index as usize) {
            instr.op = Op::Nothing;
        }
    }
    count_runs(code);
    code.cleared = cleared(code, Some(&unset));
}
/// Tells each instruction that does nothing how many of them follow each other from there.
fn count_runs(code: &mut Code) {
    let mut run = 0;
    for instr in code.instructions.iter_mut().rev() {
        if matches!(instr.op, Op::Nothing) {
            run += 1;
            instr.target = run;
        } else {
            run = 0;
        }
    }
}

/// The rows that a block must find zero: those that may be read before they are written, or else all that have no value from the start.
fn cleared(code: &Code, unset: Option<&HashSet<Row>>) -> Cleared {
    let with_value = |inits: &[(u32, Init)]| inits.iter().map(|it| it.0).collect::<HashSet<u32>>();
    let (words, doubles) = (with_value(&code.word_inits), with_value(&code.double_inits));
    let wanted = |row| unset.is_none_or(|unset| unset.contains(&row));
    Cleared {
        words: (0..code.rows.words as u32)
            .filter(|row| !words.contains(row) && wanted(Row::Word(*row)))
            .collect(),
        doubles: (0..code.rows.doubles as u32)
            .filter(|row| !doubles.contains(row) && wanted(Row::Double(*row)))
            .collect(),
    }
}
