//! Declarations: functions, variables and their initial values.

use super::Checker;
use super::scope::Symbol;
use crate::{Function, FunctionKind, Initial, Linkage, Param, ScalarType, Space, Variable};

/// Directives between the signature of a kernel and its body, and whether each takes numbers above 0.
const OF_KERNELS: [(&str, bool); 10] = [
    (".maxntid", true),
    (".reqntid", true),
    (".minnctapersm", true),
    (".maxnreg", true),
    (".local_maxnreg", true),
    (".reqnctapercluster", true),
    (".maxclusterrank", true),
    (".explicitcluster", false),
    (".blocksareclusters", false),
    (".pragma", false),
];
/// The same of device functions.
const OF_FUNCTIONS: [&str; 3] = [".noreturn", ".abi_preserve", ".abi_preserve_control"];

impl<'m, 'a> Checker<'m, 'a> {
    pub(super) fn declare_function(&mut self, function: &'m Function<'a>) {
        let old = self.scope.find(function.name);
        if self
            .scope
            .declare(function.name, Symbol::Function(function))
        {
            return;
        }
        match old {
            // A declaration and a definition, in any order and number.
            Some(Symbol::Function(old)) if old.body.is_none() || function.body.is_none() => {
                if !alike(&old.params, &function.params) || !alike(&old.returns, &function.returns)
                {
                    let line = old.position.line;
                    self.report(
                        function.position,
                        function.name,
                        format!(
                            "its parameters differ from those of its declaration in line {line}"
                        ),
                    );
                }
                if old.body.is_none() {
                    self.scope
                        .redefine(function.name, Symbol::Function(function));
                }
            }
            _ => self.report(
                function.position,
                function.name,
                "the name is already defined",
            ),
        }
    }

    /// Parameters and directives of a function.
    pub(super) fn signature(&mut self, function: &'m Function<'a>) {
        let kernel = function.kind == FunctionKind::Entry;
        for param in function.returns.iter().chain(&function.params) {
            if param.space == Space::Register && kernel {
                let message = "a parameter of a kernel lies in .param";
                self.report(param.position, param.name, message);
            }
            if param.space == Space::Param && param.ty == ScalarType::Pred {
                self.report(
                    param.position,
                    param.name,
                    "predicates can only be registers",
                );
            }
        }
        // Version 8.1 brought more room, for devices from sm_70 on.
        let large = self.module.version() >= (8, 1) && self.architecture.is_none_or(|it| it >= 70);
        let most = if large { 32_764 } else { 4_352 };
        if kernel && function.params_size() > most {
            let size = function.params_size();
            self.report(
                function.position,
                function.name,
                format!("{size} bytes of parameters where {most} are possible"),
            );
        }
        for directive in &function.directives {
            let known = OF_KERNELS.iter().find(|(name, _)| *name == directive.name);
            let message = match known {
                None if kernel => format!("kernels have no directive `{}`", directive.name),
                _ if !kernel && !OF_FUNCTIONS.contains(&directive.name) => {
                    format!("device functions have no directive `{}`", directive.name)
                }
                Some((name, true)) => {
                    let numbers = directive.text.trim_start_matches(*name).split(',');
                    if !numbers.into_iter().any(|number| number.trim() == "0") {
                        continue;
                    }
                    format!("`{name}` takes numbers above 0")
                }
                _ => continue,
            };
            self.report(directive.position, directive.text, message);
        }
        if function.tuning.max_ntid.is_some() && function.tuning.req_ntid.is_some() {
            let message = "`.maxntid` and `.reqntid` exclude each other";
            self.report(function.position, function.name, message);
        }
        let clusters = function.tuning.req_nctapercluster.is_some();
        if clusters && self.architecture.is_some_and(|it| it < 90) {
            let message = "`.reqnctapercluster` needs .target sm_90 or newer";
            self.report(function.position, function.name, message);
        }
    }

    pub(super) fn declare_global(&mut self, variable: &'m Variable<'a>) {
        if variable.space == Space::Register {
            if let Some(count) = variable.count {
                let (name, ty, vector) = (variable.name, variable.ty, variable.vector);
                self.scope.declare_set(name, ty, vector, count);
            } else {
                let register = Symbol::Register(variable.ty, variable.vector);
                self.scope.declare(variable.name, register);
            }
            return;
        }
        if variable.space == Space::Param {
            let message = "variables in .param stand in functions only";
            self.report(variable.position, variable.name, message);
        }
        let old = self.scope.find(variable.name);
        if self
            .scope
            .declare(variable.name, Symbol::Variable(variable))
        {
            return;
        }
        let message = match old {
            // A declaration and a definition that other modules see, or several declarations.
            Some(Symbol::Variable(old)) if old.linkage == Linkage::Extern => {
                self.scope
                    .redefine(variable.name, Symbol::Variable(variable));
                if variable.linkage != Linkage::Internal {
                    return;
                }
                "declared as .extern above, it must be .visible, .weak or .common"
            }
            Some(Symbol::Variable(_)) if variable.linkage == Linkage::Extern => return,
            _ => "the name is already defined",
        };
        self.report(variable.position, variable.name, message);
    }

    /// What every declaration has to keep to.
    pub(super) fn variable(&mut self, variable: &'m Variable<'a>) {
        let register = variable.space == Space::Register;
        let handle = matches!(
            variable.ty,
            ScalarType::TexRef | ScalarType::SamplerRef | ScalarType::SurfRef
        );
        let only_instructions = matches!(
            variable.ty,
            ScalarType::BF16 | ScalarType::BF16x2 | ScalarType::TF32
        );
        let initial = matches!(
            variable.space,
            Space::Global | Space::Const | Space::Texture
        );
        let empty = !register
            && variable.linkage != Linkage::Extern
            && variable.size() == Some(0)
            && variable.ty.size() > 0;
        let message = if variable.ty == ScalarType::Pred && !register {
            "predicates can only be registers"
        } else if register && !variable.extents.is_empty() {
            "a register cannot be an array"
        } else if variable.initial.is_some() && !initial {
            "only variables in .global and .const have initial values"
        } else if only_instructions {
            "only instructions have this type; declare untyped bits"
        } else if handle && self.function.is_some() {
            "textures, samplers and surfaces stand outside functions or are parameters"
        } else if empty {
            "the variable has no elements"
        } else if self.function.is_some() && variable.linkage == Linkage::Extern {
            ".extern stands outside functions only"
        } else {
            return;
        };
        self.report(variable.position, variable.name, message);
    }

    pub(super) fn initial(&mut self, variable: &'m Variable<'a>) {
        self.variable(variable);
        let Some(initial) = variable.initial.as_deref() else {
            return;
        };
        let list = matches!(initial.first(), Some(Initial::Open));
        let aggregate = !variable.extents.is_empty() || variable.vector > 1;
        let handle = variable.ty.name().ends_with("ref");
        if list != aggregate && !handle {
            let message = if list {
                "a list of initial values for a single element"
            } else {
                "an array needs its initial values in braces"
            };
            self.report(variable.position, variable.name, message);
        }
        let (mut elements, mut depth) = (0u64, 0usize);
        for part in initial {
            if self.full() {
                return;
            }
            match part {
                Initial::Open => depth += 1,
                Initial::Close => depth = depth.saturating_sub(1),
                _ => elements += u64::from(depth == 1),
            }
            if let Some(message) = self.initial_value(variable, part) {
                self.report(variable.position, variable.name, message);
            }
        }
        if let [extent] = variable.extents[..]
            && extent > 0
            && variable.vector == 1
            && elements > extent
        {
            let message = format!("{elements} initial values for {extent} elements");
            self.report(variable.position, variable.name, message);
        }
    }

    /// What is wrong with one initial value.
    fn initial_value(&self, variable: &Variable<'a>, part: &Initial<'a>) -> Option<String> {
        let float = matches!(variable.ty, ScalarType::F32 | ScalarType::F64);
        let integer = super::Type::Scalar(variable.ty).is_integral();
        let untyped = variable.ty.name().starts_with('b');
        match part {
            Initial::Integer(value) if float => Some(format!(
                "the integer {value} as initial value of a {}",
                variable.ty
            )),
            Initial::Float32(_) | Initial::Float64(_) if integer && !untyped => Some(format!(
                "a floating-point number as initial value of a {}",
                variable.ty
            )),
            Initial::Address { name, .. } => match self.scope.find(name) {
                None => Some(format!("`{name}` in the initial value is not known here")),
                Some(Symbol::Variable(target))
                    if matches!(target.space, Space::Shared | Space::Local) =>
                {
                    Some(format!(
                        "`{name}` in the initial value lies in no global memory"
                    ))
                }
                Some(_) => None,
            },
            Initial::Text(_) => Some(String::from("strings are no initial values")),
            _ => None,
        }
    }
}

/// Whether two lists of parameters have the same sizes.
fn alike(first: &[Param<'_>], second: &[Param<'_>]) -> bool {
    first.len() == second.len()
        && first
            .iter()
            .zip(second)
            .all(|(first, second)| first.size == second.size)
}
