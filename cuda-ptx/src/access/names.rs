//! What the names in a body stand for.

use std::collections::HashMap;

use crate::{Function, Module, Space, Variable};

use super::form::{FAR, Form, NEAR, Value};
use super::hash::Keys;

/// Registers that hold the same in every body.
pub(super) const NUMBER: u32 = 0;
pub(super) const NULL: u32 = 1;
pub(super) const NEAR_ADDRESS: u32 = 2;
pub(super) const FAR_ADDRESS: u32 = 3;
pub(super) const FROM_MEMORY: u32 = 4;

const CONSTANT: [Value; 5] = [
    Value::NUMBER,
    Value::Null,
    Value::Form(Form::flagged(NEAR)),
    Value::Form(Form::flagged(FAR)),
    Value::Form(Form::FROM_MEMORY),
];

/// The names of a module that bodies refer to.
#[derive(Debug)]
pub(super) struct Globals<'m, 'a> {
    pub(super) variables: HashMap<&'a str, Space>,
    pub(super) functions: HashMap<&'a str, &'m Function<'a>>,
    /// For the names of all bodies: drawing them takes time.
    keys: Keys,
}

impl<'m, 'a> Globals<'m, 'a> {
    pub(super) fn new(module: &'m Module<'a>) -> Self {
        let variables = module.variables().iter().map(|it| (it.name, it.space));
        let mut functions: HashMap<&str, &Function<'_>> = HashMap::new();
        for function in module.functions() {
            // A declaration may come before the definition.
            let known = functions.entry(function.name).or_insert(function);
            if function.text.ends_with('}') {
                *known = function;
            }
        }
        Self {
            variables: variables.collect(),
            functions,
            keys: Keys::default(),
        }
    }
}

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Meaning {
    Register(u32),
    /// A parameter of the function itself.
    Parameter(u32),
    /// What the function itself returns.
    Returned,
    /// A variable in parameter space, for a call.
    Passed(u32),
    /// A variable, by the register that stands for its address.
    Variable(u32),
    Function,
}

/// The names of a body, where it has been read up to.
pub(super) struct Names<'g, 'a> {
    globals: &'g Globals<'g, 'a>,
    meanings: HashMap<&'a str, Meaning, Keys>,
    /// What names meant before the blocks that are open, and how many of these each block has.
    outer: Vec<(&'a str, Option<Meaning>)>,
    open: Vec<usize>,
    /// What registers hold from the start; nothing for those that instructions write.
    pub(super) initial: Vec<Value>,
    passed: u32,
}

impl<'g, 'a> Names<'g, 'a> {
    pub(super) fn new(globals: &'g Globals<'g, 'a>, function: &Function<'a>) -> Self {
        let mut names = Self {
            globals,
            meanings: HashMap::with_capacity_and_hasher(64, globals.keys),
            outer: Vec::new(),
            open: Vec::new(),
            initial: CONSTANT.to_vec(),
            passed: 0,
        };
        for (index, param) in (0u32..).zip(&function.params) {
            let meaning = match param.space {
                Space::Register => names.new_register(),
                _ => Meaning::Parameter(index),
            };
            names.meanings.insert(param.name, meaning);
        }
        for param in &function.returns {
            let meaning = match param.space {
                Space::Register => names.new_register(),
                _ => Meaning::Returned,
            };
            names.meanings.insert(param.name, meaning);
        }
        names
    }

    /// A new register that holds a value from the start.
    pub(super) fn holding(&mut self, value: Value) -> u32 {
        let register = u32::try_from(self.initial.len()).unwrap_or(NUMBER);
        self.initial.push(value);
        register
    }

    fn new_register(&mut self) -> Meaning {
        Meaning::Register(self.holding(Value::Nothing))
    }

    pub(super) fn enter(&mut self) {
        self.open.push(self.outer.len());
    }

    pub(super) fn leave(&mut self) {
        let Some(start) = self.open.pop() else {
            return;
        };
        let start = start.min(self.outer.len());
        for (name, meaning) in self.outer.drain(start..).rev() {
            match meaning {
                Some(meaning) => self.meanings.insert(name, meaning),
                None => self.meanings.remove(name),
            };
        }
    }

    pub(super) fn declare(&mut self, variable: &Variable<'a>) {
        if variable.count.is_some() {
            // Registers of one name in several blocks count as one.
            return;
        }
        let meaning = match variable.space {
            Space::Register => self.new_register(),
            Space::Param => {
                self.passed += 1;
                Meaning::Passed(self.passed - 1)
            }
            Space::Global => Meaning::Variable(FAR_ADDRESS),
            _ => Meaning::Variable(NEAR_ADDRESS),
        };
        let before = self.meanings.insert(variable.name, meaning);
        if !self.open.is_empty() {
            self.outer.push((variable.name, before));
        }
    }

    /// A name that is not declared is a register.
    pub(super) fn meaning(&mut self, name: &'a str) -> Meaning {
        if let Some(known) = self.meanings.get(name) {
            return *known;
        }
        let meaning = match self.globals.variables.get(name) {
            Some(Space::Global) => Meaning::Variable(FAR_ADDRESS),
            Some(_) => Meaning::Variable(NEAR_ADDRESS),
            None if self.globals.functions.contains_key(name) => Meaning::Function,
            None => self.new_register(),
        };
        self.meanings.insert(name, meaning);
        meaning
    }

    pub(super) fn register(&mut self, name: &'a str) -> Option<u32> {
        match self.meaning(name) {
            Meaning::Register(register) => Some(register),
            _ => None,
        }
    }

    /// The register that stands for a name as an operand.
    pub(super) fn source(&mut self, name: &'a str, offset: i64) -> u32 {
        match self.meaning(name) {
            Meaning::Register(register) | Meaning::Variable(register) => register,
            Meaning::Parameter(index) => self.holding(Value::ParameterAt(index, offset)),
            Meaning::Returned | Meaning::Passed(_) => NEAR_ADDRESS,
            Meaning::Function => NUMBER,
        }
    }
}
