//! Functions that a module uses and does not define.

use std::collections::HashSet;

use super::{Invalid, MOST};
use crate::{FunctionKind, Initial, Linkage, Module, Operand, Statement};

/// What every driver has.
const SYSTEM: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

impl<'a> Module<'a> {
    /// The functions that have to come from other modules: declared here, used, and defined nowhere. A module with any of them can only be
    /// linked, not loaded. The functions that every driver has (`vprintf`, `malloc`, `free`, `__assertfail`) are not among them.
    #[must_use]
    pub fn unresolved(&self) -> Vec<Invalid<'a>> {
        let mut used = HashSet::new();
        for function in self.functions() {
            for statement in function.body.as_deref().unwrap_or(&[]) {
                if let Statement::Instruction(instruction) = statement
                    && matches!(instruction.opcode(), "call" | "mov")
                {
                    used.extend(instruction.operands.iter().filter_map(Operand::name));
                }
            }
        }
        for variable in self.variables() {
            for part in variable.initial.as_deref().unwrap_or(&[]) {
                if let Initial::Address { name, .. } = part {
                    used.insert(name);
                }
            }
        }
        let functions = self.functions().iter();
        let defined: HashSet<&str> = functions
            .filter(|function| function.body.is_some())
            .map(|function| function.name)
            .chain(self.aliases())
            .collect();
        let mut seen = HashSet::new();
        let missing = self.functions().iter().filter(|function| {
            let kernel = function.kind == FunctionKind::Entry;
            let needed =
                kernel && function.linkage != Linkage::Extern || used.contains(function.name);
            needed
                && !defined.contains(function.name)
                && !SYSTEM.contains(&function.name)
                && seen.insert(function.name)
        });
        let found = missing.map(|function| Invalid {
            position: function.position,
            text: function.name,
            function: None,
            message: String::from("the function is declared here and defined nowhere"),
        });
        found.take(MOST).collect()
    }

    /// The names that `.alias` gives to other functions.
    fn aliases(&self) -> impl Iterator<Item = &'a str> {
        let aliases = self.directives().iter();
        aliases
            .filter(|directive| directive.name == ".alias")
            .filter_map(|directive| directive.arguments.first()?.name())
    }
}
