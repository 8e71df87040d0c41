//! Calls: whether there is such a function, and whether it takes these arguments.

use super::Checker;
use super::operand::Wrong;
use super::scope::Symbol;
use crate::{Function, FunctionKind, Operand, Param, ScalarType, Space};

impl<'m, 'a> Checker<'m, 'a> {
    /// `call {(results),} function {, (arguments)} {, targets}`
    pub(super) fn call(&mut self, operands: &'m [Operand<'a>]) -> Result<(), Wrong> {
        let (results, rest) = match operands {
            [Operand::List(results), rest @ ..] => (&results[..], rest),
            rest => (&[][..], rest),
        };
        let Some((Operand::Name(name), rest)) = rest.split_first() else {
            return Err(String::from("the function is missing"));
        };
        let (arguments, rest) = match rest {
            [Operand::List(arguments), rest @ ..] => (&arguments[..], rest),
            rest => (&[][..], rest),
        };
        for operand in results.iter().chain(arguments) {
            self.argument(operand)?;
        }
        let target = match rest {
            [] => None,
            [Operand::Name(target)] => Some(*target),
            _ => return Err(String::from("there is too much behind the arguments")),
        };
        if let Some(target) = target {
            self.find(target)?;
        }
        match self.scope.find(name) {
            Some(Symbol::Function(function)) => self.direct(function, results, arguments),
            Some(Symbol::Register(..)) if target.is_none() => Err(format!(
                "an indirect call, through `{name}`, needs a prototype or a list of targets"
            )),
            Some(Symbol::Register(..)) => Ok(()),
            Some(_) => Err(format!("`{name}` is no function")),
            None => Err(format!("there is no function `{name}` above this call")),
        }
    }

    fn direct(
        &mut self,
        function: &Function<'a>,
        results: &[Operand<'a>],
        arguments: &[Operand<'a>],
    ) -> Result<(), Wrong> {
        let name = function.name;
        if function.kind == FunctionKind::Entry {
            return Err(format!("`{name}` is a kernel and cannot be called"));
        }
        let (params, returns) = (function.params.len(), function.returns.len());
        // Variadic functions end with an array without a length.
        let variadic = function
            .params
            .last()
            .is_some_and(|last| last.len == Some(0));
        if !variadic && arguments.len() != params || results.len() != returns {
            return Err(format!(
                "`{name}` takes {params} arguments and returns {returns} values; here are {} and {}",
                arguments.len(),
                results.len()
            ));
        }
        let pairs = function.params.iter().zip(arguments);
        for (param, operand) in pairs.chain(function.returns.iter().zip(results)) {
            self.passed(param, operand)?;
        }
        Ok(())
    }

    /// Memory that is passed must have the size of the parameter.
    fn passed(&mut self, param: &Param<'a>, operand: &Operand<'a>) -> Result<(), Wrong> {
        let Operand::Name(name) = operand else {
            return Ok(());
        };
        let scalar = param.len.is_none() && param.ty != ScalarType::Pred;
        let size = match self.scope.find(name) {
            Some(Symbol::Variable(variable)) if variable.space == Space::Param => {
                if variable.extents.is_empty() != param.len.is_none() {
                    return Err(format!(
                        "`{name}` and the parameter `{}` differ: one is an array",
                        param.name
                    ));
                }
                variable.size()
            }
            Some(Symbol::Param(own, _)) if own.space == Space::Param => Some(own.size),
            Some(Symbol::Register(ty, 1)) if scalar && ty != ScalarType::Pred => {
                // Bytes are passed in registers of 16 bits.
                (ty.size() > 2 || param.size > 2).then_some(ty.size())
            }
            _ => return Ok(()),
        };
        match size {
            Some(size) if size != param.size && param.len != Some(0) => Err(format!(
                "`{name}` has {size} bytes, the parameter `{}` has {}",
                param.name, param.size
            )),
            _ => Ok(()),
        }
    }

    /// An argument or result must at least be known.
    fn argument(&mut self, operand: &Operand<'a>) -> Result<(), Wrong> {
        match operand {
            Operand::Name(name) if *name == "WARP_SZ" => Ok(()),
            Operand::Name(name) | Operand::Offset(name, _) => self.find(name).map(|_| ()),
            _ => Ok(()),
        }
    }
}
