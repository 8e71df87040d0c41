//! What the linker knows of a name in one input.

use cuda_ptx::{Function, FunctionKind, Linkage, Module, Space, Variable};

/// How much a declaration says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strength {
    /// Known to its input alone.
    Internal,
    /// Defined elsewhere.
    Extern,
    /// The largest of all such definitions is meant.
    Common,
    /// A definition that gives way to a strong one.
    Weak,
    /// The definition.
    Strong,
}

/// What is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// Size and alignment of what is returned, and of the parameters.
    Function(Vec<(usize, usize)>, Vec<(usize, usize)>),
    Variable {
        space: Space,
        /// Bytes; 0 for an array whose size is left open.
        size: usize,
        align: usize,
    },
}

/// One declaration of a name.
#[derive(Debug, Clone)]
pub(super) struct Symbol {
    pub(super) name: String,
    pub(super) strength: Strength,
    pub(super) what: What,
    /// Where the name stands in the text, in bytes.
    pub(super) place: usize,
}

impl Symbol {
    /// Shared memory whose size the launch says.
    pub(super) fn is_dynamic_shared(&self) -> bool {
        let shared = matches!(
            self.what,
            What::Variable {
                space: Space::Shared,
                size: 0,
                ..
            }
        );
        shared && self.strength == Strength::Extern
    }
}

/// Functions that the system has.
const SYSTEM: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// Whether the system has a function of that name.
pub(super) fn is_of_system(name: &str) -> bool {
    SYSTEM.contains(&name)
}

fn place(module: &Module<'_>, name: &str) -> usize {
    name.as_ptr()
        .addr()
        .saturating_sub(module.source().as_ptr().addr())
}

fn function(module: &Module<'_>, function: &Function<'_>) -> Symbol {
    let sizes = |params: &[cuda_ptx::Param<'_>]| {
        params
            .iter()
            .map(|param| (param.size, param.align))
            .collect()
    };
    let strength = match (function.linkage, &function.body) {
        (Linkage::Internal, _) => Strength::Internal,
        (_, None) | (Linkage::Extern, _) => Strength::Extern,
        (Linkage::Weak | Linkage::Common, _) => Strength::Weak,
        (Linkage::Visible, _) => Strength::Strong,
    };
    let params = if function.kind == FunctionKind::Entry {
        Vec::new()
    } else {
        sizes(&function.params)
    };
    Symbol {
        name: function.name.to_owned(),
        strength,
        what: What::Function(sizes(&function.returns), params),
        place: place(module, function.name),
    }
}

fn variable(module: &Module<'_>, variable: &Variable<'_>) -> Symbol {
    let strength = match variable.linkage {
        Linkage::Internal => Strength::Internal,
        Linkage::Visible => Strength::Strong,
        Linkage::Extern => Strength::Extern,
        Linkage::Weak => Strength::Weak,
        Linkage::Common => Strength::Common,
    };
    Symbol {
        name: variable.name.to_owned(),
        strength,
        what: What::Variable {
            space: variable.space,
            size: variable.size().unwrap_or(0),
            align: variable.align(),
        },
        place: place(module, variable.name),
    }
}

/// All names that a module declares outside functions.
pub(super) fn symbols(module: &Module<'_>) -> Vec<Symbol> {
    let functions = module.functions().iter().map(|it| function(module, it));
    let variables = module.variables().iter().map(|it| variable(module, it));
    functions.chain(variables).collect()
}
