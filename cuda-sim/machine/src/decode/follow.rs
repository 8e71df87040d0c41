//! Accesses through an address register that has not changed since another access through it: how the lanes lie to each other need not be
//! found out again.

use std::collections::HashSet;

use super::flow::{Block, Row};
use super::notes::Notes;
use crate::code::{Code, FOLLOWS, LEADS, NONE};

/// Marks, within each block, the accesses that find out how the lanes lie to each other, and those that follow them.
pub(super) fn mark(code: &mut Code, notes: &Notes, blocks: &[Block]) {
    let mut single = notes.single.iter().copied().peekable();
    for block in blocks {
        // Rows that have been looked at, for elements of so many bytes.
        let mut known: HashSet<(Row, usize)> = HashSet::new();
        for step in notes.flow.steps(block) {
            while let Some((index, bytes)) = single.next_if(|&(index, _)| index < step.end) {
                let Some(instr) = code.instructions.get_mut(index as usize) else {
                    continue;
                };
                let row = if instr.src[1] == 0 {
                    Row::Double(instr.src[0])
                } else {
                    Row::Word(instr.src[0])
                };
                // A guarded access may not be executed.
                if instr.guard == NONE {
                    let first = known.insert((row, bytes));
                    // Accesses of another size remember their own finding in the same place.
                    known.retain(|it| it.0 != row || it.1 == bytes);
                    instr.target = if first { LEADS } else { FOLLOWS };
                }
            }
            if !known.is_empty() {
                known.retain(|(row, _)| !step.changes.contains(row));
            }
        }
    }
}
