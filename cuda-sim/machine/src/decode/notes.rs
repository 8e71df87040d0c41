//! What is noted of a kernel's statements while they are decoded, for what is left out or done only once when the kernel runs.

use cuda_ptx::{FunctionKind, Operand};

use super::flow::{Flow, Row};
use super::function::Decoder;
use super::symbols::Symbol;
use super::{follow, preset};
use crate::code::{NONE, Op};

/// What is known of a kernel's statements when they have been decoded.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) flow: Flow,
    /// Instructions that copy a whole row: to where, and from where.
    pub(super) copies: Vec<(u32, Row, Row)>,
    /// Instructions that access single elements, with their bytes.
    pub(super) single: Vec<(u32, usize)>,
}

impl<'a> Decoder<'_, 'a> {
    /// Notes that the next instruction accesses single elements.
    pub(super) fn note_single(&mut self, bytes: usize) {
        let next = self.code.instructions.len();
        self.notes.single.push((next as u32, bytes));
    }

    /// Notes what a statement does with registers; it was decoded to everything from `first`.
    pub(super) fn note_flow(
        &mut self,
        first: usize,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) {
        if self.function.kind != FunctionKind::Entry {
            return;
        }
        let opcode = mnemonic.first().copied().unwrap_or("");
        let (symbols, code) = (&mut self.symbols, &mut self.code);
        let pushed = code.instructions[first..].to_vec();
        let mut rows = |name: &'a str| match symbols.find(name, code) {
            Some(Symbol::Register(register)) => match register.bits {
                1 => Vec::new(),
                64 => vec![Row::Double(register.row)],
                128 => vec![Row::Double(register.row), Row::Double(register.row + 1)],
                _ => vec![Row::Word(register.row)],
            },
            _ => Vec::new(),
        };
        if let ("mov" | "ld" | "cvta", [instr], Some(name)) =
            (opcode, &*pushed, operands.first().and_then(Operand::name))
            && matches!(instr.op, Op::Alu(_))
            && instr.guard == NONE
            // A window is added to addresses.
            && instr.imm == 0
            && let [to] = *rows(name)
        {
            let from = match to {
                Row::Word(_) => Row::Word(instr.src[0]),
                Row::Double(_) => Row::Double(instr.src[0]),
            };
            self.notes.copies.push((first as u32, to, from));
        }
        self.notes
            .flow
            .add(opcode, operands, (first, &pushed), &mut rows);
    }

    /// Uses the notes, once everything is decoded.
    pub(super) fn settle(&mut self) {
        if self.function.kind == FunctionKind::Entry {
            let blocks = self.notes.flow.blocks(&self.code);
            preset::settle(&mut self.code, &self.notes, &blocks);
            follow::mark(&mut self.code, &self.notes, &blocks);
        }
    }
}
