//! A library on drivers that do not know libraries: its image, and a module in each context that asked for one.

use std::sync::{Arc, Mutex, PoisonError};

use super::LibraryCore;
use crate::JitOptions;
use crate::context::Context;
use crate::error::Result;
use crate::module::{Image, Module, ModuleCore};

pub(super) struct PerContext {
    image: Image<'static>,
    options: JitOptions,
    /// Modules live as long as the library, for what is in their variables.
    modules: Mutex<Vec<Arc<ModuleCore>>>,
}

impl PerContext {
    pub(super) fn new(image: Image<'static>, options: JitOptions) -> Self {
        Self {
            image,
            options,
            modules: Mutex::new(Vec::new()),
        }
    }

    fn modules(&self) -> std::sync::MutexGuard<'_, Vec<Arc<ModuleCore>>> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(modules: &[Arc<ModuleCore>], context: &Context) -> Option<Arc<ModuleCore>> {
        let known = |it: &&Arc<ModuleCore>| Arc::ptr_eq(it.context(), context.core());
        modules.iter().find(known).map(Arc::clone)
    }

    /// The module in a context, loaded at the first question.
    pub(super) fn module(&self, library: &LibraryCore, context: &Context) -> Result<Module> {
        if let Some(known) = Self::find(&self.modules(), context) {
            return Ok(Module::from_core(known));
        }
        let (text, variables) = (library.text.clone(), Arc::clone(&library.variables));
        let made = Module::load(context, &self.image, &self.options, text, variables)?;
        let mut modules = self.modules();
        let known = Self::find(&modules, context);
        if known.is_none() {
            modules.push(Arc::clone(made.core()));
        }
        drop(modules);
        Ok(known.map_or(made, Module::from_core))
    }

    /// What the compiler remarked, of each context.
    pub(super) fn info_log(&self) -> String {
        let modules = self.modules().clone();
        let logs = modules.into_iter().map(Module::from_core);
        let logs: Vec<String> = logs.map(|it| it.info_log().to_owned()).collect();
        logs.join("\n").trim().to_owned()
    }
}
