//! Function bodies: declarations, labels, guards and instructions.

use super::forms::{self, Role};
use super::operand::{Context, Wrong};
use super::scope::Symbol;
use super::{Checker, Match};
use crate::{Directive, Function, Instruction, Operand, ScalarType, Space, Statement, Variable};

/// The most modifiers that the name of an instruction has in the table.
const LONGEST: usize = 5;

impl<'m, 'a> Checker<'m, 'a> {
    /// A function's parameters and statements.
    pub(super) fn body(&mut self, function: &'m Function<'a>) {
        self.function = Some(function.name);
        self.scope.enter();
        let returns = function.returns.iter().map(|param| (param, true));
        let params = function.params.iter().map(|param| (param, false));
        for (param, returned) in returns.chain(params) {
            let symbol = match param.space {
                Space::Register => Symbol::Register(param.ty, param.vector),
                _ => Symbol::Param(param, returned),
            };
            // Prototypes leave the names out.
            if param.name != "_" && !self.scope.declare(param.name, symbol) {
                self.report(param.position, param.name, "the name is already defined");
            }
        }
        let mut last_label = None;
        for statement in function.body.as_deref().unwrap_or(&[]) {
            if self.full() {
                break;
            }
            match statement {
                Statement::Instruction(instruction) => self.instruction(instruction),
                Statement::Label(label, position) => {
                    last_label = Some(*label);
                    if !self.scope.label(label) {
                        self.report(*position, label, "the name is already defined");
                    }
                }
                Statement::Variable(variable) => self.local(variable),
                Statement::Directive(directive) => self.directive(directive, last_label),
                Statement::Prototype(_) => {
                    if let Some(label) = last_label {
                        self.scope.redefine(label, Symbol::Label(true));
                    }
                }
                Statement::BlockStart(_) => self.scope.enter(),
                Statement::BlockEnd(_) => self.scope.leave(),
            }
        }
        let mut missing = self.scope.missing_labels();
        // In the order of the text, of which all of them are parts.
        missing.sort_by_key(|label| label.as_ptr().addr());
        for label in missing {
            if self.full() {
                break;
            }
            let position = self
                .module
                .span_of(label)
                .map_or_else(Default::default, |span| span.position);
            self.report(position, label, "there is no such label");
        }
        self.scope.leave();
        self.function = None;
    }

    fn local(&mut self, variable: &'m Variable<'a>) {
        self.variable(variable);
        let fresh = match (variable.space, variable.count) {
            (Space::Register, Some(count)) => {
                self.scope
                    .declare_set(variable.name, variable.ty, variable.vector, count)
            }
            (Space::Register, None) => {
                let symbol = Symbol::Register(variable.ty, variable.vector);
                self.scope.declare(variable.name, symbol)
            }
            _ => self
                .scope
                .declare(variable.name, Symbol::Variable(variable)),
        };
        if !fresh {
            self.report(
                variable.position,
                variable.name,
                "the name is already defined",
            );
        }
    }

    fn directive(&mut self, directive: &'m Directive<'a>, label: Option<&'a str>) {
        let lists = matches!(directive.name, ".branchtargets" | ".calltargets");
        if let (true, Some(label)) = (lists, label) {
            self.scope.redefine(label, Symbol::Label(true));
        }
        let known = lists || matches!(directive.name, ".loc" | ".pragma");
        if !known && self.module.version() < (9, 1) {
            let message = format!("PTX has no directive `{}` in functions", directive.name);
            self.report(directive.position, directive.text, message);
        }
        if lists && label.is_none() {
            let message = format!("`{}` stands behind a label", directive.name);
            self.report(directive.position, directive.text, message);
        }
        for operand in &directive.arguments {
            match (directive.name, operand) {
                (".branchtargets", Operand::Name(name)) => self.scope.await_label(name),
                (".calltargets", Operand::Name(name))
                    if !matches!(self.scope.find(name), Some(Symbol::Function(_))) =>
                {
                    self.report(
                        directive.position,
                        directive.text,
                        format!("`{name}` is no function"),
                    );
                }
                _ => {}
            }
        }
    }

    fn instruction(&mut self, instruction: &'m Instruction<'a>) {
        if let Some(guard) = instruction.guard
            && !matches!(
                self.scope.find(guard.register),
                Some(Symbol::Register(ScalarType::Pred, 1))
            )
        {
            let message = format!("`{}` is no predicate", guard.register);
            self.report(instruction.position, instruction.text, message);
        }
        if let Err(message) = self.meaning(instruction) {
            self.report(instruction.position, instruction.text, message);
        }
    }

    /// Looks for a form that the instruction has.
    fn meaning(&mut self, instruction: &'m Instruction<'a>) -> Result<(), Wrong> {
        let mnemonic = instruction.mnemonic;
        if !self.known.contains_key(mnemonic) {
            let found = self.look_up(instruction);
            self.known.insert(mnemonic, found);
        }
        let matches = match self.known.get(mnemonic) {
            Some(Ok(matches)) => matches.clone(),
            Some(Err(message)) => return Err(message.clone()),
            None => return Ok(()),
        };
        let mut first = None;
        for Match { form, types } in &matches {
            if let [slot] = form.slots[..]
                && slot.role == Role::Call
            {
                return self.call(&instruction.operands);
            }
            let context = Context {
                opcode: instruction.opcode(),
                types,
                space: space(instruction),
                elements: elements(instruction),
            };
            let result = self
                .operands(&form.slots, &instruction.operands, &context)
                .and_then(|()| super::constants::check(instruction))
                .and_then(|()| self.new_enough(instruction, form));
            match result {
                Ok(()) => return Ok(()),
                Err(message) => first = first.or(Some(message)),
            }
        }
        first.map_or(Ok(()), Err)
    }

    /// The forms that a mnemonic can have.
    fn look_up(&self, instruction: &Instruction<'a>) -> Result<Vec<Match>, String> {
        let (opcode, table) = (instruction.opcode(), forms::table());
        let modifiers: Vec<&str> = instruction.modifiers().collect();
        // The longest name with dots comes first.
        let joined = (1..=modifiers.len().min(LONGEST)).rev().find_map(|count| {
            let name = format!("{opcode}.{}", modifiers[..count].join("."));
            Some((table.get(name.as_str())?, &modifiers[count..]))
        });
        let (forms, modifiers) = match (joined, table.get(opcode)) {
            (Some(joined), _) => joined,
            (None, Some(forms)) => (forms, &modifiers[..]),
            (None, None) => {
                let joined = |name: &&str| name.split_once('.').is_some_and(|it| it.0 == opcode);
                let mut names: Vec<&str> = table.keys().copied().filter(joined).collect();
                names.sort_unstable();
                return Err(if names.is_empty() {
                    format!("PTX has no instruction `{opcode}`")
                } else {
                    format!("PTX has no instruction `{opcode}` but {}", names.join(", "))
                });
            }
        };
        let matches: Vec<Match> = forms
            .iter()
            .filter_map(|form| {
                let types = form.types_of(modifiers)?;
                Some(Match { form, types })
            })
            .collect();
        if !matches.is_empty() {
            return Ok(matches);
        }
        let unknown = modifiers
            .iter()
            .find(|modifier| !forms.iter().any(|form| form.knows(modifier)));
        Err(match unknown {
            Some(modifier) => format!("`{opcode}` has no modifier `.{modifier}`"),
            None => format!("`{opcode}` has no form with these modifiers and types"),
        })
    }

    /// Whether the module's version and target have a form.
    fn new_enough(&self, instruction: &Instruction<'a>, form: &forms::Form) -> Result<(), Wrong> {
        let mnemonic = instruction.mnemonic;
        let version = self.module.version();
        let newest = instruction
            .modifiers()
            .filter_map(|modifier| modifier_needs(instruction.opcode(), modifier))
            .fold((form.since, form.architecture), |(since, first), needs| {
                (since.max(needs.0), first.max(needs.1))
            });
        let (since, first) = newest;
        if version < since {
            return Err(format!(
                "`{mnemonic}` needs .version {}.{} or newer, the module has {}.{}",
                since.0, since.1, version.0, version.1
            ));
        }
        if let (Some((until, last)), Some(architecture)) = (form.until, self.architecture)
            && version >= until
            && architecture >= last
        {
            return Err(format!(
                "`{mnemonic}` exists no more from .version {}.{} on for sm_{last} and newer",
                until.0, until.1
            ));
        }
        if form.specific
            && self
                .module
                .target()
                .ends_with(|last: char| last.is_ascii_digit())
        {
            return Err(format!(
                "`{mnemonic}` needs a target with a letter, such as sm_{}a, the module has {}",
                form.architecture,
                self.module.target()
            ));
        }
        match self.architecture {
            Some(architecture) if architecture < first => Err(format!(
                "`{mnemonic}` needs .target sm_{first} or newer, the module has sm_{architecture}"
            )),
            _ => Ok(()),
        }
    }
}

/// The version and architecture that a modifier needs in whichever instruction it stands.
fn modifier_needs(opcode: &str, modifier: &str) -> Option<((u32, u32), u32)> {
    Some(match (opcode, modifier) {
        (_, "cluster" | "shared::cluster") => ((7, 8), 90),
        // Copies have always had it.
        ("cp", "shared::cta") => return None,
        (_, "shared::cta") => ((7, 8), 0),
        (_, "L2::64B" | "L2::128B" | "L2::256B") => ((7, 4), 0),
        _ => return None,
    })
}

/// The state space that the modifiers name.
fn space(instruction: &Instruction<'_>) -> Option<Space> {
    instruction.modifiers().find_map(space_of)
}

/// The state space that a modifier names.
pub(super) fn space_of(modifier: &str) -> Option<Space> {
    Some(match modifier {
        "global" => Space::Global,
        "const" => Space::Const,
        "local" => Space::Local,
        "param" | "param::entry" | "param::func" => Space::Param,
        "shared" | "shared::cta" | "shared::cluster" => Space::Shared,
        _ => return None,
    })
}

/// Elements that `.v2`, `.v4` and `.v8` ask for.
fn elements(instruction: &Instruction<'_>) -> usize {
    let count = instruction.modifiers().find_map(|modifier| match modifier {
        "v2" => Some(2),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    });
    count.unwrap_or(1)
}
