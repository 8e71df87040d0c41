//! The names that are visible at a statement, and the labels that branches wait for.

use std::collections::HashMap;

use crate::{Function, Param, ScalarType, Variable};

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Symbol<'m, 'a> {
    /// A register: its type and the elements of a vector.
    Register(ScalarType, u8),
    /// A parameter of the function itself; whether it is returned.
    Param(&'m Param<'a>, bool),
    Variable(&'m Variable<'a>),
    Function(&'m Function<'a>),
    /// A label; whether a directive that lists branch or call targets, or a prototype, stands behind it.
    Label(bool),
}

/// Registers declared together: `%r<n>`.
#[derive(Debug, Clone, Copy)]
struct Set {
    block: u32,
    ty: ScalarType,
    vector: u8,
    count: u32,
}

/// The names of the module and of the blocks around a statement.
#[derive(Debug, Default)]
pub(super) struct Scope<'m, 'a> {
    /// What each name means, innermost block last.
    names: HashMap<&'a str, Vec<(u32, Symbol<'m, 'a>)>>,
    sets: HashMap<&'a str, Vec<Set>>,
    /// What has to be forgotten at the end of the open blocks.
    declared: Vec<Declared<'a>>,
    /// The blocks around, by their number and the length of `declared` at their start. Numbers rise with every block that is opened.
    open: Vec<(u32, usize)>,
    last_block: u32,
    /// Labels that were named before they were known, with the blocks in which that happened.
    awaited: HashMap<&'a str, Vec<(u32, &'a str)>>,
}

#[derive(Debug)]
enum Declared<'a> {
    Name(&'a str),
    Set(&'a str),
}

impl<'m, 'a> Scope<'m, 'a> {
    fn block(&self) -> u32 {
        self.open.last().map_or(0, |&(block, _)| block)
    }

    pub(super) fn enter(&mut self) {
        self.last_block += 1;
        self.open.push((self.last_block, self.declared.len()));
    }

    pub(super) fn leave(&mut self) {
        let Some((_, start)) = self.open.pop() else {
            return;
        };
        for declared in self.declared.drain(start.min(self.declared.len())..) {
            match declared {
                Declared::Name(name) => {
                    self.names.get_mut(name).map(Vec::pop);
                }
                Declared::Set(prefix) => {
                    self.sets.get_mut(prefix).map(Vec::pop);
                }
            }
        }
    }

    /// Gives a name its meaning from here to the end of the block; false where the block has the name already.
    pub(super) fn declare(&mut self, name: &'a str, symbol: Symbol<'m, 'a>) -> bool {
        let block = self.block();
        let meanings = self.names.entry(name).or_default();
        if meanings.last().is_some_and(|&(last, _)| last == block) {
            return false;
        }
        meanings.push((block, symbol));
        self.declared.push(Declared::Name(name));
        block == 0 || self.set_of(name).is_none_or(|set| set.block != block)
    }

    /// Replaces the meaning that a name has in the innermost block.
    pub(super) fn redefine(&mut self, name: &'a str, symbol: Symbol<'m, 'a>) {
        let last = self.names.get_mut(name).and_then(|list| list.last_mut());
        if let Some((_, old)) = last {
            *old = symbol;
        }
    }

    /// Declares `prefix0` to `prefix(count-1)`; false where the block has such a set already.
    pub(super) fn declare_set(
        &mut self,
        prefix: &'a str,
        ty: ScalarType,
        vector: u8,
        count: u32,
    ) -> bool {
        let block = self.block();
        let sets = self.sets.entry(prefix).or_default();
        if sets.last().is_some_and(|set| set.block == block) {
            return false;
        }
        sets.push(Set {
            block,
            ty,
            vector,
            count,
        });
        self.declared.push(Declared::Set(prefix));
        true
    }

    /// A label; what waits for it in this block and in those inside it has found it. False where the block has the name already.
    pub(super) fn label(&mut self, name: &'a str) -> bool {
        let block = self.block();
        if let Some(waiting) = self.awaited.get_mut(name) {
            while waiting.last().is_some_and(|&(inside, _)| inside >= block) {
                waiting.pop();
            }
        }
        self.declare(name, Symbol::Label(false))
    }

    /// A label that is named here and may stand further down; `text` says where it is named.
    pub(super) fn await_label(&mut self, name: &'a str) {
        if !matches!(self.find(name), Some(Symbol::Label(_))) {
            let block = self.block();
            self.awaited.entry(name).or_default().push((block, name));
        }
    }

    /// The labels that never came, at the end of a function.
    pub(super) fn missing_labels(&mut self) -> Vec<&'a str> {
        let awaited = std::mem::take(&mut self.awaited);
        awaited
            .into_values()
            .flatten()
            .map(|(_, text)| text)
            .collect()
    }

    pub(super) fn find(&self, name: &'a str) -> Option<Symbol<'m, 'a>> {
        let named = self.names.get(name).and_then(|list| list.last()).copied();
        match (named, self.set_of(name)) {
            (Some((block, symbol)), set) if set.is_none_or(|set| set.block <= block) => {
                Some(symbol)
            }
            (_, Some(set)) => Some(Symbol::Register(set.ty, set.vector)),
            (named, None) => named.map(|(_, symbol)| symbol),
        }
    }

    /// The innermost set of registers that has a register of this name.
    fn set_of(&self, name: &str) -> Option<Set> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        // A prefix may end with digits of its own.
        (1..=digits.min(10))
            .filter_map(|digits| {
                let (prefix, number) = name.split_at_checked(name.len() - digits)?;
                let number: u32 = number.parse().ok()?;
                let sets = self.sets.get(prefix)?;
                sets.iter().rev().find(|set| number < set.count).copied()
            })
            .max_by_key(|set| set.block)
    }
}
