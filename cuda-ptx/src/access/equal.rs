//! Addresses that are compared: where two are equal, compilers take one for the other.
//!
//! Of `if (y == out) out[i] += x[i];` they make a write through `y`, which no program reaches whose memory does not overlap.

use crate::{Instruction, ScalarType};

use super::form::Form;
use super::names::Names;
use super::ops::sources;

/// The registers whose equality an instruction asks for.
pub(super) fn compared<'a>(
    instruction: &Instruction<'a>,
    names: &mut Names<'_, 'a>,
) -> Option<(u32, u32)> {
    let is_equality = instruction.modifiers().any(|it| matches!(it, "eq" | "ne"));
    let mut types = instruction.modifiers().filter_map(ScalarType::from_name);
    let is_address = types
        .next()
        .is_some_and(|it| it.size() == 8 && !super::is_float(it));
    if instruction.opcode() != "setp" || !is_equality || !is_address {
        return None;
    }
    let mut pair = Vec::new();
    for operand in instruction.operands.iter().skip(1).take(2) {
        sources(operand, names, &mut pair);
    }
    match *pair {
        [one, two] => Some((one, two)),
        _ => None,
    }
}

/// Sets of slots that may stand for one another; no slot is in two.
#[derive(Debug, Default)]
pub(super) struct Classes(Vec<u64>);

impl Classes {
    /// Of sums that are compared.
    pub(super) fn new(pairs: impl Iterator<Item = (Form, Form)>) -> Self {
        let mut classes = Self::default();
        for (one, two) in pairs {
            let (left, right) = (one.plus & !two.plus, two.plus & !one.plus);
            if left != 0 && right != 0 {
                classes.unite(left | right);
            }
        }
        classes
    }

    fn unite(&mut self, mut set: u64) {
        // There are as many as slots at most, so this ends soon.
        while let Some(place) = self.0.iter().position(|it| it & set != 0) {
            set |= self.0.swap_remove(place);
        }
        self.0.push(set);
    }

    /// A sum, with what its slots may stand for.
    pub(super) fn widened(&self, form: Form) -> Form {
        let all = self.0.iter().filter(|it| **it & form.plus != 0);
        Form {
            mixed: all.fold(form.mixed, |mixed, it| mixed | (it & !form.plus)),
            ..form
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_equal_to_the_same_is_equal() {
        let slot = Form::slot;
        let classes =
            Classes::new([(slot(0), slot(1)), (slot(2), slot(3)), (slot(1), slot(2))].into_iter());
        assert_eq!(classes.0, [0b1111]);
        assert_eq!(classes.widened(slot(0)).mixed, 0b1110);
        assert_eq!(classes.widened(slot(4)), slot(4));
        // An end that is a number away, and a null pointer.
        let end = slot(0).plus(slot(5));
        let none = Classes::new([(slot(0), end), (slot(0), Form::NUMBER)].into_iter());
        assert_eq!(none.widened(slot(0)), slot(0));
    }
}
