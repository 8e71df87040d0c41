//! From parsed PTX to code: each instruction is looked up in an exact list, and what is in none of them is reported.

mod access;
mod address;
mod asynchronous;
mod atomic;
mod bulk;
mod call;
mod compare;
mod control;
mod data;
mod effect;
mod flow;
mod follow;
mod function;
mod hints;
mod initial;
mod matrix;
mod memory;
mod names;
mod notes;
mod order;
mod preset;
mod pressure;
mod reach;
mod service;
mod source_line;
mod spelling;
mod stack;
mod symbols;
mod touch;
mod video;
mod warp;
mod wide;

pub(crate) use effect::Noted;
pub(crate) use reach::frame_bytes;

use std::collections::HashMap;

use cuda_ptx::{FunctionKind, Linkage, Module, SourceMap, Space, Variable};

use crate::program::SharedVariable;
use crate::{Global, GlobalSpace, Processor, Program};

/// What the functions of a module share.
pub(crate) struct Names<'m, 'a> {
    pub(crate) module: &'m Module<'a>,
    pub(crate) processor: Processor,
    pub(crate) globals: HashMap<&'a str, usize>,
    /// What is not implemented about some of them.
    pub(crate) unusable: HashMap<usize, String>,
    pub(crate) shared: HashMap<&'a str, usize>,
    /// Definitions, or declarations where there is no definition.
    pub(crate) functions: HashMap<&'a str, usize>,
    pub(crate) source_map: SourceMap<'a>,
}

impl Names<'_, '_> {
    /// The device function of that name.
    pub(crate) fn function(&self, name: &str) -> Option<usize> {
        let &index = self.functions.get(name)?;
        (self.module.functions()[index].kind == FunctionKind::Device).then_some(index)
    }
}

impl Program {
    /// Decodes a module for any [`Processor`]. What is not implemented is remembered and reported when a kernel that needs it is launched.
    #[must_use]
    pub fn new(module: &Module<'_>) -> Self {
        Self::for_processor(module, Processor::PORTABLE)
    }

    /// Decodes a module for the processor that will run it.
    #[must_use]
    pub fn for_processor(module: &Module<'_>, processor: Processor) -> Self {
        let mut names = Names {
            module,
            processor,
            globals: HashMap::new(),
            unusable: HashMap::new(),
            shared: HashMap::new(),
            functions: HashMap::new(),
            source_map: SourceMap::new(module),
        };
        let mut program = Self {
            kernels: Vec::new(),
            globals: Vec::new(),
            codes: Vec::new(),
            shared: Vec::new(),
        };
        for (index, function) in module.functions().iter().enumerate() {
            if function.body.is_some() || !names.functions.contains_key(function.name) {
                names.functions.insert(function.name, index);
            }
        }
        reach::add_aliases(module, &mut names.functions);
        let mut global_variables = Vec::new();
        for variable in module.variables() {
            match variable.space {
                Space::Global | Space::Const => {
                    names.globals.insert(variable.name, program.globals.len());
                    program.globals.push(declare_global(variable));
                    global_variables.push(variable);
                }
                Space::Shared => {
                    names.shared.insert(variable.name, program.shared.len());
                    program.shared.push(shared_variable(variable));
                }
                // Module-level registers, locals, parameters and textures stay unknown names.
                Space::Register
                | Space::SpecialRegister
                | Space::Local
                | Space::Param
                | Space::Texture => {}
            }
        }
        for (index, (global, variable)) in program
            .globals
            .iter_mut()
            .zip(&global_variables)
            .enumerate()
        {
            if let Some(problem) = initial::fill(global, variable, &names) {
                names.unusable.insert(index, problem);
            }
        }
        let mut problems = Vec::new();
        for function in module.functions() {
            let (code, problem) = function::decode(function, &names, &mut program.shared);
            program.codes.push(code);
            problems.push(problem);
        }
        for (index, function) in module.functions().iter().enumerate() {
            if function.kind == FunctionKind::Entry && function.body.is_some() {
                let kernel = reach::kernel(index, function, &program, &problems);
                program.kernels.push(kernel);
            }
        }
        for index in 0..program.kernels.len() {
            let (_, bytes) = program.kernels[index].shared_layout(&program, 0);
            program.kernels[index].static_shared_bytes = bytes;
        }
        program
    }
}

fn declare_global(variable: &Variable<'_>) -> Global {
    let space = if variable.space == Space::Const {
        GlobalSpace::Const
    } else {
        GlobalSpace::Global
    };
    let size = variable.size().unwrap_or(0);
    Global {
        name: variable.name.to_owned(),
        space,
        size,
        align: variable.align(),
        bytes: Vec::new(),
        relocations: Vec::new(),
        managed: variable.managed,
    }
}

pub(crate) fn shared_variable(variable: &Variable<'_>) -> SharedVariable {
    let dynamic = variable.linkage == Linkage::Extern && variable.size().unwrap_or(0) == 0;
    let size = variable
        .size()
        .and_then(|size| u32::try_from(size).ok())
        .unwrap_or(u32::MAX);
    SharedVariable {
        name: variable.name.to_owned(),
        size,
        align: variable.align() as u32,
        dynamic,
    }
}
