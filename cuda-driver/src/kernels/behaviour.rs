//! What the kernels of a PTX text do, compared with their declarations.

use std::collections::HashMap;

use cuda_ptx::{AccessKind, Accesses, CType, KernelAccesses, KernelName, ScalarType, SourceMap};

use super::declaration::{Access, Kernel, Parameter};
use super::element::Kind;
use crate::function::Function;
use crate::module::Module;

/// What can be seen of a kernel besides its parameters' sizes.
#[derive(Default)]
pub(super) struct Seen {
    /// The types of its parameters, from its name.
    types: Option<Vec<CType>>,
    /// Whether it certainly writes behind each.
    written: Vec<bool>,
    /// What it does behind each that its declaration denies.
    denied: Vec<Option<String>>,
    /// What it does before it waits, if it is declared to wait.
    pub(super) early: Option<String>,
}

impl Seen {
    pub(super) fn type_of(&self, index: usize) -> Option<&CType> {
        self.types.as_ref()?.get(index)
    }

    pub(super) fn is_written(&self, index: usize) -> bool {
        self.written.get(index).is_some_and(|it| *it)
    }

    pub(super) fn denied(&self, index: usize) -> Option<&str> {
        self.denied.get(index)?.as_deref()
    }

    /// Whether what the kernel does can contradict its declaration. The promise of a `const` is believed as far as the compiler
    /// believed it: then the text need not be read.
    fn is_open(&self, kernel: &Kernel) -> bool {
        let is_open = |(index, declared): (usize, &Parameter)| {
            let ty = self.type_of(index);
            let is_const = matches!(ty, Some(CType::Pointer { is_const: true, .. }));
            let numbers_matter = matches!(declared.element.kind, Kind::Float) && !is_number(ty);
            match declared.access {
                Access::Value => false,
                Access::Read => !is_const || numbers_matter,
                Access::Write => is_const || numbers_matter,
            }
        };
        kernel.waits || kernel.parameters.iter().enumerate().any(is_open)
    }
}

/// What the names of kernels tell, and their text where it is known and matters.
pub(super) fn look(
    module: &Module,
    kernels: &[Kernel],
    found: &[Result<Function, String>],
) -> Vec<Seen> {
    let pairs = || kernels.iter().zip(found);
    let by_name = pairs().map(|(kernel, found)| {
        let types = found
            .as_ref()
            .ok()
            .and_then(|it| KernelName::of(it.name()).parameters);
        Seen {
            types: types.filter(|it| it.len() == kernel.parameters.len()),
            ..Seen::default()
        }
    });
    let mut all: Vec<Seen> = by_name.collect();
    if all
        .iter()
        .zip(kernels)
        .any(|(seen, kernel)| seen.is_open(kernel))
    {
        module.core().with_ptx(|ptx| {
            let mut behaviour = Behaviour::new(ptx);
            for (seen, (kernel, found)) in all.iter_mut().zip(pairs()) {
                if let Ok(function) = found
                    && seen.is_open(kernel)
                {
                    behaviour.compare(kernel, function.name(), seen);
                }
            }
        });
    }
    all
}

/// The kernels of a text.
struct Behaviour<'m, 'a> {
    entries: HashMap<&'a str, &'m cuda_ptx::Function<'a>>,
    accesses: Accesses<'m, 'a>,
    sources: SourceMap<'a>,
}

impl<'m, 'a> Behaviour<'m, 'a> {
    fn new(module: &'m cuda_ptx::Module<'a>) -> Self {
        Self {
            entries: module.entries().map(|it| (it.name, it)).collect(),
            accesses: Accesses::new(module),
            sources: SourceMap::new(module),
        }
    }

    /// Takes note of what a kernel does.
    fn compare(&mut self, kernel: &Kernel, symbol: &str, seen: &mut Seen) {
        let Some(&entry) = self.entries.get(symbol) else {
            return;
        };
        if entry.params.len() != kernel.parameters.len() {
            return;
        }
        // What the driver took and the parser does not understand tells nothing.
        let Ok(found) = self.accesses.of(entry) else {
            return;
        };
        let is_memory = |index: usize| {
            let parameter = kernel.parameters.get(index);
            parameter.is_some_and(|it| it.access != Access::Value)
        };
        for (index, declared) in kernel.parameters.iter().enumerate() {
            let write = found.write_through(index, is_memory);
            let write = write.filter(|_| is_memory(index));
            seen.written.push(write.is_some());
            let denied = match write {
                Some(access) if declared.access == Access::Read => {
                    let place = access.place(&self.sources);
                    let better = declared.text.replacen("&[", "&mut [", 1);
                    Some(format!("written at {place}: declare `{better}`"))
                }
                _ if is_memory(index) && !is_number(seen.type_of(index)) => {
                    let number = found.number_behind(index, is_memory);
                    number.and_then(|access| self.other_number(declared, access))
                }
                _ => None,
            };
            seen.denied.push(denied);
        }
        if kernel.waits {
            seen.early = self.early(&found);
        }
    }

    /// That a kernel computes with other numbers than are declared.
    fn other_number(&self, declared: &Parameter, access: &cuda_ptx::Access<'_>) -> Option<String> {
        let number = access.number?;
        let what = match number {
            ScalarType::F64 => "f64",
            ScalarType::F32 => "f32",
            _ => "halves (2 bytes)",
        };
        let place = access.place(&self.sources);
        let is_other = !declared.may_hold_floats_of(number.size());
        is_other.then(|| format!("elements are computed with as {what}, at {place}"))
    }

    /// What a kernel does that is to wait, and does not.
    fn early(&self, found: &KernelAccesses<'_>) -> Option<String> {
        if let Some(access) = found.before_wait() {
            let does = match access.kind {
                AccessKind::Call => "an unknown function is called",
                _ => "memory is touched",
            };
            let place = access.place(&self.sources);
            return Some(format!(
                "{does} at {place}, where it may come without having waited"
            ));
        }
        let place = found.noncoherent()?.place(&self.sources);
        Some(format!(
            "`ld.global.nc` at {place}, which may happen before the wait"
        ))
    }
}

/// Whether a type is a pointer to numbers, which have been compared then.
fn is_number(ty: Option<&CType>) -> bool {
    match ty {
        Some(CType::Pointer { to, .. }) => {
            matches!(**to, CType::Scalar(_) | CType::Vector { .. })
        }
        _ => false,
    }
}
