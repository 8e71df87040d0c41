//! A function body: declarations, labels and instructions.

use std::collections::HashMap;

use cuda_ptx::{Function, FunctionKind, Instruction, Operand, Space, Statement, Variable};

use super::call::Formals;
use super::effect::{Effect, Mentions, effect};
use super::notes::Notes;
use super::source_line::one_line;
use super::symbols::{Register, Symbol, Symbols};
use super::touch::{opaque, touch};
use super::{Names, shared_variable};
use crate::Unsupported;
use crate::code::{Code, Instr, NONE, Op, Signature, Slot, Source};
use crate::exec::CALL_PARAMS;
use crate::program::SharedVariable;

/// Why an instruction cannot be decoded.
pub(super) type Why = String;

/// A label that a branch names before it is known.
#[derive(Debug)]
pub(super) enum Pending<'a> {
    /// The target of the instruction.
    Instruction(usize, &'a str, u32),
    /// An entry of a branch table.
    Table(usize, usize, &'a str, u32),
}

/// A function while it is decoded.
pub(super) struct Decoder<'m, 'a> {
    pub(super) names: &'m Names<'m, 'a>,
    pub(super) function: &'m Function<'a>,
    pub(super) code: Code,
    pub(super) symbols: Symbols<'a>,
    pub(super) shared: &'m mut Vec<SharedVariable>,
    /// Places of labels, by the number of the block that they stand in.
    labels: HashMap<(u32, &'a str), u32>,
    /// The block around each block.
    parents: Vec<u32>,
    pub(super) block: u32,
    pub(super) pending: Vec<(Pending<'a>, u32)>,
    /// Branch tables by label: `.branchtargets`.
    pub(super) targets: HashMap<&'a str, usize>,
    /// What indirect calls go by: `.callprototype` and `.calltargets` by label, the last one that stands before.
    pub(super) prototypes: HashMap<&'a str, Signature>,
    pub(super) call_targets: HashMap<&'a str, Vec<&'a str>>,
    /// Index of the statement that is decoded.
    pub(super) source: u32,
    /// Index of the last `.loc`.
    pub(super) compiled_from: Option<u32>,
    /// How often the body mentions each name, once somebody has asked.
    mentions: Option<Mentions<'a>>,
    pub(super) notes: Notes,
}

/// Decodes a function; the second value says what is not implemented in it.
pub(super) fn decode<'a>(
    function: &Function<'a>,
    names: &Names<'_, 'a>,
    shared: &mut Vec<SharedVariable>,
) -> (Code, Option<Unsupported>) {
    let mut decoder = Decoder {
        names,
        function,
        code: Code {
            name: function.name.to_owned(),
            pressure: super::pressure::of(function),
            ..Code::default()
        },
        symbols: Symbols::new(),
        shared,
        labels: HashMap::new(),
        parents: vec![0],
        block: 0,
        pending: Vec::new(),
        targets: HashMap::new(),
        prototypes: HashMap::new(),
        call_targets: HashMap::new(),
        source: 0,
        compiled_from: None,
        mentions: None,
        notes: Notes::default(),
    };
    let problem = decoder.run().err();
    (decoder.code, problem)
}

impl<'a> Decoder<'_, 'a> {
    fn run(&mut self) -> Result<(), Unsupported> {
        let line = self.function.position.line;
        let report = |function: &str, line, text: &str, why| Unsupported {
            text: one_line(text),
            line,
            function: function.to_owned(),
            why,
        };
        let name = self.function.name;
        let signature = format!(".func {name}");
        let Some(body) = &self.function.body else {
            return Err(report(
                name,
                line,
                &signature,
                String::from("the function is declared here and defined nowhere"),
            ));
        };
        self.declare_params()
            .map_err(|why| report(name, line, &signature, why))?;
        let mut last_label = None;
        for statement in body {
            match statement {
                Statement::Instruction(instruction) => {
                    let (line, text) = (instruction.position.line, instruction.text);
                    self.instruction(instruction)
                        .map_err(|why| report(name, line, text, why))?;
                }
                Statement::Label(label, _) => {
                    self.labels
                        .insert((self.block, label), self.code.instructions.len() as u32);
                    last_label = Some(*label);
                }
                Statement::Variable(variable) => {
                    let declared = self.declare(variable);
                    declared
                        .map_err(|why| report(name, variable.position.line, variable.name, why))?;
                }
                Statement::Directive(directive) if directive.name == ".branchtargets" => {
                    let label = last_label.unwrap_or("");
                    let table = directive
                        .arguments
                        .iter()
                        .enumerate()
                        .map(|(index, argument)| {
                            let target = argument.name().unwrap_or("");
                            let place =
                                Pending::Table(self.code.tables.len(), index, target, self.block);
                            self.pending.push((place, directive.position.line));
                            u32::MAX
                        });
                    let table = table.collect();
                    self.targets.insert(label, self.code.tables.len());
                    self.code.tables.push(table);
                }
                Statement::Directive(directive) if directive.name == ".calltargets" => {
                    let names = directive.arguments.iter().filter_map(|it| it.name());
                    self.call_targets
                        .insert(last_label.unwrap_or(""), names.collect());
                }
                Statement::Prototype(prototype) => {
                    let formals = Formals::of(&prototype.returns, &prototype.params);
                    let formals = formals.map_err(|why| {
                        report(name, prototype.position.line, ".callprototype", why)
                    })?;
                    self.prototypes
                        .insert(last_label.unwrap_or(""), formals.signature);
                }
                Statement::Directive(directive) if directive.name == ".loc" => self.loc(directive),
                // Hints.
                Statement::Directive(_) => {}
                Statement::BlockStart(_) => {
                    self.parents.push(self.block);
                    self.block = self.parents.len() as u32 - 1;
                    self.symbols.enter();
                }
                Statement::BlockEnd(_) => {
                    self.block = self.parents[self.block as usize];
                    self.symbols.leave();
                }
            }
        }
        // Whoever runs off the end returns.
        self.source = self.new_source(line, "the end of the function");
        self.code
            .instructions
            .push(Instr::new(Op::Return, self.source));
        self.resolve_labels().map_err(|(line, label)| {
            report(name, line, label, format!("there is no label `{label}`"))
        })?;
        self.settle();
        Ok(())
    }

    fn new_source(&mut self, line: u32, text: &str) -> u32 {
        self.code.sources.push(Source {
            line,
            text: one_line(text),
            compiled_from: self.compiled_from,
        });
        self.code.sources.len() as u32 - 1
    }

    /// Names the parameters: those of a kernel lie in the parameter buffer, those of a device function in the call's own memory.
    fn declare_params(&mut self) -> Result<(), Why> {
        let function = self.function;
        if function.kind == FunctionKind::Entry {
            for param in &function.params {
                if param.offset.saturating_add(param.size) as u64 >= CALL_PARAMS {
                    return Err(format!("the parameters take more than {CALL_PARAMS} bytes"));
                }
                self.symbols.insert(
                    param.name,
                    Symbol::KernelParam(param.offset as u32, param.size as u32),
                );
            }
            return Ok(());
        }
        let formals = Formals::of(&function.returns, &function.params)?;
        let Signature { returns, params } = &formals.signature;
        let slots = returns.iter().chain(params);
        for (param, slot) in function.returns.iter().chain(&function.params).zip(slots) {
            let symbol = match *slot {
                Slot::Bytes(offset, size) => Symbol::CallParam(offset, size),
                Slot::Row { bits, row } => Symbol::Register(Register { bits, row }),
            };
            self.symbols.insert(param.name, symbol);
        }
        self.code.param_bytes = formals.bytes;
        self.code.rows = formals.rows;
        self.code.signature = Some(formals.signature);
        Ok(())
    }

    /// Room in the parameter memory of the call.
    fn call_param(&mut self, size: usize, align: usize) -> Result<u32, Why> {
        let (offset, end) = super::call::place(self.code.param_bytes, size, align)?;
        self.code.param_bytes = end;
        Ok(offset)
    }

    fn declare(&mut self, variable: &Variable<'a>) -> Result<(), Why> {
        let too_large = || String::from("the variable is too large");
        match variable.space {
            Space::Register => self.symbols.declare_registers(variable, &mut self.code),
            Space::Local => {
                let size = variable
                    .size()
                    .filter(|&size| size < 1 << 30)
                    .ok_or_else(too_large)? as u32;
                let offset = self
                    .code
                    .local_bytes
                    .checked_next_multiple_of(variable.align() as u32)
                    .ok_or_else(too_large)?;
                self.code.local_bytes = offset.checked_add(size).ok_or_else(too_large)?;
                self.symbols.insert(variable.name, Symbol::Local(offset));
                Ok(())
            }
            Space::Param => {
                let size = variable.size().ok_or_else(too_large)?;
                let offset = self.call_param(size, variable.align())?;
                self.symbols
                    .insert(variable.name, Symbol::CallParam(offset, size as u32));
                Ok(())
            }
            Space::Shared => {
                let index = self.shared.len();
                self.shared.push(shared_variable(variable));
                self.symbols.insert(variable.name, Symbol::Shared(index));
                Ok(())
            }
            Space::Global | Space::Const | Space::Texture | Space::SpecialRegister => Err(
                String::from("a variable of this space inside a function is not implemented"),
            ),
        }
    }

    fn instruction(&mut self, instruction: &Instruction<'a>) -> Result<(), Why> {
        self.source = self.new_source(instruction.position.line, instruction.text);
        let first = self.code.instructions.len();
        let mnemonic: Vec<&'a str> = instruction.mnemonic.split('.').collect();
        let operands = self.plain_operands(instruction)?;
        self.operation(&mnemonic, &operands)?;
        self.note_effect(first, &mnemonic, &operands);
        if let Some((index, touch)) = touch(&mnemonic, &self.code.instructions[first..]) {
            self.code.touches.insert((first + index) as u32, touch);
        } else if let Some(index) = opaque(&mnemonic, &self.code.instructions[first..]) {
            self.code.opaque.insert((first + index) as u32);
        }
        if let Some(guard) = instruction.guard {
            let row = self.register(guard.register, 1)?;
            for instr in &mut self.code.instructions[first..] {
                (instr.guard, instr.guard_flip) = (row, if guard.negated { u32::MAX } else { 0 });
            }
        }
        self.note_flow(first, &mnemonic, &operands);
        Ok(())
    }

    /// Notes what the instruction does that other blocks could notice; it was decoded to everything from `first`.
    fn note_effect(&mut self, first: usize, mnemonic: &[&'a str], operands: &[Operand<'a>]) {
        let (function, mentions) = (self.function, &mut self.mentions);
        let result_is_read = || {
            let body = function.body.as_deref().unwrap_or(&[]);
            let mentions = mentions.get_or_insert_with(|| Mentions::of(body));
            let result = operands.first();
            // What the function returns in a register, its caller reads.
            let name = result.and_then(Operand::name);
            let returned = name.is_some_and(|it| function.returns.iter().any(|to| to.name == it));
            returned || mentions.is_read(result)
        };
        let effect = effect(mnemonic, &self.code.instructions[first..], result_is_read);
        self.note(effect);
    }

    pub(super) fn note(&mut self, effect: Effect<'_>) {
        let noted = effect.noted(self.source);
        self.code.effects.extend(noted);
    }

    /// Decodes an instruction without its guard.
    fn operation(&mut self, mnemonic: &[&'a str], operands: &[Operand<'a>]) -> Result<(), Why> {
        let known = self.form(mnemonic, operands)?
            || match super::order::canonical(mnemonic) {
                Some(ordered) => self.form(&ordered, operands)?,
                None => false,
            };
        if known {
            Ok(())
        } else {
            Err(String::from(
                "this form of the instruction is not implemented",
            ))
        }
    }

    /// Decodes it if it is in one of the lists.
    fn form(&mut self, mnemonic: &[&'a str], operands: &[Operand<'a>]) -> Result<bool, Why> {
        Ok(self.data(mnemonic, operands)?
            || self.memory(mnemonic, operands)?
            || self.control(mnemonic, operands)?
            || self.warp(mnemonic, operands)?
            || self.stack(mnemonic, operands)?
            || self.asynchronous(mnemonic, operands)?
            || self.matrix(mnemonic, operands)?
            || self.video(mnemonic, operands)?)
    }

    pub(super) fn push(&mut self, instr: Instr) {
        self.code.instructions.push(instr);
    }

    pub(super) fn instr(&self, op: Op) -> Instr {
        Instr::new(op, self.source)
    }

    fn find_label(&self, mut block: u32, label: &'a str) -> Option<u32> {
        loop {
            if let Some(&place) = self.labels.get(&(block, label)) {
                return Some(place);
            }
            if block == 0 {
                return None;
            }
            block = self.parents[block as usize];
        }
    }

    fn resolve_labels(&mut self) -> Result<(), (u32, &'a str)> {
        for (pending, line) in std::mem::take(&mut self.pending) {
            match pending {
                Pending::Instruction(index, label, block) => {
                    self.code.instructions[index].target =
                        self.find_label(block, label).ok_or((line, label))?;
                }
                Pending::Table(table, entry, label, block) => {
                    self.code.tables[table][entry] =
                        self.find_label(block, label).ok_or((line, label))?;
                }
            }
        }
        debug_assert!(
            self.code
                .instructions
                .iter()
                .all(|instr| !matches!(instr.op, Op::Branch) || instr.target != NONE)
        );
        Ok(())
    }
}
