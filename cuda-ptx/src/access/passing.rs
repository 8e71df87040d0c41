//! What is passed to functions and returned by them.

use crate::{Instruction, Operand};

use super::decode::{Argument, Call, Reader, element_size};
use super::form::Value;
use super::names::{Meaning, NUMBER};
use super::ops::{Op, Rule, sources};

/// Pieces of one passed variable that are told apart, and those of all variables that are passed to one call.
const MOST_PIECES: usize = 64;

impl<'a> Reader<'_, 'a> {
    /// What a call returned; it depends on all that was passed.
    pub(super) fn returned(&mut self, to: u32, call: u32, offset: u32, width: u32) {
        let sources = self.out.calls.get(call as usize).map(|it| it.sources);
        if to != u32::MAX
            && let Some(sources) = sources
        {
            let rule = Rule::Returned {
                call,
                offset,
                width,
            };
            self.out.ops.push(Op { to, rule, sources });
        }
    }

    /// `st.param`: an argument of a call, or a value that is returned.
    pub(super) fn pass(&mut self, instruction: &Instruction<'a>) {
        let (
            Some(Operand::Address {
                base: Some(name),
                offset,
            }),
            Some(value),
        ) = (instruction.operands.first(), instruction.operands.get(1))
        else {
            return;
        };
        let width = element_size(instruction);
        let mut values = Vec::new();
        sources(value, &mut self.names, &mut values);
        let meaning = self.names.meaning(name);
        for (lane, value) in (0u32..).zip(values) {
            let at = u32::try_from(*offset).ok();
            let at = at.and_then(|it| it.checked_add(lane.checked_mul(width)?));
            match (meaning, at) {
                (Meaning::Returned, Some(at)) => self.out.returned.push((at, width, value)),
                (Meaning::Passed(variable), Some(at)) => {
                    self.piece(variable as usize, at, width, value)
                }
                _ => self.out.stored.push(value),
            }
        }
    }

    fn piece(&mut self, variable: usize, at: u32, width: u32, value: u32) {
        if self.out.passed.len() <= variable {
            self.out.passed.resize_with(variable + 1, Default::default);
        }
        let Some((pieces, is_cut)) = self.out.passed.get_mut(variable) else {
            return;
        };
        let known = pieces
            .iter()
            .find(|&&(offset, size, _)| (offset, size) == (at, width));
        let register = match known {
            Some(&(_, _, register)) => register,
            None if pieces.len() < MOST_PIECES => {
                let register = self.names.holding(Value::Nothing);
                pieces.push((at, width, register));
                register
            }
            None => {
                *is_cut = true;
                self.out.stored.push(value);
                return;
            }
        };
        self.op(register, Rule::Copy, |_, to| to.push(value));
    }

    pub(super) fn call(&mut self, statement: usize, instruction: &Instruction<'a>) {
        let place = instruction
            .operands
            .iter()
            .position(|it| it.name().is_some());
        let Some(place) = place else {
            return;
        };
        let name = instruction.operands.get(place).and_then(Operand::name);
        let callee = name.filter(|it| matches!(self.names.meaning(it), Meaning::Function));
        let arguments: Vec<Argument> = match instruction.operands.get(place + 1) {
            Some(Operand::List(list)) => list.iter().map(|it| self.argument(it)).collect(),
            _ => Vec::new(),
        };
        let start = self.out.sources.len();
        for argument in &arguments {
            match argument {
                Argument::Register(register) => self.out.sources.push(*register),
                Argument::Variable(variable) => {
                    if let Some((pieces, is_cut)) = self.out.passed.get(*variable as usize) {
                        self.out.loses |= *is_cut;
                        let registers = pieces.iter().map(|&(_, _, register)| register);
                        self.out.sources.extend(registers);
                    }
                }
            }
            if self.out.sources.len() > start + MOST_PIECES {
                self.out.sources.truncate(start + MOST_PIECES);
                self.out.loses = true;
                break;
            }
        }
        // Text has less than 4 GiB, and a call's sources are few.
        let end = u32::try_from(self.out.sources.len()).unwrap_or(u32::MAX);
        let sources = (u32::try_from(start).unwrap_or(end), end);
        let number = u32::try_from(self.out.calls.len()).unwrap_or(u32::MAX);
        self.out.calls.push(Call {
            statement,
            callee,
            arguments,
            sources,
            line: self.line,
        });
        let returned = instruction.operands.first().filter(|_| place > 0);
        let Some(Operand::List(list)) = returned else {
            return;
        };
        for operand in list {
            let Some(name) = operand.name() else {
                continue;
            };
            match self.names.meaning(name) {
                Meaning::Passed(variable) => {
                    let variable = variable as usize;
                    if self.returning.len() <= variable {
                        self.returning.resize(variable + 1, None);
                    }
                    if let Some(place) = self.returning.get_mut(variable) {
                        *place = Some(number);
                    }
                }
                Meaning::Register(register) => self.returned(register, number, 0, 8),
                _ => {}
            }
        }
    }

    fn argument(&mut self, operand: &Operand<'a>) -> Argument {
        if let Some(name) = operand.name()
            && let Meaning::Passed(variable) = self.names.meaning(name)
        {
            return Argument::Variable(variable);
        }
        let mut all = Vec::new();
        sources(operand, &mut self.names, &mut all);
        Argument::Register(all.first().copied().unwrap_or(NUMBER))
    }
}
