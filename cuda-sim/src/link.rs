//! Links PTX modules: several texts become one, in which each name has one definition.
//!
//! Names that are `.extern` in one input and defined in another become one symbol; of weak definitions the first is taken, of common ones
//! the largest; names that an input keeps to itself get another name where two inputs have the same. Device functions are declared before
//! everything else, so the order of the inputs does not matter.

mod merge;
mod symbol;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use cuda_ptx::Module;
use cuda_sys::CUresult;

use crate::code;
use symbol::{Strength, Symbol, What};

/// Why linking failed: the code, and a line for each mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) result: CUresult,
    pub(crate) lines: Vec<String>,
}

/// One module that is to be linked.
#[derive(Debug)]
struct Input {
    name: String,
    text: String,
    version: (u32, u32),
    target: String,
    symbols: Vec<Symbol>,
    /// The most registers of its kernels that state no bound of their own.
    max_registers: Option<u32>,
}

/// A name that all inputs share.
#[derive(Debug)]
struct Shared {
    strength: Strength,
    what: What,
    /// Number of the input whose declaration counts.
    input: usize,
}

/// Modules that are to become one.
#[derive(Debug, Default)]
pub(crate) struct Linker {
    inputs: Vec<Input>,
    shared: BTreeMap<String, Shared>,
    /// The first input that did not fit spoils the whole.
    failed: Option<CUresult>,
}

impl Linker {
    /// Adds a module, whose kernels are to have no more registers than `max_registers` where they state no bound of their own.
    ///
    /// # Errors
    /// What it declares otherwise than those before it, or defines again.
    pub(crate) fn add(
        &mut self,
        name: &str,
        module: &Module<'_>,
        max_registers: Option<u32>,
    ) -> Result<(), Failure> {
        let input = Input {
            name: name.to_owned(),
            text: module.source().to_owned(),
            version: module.version(),
            target: module.target().to_owned(),
            symbols: symbol::symbols(module),
            max_registers,
        };
        let number = self.inputs.len();
        let (mut result, mut lines) = (None, Vec::new());
        for symbol in strongest(&input.symbols) {
            if symbol.strength == Strength::Internal || symbol.is_dynamic_shared() {
                continue;
            }
            if let Err((code, line)) = self.declare(symbol, number, name) {
                // A name of two kinds is worse than one that is defined twice.
                result = result.max(Some(code.0));
                lines.push(line);
            }
        }
        self.inputs.push(input);
        match result.map(CUresult) {
            None => Ok(()),
            Some(result) => {
                self.failed = Some(self.failed.unwrap_or(result));
                Err(Failure { result, lines })
            }
        }
    }

    /// Enters a symbol of an input among those that all share.
    fn declare(
        &mut self,
        symbol: &Symbol,
        input: usize,
        name: &str,
    ) -> Result<(), (CUresult, String)> {
        let Some(known) = self.shared.get_mut(&symbol.name) else {
            let shared = Shared {
                strength: symbol.strength,
                what: symbol.what.clone(),
                input,
            };
            self.shared.insert(symbol.name.clone(), shared);
            return Ok(());
        };
        let first = self
            .inputs
            .get(known.input)
            .map_or("", |input| input.name.as_str());
        let mismatch = |what: &str, verb: &str| {
            format!(
                "error   : {what} for '{}' in '{name}', first {verb} in '{first}'",
                symbol.name
            )
        };
        let common = [known.strength, symbol.strength].contains(&Strength::Common);
        match (&known.what, &symbol.what) {
            (What::Function(..), What::Function(..)) => {
                if known.what != symbol.what {
                    let line = mismatch("Prototype doesn't match", "defined");
                    return Err((code::INVALID_SOURCE, line));
                }
            }
            (
                What::Variable { space, size, .. },
                What::Variable {
                    space: other_space,
                    size: other_size,
                    ..
                },
            ) if space == other_space => {
                if size != other_size && *size > 0 && *other_size > 0 && !common {
                    let line = mismatch("Size doesn't match", "specified");
                    return Err((code::INVALID_SOURCE, line));
                }
            }
            _ => {
                let line = mismatch("Memory space doesn't match", "specified");
                return Err((code::UNKNOWN, line));
            }
        }
        let larger = match (&known.what, &symbol.what) {
            (What::Variable { size, .. }, What::Variable { size: other, .. }) => other > size,
            _ => false,
        };
        let replaces = match (known.strength, symbol.strength) {
            (Strength::Strong, Strength::Strong) => {
                let line = format!(
                    "error   : Multiple definition of '{}' in '{name}', first defined in '{first}'",
                    symbol.name
                );
                return Err((code::INVALID_SOURCE, line));
            }
            (Strength::Common, Strength::Common) => larger,
            (Strength::Extern, strength) => strength != Strength::Extern,
            (Strength::Weak | Strength::Common, Strength::Strong) => true,
            _ => false,
        };
        if replaces {
            *known = Shared {
                strength: symbol.strength,
                what: symbol.what.clone(),
                input,
            };
        }
        Ok(())
    }

    /// The linked module.
    ///
    /// # Errors
    /// Names that are used and defined nowhere, and the failure of an input.
    pub(crate) fn complete(&self) -> Result<String, Failure> {
        if let Some(result) = self.failed {
            return Err(Failure {
                result,
                lines: Vec::new(),
            });
        }
        let mut lines = Vec::new();
        for input in &self.inputs {
            for name in self.undefined(input) {
                lines.push(format!(
                    "error   : Undefined reference to '{name}' in '{}'",
                    input.name
                ));
            }
        }
        if lines.is_empty() {
            merge::merge(&self.inputs, &self.shared)
        } else {
            Err(Failure {
                result: code::INVALID_SOURCE,
                lines,
            })
        }
    }

    /// The names that an input uses and nothing defines.
    fn undefined<'a>(&self, input: &'a Input) -> BTreeSet<&'a str> {
        let mut missing: BTreeMap<&str, usize> = BTreeMap::new();
        for symbol in &input.symbols {
            let nowhere = self
                .shared
                .get(&symbol.name)
                .is_some_and(|shared| shared.strength == Strength::Extern);
            if nowhere && !symbol::is_of_system(&symbol.name) {
                *missing.entry(&symbol.name).or_insert(0) += 1;
            }
        }
        if missing.is_empty() {
            return BTreeSet::new();
        }
        // Each declaration names its symbol once; any further place is a use.
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for token in text::tokens(&input.text) {
            if token.kind == text::Kind::Word
                && let Some(word) = input.text.get(token.range)
            {
                *seen.entry(word).or_insert(0) += 1;
            }
        }
        missing
            .into_iter()
            .filter(|(name, declared)| seen.get(name).is_some_and(|seen| seen > declared))
            .map(|(name, _)| name)
            .collect()
    }
}

/// Each name once, with the declaration that says most.
fn strongest(symbols: &[Symbol]) -> impl Iterator<Item = &Symbol> {
    let mut chosen: BTreeMap<&str, &Symbol> = BTreeMap::new();
    for symbol in symbols {
        let entry = chosen.entry(&symbol.name).or_insert(symbol);
        if symbol.strength as u8 > entry.strength as u8 {
            *entry = symbol;
        }
    }
    chosen.into_values()
}

#[cfg(test)]
mod tests;
