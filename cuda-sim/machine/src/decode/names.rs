//! The names that operands mention.

use cuda_ptx::Operand;

/// Visits each name in an operand, as often as it stands there.
pub(super) fn each_name<'a>(operand: &Operand<'a>, visit: &mut dyn FnMut(&'a str)) {
    match operand {
        Operand::Name(name)
        | Operand::Not(name)
        | Operand::Negated(name)
        | Operand::Offset(name, _)
        | Operand::Element(name, _)
        | Operand::Address {
            base: Some(name), ..
        } => visit(name),
        Operand::Pair(first, second) => {
            visit(first);
            visit(second);
        }
        Operand::Brackets(parts) | Operand::Vector(parts) | Operand::List(parts) => {
            for part in parts {
                // Operands nest no deeper than the parser lets them.
                each_name(part, visit);
            }
        }
        Operand::Integer(_)
        | Operand::Float32(_)
        | Operand::Float64(_)
        | Operand::Address { base: None, .. }
        | Operand::Text(_)
        | Operand::Sink => {}
    }
}
