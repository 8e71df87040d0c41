//! What is wrong with a module that parses: names, duplicate definitions, and instructions that PTX does not have.

mod address;
mod body;
mod call;
mod constants;
mod declaration;
mod forms;
mod matrix;
mod operand;
mod scope;
mod special;
mod target;
mod types;
mod unresolved;

use std::collections::HashMap;
use std::fmt;

use crate::{Function, Module, Position, Variable};
use forms::Type;
use scope::Scope;

/// What is wrong with a module, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid<'a> {
    /// Where it stands.
    pub position: Position,
    /// What stands there: an instruction, a name or a directive.
    pub text: &'a str,
    /// The function or kernel around it.
    pub function: Option<&'a str>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Invalid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.position;
        write!(f, "PTX line {line}, column {column}")?;
        if let Some(function) = self.function {
            write!(f, ", in `{function}`")?;
        }
        write!(f, ": `{}`: {}", short(self.text), self.message)
    }
}

impl std::error::Error for Invalid<'_> {}

/// A text as a message shows it.
fn short(text: &str) -> String {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if words.len() > 100 {
            words.push('…');
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.extend(word.chars().take(100));
    }
    words
}

/// How many findings are kept.
const MOST: usize = 20;

impl<'a> Module<'a> {
    /// What an assembler refuses about this module, in the order of the text: unknown and doubly defined names, instructions and modifiers
    /// that PTX does not have or that are newer than `.version` and `.target`, operands that do not fit. The first 20 findings are given.
    ///
    /// An empty answer does not promise that an assembler takes the module: forms of textures, sparse matrices, bulk copies and the like are known
    /// by their opcodes only. What is found, though, is wrong for certain.
    ///
    /// ```
    /// let text = ".version 7.0 .target sm_52 .address_size 64
    /// .entry k() { .reg .b32 %r<2>; add.u32 %r0, %r1, %r2; ret; }";
    /// let wrong = cuda_ptx::Module::parse(text)?.check();
    /// assert_eq!(
    ///     wrong[0].to_string(),
    ///     "PTX line 2, column 31, in `k`: `add.u32 %r0, %r1, %r2`: the name `%r2` is not known here"
    /// );
    /// # Ok::<(), cuda_ptx::ParseError>(())
    /// ```
    #[must_use]
    pub fn check(&self) -> Vec<Invalid<'a>> {
        let mut checker = Checker {
            module: self,
            scope: Scope::default(),
            function: None,
            architecture: architecture(self.target()),
            known: HashMap::new(),
            found: Vec::new(),
        };
        checker.module();
        checker.found
    }
}

/// The number in `sm_90a`.
fn architecture(target: &str) -> Option<u32> {
    let digits = target.strip_prefix("sm_")?;
    digits
        .trim_end_matches(|letter: char| letter.is_ascii_alphabetic())
        .parse()
        .ok()
}

/// A form that a mnemonic has.
#[derive(Debug, Clone)]
struct Match {
    form: &'static forms::Form,
    types: Vec<Type>,
}

#[derive(Debug)]
struct Checker<'m, 'a> {
    module: &'m Module<'a>,
    scope: Scope<'m, 'a>,
    function: Option<&'a str>,
    architecture: Option<u32>,
    /// Mnemonics that were looked up: their forms, or what is wrong with them.
    known: HashMap<&'a str, Result<Vec<Match>, String>>,
    found: Vec<Invalid<'a>>,
}

/// Something that stands outside functions.
enum Item<'m, 'a> {
    Function(&'m Function<'a>),
    Variable(&'m Variable<'a>),
}

impl<'m, 'a> Checker<'m, 'a> {
    fn full(&self) -> bool {
        self.found.len() >= MOST
    }

    fn report(&mut self, position: Position, text: &'a str, message: impl Into<String>) {
        if !self.full() {
            self.found.push(Invalid {
                position,
                text,
                function: self.function,
                message: message.into(),
            });
        }
    }

    fn module(&mut self) {
        self.target();
        let functions = self.module.functions().iter().map(Item::Function);
        let variables = self.module.variables().iter().map(Item::Variable);
        let mut items: Vec<Item<'m, 'a>> = functions.chain(variables).collect();
        items.sort_by_key(|item| match item {
            Item::Function(function) => function.position,
            Item::Variable(variable) => variable.position,
        });
        for item in items {
            if self.full() {
                return;
            }
            match item {
                Item::Function(function) => {
                    self.declare_function(function);
                    self.signature(function);
                    self.body(function);
                }
                Item::Variable(variable) => {
                    self.declare_global(variable);
                    self.initial(variable);
                }
            }
        }
    }
}
