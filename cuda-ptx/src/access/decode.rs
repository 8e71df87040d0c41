//! Reads a body once: operations on values, accesses, calls and what is returned.

use crate::{Function, Instruction, Operand, ScalarType, SourceLine, Space, Statement};

use super::equal;
use super::form::{Form, Value};
use super::memory::{Effect, Place, effects, place};
use super::names::{FROM_MEMORY, Globals, Meaning, NUMBER, Names};
use super::numbers::Numbers;
use super::ops::{Op, Rule, fixed_result, has_result, results, rule_of, sources};

/// An access as it stands in the text.
#[derive(Debug)]
pub(super) struct RawAccess<'a> {
    pub(super) statement: usize,
    pub(super) effect: Effect,
    pub(super) base: u32,
    pub(super) registers: Vec<u32>,
    pub(super) line: Option<SourceLine<'a>>,
}

/// What is passed for one parameter.
#[derive(Debug, Clone, Copy)]
pub(super) enum Argument {
    Variable(u32),
    Register(u32),
}

#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) statement: usize,
    /// Nothing for a call through a pointer.
    pub(super) callee: Option<&'a str>,
    pub(super) arguments: Vec<Argument>,
    /// The registers with everything that is passed, as a range of the sources.
    pub(super) sources: (u32, u32),
    pub(super) line: Option<SourceLine<'a>>,
}

/// Sources of an operation that are told apart; instructions have fewer.
const MOST_SOURCES: usize = 64;

/// A piece of a variable that is passed: offset, bytes, and a register in its place.
pub(super) type Piece = (u32, u32, u32);

#[derive(Debug, Default)]
pub(super) struct Decoded<'a> {
    pub(super) ops: Vec<Op>,
    pub(super) sources: Vec<u32>,
    pub(super) accesses: Vec<RawAccess<'a>>,
    /// What is put into memory.
    pub(super) stored: Vec<u32>,
    pub(super) calls: Vec<Call<'a>>,
    /// The pieces of each variable that is passed to functions, and whether there are more than are kept.
    pub(super) passed: Vec<(Vec<Piece>, bool)>,
    /// What is returned: offset, bytes and value.
    pub(super) returned: Vec<(u32, u32, u32)>,
    /// Registers that are compared.
    pub(super) compared: Vec<(u32, u32)>,
    /// Registers that are parameters: register, index.
    pub(super) given: Vec<(u32, u32)>,
    /// Whether something is passed in a way that is not followed.
    pub(super) loses: bool,
    /// What registers hold from the start.
    pub(super) initial: Vec<Value>,
    pub(super) numbers: Numbers,
}

pub(super) struct Reader<'g, 'a> {
    pub(super) names: Names<'g, 'a>,
    pub(super) out: Decoded<'a>,
    /// The last call that returned into each variable.
    pub(super) returning: Vec<Option<u32>>,
    pub(super) line: Option<SourceLine<'a>>,
}

impl<'g, 'a> Reader<'g, 'a> {
    pub(super) fn read(
        globals: &'g Globals<'g, 'a>,
        function: &Function<'a>,
        body: &[Statement<'a>],
    ) -> Decoded<'a> {
        let mut reader = Self {
            names: Names::new(globals, function),
            out: Decoded::default(),
            returning: Vec::new(),
            line: None,
        };
        for (index, param) in (0u32..).zip(&function.params) {
            if param.space == Space::Register
                && let Some(register) = reader.names.register(param.name)
            {
                reader.out.given.push((register, index));
            }
        }
        for (index, statement) in body.iter().enumerate() {
            match statement {
                Statement::Instruction(instruction) => reader.instruction(index, instruction),
                Statement::Variable(variable) => reader.names.declare(variable),
                Statement::BlockStart(_) => reader.names.enter(),
                Statement::BlockEnd(_) => reader.names.leave(),
                Statement::Directive(directive) => {
                    if directive.name == ".loc" {
                        reader.line = directive.source_line();
                    }
                }
                Statement::Label(..) | Statement::Prototype(_) => {}
            }
        }
        for param in &function.returns {
            if let Meaning::Register(register) = reader.names.meaning(param.name) {
                let size = u32::try_from(param.size).unwrap_or(0);
                reader.out.returned.push((0, size, register));
            }
        }
        reader.out.initial = std::mem::take(&mut reader.names.initial);
        reader.out
    }

    fn instruction(&mut self, index: usize, instruction: &Instruction<'a>) {
        let opcode = instruction.opcode();
        if opcode == "call" {
            return self.call(index, instruction);
        }
        self.out.numbers.see(instruction, &mut self.names);
        if matches!(opcode, "ld" | "st") {
            let space = instruction.modifiers().find_map(place);
            let is_param = space == Some(Place::Param);
            if opcode == "st" && is_param {
                return self.pass(instruction);
            }
            if opcode == "ld" {
                self.load(instruction);
                // Of a parameter, or what a call returned.
                if is_param {
                    return;
                }
            }
        }
        for effect in effects(instruction).into_iter().flatten() {
            self.access(index, instruction, effect);
        }
        if matches!(opcode, "st" | "atom" | "red") {
            for operand in instruction.operands.iter().skip(1) {
                if !matches!(operand, Operand::Address { .. }) {
                    sources(operand, &mut self.names, &mut self.out.stored);
                }
            }
        }
        let compared = equal::compared(instruction, &mut self.names);
        self.out.compared.extend(compared);
        if has_result(opcode) && opcode != "ld" {
            self.operation(instruction);
        }
    }

    fn access(&mut self, statement: usize, instruction: &Instruction<'a>, effect: Effect) {
        let operand = effect.operand.and_then(|it| instruction.operands.get(it));
        let base = match operand {
            Some(Operand::Address {
                base: Some(name),
                offset,
            }) => self.names.source(name, *offset),
            Some(Operand::Address { base: None, .. }) => NUMBER,
            _ => FROM_MEMORY,
        };
        let mut registers = Vec::new();
        let moved = match instruction.opcode() {
            "ld" | "ldu" => instruction.operands.first(),
            "st" => instruction.operands.get(1),
            _ => None,
        };
        if let Some(operand) = moved {
            results(operand, &mut self.names, &mut registers);
        }
        self.out.accesses.push(RawAccess {
            statement,
            effect,
            base,
            registers,
            line: self.line,
        });
    }

    pub(super) fn op(
        &mut self,
        to: u32,
        rule: Rule,
        from: impl FnOnce(&mut Names<'g, 'a>, &mut Vec<u32>),
    ) {
        let start = self.out.sources.len();
        from(&mut self.names, &mut self.out.sources);
        let range = (start, self.out.sources.len());
        if let (Ok(start), Ok(end)) = (u32::try_from(range.0), u32::try_from(range.1))
            && to != u32::MAX
        {
            let sources = (start, end);
            self.out.ops.push(Op { to, rule, sources });
        }
    }

    fn operation(&mut self, instruction: &Instruction<'a>) {
        let mut to = Vec::new();
        let Some((result, rest)) = instruction.operands.split_first() else {
            return;
        };
        results(result, &mut self.names, &mut to);
        let fixed = fixed_result(instruction);
        let rule = rule_of(instruction);
        // What selects or guards is no part of the result.
        let count = match rule {
            Rule::Either => 2,
            Rule::Copy | Rule::Global => 1,
            _ => rest.len(),
        };
        let mut from = Vec::new();
        match fixed {
            Some(value) => from.push(value),
            None => {
                for operand in rest.iter().take(count) {
                    sources(operand, &mut self.names, &mut from);
                }
            }
        }
        let rule = match (fixed, from.len()) {
            (None, ..=MOST_SOURCES) => rule,
            (Some(_), _) => Rule::Copy,
            _ => {
                // All of them would be looked at whenever one changes.
                from = vec![self.names.holding(Value::Form(Form::ANYTHING))];
                Rule::Copy
            }
        };
        for register in to {
            self.op(register, rule, |_, to| to.extend_from_slice(&from));
        }
    }

    fn load(&mut self, instruction: &Instruction<'a>) {
        let (Some(result), Some(address)) =
            (instruction.operands.first(), instruction.operands.get(1))
        else {
            return;
        };
        let width = element_size(instruction);
        let mut to = Vec::new();
        results(result, &mut self.names, &mut to);
        let (name, offset) = match address {
            Operand::Address {
                base: Some(name),
                offset,
            } => (Some(*name), *offset),
            Operand::Address { base: None, offset } => (None, *offset),
            _ => (None, 0),
        };
        let meaning = name.map(|name| self.names.meaning(name));
        for (lane, register) in (0i64..).zip(to) {
            let at = offset.saturating_add(lane.saturating_mul(i64::from(width)));
            match (meaning, name) {
                (Some(Meaning::Passed(variable)), _) => {
                    let call = self.returning.get(variable as usize).copied().flatten();
                    let offset = u32::try_from(at);
                    match (call, offset) {
                        (Some(call), Ok(offset)) => self.returned(register, call, offset, width),
                        _ => self.op(register, Rule::Copy, |_, to| to.push(FROM_MEMORY)),
                    }
                }
                (Some(_), Some(name)) => {
                    self.op(register, Rule::Load { offset: at, width }, |names, to| {
                        to.push(names.source(name, 0));
                    });
                }
                _ => self.op(register, Rule::Copy, |_, to| to.push(FROM_MEMORY)),
            }
        }
    }
}

/// Bytes of the type that the mnemonic ends with.
pub(super) fn element_size(instruction: &Instruction<'_>) -> u32 {
    let types = instruction.modifiers().filter_map(ScalarType::from_name);
    let size = types.last().map_or(0, ScalarType::size);
    u32::try_from(size).unwrap_or(0)
}
